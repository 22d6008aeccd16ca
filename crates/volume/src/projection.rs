//! Pressure makes the velocity free of divergence, and surface tension enters through it.
//!
//! With q = pΔt/(ρh), in m/s, the velocity across a face becomes u − (q₊ − q₋), and each liquid cell asks
//!
//! ```text
//! Σ_faces ± a u = S,      a the open share of a face, S the cell's source (m/s); solids in motion add (1 − a) u_solid
//! ```
//!
//! which is a symmetric system for q. Unknowns are all cells with φ < 0 that have an open face, also those whose center lies in a solid.
//!
//! **At the surface** p = γκ. Second order (gibou2002): the surface cuts the line from a liquid cell to an air cell at the share
//! θ = φ_l/(φ_l − φ_a) of the way, so the slope of q there is (γκΔt/ρh² − q)/θ, with κ interpolated to the cut. First order (wang2005, §5.3):
//! θ = 1 and κ of the air cell.
//!
//! **Pinned lines**: the liquid–air faces of a pinned line are closed (`Flow::held`).
//!
//! The solve stops when what is left of the divergence would change a cell's volume by `LEFT_OVER` in one step.

mod deep;

use rayon::prelude::*;

use crate::curvature::at_crossing;
use crate::extrapolation::sample;
use crate::faces::{Kinds, WET};
use crate::grid::local_center;
use crate::poisson::{NONE, Options, PoissonError, Report, Solver, System};
use crate::solids::{Solids, Wall};
use crate::surface_motion::LIFT;
use crate::tiles::{CELLS, Field, SIDE, Tiles};

/// Share of its volume that a cell may gain or lose in a step by what the solve leaves.
const LEFT_OVER: f64 = 1e-6;
/// Nearest that the surface counts to be to a liquid cell's center, in cells.
const NEAREST: f64 = 1e-2;

/// Speed of the surface, in cells per step, from which on the pressure has its say beside lines too.
const FAST: f64 = 0.15;

/// What the projection reads.
pub struct Flow<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The kinds of faces.
    pub kinds: &'a Kinds,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// Its curvature, in 1/cells.
    pub kappa: &'a Field<f64>,
    /// Cells at which the line is pinned.
    pub pinned: &'a Field<bool>,
    /// γΔt/(ρh²), in m/s: q at the surface per κ.
    pub tension: f64,
    /// Second order at the surface; else first.
    pub second_order: bool,
    /// Whether κ just above a wall is read higher up along the surface; the virtual surface's belongs to its own cell.
    pub lifts: bool,
    /// Δt/h, in s/m.
    pub reach: f64,
    /// The velocity that moved the surface last.
    pub before: &'a [Field<f64>; 3],
}

/// One cell's equation.
#[derive(Debug, PartialEq)]
struct Equation {
    neighbors: [u32; 6],
    faces: [f64; 3],
    outside: f64,
    right: f64,
}

/// The unknowns, their system, and memory that is used again.
#[derive(Debug)]
pub struct Projection {
    /// The cell of each unknown, in the order of cells.
    pub cells: Vec<u32>,
    /// The unknown of each cell, or [`NONE`].
    pub number: Field<u32>,
    /// The system of the last step; its neighbors are those that share an open face.
    pub system: System,
    /// q of each unknown, in m/s.
    pub q: Vec<f64>,
    solver: Solver,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            number: Field::new(NONE),
            system: System::default(),
            q: Vec::new(),
            solver: Solver::default(),
        }
    }
}

impl Flow<'_> {
    /// The velocity across a face between liquid and air in which the pressure has no say; none where it has.
    ///
    /// Where a pinned line holds one of the two cells, it is the wall's. Where the center of one lies in a solid, φ there is the extension's and follows the surface above it; so does the flow. (Left to
    /// the pressure, 100 mm/s come in there beside the line and leave by the next face, for ever: no displacement of the surface answers. Closed, low angles on round solids stick up to 3 % off.)
    /// But liquid that comes down fast must be able to get out of the way: what it carries into a cell that is nearly shut would leave through the slit that is left, at any speed.
    fn held(&self, axis: usize, low: usize, high: usize, wall_velocity: impl Fn() -> f64) -> Option<f64> {
        let (phi, pinned) = (self.phi.values(), self.pinned.values());
        if (phi[low] < 0.0) == (phi[high] < 0.0) {
            return None;
        }
        if pinned[low] || pinned[high] {
            return Some(wall_velocity());
        }
        if !(self.solids.hold(low) || self.solids.hold(high)) {
            return None;
        }
        Some(self.carried(axis, low, high)).filter(|velocity| velocity.abs() * self.reach < FAST)
    }

    /// The velocity of the surface above the wall, as it moves φ, across a face.
    fn carried(&self, axis: usize, low: usize, high: usize) -> f64 {
        let s = self.solids.distance.values();
        let mut at = local_center(high % CELLS);
        at[axis] -= 0.5;
        let normal = (self.solids.normal(self.tiles, low) + self.solids.normal(self.tiles, high)).normalize_or_zero();
        let height = 0.5 * (s[low] + s[high]);
        let moving = sample(self.tiles, self.before, high / CELLS, at + normal * (LIFT - height));
        (moving - normal * moving.dot(normal) * (1.0 - height.max(0.0) / LIFT))[axis]
    }

    /// The share of the way from a liquid cell to an air cell that lies in the liquid.
    pub fn share(&self, liquid: usize, air: usize) -> f64 {
        let (a, b) = (self.phi.values()[liquid], self.phi.values()[air]);
        if self.second_order { (a / (a - b)).max(NEAREST) } else { 1.0 }
    }

    /// q at the surface between a liquid cell and an air cell.
    pub fn surface_q(&self, liquid: usize, air: usize) -> f64 {
        let share = if self.second_order { self.share(liquid, air) } else { 1.0 };
        if !self.lifts && !self.second_order {
            return self.tension * self.kappa.values()[air];
        }
        self.tension * at_crossing(self.tiles, self.solids, self.phi, self.kappa, [liquid, air], share)
    }

    /// The equation of the cell `index` with the source S.
    fn equation(
        &self,
        number: &Field<u32>,
        velocity: &[Field<f64>; 3],
        index: usize,
        source: f64,
        wall_velocity: &(impl Fn(&Wall, usize, usize) -> f64 + Sync),
    ) -> Equation {
        let mut row = Equation { neighbors: [NONE; 6], faces: [0.0; 3], outside: 0.0, right: source };
        for direction in 0..2 * self.tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = self.tiles.next(index, axis, if up { 1 } else { -1 }) else { continue };
            let face = if up { next } else { index };
            let open = self.solids.open[axis].values()[face];
            let outward = if up { 1.0 } else { -1.0 };
            let shut = 1.0 - open;
            if shut > 0.0 {
                row.right -= outward * shut * wall_velocity(&self.solids.wall.values()[index], index, axis);
            }
            if open <= 0.0 {
                continue;
            }
            let [low, high] = if up { [index, next] } else { [next, index] };
            let wall = || wall_velocity(&self.solids.wall.values()[high], high, axis);
            if let Some(velocity) = self.held(axis, low, high, wall) {
                row.right -= outward * open * velocity;
                continue;
            }
            row.right -= outward * open * velocity[axis].values()[face];
            if number.values()[next] != NONE {
                row.neighbors[direction] = number.values()[next];
                if up {
                    row.faces[axis] = open;
                }
            } else if self.phi.values()[next] >= 0.0 {
                let weight = open / self.share(index, next);
                row.outside += weight;
                row.right += weight * self.surface_q(index, next);
            }
        }
        row
    }
}

impl Projection {
    /// Finds the unknowns.
    pub fn number_cells(&mut self, tiles: &Tiles, solids: &Solids, phi: &Field<f64>) {
        self.number.resize(tiles);
        self.number.par_tiles_mut().enumerate().for_each(|(slot, number)| {
            number.fill(NONE);
            for local in 0..tiles.cells_in_use() {
                let index = slot * CELLS + local;
                if phi.values()[index] >= 0.0 {
                    continue;
                }
                let open = solids.distance.values()[index] > 1.0
                    || (0..tiles.dims()).any(|axis| {
                        solids.open[axis].values()[index] > 0.0
                            || tiles.next(index, axis, 1).is_some_and(|high| solids.open[axis].values()[high] > 0.0)
                    });
                if open {
                    number[local] = 0;
                }
            }
        });
        self.cells.clear();
        for (index, number) in self.number.values_mut().iter_mut().enumerate() {
            if *number != NONE {
                *number = self.cells.len() as u32;
                self.cells.push(index as u32);
            }
        }
    }

    /// Writes the equations; `source` gives S of each unknown and `wall_velocity` how fast a wall moves along an axis at a cell.
    pub fn assemble(
        &mut self,
        flow: &Flow<'_>,
        velocity: &[Field<f64>; 3],
        source: &[f64],
        wall_velocity: &(impl Fn(&Wall, usize, usize) -> f64 + Sync),
    ) {
        let Self { cells, number, system, .. } = self;
        let n = cells.len();
        system.cells.resize(n, [0; 3]);
        system.neighbors.resize(n, [NONE; 6]);
        system.faces.resize(n, [0.0; 3]);
        system.outside.resize(n, 0.0);
        system.right.resize(n, 0.0);
        let rows = (
            system.cells.par_chunks_mut(CELLS),
            system.neighbors.par_chunks_mut(CELLS),
            system.faces.par_chunks_mut(CELLS),
            system.outside.par_chunks_mut(CELLS),
            system.right.par_chunks_mut(CELLS),
        );
        let known = cells.par_chunks(CELLS).zip(source.par_chunks(CELLS));
        let number = &*number;
        rows.into_par_iter().zip(known).for_each(|((places, neighbors, faces, outside, right), (cells, source))| {
            let mut write = |at: usize, row: &Equation| {
                places[at] = flow.tiles.cell(cells[at] as usize);
                (neighbors[at], faces[at]) = (row.neighbors, row.faces);
                (outside[at], right[at]) = (row.outside, row.right);
            };
            let mut at = 0;
            while at < cells.len() {
                let first = cells[at] as usize;
                let last = cells.get(at + SIDE - 1).map(|&last| last as usize);
                let is_row = first.is_multiple_of(SIDE) && last == Some(first + SIDE - 1);
                let deep = if is_row { flow.deep_row(number, velocity, first) } else { None };
                if let Some(deep) = deep {
                    (0..SIDE).for_each(|lane| write(at + lane, &deep.equation(lane, source[at + lane])));
                    at += SIDE;
                } else {
                    write(at, &flow.equation(number, velocity, first, source[at], wall_velocity));
                    at += 1;
                }
            }
        });
    }

    /// Solves for q, from what it holds.
    pub fn solve(&mut self, flow: &Flow<'_>) -> Result<Report, PoissonError> {
        let options = Options { tolerance: LEFT_OVER / flow.reach, relative_tolerance: 0.0, ..Options::default() };
        self.solver.solve(&self.system, &mut self.q, &options)
    }

    /// Takes the pressure's gradient off the velocity of wet faces.
    pub fn correct(
        &mut self,
        flow: &Flow<'_>,
        velocity: &mut [Field<f64>; 3],
        wall_velocity: &(impl Fn(&Wall, usize, usize) -> f64 + Sync),
    ) {
        let Self { q, number: unknowns, .. } = self;
        let (q, unknowns) = (&*q, &*unknowns);
        let number = unknowns.values();
        let phi = flow.phi.values();
        for (axis, component) in velocity.iter_mut().enumerate().take(flow.tiles.dims()) {
            component.par_tiles_mut().enumerate().for_each(|(slot, out)| {
                let kinds = flow.kinds[axis].tile(slot);
                let mut deep = false;
                for local in 0..flow.tiles.cells_in_use() {
                    let high = slot * CELLS + local;
                    if local % SIDE == 0 {
                        let row = out[local..].first_chunk_mut().expect("a row of a tile");
                        deep = flow.correct_deep_row(unknowns, q, axis, high, row).is_some();
                    }
                    if deep || kinds[local] & WET == 0 {
                        continue;
                    }
                    let Some(low) = flow.tiles.next(high, axis, -1) else { continue };
                    let wall = || wall_velocity(&flow.solids.wall.values()[high], high, axis);
                    if let Some(velocity) = flow.held(axis, low, high, wall) {
                        if number[low] != number[high] {
                            out[local] = velocity;
                        }
                        continue;
                    }
                    out[local] -= match (number[low], number[high]) {
                        (NONE, NONE) => 0.0,
                        (NONE, h) if phi[low] >= 0.0 => {
                            (q[h as usize] - flow.surface_q(high, low)) / flow.share(high, low)
                        }
                        (l, NONE) if phi[high] >= 0.0 => {
                            (flow.surface_q(low, high) - q[l as usize]) / flow.share(low, high)
                        }
                        (NONE, _) | (_, NONE) => 0.0,
                        (l, h) => q[h as usize] - q[l as usize],
                    };
                }
            });
        }
    }
}
