//! Pressure projection: pressure makes the velocity free of divergence, and surface tension enters
//! through it.
//!
//! **Time step.** Explicit surface tension imposes the capillary limit ([`capillary_time_step`]);
//! beyond it short waves get inertia ([`short_wave_inertia`](crate::short_wave_inertia)), and a
//! second solve with the same matrix completes the first.
//!
//! With q = pΔt/(ρh), in m/s, the velocity across a face becomes u − (q₊ − q₋), and each liquid
//! cell satisfies
//!
//! ```text
//! Σ_faces ± a u = S,
//!     a the open fraction of a face, S the cell's source (m/s); moving solids add (1 − a) u_solid
//! ```
//!
//! a symmetric system for q. Unknowns are all cells with φ < 0 that have an open face, also those
//! whose center lies in a solid.
//!
//! **At the interface** p = γκ. Second order (gibou2002): the interface crosses the line from a
//! liquid cell to an air cell at the fraction θ = φ_l/(φ_l − φ_a), so the slope of q there is
//! (γκΔt/ρh² − q)/θ, with κ interpolated to the crossing. First order (wang2005, §5.3): θ = 1 and κ
//! of the air cell.
//!
//! **At contact lines** the flow through liquid–air faces is prescribed ([`line_flow`]).
//!
//! The solve stops when the remaining divergence would change a cell's volume by
//! `NumericalParameters::divergence_tolerance` in one step.

mod interior_rows;
mod line_flow;

use std::f64::consts::TAU;

use rayon::prelude::*;
use sessile_wetting::Liquid;

pub use self::line_flow::WallVelocity;
use crate::curvature::at_crossing;
use crate::error::SolveError;
use crate::faces::{FaceFlags, WET};
use crate::fluid::StepContext;
use crate::line_state::LineState;
use crate::net_capillary_force::cancel_net_forces;
use crate::parameters::{NumericalParameters, Parameters};
use crate::poisson::{Method, OptionalUnknown, Options, PoissonError, SolveReport, Solver, System};
use crate::scratch::Scratch;
use crate::short_wave_inertia::{SharingMemory, add_short_wave_inertia};
use crate::solids::{Solids, Wall, WallMotion};
use crate::state::State;
use crate::tiles::{CELLS, CellIndex, Field, SIDE, Tiles};

/// Least distance of the interface from a liquid cell's center, in cells.
pub const MIN_DISTANCE: f64 = 1e-2;

/// Tolerance of a solve that another one with the same equations completes, over the final one.
const PRELIMINARY: f64 = 100.0;

/// Longest stable step of explicit surface tension on cells of side `h` (in m), in s.
///
/// The shortest resolved capillary wave, λ = 2h, must not travel more than a fraction of a cell in
/// one step: Δt = √(ρh³/2πγ). Stages use `NumericalParameters::capillary_fraction` of it.
pub fn capillary_time_step(liquid: &Liquid, h: f64) -> f64 {
    (liquid.density * h.powi(3) / (TAU * liquid.surface_tension)).sqrt()
}

/// What a projection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Surface tension and pressure.
    WithSurfaceTension,
    /// Only what divergence the velocity has gained since the first pass.
    DivergenceOnly,
}

/// Solves for the pressure and makes the velocity free of divergence.
///
/// The first pass includes surface tension, starts from the pressure of the last step and keeps the
/// new one; the net capillary force that closed interfaces and lines of one angle cannot have is
/// removed. In steps beyond the capillary limit it adds the inertia of short waves. The second
/// starts from zero.
pub fn project<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
    pass: Pass,
) -> Result<SolveReport, SolveError> {
    let State { grid, sides, solids, phi, velocity, pressure, line, drops, .. } = state;
    let Scratch { face_flags, kappa, previous_velocity, center_velocity, projection, .. } = scratch;
    let Scratch { source, net_forces, sharing_faces, field, other_field, .. } = scratch;
    let Liquid { density, surface_tension, .. } = params.liquid;
    let (dt, h, first) = (step.dt, grid.h, pass == Pass::WithSurfaceTension);
    let walls = WallMotion::new(step.world, sides, grid);
    let wall_velocity = |wall: &Wall, index: CellIndex, axis: usize| walls.at_cell(wall, index, axis);
    let problem = PressureProblem {
        tiles: &grid.tiles,
        solids,
        flags: face_flags,
        phi,
        kappa,
        line,
        tension: if first { surface_tension * dt / (density * h * h) } else { 0.0 },
        second_order: params.second_order,
        lifts: params.virtual_surface.is_none(),
        dt_over_h: params.reference_step(dt, h) / h,
        numerics: &params.numerics,
        method: if params.paper_operators { Method::Mic } else { Method::Auto },
        before: previous_velocity,
    };
    projection.assemble(&problem, velocity, source, &wall_velocity);
    projection.q.clear();
    let known = |cell: CellIndex| if first { pressure.values()[cell] * dt } else { 0.0 };
    projection.q.extend(projection.cells.iter().map(|&cell| known(cell)));
    let in_solve = |error| SolveError { solver: "pressure solve", error };
    let strength = if first { params.short_wave_inertia(dt, h) } else { 0.0 };
    let precision = if strength > 0.0 { PRELIMINARY } else { 1.0 };
    let mut report = projection.solve(&problem, precision).map_err(in_solve)?;
    projection.correct(&problem, velocity, &wall_velocity);
    if first {
        let moving_line = params.moving_line;
        cancel_net_forces(&problem, projection, drops, moving_line, &wall_velocity, net_forces, velocity);
        projection.write_pressure(dt, pressure);
        if strength > 0.0 {
            let memory = SharingMemory { faces: sharing_faces, change: field, shared: other_field };
            add_short_wave_inertia(&problem, strength, &wall_velocity, velocity, center_velocity, memory);
            let problem = PressureProblem { tension: 0.0, ..problem };
            let again = projection.remove_divergence(&problem, center_velocity).map_err(in_solve)?;
            projection.correct(&problem, velocity, &wall_velocity);
            report.iterations += again.iterations;
            report.residual = report.residual.max(again.residual);
        }
    }
    Ok(report)
}

/// What the projection reads.
pub struct PressureProblem<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// Face flags.
    pub flags: &'a FaceFlags,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// Its curvature, in 1/cells.
    pub kappa: &'a Field<f64>,
    /// What the contact line may do at each cell.
    pub line: &'a Field<LineState>,
    /// γΔt/(ρh²), in m/s: q at the interface per κ.
    pub tension: f64,
    /// Second order at the interface; first otherwise.
    pub second_order: bool,
    /// Whether κ just above a wall is sampled higher up along the interface; the virtual surface's
    /// belongs to its own cell.
    pub lifts: bool,
    /// Δt/h of the step to which numbers per step refer, in s/m.
    pub dt_over_h: f64,
    /// Tolerance and speed limit.
    pub numerics: &'a NumericalParameters,
    /// Preconditioner.
    pub method: Method,
    /// The velocity that moved the interface last, in m/s.
    pub before: &'a [Field<f64>; 3],
}

/// One cell's equation.
#[derive(Debug, PartialEq)]
struct Equation {
    neighbors: [OptionalUnknown; 6],
    faces: [f64; 3],
    dirichlet: f64,
    rhs: f64,
}

/// The unknowns and their system.
#[derive(Debug)]
pub struct Projection {
    /// Cell of each unknown, in the order of cells.
    pub cells: Vec<CellIndex>,
    /// Unknown of each cell, if it has one.
    pub unknown_of: Field<OptionalUnknown>,
    /// System of the last step; its neighbors are those that share an open face.
    pub system: System,
    /// q of each unknown, in m/s.
    pub q: Vec<f64>,
    solver: Solver,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            unknown_of: Field::new(OptionalUnknown::NONE),
            system: System::default(),
            q: Vec::new(),
            solver: Solver::default(),
        }
    }
}

impl PressureProblem<'_> {
    /// Fraction of the line from a liquid cell to an air cell that lies in the liquid.
    pub fn share(&self, liquid: CellIndex, air: CellIndex) -> f64 {
        let (a, b) = (self.phi.values()[liquid], self.phi.values()[air]);
        if self.second_order { (a / (a - b)).max(MIN_DISTANCE) } else { 1.0 }
    }

    /// q at the interface between a liquid cell and an air cell.
    pub fn surface_q(&self, liquid: CellIndex, air: CellIndex) -> f64 {
        if self.tension == 0.0 {
            return 0.0;
        }
        let share = if self.second_order { self.share(liquid, air) } else { 1.0 };
        if !self.lifts && !self.second_order {
            return self.tension * self.kappa.values()[air];
        }
        self.tension * at_crossing(self.tiles, self.solids, self.phi, self.kappa, [liquid, air], share)
    }

    /// Options of a solve whose tolerance is so many times that of the result.
    fn options(&self, precision: f64) -> Options {
        let tolerance = precision * self.numerics.divergence_tolerance / self.dt_over_h;
        Options { method: self.method, tolerance, relative_tolerance: 0.0, ..Options::default() }
    }

    /// Whether a face of a component along `axis` lies in or beyond a mirror across that axis, seen
    /// from its neighbor `index`.
    pub fn lies_in_mirror(&self, axis: usize, index: CellIndex, face: CellIndex) -> bool {
        let mirrors = &self.solids.mirrors;
        !mirrors.is_empty() && mirrors.between(self.tiles, axis, index, face).is_some_and(|(_, across)| across == axis)
    }

    /// The equation of the cell `index` with the source S.
    fn equation(
        &self,
        unknown_of: &Field<OptionalUnknown>,
        velocity: &[Field<f64>; 3],
        index: CellIndex,
        source: f64,
        wall_velocity: &impl WallVelocity,
    ) -> Equation {
        let mut row = Equation { neighbors: [OptionalUnknown::NONE; 6], faces: [0.0; 3], dirichlet: 0.0, rhs: source };
        for direction in 0..2 * self.tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = self.tiles.next(index, axis, if up { 1 } else { -1 }) else { continue };
            let face = if up { next } else { index };
            let open = self.solids.open[axis].values()[face];
            let outward = if up { 1.0 } else { -1.0 };
            let shut = 1.0 - open;
            if shut > 0.0 {
                row.rhs -= outward * shut * wall_velocity(&self.solids.wall.values()[index], index, axis);
            }
            if open <= 0.0 {
                continue;
            }
            let [low, high] = if up { [index, next] } else { [next, index] };
            if let Some(velocity) = self.prescribed_velocity(axis, [low, high], wall_velocity) {
                row.rhs -= outward * open * velocity;
                continue;
            }
            row.rhs -= outward * open * velocity[axis].values()[face];
            if unknown_of.values()[next].is_some() {
                row.neighbors[direction] = unknown_of.values()[next];
                if up {
                    row.faces[axis] = open;
                }
            } else if self.phi.values()[next] >= 0.0 {
                let weight = open / self.share(index, next);
                row.dirichlet += weight;
                row.rhs += weight * self.surface_q(index, next);
            }
        }
        row
    }
}

impl Projection {
    /// Numbers the unknowns.
    pub fn number_unknowns(&mut self, tiles: &Tiles, solids: &Solids, phi: &Field<f64>) {
        self.unknown_of.resize(tiles);
        self.unknown_of.par_tiles_mut().enumerate().for_each(|(slot, unknown_of)| {
            unknown_of.fill(OptionalUnknown::NONE);
            for local in 0..tiles.cells_in_use() {
                let index = CellIndex::new(slot, local);
                if phi.values()[index] >= 0.0 {
                    continue;
                }
                let open = solids.distance.values()[index] > 1.0
                    || (0..tiles.dims()).any(|axis| {
                        solids.open[axis].values()[index] > 0.0
                            || tiles.next(index, axis, 1).is_some_and(|high| solids.open[axis].values()[high] > 0.0)
                    });
                if open {
                    unknown_of[local] = OptionalUnknown::new(0);
                }
            }
        });
        self.cells.clear();
        for (index, unknown_of) in tiles.indices().zip(self.unknown_of.values_mut()) {
            if unknown_of.is_some() {
                *unknown_of = OptionalUnknown::new(self.cells.len());
                self.cells.push(index);
            }
        }
    }

    /// Writes the equations; `source` gives S of each unknown and `wall_velocity` a wall's velocity
    /// along an axis at a cell.
    pub fn assemble(
        &mut self,
        problem: &PressureProblem<'_>,
        velocity: &[Field<f64>; 3],
        source: &[f64],
        wall_velocity: &impl WallVelocity,
    ) {
        let Self { cells, unknown_of, system, .. } = self;
        let n = cells.len();
        system.cells.resize(n, [0; 3]);
        system.neighbors.resize(n, [OptionalUnknown::NONE; 6]);
        system.faces.resize(n, [0.0; 3]);
        system.dirichlet.resize(n, 0.0);
        system.rhs.resize(n, 0.0);
        let rows = (
            system.cells.par_chunks_mut(CELLS),
            system.neighbors.par_chunks_mut(CELLS),
            system.faces.par_chunks_mut(CELLS),
            system.dirichlet.par_chunks_mut(CELLS),
            system.rhs.par_chunks_mut(CELLS),
        );
        let known = cells.par_chunks(CELLS).zip(source.par_chunks(CELLS));
        let unknown_of = &*unknown_of;
        rows.into_par_iter().zip(known).for_each(|((places, neighbors, faces, dirichlet, rhs), (cells, source))| {
            let mut write = |at: usize, row: &Equation| {
                places[at] = problem.tiles.cell(cells[at]);
                (neighbors[at], faces[at]) = (row.neighbors, row.faces);
                (dirichlet[at], rhs[at]) = (row.dirichlet, row.rhs);
            };
            let mut at = 0;
            while at < cells.len() {
                let first = cells[at];
                let last = cells.get(at + SIDE - 1).copied();
                let is_row = first.local().is_multiple_of(SIDE) && last == Some(first.along_row(SIDE - 1));
                let interior = if is_row { problem.interior_row(unknown_of, velocity, first) } else { None };
                if let Some(interior) = interior {
                    (0..SIDE).for_each(|lane| write(at + lane, &interior.equation(lane, source[at + lane])));
                    at += SIDE;
                } else {
                    write(at, &problem.equation(unknown_of, velocity, first, source[at], wall_velocity));
                    at += 1;
                }
            }
        });
    }

    /// Solves for q from its initial values.
    ///
    /// It stops at `precision` times the tolerance.
    pub fn solve(&mut self, problem: &PressureProblem<'_>, precision: f64) -> Result<SolveReport, PoissonError> {
        self.solver.solve(&self.system, &mut self.q, &problem.options(precision))
    }

    /// Solves for the q that removes the divergence of `changes` to the velocity of faces and what
    /// the last solve, whose equations these are, has left.
    fn remove_divergence(
        &mut self,
        problem: &PressureProblem<'_>,
        changes: &[Field<f64>; 3],
    ) -> Result<SolveReport, PoissonError> {
        let Self { cells, system, q, solver, .. } = self;
        let (tiles, solids) = (problem.tiles, problem.solids);
        system.rhs.copy_from_slice(solver.residual());
        let blocks = system.rhs.par_chunks_mut(CELLS).zip(cells.par_chunks(CELLS));
        blocks.for_each(|(rhs, cells)| {
            for (rhs, &cell) in rhs.iter_mut().zip(cells) {
                for (axis, change) in changes.iter().enumerate().take(tiles.dims()) {
                    let inflow = |face: CellIndex| solids.open[axis].values()[face] * change.values()[face];
                    *rhs += inflow(cell) - tiles.next(cell, axis, 1).map_or(0.0, inflow);
                }
            }
        });
        q.fill(0.0);
        solver.solve_again(&system.rhs, q, &problem.options(1.0))
    }

    /// Writes q/Δt to the cells, zero where there is no liquid.
    fn write_pressure(&self, dt: f64, pressure: &mut Field<f64>) {
        pressure.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for (out, &unknown) in out.iter_mut().zip(self.unknown_of.tile(slot)) {
                *out = unknown.get().map_or(0.0, |unknown| self.q[unknown] / dt);
            }
        });
    }

    /// Subtracts the pressure gradient from the velocity of liquid faces.
    pub fn correct(
        &mut self,
        problem: &PressureProblem<'_>,
        velocity: &mut [Field<f64>; 3],
        wall_velocity: &impl WallVelocity,
    ) {
        let Self { q, unknown_of: unknowns, .. } = self;
        let (q, unknowns) = (&*q, &*unknowns);
        let unknown_of = unknowns.values();
        let phi = problem.phi.values();
        for (axis, component) in velocity.iter_mut().enumerate().take(problem.tiles.dims()) {
            component.par_tiles_mut().enumerate().for_each(|(slot, out)| {
                let flags = problem.flags[axis].tile(slot);
                let mut interior = false;
                for local in 0..problem.tiles.cells_in_use() {
                    let high = CellIndex::new(slot, local);
                    if local % SIDE == 0 {
                        let row = out[local..].first_chunk_mut().expect("a row of a tile");
                        interior = problem.correct_interior_row(unknowns, q, axis, high, row).is_some();
                    }
                    if interior || flags[local] & WET == 0 {
                        continue;
                    }
                    let Some(low) = problem.tiles.next(high, axis, -1) else { continue };
                    if let Some(velocity) = problem.prescribed_velocity(axis, [low, high], wall_velocity) {
                        if unknown_of[low] != unknown_of[high] {
                            out[local] = velocity;
                        }
                        continue;
                    }
                    out[local] -= match (unknown_of[low].get(), unknown_of[high].get()) {
                        (None, Some(h)) if phi[low] >= 0.0 => {
                            (q[h] - problem.surface_q(high, low)) / problem.share(high, low)
                        }
                        (Some(l), None) if phi[high] >= 0.0 => {
                            (problem.surface_q(low, high) - q[l]) / problem.share(low, high)
                        }
                        (Some(l), Some(h)) => q[h] - q[l],
                        (None, _) | (_, None) => 0.0,
                    };
                }
            });
        }
    }
}
