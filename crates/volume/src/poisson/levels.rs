//! Levels of the multigrid: each aggregates the cells of the finer one in blocks of 2³, as far as
//! they are connected.
//!
//! Unknowns of a level are numbered red ones first (x + y + z even), then black ones: each is
//! coupled to the other color only, so that all of one color can be relaxed at once. Two cells of a
//! block that no coupling within the block connects (liquid on both sides of a thin wall, two drops
//! that nearly touch) become two unknowns of the next level, so that nothing leaks; an unknown
//! without couplings is solved by relaxation and not aggregated.
//!
//! Couplings of the coarse level are the sums over the fine faces, halved since the distance
//! between centers doubles. A coupling g to a Dirichlet value becomes 1/(1/g + 1/2c), c the level's
//! full coupling: half a fine cell farther away.

use std::mem;

use rayon::prelude::*;

use super::matrix::Matrix;
use super::uniform_runs::UniformRuns;
use super::{OptionalUnknown, System};

/// Unknowns per task.
pub const GRAIN: usize = 4096;
/// Couplings of at least this fraction of the strongest one at the weaker end connect a block.
const STRONG: f32 = 0.05;
/// Largest number of couplings: a block has at most eight members with three faces each to others.
const MAX_WIDTH: usize = 24;
/// Couplings of a row unless walls have split blocks around it.
pub const USUAL_WIDTH: usize = 6;

/// What a row has besides its couplings.
struct Row {
    /// Number of couplings; possibly more than were kept.
    found: usize,
    /// Coupling to Dirichlet values.
    dirichlet: f32,
    /// See [`Level::uniform`].
    uniform: bool,
}

/// One level.
#[derive(Debug, Default)]
pub struct Level {
    /// Number of red unknowns; the others are black.
    pub num_red: usize,
    /// Couplings per row; missing ones are 0.
    pub width: usize,
    /// For each coupling, the other unknown's position among its color.
    pub columns: Vec<u32>,
    /// The couplings.
    pub couplings: Vec<f32>,
    /// Inverse of the diagonal; 0 where that is 0.
    pub inverse: Vec<f32>,
    /// The unknown of the next level that each is part of; none where it is not aggregated.
    pub aggregate_of: Vec<OptionalUnknown>,
    /// For each row, which of its couplings are strong and lead into another block, a bit each.
    pub outward: Vec<u32>,
    /// Range of each unknown's members in `member_lists`.
    pub members: Vec<[u32; 2]>,
    /// Members of the unknowns, in the finer level.
    pub member_lists: Vec<u32>,
    /// Right-hand side.
    pub rhs: Vec<f32>,
    /// Solution.
    pub x: Vec<f32>,
    /// Residual of the red unknowns.
    pub residual: Vec<f32>,
    /// Runs of red and of black unknowns.
    pub runs: [UniformRuns; 2],
    /// Coupling of the runs' unknowns.
    pub full: f32,
    cells: Vec<[i32; 3]>,
    dirichlet: Vec<f32>,
    /// Strongest coupling of each row.
    strongest: Vec<f32>,
    /// Unknowns with six couplings of the strength `full`, in the order −x, +x, −y, +y, −z, +z.
    uniform: Vec<bool>,
    counts: Vec<u8>,
    /// Positions of the unknowns, by their order of creation.
    places: Vec<u32>,
}

impl Level {
    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.inverse.len()
    }

    /// The position, colors together, that a column of row `i` stands for.
    pub fn neighbor(&self, i: usize, column: u32) -> usize {
        if i < self.num_red { self.num_red + column as usize } else { column as usize }
    }

    /// Numbers `cells` (by order of creation) red first.
    fn number(&mut self, cells: &[[i32; 3]]) {
        let is_red = |&[x, y, z]: &[i32; 3]| (x ^ y ^ z) & 1 == 0;
        self.num_red = cells.iter().filter(|cell| is_red(cell)).count();
        let mut next = [0, self.num_red as u32];
        self.places.clear();
        self.places.extend(cells.iter().map(|cell| {
            let place = &mut next[usize::from(!is_red(cell))];
            *place += 1;
            *place - 1
        }));
        reset(&mut self.cells, cells.len(), [0; 3]);
        for (cell, &place) in cells.iter().zip(&self.places) {
            self.cells[place as usize] = *cell;
        }
    }

    /// Resizes the arrays; they are written before they are read.
    fn resize(&mut self, n: usize) {
        let numbers = [&mut self.inverse, &mut self.dirichlet, &mut self.strongest, &mut self.rhs, &mut self.x];
        numbers.into_iter().for_each(|values| values.resize(n, 0.0));
        self.residual.resize(self.num_red, 0.0);
        self.uniform.resize(n, false);
        self.counts.resize(n, 0);
        self.columns.resize(n * self.width, 0);
        self.couplings.resize(n * self.width, 0.0);
    }

    /// Writes the rows, each by `row(place, columns, couplings)`; keeps at most `width` couplings
    /// and returns the largest number found.
    fn fill(&mut self, width: usize, row: impl Fn(usize, &mut [u32], &mut [f32]) -> Row + Sync) -> usize {
        self.width = width;
        self.resize(self.cells.len());
        let (columns, couplings) =
            (self.columns.par_chunks_mut(width * GRAIN), self.couplings.par_chunks_mut(width * GRAIN));
        let scalars = self.inverse.par_chunks_mut(GRAIN).zip(self.dirichlet.par_chunks_mut(GRAIN));
        let more = self.strongest.par_chunks_mut(GRAIN).zip(self.counts.par_chunks_mut(GRAIN));
        let more = more.zip(self.uniform.par_chunks_mut(GRAIN));
        columns.zip(couplings).zip(scalars).zip(more).enumerate().for_each(|(task, values)| {
            let (((columns, couplings), (inverse, dirichlet)), ((strongest, counts), uniform)) = values;
            for (k, (columns, couplings)) in
                columns.chunks_exact_mut(width).zip(couplings.chunks_exact_mut(width)).enumerate()
            {
                columns.fill(0);
                couplings.fill(0.0);
                let row = row(task * GRAIN + k, columns, couplings);
                let diagonal = row.dirichlet + couplings.iter().sum::<f32>();
                inverse[k] = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
                dirichlet[k] = row.dirichlet;
                strongest[k] = couplings.iter().fold(0.0, |a, &b| f32::max(a, b));
                counts[k] = row.found as u8;
                uniform[k] = row.uniform;
            }
        });
        usize::from(self.counts.iter().copied().max().unwrap_or(0))
    }

    /// Finds the runs.
    fn list_runs(&mut self) {
        let (columns, uniform) = (&self.columns, &self.uniform);
        for (runs, (first, end)) in self.runs.iter_mut().zip([(0, self.num_red), (self.num_red, uniform.len())]) {
            runs.list_short(end - first, GRAIN, |place| {
                let place = first + place;
                uniform[place].then(|| std::array::from_fn(|face| columns[place * USUAL_WIDTH + face]))
            });
        }
    }

    /// Builds the finest level from the system, with a diagonal of at most 1; returns the scale of
    /// the couplings.
    pub fn finest(&mut self, system: &System, matrix: &Matrix) -> f64 {
        let largest = matrix.diagonal.iter().fold(0.0, |a, &b| f64::max(a, b));
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        self.number(&system.cells);
        let places = mem::take(&mut self.places);
        // Members of the finest level: the unknowns of the system, by position.
        reset(&mut self.member_lists, places.len(), 0);
        for (natural, &place) in places.iter().enumerate() {
            self.member_lists[place as usize] = natural as u32;
        }
        let natural = mem::take(&mut self.member_lists);
        let num_red = self.num_red;
        let full = (matrix.full() * scale) as f32;
        self.fill(USUAL_WIDTH, |place, columns, couplings| {
            let i = natural[place] as usize;
            let dirichlet = (system.dirichlet[i] * scale) as f32;
            let before = if place < num_red { num_red as u32 } else { 0 };
            if matrix.is_uniform(i) {
                let others = matrix.uniform_neighbors(system, i).map(|other| places[other as usize] - before);
                columns.copy_from_slice(&others);
                couplings.fill(full);
                return Row { found: USUAL_WIDTH, dirichlet, uniform: true };
            }
            for (face, other) in system.neighbors[i].iter().enumerate() {
                // In planar runs a cell is its own neighbor along z.
                let Some(other) = other.get().filter(|&other| other != i) else { continue };
                let coupling = system.coupling(i, face);
                if coupling > 0.0 {
                    columns[face] = places[other] - before;
                    couplings[face] = (coupling * scale) as f32;
                }
            }
            Row { found: USUAL_WIDTH, dirichlet, uniform: false }
        });
        self.full = full;
        (self.places, self.member_lists) = (places, natural);
        self.list_runs();
        scale
    }

    /// Position of each unknown on the finest level, and the inverse.
    pub fn finest_order(&self) -> (&[u32], &[u32]) {
        (&self.places, &self.member_lists)
    }

    /// Aggregates this level into `coarse`; false when that would not reduce it by a fifth.
    pub fn coarsen_into(&mut self, coarse: &mut Self, cells: &mut Vec<[i32; 3]>) -> bool {
        self.aggregate_blocks(coarse, cells);
        if cells.is_empty() || cells.len() * 5 > self.len() * 4 {
            return false;
        }
        coarse.number(cells);
        coarse.runs.iter_mut().for_each(UniformRuns::clear);
        self.place_blocks(coarse);
        let full = self.strongest.par_iter().with_min_len(GRAIN).copied().reduce(|| 0.0, f32::max);
        let fine = &*self;
        let members = mem::take(&mut coarse.members);
        let lists = mem::take(&mut coarse.member_lists);
        let num_red = coarse.num_red;
        coarse.full = 2.0 * self.full;
        let twice = coarse.full;
        let row = |place: usize, columns: &mut [u32], couplings: &mut [f32]| {
            let [from, to] = members[place];
            if let Some((others, dirichlet)) =
                fine.neighbors_of_whole_block(&lists[from as usize..to as usize], place, full)
            {
                let before = if place < num_red { num_red as u32 } else { 0 };
                columns.iter_mut().zip(others).for_each(|(column, other)| *column = other - before);
                couplings[..USUAL_WIDTH].fill(twice);
                return Row { found: USUAL_WIDTH, dirichlet, uniform: true };
            }
            let (found, count, dirichlet) =
                fine.sum_couplings(&lists[from as usize..to as usize], place, num_red, full);
            for (&(other, value), (column, coupling)) in found[..count].iter().zip(columns.iter_mut().zip(couplings)) {
                *column = if place < num_red { other - num_red as u32 } else { other };
                *coupling = value;
            }
            Row { found: count, dirichlet, uniform: false }
        };
        let widest = coarse.fill(USUAL_WIDTH, row);
        if widest > USUAL_WIDTH {
            coarse.fill(widest, row);
        }
        (coarse.members, coarse.member_lists) = (members, lists);
        self.mark_outward();
        true
    }

    /// Couplings of a block to others, by their position, their number, and its coupling to
    /// Dirichlet values; `num_red` is that of the coarse level.
    fn sum_couplings(
        &self,
        members: &[u32],
        place: usize,
        num_red: usize,
        full: f32,
    ) -> ([(u32, f32); MAX_WIDTH], usize, f32) {
        let mut found: [(u32, f32); MAX_WIDTH] = [(0, 0.0); MAX_WIDTH];
        let mut count = 0;
        let mut dirichlet = 0.0;
        for &member in members {
            let member = member as usize;
            dirichlet += coarse_dirichlet(self.dirichlet[member], full);
            for slot in member * self.width..(member + 1) * self.width {
                let coupling = self.couplings[slot];
                if coupling == 0.0 {
                    continue;
                }
                let other = self.aggregate_of[self.neighbor(member, self.columns[slot])];
                // An unknown with a coupling to an aggregated one is aggregated itself.
                let Some(other) = other.get() else { continue };
                // Weakly connected parts of one block have one color and stay uncoupled.
                if other == place || (other < num_red) == (place < num_red) {
                    continue;
                }
                let other = other as u32;
                match found[..count].iter_mut().find(|known| known.0 == other) {
                    Some(known) => known.1 += 0.5 * coupling,
                    None if count < MAX_WIDTH => {
                        found[count] = (other, 0.5 * coupling);
                        count += 1;
                    }
                    None => {}
                }
            }
        }
        (found, count, dirichlet)
    }

    /// Lists the blocks: their cells in `cells`, their members in `coarse`, and each member's
    /// block.
    fn aggregate_blocks(&mut self, coarse: &mut Self, cells: &mut Vec<[i32; 3]>) {
        reset(&mut self.aggregate_of, self.cells.len(), OptionalUnknown::NONE);
        coarse.members.clear();
        coarse.member_lists.clear();
        cells.clear();
        for seed in 0..self.len() {
            if self.aggregate_of[seed].is_some() || self.strongest[seed] == 0.0 {
                continue;
            }
            let block = self.cells[seed].map(|c| c >> 1);
            let first = coarse.member_lists.len();
            let number = OptionalUnknown::new(cells.len());
            cells.push(block);
            if let Some(whole) = self.whole_block(seed) {
                whole.iter().for_each(|&member| self.aggregate_of[member as usize] = number);
                coarse.member_lists.extend_from_slice(&whole);
                coarse.members.push([first as u32, first as u32 + 8]);
                continue;
            }
            self.aggregate_of[seed] = number;
            coarse.member_lists.push(seed as u32);
            let mut next = first;
            while next < coarse.member_lists.len() {
                let member = coarse.member_lists[next] as usize;
                next += 1;
                for slot in member * self.width..(member + 1) * self.width {
                    let other = self.neighbor(member, self.columns[slot]);
                    if self.is_strong(member, other, self.couplings[slot])
                        && !self.aggregate_of[other].is_some()
                        && self.cells[other].map(|c| c >> 1) == block
                    {
                        self.aggregate_of[other] = number;
                        coarse.member_lists.push(other as u32);
                    }
                }
            }
            coarse.members.push([first as u32, coarse.member_lists.len() as u32]);
        }
    }

    /// The eight members of an unknown's block, if all of them are uniform.
    fn whole_block(&self, seed: usize) -> Option<[u32; 8]> {
        let inward = self.cells[seed].map(|c| usize::from(c & 1 == 0));
        let next = |from: u32, axis: usize| {
            let from = from as usize;
            let other = self.neighbor(from, self.columns[from * self.width + 2 * axis + inward[axis]]);
            self.uniform[other].then_some(other as u32)
        };
        let seed = self.uniform[seed].then_some(seed as u32)?;
        let x = next(seed, 0)?;
        let [y, xy] = [next(seed, 1)?, next(x, 1)?];
        Some([seed, x, y, xy, next(seed, 2)?, next(x, 2)?, next(y, 2)?, next(xy, 2)?])
    }

    /// The six blocks around one whose members are all uniform, if each of its faces leads to one,
    /// and its coupling to Dirichlet values.
    fn neighbors_of_whole_block(&self, members: &[u32], place: usize, full: f32) -> Option<([u32; USUAL_WIDTH], f32)> {
        if members.len() != 8 {
            return None;
        }
        let (mut others, mut dirichlet) = ([None; USUAL_WIDTH], 0.0);
        for &member in members {
            let member = member as usize;
            if !self.uniform[member] {
                return None;
            }
            dirichlet += coarse_dirichlet(self.dirichlet[member], full);
            for (axis, coordinate) in self.cells[member].into_iter().enumerate() {
                let face = 2 * axis + (coordinate & 1) as usize;
                let other = self.aggregate_of[self.neighbor(member, self.columns[member * self.width + face])].get()?;
                if other == place || *others[face].get_or_insert(other) != other {
                    return None;
                }
            }
        }
        Some((others.map(|other| other.map_or(0, |other| other as u32)), dirichlet))
    }

    /// Converts block numbers to positions, in `aggregate_of` and in the order of `coarse.members`.
    fn place_blocks(&mut self, coarse: &mut Self) {
        let places = &coarse.places;
        self.aggregate_of.par_iter_mut().with_min_len(GRAIN).for_each(|aggregate_of| {
            if let Some(block) = aggregate_of.get() {
                *aggregate_of = OptionalUnknown::new(places[block] as usize);
            }
        });
        // The ranges are sorted through the positions.
        let made = mem::take(&mut coarse.members);
        reset(&mut coarse.outward, 2 * made.len(), 0);
        for (range, &place) in made.iter().zip(places) {
            coarse.outward[2 * place as usize] = range[0];
            coarse.outward[2 * place as usize + 1] = range[1];
        }
        coarse.members = made;
        for (range, ordered) in coarse.members.iter_mut().zip(coarse.outward.chunks_exact(2)) {
            *range = [ordered[0], ordered[1]];
        }
    }

    fn mark_outward(&mut self) {
        let mut outward = mem::take(&mut self.outward);
        reset(&mut outward, self.len(), 0);
        outward.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(i, bits)| {
            if self.uniform[i] {
                let faces = self.cells[i].into_iter().zip([0, 2, 4]);
                *bits = faces.fold(0, |bits, (coordinate, low)| bits | 1 << (low + (coordinate & 1)));
                return;
            }
            for k in 0..self.width {
                let other = self.neighbor(i, self.columns[i * self.width + k]);
                let strong = self.is_strong(i, other, self.couplings[i * self.width + k]);
                let leaves = || self.cells[i].map(|c| c >> 1) != self.cells[other].map(|c| c >> 1);
                if strong && leaves() && self.aggregate_of[i].is_some() && self.aggregate_of[other].is_some() {
                    *bits |= 1 << k;
                }
            }
        });
        self.outward = outward;
    }

    fn is_strong(&self, a: usize, b: usize, coupling: f32) -> bool {
        coupling > 0.0 && coupling >= STRONG * self.strongest[a].min(self.strongest[b])
    }
}

/// Coupling to Dirichlet values on the next level; `full` is the strongest coupling on this one.
fn coarse_dirichlet(dirichlet: f32, full: f32) -> f32 {
    dirichlet * full / (full + 0.5 * dirichlet)
}

fn reset<T: Clone>(values: &mut Vec<T>, n: usize, value: T) {
    values.clear();
    values.resize(n, value);
}
