//! Viscosity: each velocity component diffuses, implicitly.
//!
//! ```text
//! u − Δt ν ∇²u = u*
//! ```
//!
//! on wet faces. Towards a wall the wall's velocity stands at the distance d + λ along the axis, d the distance from the face to the wall and λ the slip
//! length; towards air nothing is exchanged. Mirrors exchange nothing either. With α = νΔt/h² and c = 1 between faces, 1/(d + λ) at walls,
//!
//! ```text
//! (1 + α Σ c) u_f − α Σ c u_n = u*_f
//! ```
//!
//! While α is below `ONE_SWEEP` (water on cells of 0.1 mm: 0.004) one sweep of Jacobi's iteration from u* solves that to second order in α, which is
//! below the splitting's own error. Above, conjugate gradients solve it.
//!
//! **Implicit surface tension**, for runs that settle (after raessi2009). While the surface moves by Δt u_n its curvature changes by −Δt ∇ₛ²u_n, so the pressure jump at the step's end is
//! γ(κ − Δt ∇ₛ²u_n). The second part holds short waves back, as strongly as the force grows that limits explicit steps. Here it acts on a velocity that κ has
//! already pulled at, as viscosity within about a cell of the surface: β δ(φ) in place of α, β = `DEPTH` γΔt²/(ρh³). A wave of wave number k goes 1/k deep, so the
//! drag on its surface weighs k times as much on it; `DEPTH` stands for that k, which is π per cell for the shortest. At rest it is nothing.
//! (Tried: before the pull, where it makes matters worse; with the pull brought forward as a gradient near the surface, where it turns that gradient into a flow that never rests.)
//!
//! Limit: the three components do not exchange stress at a free surface, so the damping of surface waves is that of a surface that
//! drags its own neighborhood along, not Lamb's.

use rayon::prelude::*;

use crate::faces::{BURIED, Kinds, WET};
use crate::poisson::{NONE, Options, PoissonError, Solver, System};
use crate::solids::{Solids, Wall};
use crate::tiles::{CELLS, Field, SIDE, Tiles};

/// Largest α = νΔt/h² that one sweep is enough for.
const ONE_SWEEP: f64 = 0.01;
/// What makes up for the depth of short waves, in 1/cells (tried with steps four times as long: 1 fails after a hundred steps, 3 and 6 hold).
const DEPTH: f64 = 3.0;
/// Nearest that a wall counts to be, in cells.
const NEAREST: f64 = 0.1;

/// What a face exchanges momentum with.
struct Exchange {
    /// Faces of the same component, low and high along each axis, and α + β δ(φ) between.
    neighbors: [Option<(usize, f64)>; 6],
    /// Σ 1/(d + λ) over the walls around.
    wall: f64,
}

/// What is known of the faces.
pub struct Diffusion<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The kinds of faces.
    pub kinds: &'a Kinds,
    /// Slip length λ, in cells.
    pub slip: f64,
    /// α = νΔt/h².
    pub alpha: f64,
    /// Implicit surface tension, if it is.
    pub tension: Option<SurfaceDrag<'a>>,
}

/// What implicit surface tension adds to viscosity near the surface.
#[derive(Clone, Copy)]
pub struct SurfaceDrag<'a> {
    phi: &'a Field<f64>,
    beta: f64,
}

impl<'a> SurfaceDrag<'a> {
    /// That of a surface with this γΔt²/(ρh³).
    pub fn new(phi: &'a Field<f64>, tension: f64) -> Self {
        Self { phi, beta: DEPTH * tension }
    }

    /// β δ(φ) between two faces of component `axis`.
    fn between(&self, tiles: &Tiles, axis: usize, one: usize, other: usize) -> f64 {
        let phi = self.phi.values();
        let twice = |index: usize| phi[index] + tiles.next(index, axis, -1).map_or(phi[index], |low| phi[low]);
        let phi = 0.25 * (twice(one) + twice(other));
        self.beta * (1.5 - phi.abs()).clamp(0.0, 1.0)
    }
}

impl Diffusion<'_> {
    fn exchange(&self, axis: usize, index: usize) -> Exchange {
        let (tiles, s) = (self.tiles, self.solids.distance.values());
        let kinds = self.kinds[axis].values();
        let middle = |index: usize| 0.5 * (s[index] + tiles.next(index, axis, -1).map_or(s[index], |low| s[low]));
        let mut found = Exchange { neighbors: [None; 6], wall: 0.0 };
        let mut here = None;
        for direction in 0..2 * tiles.dims() {
            let (along, step) = (direction / 2, if direction % 2 == 0 { -1 } else { 1 });
            let Some(next) = tiles.next(index, along, step) else { continue };
            let kind = kinds[next];
            if kind & BURIED != 0 {
                if self.solids.wall.values()[next].mirror && axis != self.mirror_axis(next) {
                    continue;
                }
                let here = *here.get_or_insert_with(|| middle(index).max(0.0));
                let there = middle(next).min(0.0);
                let distance = if here > there { here / (here - there) } else { 0.5 };
                found.wall += 1.0 / (distance + self.slip).max(NEAREST);
            } else if kind & WET != 0 {
                let drag = self.tension.map_or(0.0, |drag| drag.between(tiles, axis, index, next));
                found.neighbors[direction] = Some((next, self.alpha + drag));
            }
        }
        found
    }

    /// The axis that a mirror stands across.
    fn mirror_axis(&self, index: usize) -> usize {
        let normal = self.solids.normal(self.tiles, index).abs();
        if normal.x >= normal.y && normal.x >= normal.z {
            0
        } else if normal.y >= normal.z {
            1
        } else {
            2
        }
    }

    /// Whether a face is an unknown.
    fn takes_part(kind: u8) -> bool {
        kind & (WET | BURIED) == WET
    }

    /// Diffuses component `axis` of `velocity`; `wall_velocity` says how the walls move there.
    pub fn apply(
        &self,
        axis: usize,
        velocity: &mut Field<f64>,
        scratch: &mut Field<f64>,
        solve: &mut ViscousSolve,
        wall_velocity: &(impl Fn(&Wall, usize) -> f64 + Sync),
    ) -> Result<usize, PoissonError> {
        if self.alpha <= 0.0 && self.tension.is_none() {
            return Ok(0);
        }
        if self.alpha <= ONE_SWEEP && self.tension.is_none() {
            self.sweep(axis, velocity, scratch, wall_velocity);
            return Ok(1);
        }
        self.solve(axis, velocity, solve, wall_velocity)
    }

    fn sweep(
        &self,
        axis: usize,
        velocity: &mut Field<f64>,
        scratch: &mut Field<f64>,
        wall_velocity: &(impl Fn(&Wall, usize) -> f64 + Sync),
    ) {
        let before = &*velocity;
        scratch.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            out.copy_from_slice(before.tile(slot));
            let (rows, _) = out.as_chunks_mut::<SIDE>();
            let kinds = self.kinds[axis].tile(slot).chunks_exact(SIDE);
            for ((number, out), kinds) in rows.iter_mut().enumerate().zip(kinds).take(self.tiles.layers() * SIDE) {
                if kinds.iter().fold(0, |all, kind| all | kind) & WET == 0 {
                    continue;
                }
                if let Some(deep) = self.sweep_deep_row(axis, before, slot, number) {
                    *out = deep;
                    continue;
                }
                self.sweep_row(axis, before, slot * CELLS + number * SIDE, out, wall_velocity);
            }
        });
        velocity.swap_values(scratch);
    }

    /// One row of faces, from `first` on.
    fn sweep_row(
        &self,
        axis: usize,
        before: &Field<f64>,
        first: usize,
        out: &mut [f64; SIDE],
        wall_velocity: &(impl Fn(&Wall, usize) -> f64 + Sync),
    ) {
        for (index, out) in (first..).zip(out) {
            if !Self::takes_part(self.kinds[axis].values()[index]) {
                continue;
            }
            let exchange = self.exchange(axis, index);
            let (mut sum, mut weight) = (0.0, 0.0);
            for (next, coupling) in exchange.neighbors.into_iter().flatten() {
                sum += coupling * before.values()[next];
                weight += coupling;
            }
            if exchange.wall > 0.0 {
                let wall = self.alpha * exchange.wall;
                sum += wall * wall_velocity(&self.solids.wall.values()[index], index);
                weight += wall;
            }
            *out = (*out + sum) / (1.0 + weight);
        }
    }

    /// The same for a row deep in the liquid, by its number in the tile; none if one of its faces, or of those around, is not an unknown.
    fn sweep_deep_row(&self, axis: usize, before: &Field<f64>, slot: usize, number: usize) -> Option<[f64; SIDE]> {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let (tiles, kinds) = (self.tiles, &self.kinds[axis]);
        if tiles.topology().planar {
            return None;
        }
        let (j, k) = ((number % SIDE) as i32, (number / SIDE) as i32);
        let row = |j: i32, k: i32| {
            let eight = u64::from_ne_bytes(*kinds.row(tiles, slot, j, k)?);
            (eight & (EACH * u64::from(WET | BURIED)) == EACH * u64::from(WET))
                .then(|| before.row(tiles, slot, j, k))?
        };
        let end = |index: usize, step: i32| {
            let next = tiles.next(index, 0, step)?;
            Self::takes_part(kinds.values()[next]).then(|| before.values()[next])
        };
        let own = row(j, k)?;
        let first = slot * CELLS + number * SIDE;
        let (mut low, mut high) = ([end(first, -1)?; SIDE], [end(first + SIDE - 1, 1)?; SIDE]);
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
        solve: &mut ViscousSolve,
        wall_velocity: &(impl Fn(&Wall, usize) -> f64 + Sync),
    ) -> Result<usize, PoissonError> {
        let ViscousSolve { system, solver, faces, number, x } = solve;
        faces.clear();
        number.resize(self.tiles);
        for slot in 0..self.tiles.len() {
            for (local, kind) in self.kinds[axis].tile(slot)[..self.tiles.cells_in_use()].iter().enumerate() {
                let index = slot * CELLS + local;
                number.values_mut()[index] = NONE;
                if Self::takes_part(*kind) {
                    number.values_mut()[index] = faces.len() as u32;
                    faces.push(index as u32);
                }
            }
        }
        system.clear();
        x.clear();
        for &face in &*faces {
            let index = face as usize;
            let exchange = self.exchange(axis, index);
            let mut neighbors = [NONE; 6];
            let mut couplings = [0.0; 3];
            for (direction, next) in exchange.neighbors.into_iter().enumerate() {
                let Some((next, coupling)) = next else { continue };
                neighbors[direction] = number.values()[next];
                if direction % 2 == 1 {
                    couplings[direction / 2] = coupling;
                }
            }
            let wall = self.alpha * exchange.wall;
            let held = if wall > 0.0 { wall * wall_velocity(&self.solids.wall.values()[index], index) } else { 0.0 };
            let start = velocity.values()[index];
            system.push(self.tiles.cell(index), neighbors, couplings, 1.0 + wall, start + held);
            x.push(start);
        }
        let options = Options { relative_tolerance: 1e-6, ..Options::default() };
        let report = solver.solve(system, x, &options)?;
        for (&face, value) in faces.iter().zip(&*x) {
            velocity.values_mut()[face as usize] = *value;
        }
        Ok(report.iterations)
    }
}

/// Memory of the implicit solve.
#[derive(Debug)]
pub struct ViscousSolve {
    system: System,
    solver: Solver,
    faces: Vec<u32>,
    number: Field<u32>,
    x: Vec<f64>,
}

impl Default for ViscousSolve {
    fn default() -> Self {
        Self {
            system: System::default(),
            solver: Solver::default(),
            faces: Vec::new(),
            number: Field::new(NONE),
            x: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify;
    use crate::testing::{Random, cap_on_plane};

    #[test]
    fn a_row_deep_in_the_liquid_gets_the_same_bytes_as_any_other() {
        let case = cap_on_plane(90f64.to_radians(), 14.0, DVec3::Y, DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut kinds: Kinds = std::array::from_fn(|_| Field::new(0));
        kinds.iter_mut().for_each(|kinds| kinds.resize(tiles));
        classify(tiles, &case.solids, &case.phi, &mut kinds);
        let mut random = Random::new(11);
        let mut velocity = Field::new(0.0);
        velocity.resize(tiles);
        velocity.values_mut().iter_mut().for_each(|u| *u = random.uniform() - 0.5);
        let diffusion =
            Diffusion { tiles, solids: &case.solids, kinds: &kinds, slip: 0.0, alpha: 0.004, tension: None };
        for axis in 0..3 {
            let mut count = 0;
            for (slot, number) in (0..tiles.len()).flat_map(|slot| (0..SIDE * SIDE).map(move |number| (slot, number))) {
                let Some(deep) = diffusion.sweep_deep_row(axis, &velocity, slot, number) else { continue };
                let first = slot * CELLS + number * SIDE;
                let mut out: [f64; SIDE] = std::array::from_fn(|lane| velocity.values()[first + lane]);
                diffusion.sweep_row(axis, &velocity, first, &mut out, &|_, _| 0.0);
                assert_eq!(deep, out, "component {axis}, tile {:?}, row {number}", tiles.coords()[slot]);
                count += 1;
            }
            assert!(count > 100, "only {count} rows of component {axis} are deep");
        }
    }
}
