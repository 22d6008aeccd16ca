//! Multigrid preconditioner: one V-cycle in single precision.
//!
//! Levels come from [`super::levels`]. On each: relax red, then black unknowns (Gauss–Seidel),
//! restrict the residual to the next level, add its correction, relax black, then red; so the cycle
//! is symmetric. A correction e is interpolated to fine cell i, whose outward faces lead to blocks
//! B', by
//!
//! ```text
//! x_i += e_B + ¼ Σ_{B'} (e_B' − e_B)
//! ```
//!
//! which is linear interpolation away from walls: a fine center lies a quarter of the coarse
//! spacing off its block's in each direction. The residual is restricted by the transpose. Both use
//! that relaxation leaves no residual on black unknowns and does not read what it overwrites.

use rayon::prelude::*;

use super::System;
use super::levels::{GRAIN, Level, USUAL_WIDTH};
use super::matrix::Matrix;
use super::uniform_runs::{SHORT, UniformRuns};

/// Relaxations (of both colors) before and after the coarser levels.
const SWEEPS: usize = 2;
/// The same on the last level, which usually has no couplings and then needs one.
const LAST_SWEEPS: usize = 8;
/// Weight of the neighboring block's value in a fine cell's, per face.
const SHARE: f32 = 0.25;

/// The levels.
#[derive(Debug, Default)]
pub struct Multigrid {
    levels: Vec<Level>,
    /// Levels in use; the others are memory from larger systems.
    used: usize,
    scale: f64,
    cells: Vec<[i32; 3]>,
}

impl Multigrid {
    /// Builds the levels of a system.
    pub fn prepare(&mut self, system: &System, matrix: &Matrix) {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.scale = self.levels[0].finest(system, matrix);
        self.used = 1;
        loop {
            if self.levels.len() == self.used {
                self.levels.push(Level::default());
            }
            let (fine, coarse) = self.levels.split_at_mut(self.used);
            if !fine[self.used - 1].coarsen_into(&mut coarse[0], &mut self.cells) {
                break;
            }
            self.used += 1;
        }
    }

    /// Unknowns on each level.
    pub fn level_sizes(&self) -> impl Iterator<Item = usize> {
        self.levels[..self.used].iter().map(Level::len)
    }

    /// z ≈ A⁻¹ r; `largest` is the largest |r|.
    pub fn apply(&mut self, r: &[f64], largest: f64, z: &mut [f64]) {
        if largest == 0.0 || !largest.is_finite() {
            z.fill(0.0);
            return;
        }
        let finest = &mut self.levels[0];
        let mut rhs = std::mem::take(&mut finest.rhs);
        let (_, natural) = finest.finest_order();
        let down = 1.0 / largest;
        rhs.par_iter_mut().zip(natural).with_min_len(GRAIN).for_each(|(rhs, &i)| *rhs = (r[i as usize] * down) as f32);
        finest.rhs = rhs;
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
    /// Relaxes both colors once; x is taken to be 0.
    fn relax_from_zero(&mut self) {
        let reds = self.x[..self.num_red].par_iter_mut().zip(&self.rhs).zip(&self.inverse);
        reds.with_min_len(GRAIN).for_each(|((x, rhs), inverse)| *x = rhs * inverse);
        self.relax(BLACK);
    }

    /// Solves each equation of one color for its own unknown.
    fn relax(&mut self, color: usize) {
        let (red, black) = self.x.split_at_mut(self.num_red);
        let (own, other, first) = if color == RED { (red, &*black, 0) } else { (black, &*red, self.num_red) };
        let (columns, couplings, runs) = (&self.columns, &self.couplings, &self.runs[color]);
        let rhs = &self.rhs[first..];
        let matrix = ColorRows { width: self.width, columns, couplings, first, runs, full: self.full, rhs };
        let inverse = &self.inverse[first..];
        each_grain(own, |from, own| {
            matrix.sum(from, own, other);
            own.iter_mut().zip(&inverse[from..]).for_each(|(own, inverse)| *own *= inverse);
        });
    }

    /// Residual of the red equations; the black ones have none.
    fn find_residual(&mut self) {
        let (red, black) = self.x.split_at(self.num_red);
        let (columns, couplings, runs) = (&self.columns, &self.couplings, &self.runs[RED]);
        let rhs = &self.rhs;
        let matrix = ColorRows { width: self.width, columns, couplings, first: 0, runs, full: self.full, rhs };
        let inverse = &self.inverse;
        each_grain(&mut self.residual, |from, residual| {
            matrix.sum(from, residual, black);
            for ((residual, red), inverse) in residual.iter_mut().zip(&red[from..]).zip(&inverse[from..]) {
                *residual = if *inverse > 0.0 { *residual - red / inverse } else { 0.0 };
            }
        });
    }

    /// Restricts the residual of the finer level to the right-hand side.
    fn restrict(&mut self, fine: &Self) {
        let (members, lists) = (&self.members, &self.member_lists);
        each_grain(&mut self.rhs, |from, rhs| {
            for (rhs, &[first, end]) in rhs.iter_mut().zip(&members[from..]) {
                let mut sum = 0.0;
                for &member in &lists[first as usize..end as usize] {
                    let member = member as usize;
                    let mut bits = fine.outward[member];
                    if member < fine.num_red {
                        sum += fine.residual[member] * (1.0 - SHARE * bits.count_ones() as f32);
                    } else {
                        let columns = &fine.columns[member * fine.width..][..fine.width];
                        if let Some(faces) = one_of_each_pair(bits) {
                            faces.into_iter().for_each(|face| sum += SHARE * fine.residual[columns[face] as usize]);
                            continue;
                        }
                        while bits != 0 {
                            sum += SHARE * fine.residual[columns[bits.trailing_zeros() as usize] as usize];
                            bits &= bits - 1;
                        }
                    }
                }
                *rhs = sum;
            }
        });
    }

    /// Interpolates the coarser level's solution to the red unknowns; the black ones are relaxed
    /// next.
    fn correct(&mut self, coarse: &Self) {
        let (num_red, width) = (self.num_red, self.width);
        let (aggregate_of, outward, columns) = (&self.aggregate_of, &self.outward, &self.columns);
        each_grain(&mut self.x[..num_red], |from, x| {
            for (k, x) in x.iter_mut().enumerate() {
                let i = from + k;
                let Some(own) = aggregate_of[i].get().map(|unknown| coarse.x[unknown]) else { continue };
                let mut bits = outward[i];
                let columns = &columns[i * width..][..width];
                // Couplings that lead outward connect aggregated unknowns.
                let beyond = |face: usize| {
                    let unknown = aggregate_of[num_red + columns[face] as usize].get();
                    unknown.map_or(own, |unknown| coarse.x[unknown])
                };
                let mut correction = own;
                if let Some(faces) = one_of_each_pair(bits) {
                    faces.into_iter().for_each(|face| correction += SHARE * (beyond(face) - own));
                    bits = 0;
                }
                while bits != 0 {
                    correction += SHARE * (beyond(bits.trailing_zeros() as usize) - own);
                    bits &= bits - 1;
                }
                *x += correction;
            }
        });
    }
}

/// The three bits that are set of six, if they are one of each pair: so for all cells with liquid
/// around their block.
fn one_of_each_pair(bits: u32) -> Option<[usize; 3]> {
    const LOW: u32 = 0b01_01_01;
    let high = |pair: u32| (2 * pair + (bits >> (2 * pair + 1) & 1)) as usize;
    (bits < 64 && (bits ^ (bits >> 1)) & LOW == LOW).then(|| [high(0), high(1), high(2)])
}

/// The rows of one color.
struct ColorRows<'a> {
    width: usize,
    columns: &'a [u32],
    couplings: &'a [f32],
    first: usize,
    runs: &'a UniformRuns,
    full: f32,
    rhs: &'a [f32],
}

impl ColorRows<'_> {
    /// b + Σ c x over the other color for the rows of a grain, beginning with its first.
    fn sum(&self, from: usize, out: &mut [f32], other: &[f32]) {
        let mut done = 0;
        for run in self.runs.of_part(from) {
            let first = run.first as usize;
            self.look_up(from + done, &mut out[done..first - from], other);
            let (sums, rhs) = (run.short_sums(other), &self.rhs[first..][..SHORT]);
            done = first - from + SHORT;
            for (lane, out) in out[first - from..done].iter_mut().enumerate() {
                *out = rhs[lane] + self.full * sums[lane];
            }
        }
        self.look_up(from + done, &mut out[done..], other);
    }

    /// The same for rows from `from` on that are in no run.
    fn look_up(&self, from: usize, out: &mut [f32], other: &[f32]) {
        let range = (self.first + from) * self.width..(self.first + from + out.len()) * self.width;
        let (columns, couplings) = (&self.columns[range.clone()], &self.couplings[range]);
        let out = out.iter_mut().zip(&self.rhs[from..]);
        // A color may be empty; then all couplings are 0.
        if other.is_empty() {
            out.for_each(|(out, rhs)| *out = *rhs);
        } else if self.width == USUAL_WIDTH {
            let matrix = columns.as_chunks::<USUAL_WIDTH>().0.iter().zip(couplings.as_chunks::<USUAL_WIDTH>().0);
            for ((out, rhs), (columns, couplings)) in out.zip(matrix) {
                let mut sum = 0.0;
                for (column, coupling) in columns.iter().zip(couplings) {
                    sum += coupling * other[*column as usize];
                }
                *out = rhs + sum;
            }
        } else {
            let matrix = columns.chunks_exact(self.width).zip(couplings.chunks_exact(self.width));
            for ((out, rhs), (columns, couplings)) in out.zip(matrix) {
                let coupled = columns.iter().zip(couplings).map(|(column, c)| c * other[*column as usize]);
                *out = rhs + coupled.sum::<f32>();
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
