//! One V-cycle of multigrid as preconditioner, in single precision.
//!
//! Levels come from [`super::hierarchy`]. On each: relax red then black (Gauss–Seidel), take the residual to the next level, come back with the correction,
//! relax black then red; so the cycle is symmetric. A correction e is brought to fine cell i, whose outward faces lead to blocks B', by
//!
//! ```text
//! x_i += e_B + ¼ Σ_{B'} (e_B' − e_B)
//! ```
//!
//! which is linear interpolation where no wall is near: a fine centre lies a quarter of the coarse spacing off its block's in each direction. The residual
//! goes down by the transpose. Both use that relaxation leaves no residual on black and does not read what it overwrites.

use rayon::prelude::*;

use super::System;
use super::chunks::max_abs;
use super::hierarchy::{GRAIN, Level, USUAL_WIDTH};
use super::rows::Rows;

/// Relaxations (of both colours) before and after the coarser levels.
const SWEEPS: usize = 2;
/// The same on the last level, which usually has no couplings and then needs one.
const LAST_SWEEPS: usize = 8;
/// Share of the neighbouring block's value in a fine cell's, per face.
const SHARE: f32 = 0.25;

/// The levels.
#[derive(Debug, Default)]
pub struct Multigrid {
    levels: Vec<Level>,
    /// Those of `levels` in use; the others are memory from larger systems.
    used: usize,
    scale: f64,
    partial: Vec<f64>,
    cells: Vec<[i32; 3]>,
}

impl Multigrid {
    /// Makes the levels of a system.
    pub fn prepare(&mut self, system: &System, rows: &Rows) {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.scale = self.levels[0].finest(system, rows);
        self.used = 1;
        loop {
            if self.levels.len() == self.used {
                self.levels.push(Level::default());
            }
            let (fine, coarse) = self.levels.split_at_mut(self.used);
            if !fine[self.used - 1].gather_into(&mut coarse[0], &mut self.cells) {
                break;
            }
            self.used += 1;
        }
    }

    /// Unknowns on each level.
    pub fn level_sizes(&self) -> impl Iterator<Item = usize> {
        self.levels[..self.used].iter().map(Level::len)
    }

    /// z ≈ A⁻¹ r.
    pub fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let largest = max_abs(r, &mut self.partial);
        if largest == 0.0 || !largest.is_finite() {
            z.fill(0.0);
            return;
        }
        let finest = &mut self.levels[0];
        let mut right = std::mem::take(&mut finest.right);
        let (_, natural) = finest.finest_order();
        let down = 1.0 / largest;
        right
            .par_iter_mut()
            .zip(natural)
            .with_min_len(GRAIN)
            .for_each(|(right, &i)| *right = (r[i as usize] * down) as f32);
        finest.right = right;
        cycle(&mut self.levels[..self.used]);
        let finest = &self.levels[0];
        let (places, _) = finest.finest_order();
        let up = largest * self.scale;
        z.par_iter_mut()
            .zip(places)
            .with_min_len(GRAIN)
            .for_each(|(z, &place)| *z = f64::from(finest.x[place as usize]) * up);
    }
}

fn cycle(levels: &mut [Level]) {
    let Some((fine, coarser)) = levels.split_first_mut() else { return };
    let sweeps = if coarser.is_empty() { LAST_SWEEPS } else { SWEEPS };
    fine.relax_from_zero();
    for _ in 1..sweeps {
        fine.relax(RED);
        fine.relax(BLACK);
    }
    if let Some(coarse) = coarser.first_mut() {
        fine.find_residual();
        coarse.restrict(fine);
        cycle(coarser);
        fine.correct(&coarser[0]);
    }
    for _ in 0..sweeps {
        fine.relax(BLACK);
        fine.relax(RED);
    }
}

const RED: usize = 0;
const BLACK: usize = 1;

impl Level {
    /// Relaxes both colours once; x is taken to be 0.
    fn relax_from_zero(&mut self) {
        let reds = self.x[..self.num_red].par_iter_mut().zip(&self.right).zip(&self.inverse);
        reds.with_min_len(GRAIN).for_each(|((x, right), inverse)| *x = right * inverse);
        self.relax(BLACK);
    }

    /// Solves each equation of one colour for its own unknown.
    fn relax(&mut self, colour: usize) {
        let (red, black) = self.x.split_at_mut(self.num_red);
        let (own, other, first) = if colour == RED { (red, &*black, 0) } else { (black, &*red, self.num_red) };
        let (right, inverse) = (&self.right[first..], &self.inverse[first..]);
        let rows = Half { width: self.width, columns: &self.columns, couplings: &self.couplings, first };
        each_grain(own, |from, own| {
            rows.each_sum(from, own.len(), other, |k, sum| own[k] = (right[from + k] + sum) * inverse[from + k]);
        });
    }

    /// Residual of the red equations; the black ones have none.
    fn find_residual(&mut self) {
        let (red, black) = self.x.split_at(self.num_red);
        let rows = Half { width: self.width, columns: &self.columns, couplings: &self.couplings, first: 0 };
        let (right, inverse) = (&self.right, &self.inverse);
        each_grain(&mut self.residual, |from, residual| {
            rows.each_sum(from, residual.len(), black, |k, sum| {
                let i = from + k;
                residual[k] = if inverse[i] > 0.0 { right[i] + sum - red[i] / inverse[i] } else { 0.0 };
            });
        });
    }

    /// Takes the right-hand side from the residual of the finer level.
    fn restrict(&mut self, fine: &Self) {
        let (members, lists) = (&self.members, &self.member_lists);
        each_grain(&mut self.right, |from, right| {
            for (right, &[first, end]) in right.iter_mut().zip(&members[from..]) {
                let mut sum = 0.0;
                for &member in &lists[first as usize..end as usize] {
                    let member = member as usize;
                    let mut bits = fine.outward[member];
                    if member < fine.num_red {
                        sum += fine.residual[member] * (1.0 - SHARE * bits.count_ones() as f32);
                    } else {
                        while bits != 0 {
                            let column = fine.columns[member * fine.width + bits.trailing_zeros() as usize];
                            sum += SHARE * fine.residual[column as usize];
                            bits &= bits - 1;
                        }
                    }
                }
                *right = sum;
            }
        });
    }

    /// Adds the coarser level's solution to the red unknowns; the black ones are relaxed next and need none.
    fn correct(&mut self, coarse: &Self) {
        let (num_red, width) = (self.num_red, self.width);
        let (gathered, outward, columns) = (&self.gathered, &self.outward, &self.columns);
        each_grain(&mut self.x[..num_red], |from, x| {
            for (k, x) in x.iter_mut().enumerate() {
                let i = from + k;
                let Some(&own) = coarse.x.get(gathered[i] as usize) else { continue };
                let mut bits = outward[i];
                let mut correction = own;
                while bits != 0 {
                    let column = columns[i * width + bits.trailing_zeros() as usize];
                    correction += SHARE * (coarse.x[gathered[num_red + column as usize] as usize] - own);
                    bits &= bits - 1;
                }
                *x += correction;
            }
        });
    }
}

/// The rows of one colour.
struct Half<'a> {
    width: usize,
    columns: &'a [u32],
    couplings: &'a [f32],
    first: usize,
}

impl Half<'_> {
    /// For rows `from`..`from + count`: Σ c x over the other colour.
    fn each_sum(&self, from: usize, count: usize, other: &[f32], mut take: impl FnMut(usize, f32)) {
        let range = (self.first + from) * self.width..(self.first + from + count) * self.width;
        let (columns, couplings) = (&self.columns[range.clone()], &self.couplings[range]);
        // Colours may be empty; then all couplings are 0 and there is nothing to read.
        if other.is_empty() {
            (0..count).for_each(|k| take(k, 0.0));
        } else if self.width == USUAL_WIDTH {
            let rows = columns.as_chunks::<USUAL_WIDTH>().0.iter().zip(couplings.as_chunks::<USUAL_WIDTH>().0);
            for (k, (columns, couplings)) in rows.enumerate() {
                let mut sum = 0.0;
                for (column, coupling) in columns.iter().zip(couplings) {
                    sum += coupling * other[*column as usize];
                }
                take(k, sum);
            }
        } else {
            let rows = columns.chunks_exact(self.width).zip(couplings.chunks_exact(self.width));
            for (k, (columns, couplings)) in rows.enumerate() {
                take(
                    k,
                    columns.iter().zip(couplings).map(|(column, coupling)| coupling * other[*column as usize]).sum(),
                );
            }
        }
    }
}

fn each_grain(values: &mut [f32], work: impl Fn(usize, &mut [f32]) + Sync) {
    if values.len() > GRAIN {
        values.par_chunks_mut(GRAIN).enumerate().for_each(|(k, chunk)| work(k * GRAIN, chunk));
    } else {
        work(0, values);
    }
}
