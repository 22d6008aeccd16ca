//! The levels of multigrid: each gathers the cells of the one before in blocks of 2³, as far as they hang together.
//!
//! Unknowns of a level are numbered red ones first (x + y + z even), then black ones: each is coupled to the other color only, so that
//! all of one color can be relaxed at once. Two cells of a block that no coupling within the block connects (water on both sides of a thin wall,
//! two drops that nearly touch) become two unknowns of the next level, so nothing leaks; an unknown without couplings is solved by relaxation and not taken further.
//!
//! Couplings of the coarse level are the sums over the fine faces, halved since the distance between centers doubles. A
//! coupling g to a known value at a distance becomes 1/(1/g + 1/2c), c the level's full coupling: half a fine cell further off.

use std::mem;

use rayon::prelude::*;

use super::rows::Rows;
use super::runs::Runs;
use super::{NONE, System};

/// Not gathered into any coarse unknown.
pub const UNGATHERED: u32 = u32::MAX;
/// Unknowns that a task takes, where there are more.
pub const GRAIN: usize = 4096;
/// Couplings at least this share of the strongest that the weaker end has bind a block together.
const STRONG: f32 = 0.05;
/// A block has at most eight members with three faces each to others.
const MAX_WIDTH: usize = 24;
/// Couplings that a row has unless walls have split blocks around it.
pub const USUAL_WIDTH: usize = 6;

/// What a row has beside its couplings.
struct Row {
    /// How many couplings there are; more than were kept, perhaps.
    found: usize,
    /// Coupling to known values.
    held: f32,
    /// See [`Level::alike`].
    alike: bool,
}

/// One level.
#[derive(Debug, Default)]
pub struct Level {
    /// How many unknowns are red; the others are black.
    pub num_red: usize,
    /// Couplings per row; missing ones are 0.
    pub width: usize,
    /// For each coupling, the other unknown's place among its color.
    pub columns: Vec<u32>,
    /// The couplings.
    pub couplings: Vec<f32>,
    /// One over the diagonal; 0 where that is 0.
    pub inverse: Vec<f32>,
    /// The unknown of the next level that each is part of, or [`UNGATHERED`].
    pub gathered: Vec<u32>,
    /// For each row, which of its couplings lead into another block of the next level and are strong, a bit each.
    pub outward: Vec<u32>,
    /// The members of each unknown in the level before.
    pub members: Vec<[u32; 2]>,
    /// The lists that `members` points into.
    pub member_lists: Vec<u32>,
    /// Right-hand side, solution, and the red residual.
    pub right: Vec<f32>,
    /// Solution.
    pub x: Vec<f32>,
    /// Residual of the red unknowns.
    pub residual: Vec<f32>,
    /// The runs of red and of black unknowns.
    pub runs: [Runs; 2],
    /// The coupling of the runs' unknowns.
    pub full: f32,
    cells: Vec<[i32; 3]>,
    outside: Vec<f32>,
    /// The strongest coupling of each row.
    strongest: Vec<f32>,
    /// Unknowns with six couplings of the strength `full`, which stand in the order −x, +x, −y, +y, −z, +z.
    alike: Vec<bool>,
    counts: Vec<u8>,
    /// For unknowns in order of making, their places.
    places: Vec<u32>,
}

impl Level {
    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.inverse.len()
    }

    /// The place, colors together, that a column of row `i` stands for.
    pub fn neighbor(&self, i: usize, column: u32) -> usize {
        if i < self.num_red { self.num_red + column as usize } else { column as usize }
    }

    /// Numbers `cells` (by order of making) red first; gives their places.
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

    /// Memory for `n` unknowns; what it holds is written before it is read.
    fn resize(&mut self, n: usize) {
        let numbers = [&mut self.inverse, &mut self.outside, &mut self.strongest, &mut self.right, &mut self.x];
        numbers.into_iter().for_each(|values| values.resize(n, 0.0));
        self.residual.resize(self.num_red, 0.0);
        self.alike.resize(n, false);
        self.counts.resize(n, 0);
        self.columns.resize(n * self.width, 0);
        self.couplings.resize(n * self.width, 0.0);
    }

    /// Makes the rows, each by `row(place, columns, couplings)`, `width` of the couplings kept at most.
    fn fill(&mut self, width: usize, row: impl Fn(usize, &mut [u32], &mut [f32]) -> Row + Sync) -> usize {
        self.width = width;
        self.resize(self.cells.len());
        let (columns, couplings) =
            (self.columns.par_chunks_mut(width * GRAIN), self.couplings.par_chunks_mut(width * GRAIN));
        let scalars = self.inverse.par_chunks_mut(GRAIN).zip(self.outside.par_chunks_mut(GRAIN));
        let more = self.strongest.par_chunks_mut(GRAIN).zip(self.counts.par_chunks_mut(GRAIN));
        let more = more.zip(self.alike.par_chunks_mut(GRAIN));
        columns.zip(couplings).zip(scalars).zip(more).enumerate().for_each(|(task, values)| {
            let (((columns, couplings), (inverse, outside)), ((strongest, counts), alike)) = values;
            for (k, (columns, couplings)) in
                columns.chunks_exact_mut(width).zip(couplings.chunks_exact_mut(width)).enumerate()
            {
                columns.fill(0);
                couplings.fill(0.0);
                let row = row(task * GRAIN + k, columns, couplings);
                let diagonal = row.held + couplings.iter().sum::<f32>();
                inverse[k] = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
                outside[k] = row.held;
                strongest[k] = couplings.iter().fold(0.0, |a, &b| f32::max(a, b));
                counts[k] = row.found as u8;
                alike[k] = row.alike;
            }
        });
        usize::from(self.counts.iter().copied().max().unwrap_or(0))
    }

    /// Finds the runs.
    fn list_runs(&mut self) {
        let (columns, alike) = (&self.columns, &self.alike);
        for (runs, (first, end)) in self.runs.iter_mut().zip([(0, self.num_red), (self.num_red, alike.len())]) {
            runs.list_short(end - first, GRAIN, |place| {
                let place = first + place;
                alike[place].then(|| std::array::from_fn(|face| columns[place * USUAL_WIDTH + face]))
            });
        }
    }

    /// The first level: the system itself, its diagonal at most 1. Returns the scale of the couplings.
    pub fn finest(&mut self, system: &System, rows: &Rows) -> f64 {
        let largest = rows.diagonal.iter().fold(0.0, |a, &b| f64::max(a, b));
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        self.number(&system.cells);
        let places = mem::take(&mut self.places);
        // The list of members of the finest level: the unknowns of the system, by place.
        reset(&mut self.member_lists, places.len(), 0);
        for (natural, &place) in places.iter().enumerate() {
            self.member_lists[place as usize] = natural as u32;
        }
        let natural = mem::take(&mut self.member_lists);
        let num_red = self.num_red;
        let full = (rows.full() * scale) as f32;
        self.fill(USUAL_WIDTH, |place, columns, couplings| {
            let i = natural[place] as usize;
            let held = (system.outside[i] * scale) as f32;
            let before = if place < num_red { num_red as u32 } else { 0 };
            if rows.is_alike(i) {
                let others = system.neighbors[i].map(|other| places[other as usize] - before);
                columns.copy_from_slice(&others);
                couplings.fill(full);
                return Row { found: USUAL_WIDTH, held, alike: true };
            }
            for (face, &other) in system.neighbors[i].iter().enumerate() {
                // Along z, a planar run's cell is its own neighbor.
                if other == NONE || other as usize == i {
                    continue;
                }
                let coupling = system.coupling(i, face);
                if coupling > 0.0 {
                    columns[face] = places[other as usize] - before;
                    couplings[face] = (coupling * scale) as f32;
                }
            }
            Row { found: USUAL_WIDTH, held, alike: false }
        });
        self.full = full;
        (self.places, self.member_lists) = (places, natural);
        self.list_runs();
        scale
    }

    /// For each unknown of the finest level, its place here, and the other way round.
    pub fn finest_order(&self) -> (&[u32], &[u32]) {
        (&self.places, &self.member_lists)
    }

    /// Gathers this level into `coarse`; false when there was nothing to gather, or too little to be worth it.
    pub fn gather_into(&mut self, coarse: &mut Self, cells: &mut Vec<[i32; 3]>) -> bool {
        self.gather_blocks(coarse, cells);
        if cells.is_empty() || cells.len() * 5 > self.len() * 4 {
            return false;
        }
        coarse.number(cells);
        coarse.runs.iter_mut().for_each(Runs::clear);
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
            if let Some((others, held)) = fine.around_whole_block(&lists[from as usize..to as usize], place, full) {
                let before = if place < num_red { num_red as u32 } else { 0 };
                columns.iter_mut().zip(others).for_each(|(column, other)| *column = other - before);
                couplings[..USUAL_WIDTH].fill(twice);
                return Row { found: USUAL_WIDTH, held, alike: true };
            }
            let mut found: [(u32, f32); MAX_WIDTH] = [(0, 0.0); MAX_WIDTH];
            let mut count = 0;
            let mut held = 0.0;
            for &member in &lists[from as usize..to as usize] {
                let member = member as usize;
                held += coarse_outside(fine.outside[member], full);
                for slot in member * fine.width..(member + 1) * fine.width {
                    let coupling = fine.couplings[slot];
                    if coupling == 0.0 {
                        continue;
                    }
                    let other = fine.gathered[fine.neighbor(member, fine.columns[slot])];
                    // Parts of one block that hang together only weakly are of one color and stay uncoupled.
                    if other == place as u32 || (other < num_red as u32) == (place < num_red) {
                        continue;
                    }
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
            for (&(other, value), (column, coupling)) in found[..count].iter().zip(columns.iter_mut().zip(couplings)) {
                *column = if place < num_red { other - num_red as u32 } else { other };
                *coupling = value;
            }
            Row { found: count, held, alike: false }
        };
        let widest = coarse.fill(USUAL_WIDTH, row);
        if widest > USUAL_WIDTH {
            coarse.fill(widest, row);
        }
        (coarse.members, coarse.member_lists) = (members, lists);
        self.mark_outward();
        true
    }

    /// Lists the blocks: their cells in `cells`, their members in `coarse`, and for each member the number of its block.
    fn gather_blocks(&mut self, coarse: &mut Self, cells: &mut Vec<[i32; 3]>) {
        reset(&mut self.gathered, self.cells.len(), UNGATHERED);
        coarse.members.clear();
        coarse.member_lists.clear();
        cells.clear();
        for seed in 0..self.len() {
            if self.gathered[seed] != UNGATHERED || self.strongest[seed] == 0.0 {
                continue;
            }
            let block = self.cells[seed].map(|c| c >> 1);
            let first = coarse.member_lists.len();
            let number = cells.len() as u32;
            cells.push(block);
            if let Some(whole) = self.whole_block(seed) {
                whole.iter().for_each(|&member| self.gathered[member as usize] = number);
                coarse.member_lists.extend_from_slice(&whole);
                coarse.members.push([first as u32, first as u32 + 8]);
                continue;
            }
            self.gathered[seed] = number;
            coarse.member_lists.push(seed as u32);
            let mut next = first;
            while next < coarse.member_lists.len() {
                let member = coarse.member_lists[next] as usize;
                next += 1;
                for slot in member * self.width..(member + 1) * self.width {
                    let other = self.neighbor(member, self.columns[slot]);
                    if self.is_strong(member, other, self.couplings[slot])
                        && self.gathered[other] == UNGATHERED
                        && self.cells[other].map(|c| c >> 1) == block
                    {
                        self.gathered[other] = number;
                        coarse.member_lists.push(other as u32);
                    }
                }
            }
            coarse.members.push([first as u32, coarse.member_lists.len() as u32]);
        }
    }

    /// The eight members of an unknown's block, if all of them are alike.
    fn whole_block(&self, seed: usize) -> Option<[u32; 8]> {
        let inward = self.cells[seed].map(|c| usize::from(c & 1 == 0));
        let next = |from: u32, axis: usize| {
            let from = from as usize;
            let other = self.neighbor(from, self.columns[from * self.width + 2 * axis + inward[axis]]);
            self.alike[other].then_some(other as u32)
        };
        let seed = self.alike[seed].then_some(seed as u32)?;
        let x = next(seed, 0)?;
        let [y, xy] = [next(seed, 1)?, next(x, 1)?];
        Some([seed, x, y, xy, next(seed, 2)?, next(x, 2)?, next(y, 2)?, next(xy, 2)?])
    }

    /// The six blocks around one whose members are all alike, if each of its sides leads to one, and its coupling to known values.
    fn around_whole_block(&self, members: &[u32], place: usize, full: f32) -> Option<([u32; USUAL_WIDTH], f32)> {
        if members.len() != 8 {
            return None;
        }
        let (mut others, mut held) = ([UNGATHERED; USUAL_WIDTH], 0.0);
        for &member in members {
            let member = member as usize;
            if !self.alike[member] {
                return None;
            }
            held += coarse_outside(self.outside[member], full);
            for (axis, coordinate) in self.cells[member].into_iter().enumerate() {
                let face = 2 * axis + (coordinate & 1) as usize;
                let other = self.gathered[self.neighbor(member, self.columns[member * self.width + face])];
                if others[face] == UNGATHERED {
                    others[face] = other;
                }
                if other != others[face] || other == place as u32 || other == UNGATHERED {
                    return None;
                }
            }
        }
        Some((others, held))
    }

    /// Turns numbers of blocks into places, in `gathered` and in the order of `coarse.members`.
    fn place_blocks(&mut self, coarse: &mut Self) {
        let places = &coarse.places;
        self.gathered.par_iter_mut().with_min_len(GRAIN).for_each(|gathered| {
            if *gathered != UNGATHERED {
                *gathered = places[*gathered as usize];
            }
        });
        // `cells` by place tells how many; the ranges are put in order through the places.
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
            if self.alike[i] {
                let faces = self.cells[i].into_iter().zip([0, 2, 4]);
                *bits = faces.fold(0, |bits, (coordinate, low)| bits | 1 << (low + (coordinate & 1)));
                return;
            }
            for k in 0..self.width {
                let other = self.neighbor(i, self.columns[i * self.width + k]);
                let strong = self.is_strong(i, other, self.couplings[i * self.width + k]);
                let leaves = || self.cells[i].map(|c| c >> 1) != self.cells[other].map(|c| c >> 1);
                if strong && leaves() && self.gathered[i] != UNGATHERED && self.gathered[other] != UNGATHERED {
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

/// What becomes of a coupling to known values on the next level, `full` being the strongest on this one.
fn coarse_outside(outside: f32, full: f32) -> f32 {
    outside * full / (full + 0.5 * outside)
}

fn reset<T: Clone>(values: &mut Vec<T>, n: usize, value: T) {
    values.clear();
    values.resize(n, value);
}
