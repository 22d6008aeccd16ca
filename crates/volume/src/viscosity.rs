//! Viscosity: the choice of the operator, and diffusion of each velocity component alone.
//!
//! By default viscosity acts with the full stress ([`viscous_stress`](crate::viscous_stress)). With
//! the paper's operators each component diffuses, implicitly,
//!
//! ```text
//! u − Δt ν ∇²u = u*
//! ```
//!
//! on liquid faces. Towards a wall, the wall's velocity is at the distance d + λ along the axis, d
//! the distance from the face to the wall and λ the slip length; towards air and across symmetry
//! planes no momentum is exchanged, so that surface waves decay at half of Lamb's rate. With
//! α = νΔt/h² and c = 1 between faces, 1/(d + λ) at walls,
//!
//! ```text
//! (1 + α Σ c) u_f − α Σ c u_n = u*_f
//! ```
//!
//! Up to `NumericalParameters::max_jacobi_alpha` (water on cells of 0.1 mm: α = 0.004) one Jacobi
//! sweep from u* solves this to second order in α, which is below the splitting error. Above it,
//! conjugate gradients solve it. No time-step limit.
//!
//! **Implicit surface tension**, for runs that settle (after raessi2009). While the interface moves
//! by Δt u_n its curvature changes by −Δt ∇ₛ²u_n, so the pressure jump at the step's end is γ(κ −
//! Δt ∇ₛ²u_n). The second part damps short waves as strongly as the force grows that limits
//! explicit steps. Here it acts after κ has accelerated the liquid, as viscosity within about a
//! cell of the interface: β δ(φ) instead of α, β = k γΔt²/(ρh³). A wave of wave number k extends
//! 1/k deep, so the drag at the interface weighs k times as much on it; k is
//! `NumericalParameters::implicit_wave_number`, and π per cell for the shortest wave. At rest the
//! term vanishes. (Before the acceleration it destabilizes; with the force applied earlier as a
//! gradient near the interface, the flow never rests.)

use rayon::prelude::*;
use sessile_model::StageReports;
use sessile_wetting::Liquid;

use crate::error::SolveError;
use crate::faces::{FaceFlags, IN_SOLID, WET};
use crate::fluid::StepContext;
use crate::parameters::Parameters;
use crate::poisson::{OptionalUnknown, Options, PoissonError, SolveReport, Solver, System};
use crate::scratch::Scratch;
use crate::solids::{Solids, Wall, WallMotion};
use crate::state::State;
use crate::tiles::{CellIndex, Field, SIDE, Tiles};
use crate::viscous_stress::StressProblem;

/// Least distance of a wall, in cells.
const MIN_DISTANCE: f64 = 0.1;

/// Faces and walls that a face exchanges momentum with.
struct ViscousStencil {
    /// Faces of the same component, low and high along each axis, and α + β δ(φ) between.
    neighbors: [Option<(CellIndex, f64)>; 6],
    /// Σ 1/(d + λ) over the walls around.
    wall: f64,
}

/// What the viscous stage did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViscosityReport {
    /// Iterations of the solves of all components; 0 where Jacobi sweeps sufficed.
    pub iterations: usize,
    /// Largest residual left, in m/s.
    pub residual: f64,
}

impl ViscosityReport {
    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("viscosity.iterations", self.iterations as u64);
        reports.keep_largest("viscosity.residual", self.residual);
    }
}

/// Diffuses the velocity by the liquid's viscosity.
pub fn diffuse_velocity<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) -> Result<ViscosityReport, SolveError> {
    let alpha = params.liquid.viscosity * step.dt / (state.grid.h * state.grid.h);
    if params.paper_operators {
        return diffuse(state, scratch, params, step, alpha, None);
    }
    if alpha <= 0.0 {
        return Ok(ViscosityReport::default());
    }
    let State { grid, sides, solids, phi, velocity, .. } = state;
    let Scratch { face_flags, viscous_stress, .. } = scratch;
    let walls = WallMotion::new(step.world, sides, grid);
    let problem = StressProblem {
        tiles: &grid.tiles,
        walls: WallDrag { solids, slip: params.slip / grid.h },
        flags: face_flags,
        phi,
        second_order: params.second_order,
        alpha,
    };
    let wall_velocity = |wall: &Wall, index: CellIndex, axis: usize| walls.at_cell(wall, index, axis);
    let done = viscous_stress.solve(&problem, velocity, &wall_velocity);
    let SolveReport { iterations, residual, .. } =
        done.map_err(|error| SolveError { solver: "viscous solve", error })?;
    Ok(ViscosityReport { iterations, residual })
}

/// Damps capillary waves that are too short for the step: the implicit part of surface tension.
///
/// It acts after surface tension has accelerated the liquid, so that it limits that, too; at rest
/// it does nothing.
pub fn damp_capillary_waves<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) -> Result<ViscosityReport, SolveError> {
    let Liquid { density, surface_tension, .. } = params.liquid;
    let beta =
        params.numerics.implicit_wave_number * (surface_tension * step.dt * step.dt / (density * state.grid.h.powi(3)));
    diffuse(state, scratch, params, step, 0.0, Some(beta))
}

/// Diffuses all components with α, and with β δ(φ) at the interface if it is given.
fn diffuse<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
    alpha: f64,
    beta: Option<f64>,
) -> Result<ViscosityReport, SolveError> {
    let State { grid, sides, solids, phi, velocity, .. } = state;
    let Scratch { face_flags, field, viscous, .. } = scratch;
    let (tiles, walls) = (&grid.tiles, WallMotion::new(step.world, sides, grid));
    let tension = beta.map(|beta| ImplicitTension { phi, beta });
    let (slip, max_jacobi_alpha) = (params.slip / grid.h, params.numerics.max_jacobi_alpha);
    let diffusion = Diffusion { tiles, solids, flags: face_flags, slip, alpha, max_jacobi_alpha, tension };
    let mut report = ViscosityReport::default();
    for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
        let done = diffusion.apply(axis, component, field, viscous, &|wall, index| walls.at_cell(wall, index, axis));
        let done = done.map_err(|error| SolveError { solver: "viscous solve", error })?;
        report.iterations += done.iterations;
        report.residual = report.residual.max(done.residual);
    }
    Ok(report)
}

/// The diffusion operator.
pub struct Diffusion<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// Face flags.
    pub flags: &'a FaceFlags,
    /// Slip length λ, in cells.
    pub slip: f64,
    /// α = νΔt/h².
    pub alpha: f64,
    /// Largest α for which one Jacobi sweep is enough.
    pub max_jacobi_alpha: f64,
    /// Implicit surface tension, if chosen.
    pub tension: Option<ImplicitTension<'a>>,
}

/// What implicit surface tension adds to viscosity near the interface.
#[derive(Clone, Copy)]
pub struct ImplicitTension<'a> {
    phi: &'a Field<f64>,
    beta: f64,
}

impl ImplicitTension<'_> {
    /// β δ(φ) between two faces of component `axis`.
    fn between(&self, tiles: &Tiles, axis: usize, one: CellIndex, other: CellIndex) -> f64 {
        let phi = self.phi.values();
        let twice = |index: CellIndex| phi[index] + tiles.next(index, axis, -1).map_or(phi[index], |low| phi[low]);
        let phi = 0.25 * (twice(one) + twice(other));
        self.beta * (1.5 - phi.abs()).clamp(0.0, 1.0)
    }
}

/// Drag of walls on the faces beside them.
#[derive(Clone, Copy)]
pub struct WallDrag<'a> {
    /// The solids.
    pub solids: &'a Solids,
    /// Slip length λ, in cells.
    pub slip: f64,
}

impl WallDrag<'_> {
    /// 1/(d + λ) of the wall between the face `index` of component `axis` and its neighbor `next`
    /// in a solid; of a symmetry plane on the flow across it only.
    fn towards(&self, tiles: &Tiles, axis: usize, index: CellIndex, next: CellIndex) -> f64 {
        if let Some((distance, normal)) = self.solids.mirrors.between(tiles, axis, index, next) {
            return if axis == normal { 1.0 / distance.max(MIN_DISTANCE) } else { 0.0 };
        }
        let s = self.solids.distance.values();
        let middle = |index: CellIndex| 0.5 * (s[index] + tiles.next(index, axis, -1).map_or(s[index], |low| s[low]));
        let (here, there) = (middle(index).max(0.0), middle(next).min(0.0));
        let distance = if here > there { here / (here - there) } else { 0.5 };
        1.0 / (distance + self.slip).max(MIN_DISTANCE)
    }

    /// Sum over the walls around a face; of the stress normal to a wall, both parts count.
    pub fn full_stress(&self, tiles: &Tiles, flags: &FaceFlags, axis: usize, index: CellIndex) -> f64 {
        let mut sum = 0.0;
        for direction in 0..2 * tiles.dims() {
            let along = direction / 2;
            let next = tiles.next(index, along, if direction % 2 == 0 { -1 } else { 1 });
            if let Some(next) = next.filter(|&next| flags[axis].values()[next] & IN_SOLID != 0) {
                sum += if along == axis { 2.0 } else { 1.0 } * self.towards(tiles, axis, index, next);
            }
        }
        sum
    }
}

impl Diffusion<'_> {
    fn stencil(&self, axis: usize, index: CellIndex) -> ViscousStencil {
        let (tiles, flags) = (self.tiles, self.flags[axis].values());
        let walls = WallDrag { solids: self.solids, slip: self.slip };
        let mut found = ViscousStencil { neighbors: [None; 6], wall: 0.0 };
        for direction in 0..2 * tiles.dims() {
            let (along, step) = (direction / 2, if direction % 2 == 0 { -1 } else { 1 });
            let Some(next) = tiles.next(index, along, step) else { continue };
            let flag = flags[next];
            if flag & IN_SOLID != 0 {
                found.wall += walls.towards(tiles, axis, index, next);
            } else if flag & WET != 0 {
                let drag = self.tension.map_or(0.0, |drag| drag.between(tiles, axis, index, next));
                found.neighbors[direction] = Some((next, self.alpha + drag));
            }
        }
        found
    }

    /// Whether a face is an unknown.
    fn is_unknown(flag: u8) -> bool {
        flag & (WET | IN_SOLID) == WET
    }

    /// Diffuses component `axis` of `velocity`; `wall_velocity` gives the walls' velocity along it.
    pub fn apply(
        &self,
        axis: usize,
        velocity: &mut Field<f64>,
        scratch: &mut Field<f64>,
        solve: &mut ViscousScratch,
        wall_velocity: &(impl Fn(&Wall, CellIndex) -> f64 + Sync),
    ) -> Result<SolveReport, PoissonError> {
        if self.alpha <= 0.0 && self.tension.is_none() {
            return Ok(SolveReport::default());
        }
        if self.alpha <= self.max_jacobi_alpha && self.tension.is_none() {
            self.sweep(axis, velocity, scratch, wall_velocity);
            return Ok(SolveReport::default());
        }
        self.solve(axis, velocity, solve, wall_velocity)
    }

    fn sweep(
        &self,
        axis: usize,
        velocity: &mut Field<f64>,
        scratch: &mut Field<f64>,
        wall_velocity: &(impl Fn(&Wall, CellIndex) -> f64 + Sync),
    ) {
        let before = &*velocity;
        scratch.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            out.copy_from_slice(before.tile(slot));
            let (rows, _) = out.as_chunks_mut::<SIDE>();
            let flags = self.flags[axis].tile(slot).chunks_exact(SIDE);
            for ((number, out), flags) in rows.iter_mut().enumerate().zip(flags).take(self.tiles.layers() * SIDE) {
                if flags.iter().fold(0, |all, flag| all | flag) & WET == 0 {
                    continue;
                }
                if let Some(interior) = self.sweep_interior_row(axis, before, slot, number) {
                    *out = interior;
                    continue;
                }
                self.sweep_row(axis, before, CellIndex::new(slot, number * SIDE), out, wall_velocity);
            }
        });
        velocity.swap_values(scratch);
    }

    /// One row of faces, from `first` on.
    fn sweep_row(
        &self,
        axis: usize,
        before: &Field<f64>,
        first: CellIndex,
        out: &mut [f64; SIDE],
        wall_velocity: &(impl Fn(&Wall, CellIndex) -> f64 + Sync),
    ) {
        for (index, out) in (0..SIDE).map(|lane| first.along_row(lane)).zip(out) {
            if !Self::is_unknown(self.flags[axis].values()[index]) {
                continue;
            }
            let stencil = self.stencil(axis, index);
            let (mut sum, mut weight) = (0.0, 0.0);
            for (next, coupling) in stencil.neighbors.into_iter().flatten() {
                sum += coupling * before.values()[next];
                weight += coupling;
            }
            if stencil.wall > 0.0 {
                let wall = self.alpha * stencil.wall;
                sum += wall * wall_velocity(&self.solids.wall.values()[index], index);
                weight += wall;
            }
            *out = (*out + sum) / (1.0 + weight);
        }
    }

    /// The same for an interior row, by its number in the tile; none if one of its faces, or of
    /// those around, is not an unknown.
    fn sweep_interior_row(&self, axis: usize, before: &Field<f64>, slot: usize, number: usize) -> Option<[f64; SIDE]> {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let (tiles, flags) = (self.tiles, &self.flags[axis]);
        if tiles.topology().planar {
            return None;
        }
        let (j, k) = ((number % SIDE) as i32, (number / SIDE) as i32);
        let row = |j: i32, k: i32| {
            let eight = u64::from_ne_bytes(*flags.row(tiles, slot, j, k)?);
            (eight & (EACH * u64::from(WET | IN_SOLID)) == EACH * u64::from(WET))
                .then(|| before.row(tiles, slot, j, k))?
        };
        let end = |index: CellIndex, step: i32| {
            let next = tiles.next(index, 0, step)?;
            Self::is_unknown(flags.values()[next]).then(|| before.values()[next])
        };
        let own = row(j, k)?;
        let first = CellIndex::new(slot, number * SIDE);
        let (mut low, mut high) = ([end(first, -1)?; SIDE], [end(first.along_row(SIDE - 1), 1)?; SIDE]);
        low[1..].copy_from_slice(&own[..SIDE - 1]);
        high[..SIDE - 1].copy_from_slice(&own[1..]);
        let around = [&low, &high, row(j - 1, k)?, row(j + 1, k)?, row(j, k - 1)?, row(j, k + 1)?];
        let weight = around.iter().fold(0.0, |weight, _| weight + self.alpha);
        Some(std::array::from_fn(|i| {
            let sum = around.iter().fold(0.0, |sum, values| sum + self.alpha * values[i]);
            (own[i] + sum) / (1.0 + weight)
        }))
    }

    fn solve(
        &self,
        axis: usize,
        velocity: &mut Field<f64>,
        solve: &mut ViscousScratch,
        wall_velocity: &(impl Fn(&Wall, CellIndex) -> f64 + Sync),
    ) -> Result<SolveReport, PoissonError> {
        let ViscousScratch { system, solver, faces, unknown_of, x } = solve;
        faces.clear();
        unknown_of.resize(self.tiles);
        for slot in 0..self.tiles.len() {
            for (local, flag) in self.flags[axis].tile(slot)[..self.tiles.cells_in_use()].iter().enumerate() {
                let index = CellIndex::new(slot, local);
                unknown_of.values_mut()[index] = OptionalUnknown::NONE;
                if Self::is_unknown(*flag) {
                    unknown_of.values_mut()[index] = OptionalUnknown::new(faces.len());
                    faces.push(index);
                }
            }
        }
        system.clear();
        x.clear();
        for &index in &*faces {
            let stencil = self.stencil(axis, index);
            let mut neighbors = [OptionalUnknown::NONE; 6];
            let mut couplings = [0.0; 3];
            for (direction, next) in stencil.neighbors.into_iter().enumerate() {
                let Some((next, coupling)) = next else { continue };
                neighbors[direction] = unknown_of.values()[next];
                if direction % 2 == 1 {
                    couplings[direction / 2] = coupling;
                }
            }
            let wall = self.alpha * stencil.wall;
            let from_walls =
                if wall > 0.0 { wall * wall_velocity(&self.solids.wall.values()[index], index) } else { 0.0 };
            let start = velocity.values()[index];
            system.push(self.tiles.cell(index), neighbors, couplings, 1.0 + wall, start + from_walls);
            x.push(start);
        }
        let options = Options { relative_tolerance: 1e-6, ..Options::default() };
        let report = solver.solve(system, x, &options)?;
        for (&face, value) in faces.iter().zip(&*x) {
            velocity.values_mut()[face] = *value;
        }
        Ok(report)
    }
}

/// Memory of the implicit solve.
#[derive(Debug)]
pub struct ViscousScratch {
    system: System,
    solver: Solver,
    faces: Vec<CellIndex>,
    unknown_of: Field<OptionalUnknown>,
    x: Vec<f64>,
}

impl Default for ViscousScratch {
    fn default() -> Self {
        Self {
            system: System::default(),
            solver: Solver::default(),
            faces: Vec::new(),
            unknown_of: Field::new(OptionalUnknown::NONE),
            x: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify_faces;
    use crate::testing::{Random, cap_on_plane};

    #[test]
    fn interior_rows_are_bit_identical_to_the_general_sweep() {
        let case = cap_on_plane(90f64.to_radians(), 14.0, DVec3::Y, DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut flags: FaceFlags = std::array::from_fn(|_| Field::new(0));
        flags.iter_mut().for_each(|flags| flags.resize(tiles));
        classify_faces(tiles, &case.solids, &case.phi, &mut flags);
        let mut random = Random::new(11);
        let mut velocity = Field::new(0.0);
        velocity.resize(tiles);
        velocity.values_mut().iter_mut().for_each(|u| *u = random.uniform() - 0.5);
        let diffusion = Diffusion {
            tiles,
            solids: &case.solids,
            flags: &flags,
            slip: 0.0,
            alpha: 0.004,
            max_jacobi_alpha: 0.01,
            tension: None,
        };
        for axis in 0..3 {
            let mut count = 0;
            for (slot, number) in (0..tiles.len()).flat_map(|slot| (0..SIDE * SIDE).map(move |number| (slot, number))) {
                let Some(interior) = diffusion.sweep_interior_row(axis, &velocity, slot, number) else { continue };
                let first = CellIndex::new(slot, number * SIDE);
                let mut out: [f64; SIDE] = std::array::from_fn(|lane| velocity.values()[first.along_row(lane)]);
                diffusion.sweep_row(axis, &velocity, first, &mut out, &|_, _| 0.0);
                assert_eq!(interior, out, "component {axis}, tile {:?}, row {number}", tiles.coords()[slot]);
                count += 1;
            }
            assert!(count > 100, "only {count} rows of component {axis} are interior");
        }
    }
}
