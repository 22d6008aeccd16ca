//! Divergence correction: the extrapolated velocity in air next to fast liquid is made free of
//! divergence.
//!
//! The projection makes whole cells free of divergence, and the interface lies in or above the last
//! of them. Constant extrapolation along the normal lets a stretched film of 1.4 cells thin by as
//! much as one of 1.0, so that φ gains or loses part of every film. In air cells next to the
//! liquid, the faces that lead away from it therefore get what the cell's other faces leave:
//!
//! ```text
//! u_f ← u_f − σ_f w_f (Σ σ a u) / (Σ a w),      w = max(0, φ_beyond − φ)²,
//!     σ = ±1 out of the cell, a the open fraction
//! ```
//!
//! in `SWEEPS` sweeps, since a cell's inflow is the outflow of the one below it. Liquid faces are
//! not changed.
//!
//! It acts only where the interface is fast (`NumericalParameters::divergence_correction_speeds`).
//! Applied everywhere, with the damping of [`parasitic_currents`](crate::parasitic_currents) taken
//! at the faces' centers, a drop of 13 cells across that should decay by 5 per second grew by 4; it
//! has not been measured with the present damping.
//!
//! The air is never faster than the fastest liquid: in a gap that closes from several sides the
//! flows of all of them add up, cell by cell, and the advection of velocity takes them back into
//! the liquid.

use rayon::prelude::*;

use crate::extrapolation::LiquidGeometry;
use crate::faces::{FaceFlags, IN_SOLID, WET};
use crate::projection::WallVelocity;
use crate::tiles::{CellIndex, Field, SELF};

/// Air cells up to this distance from the interface are corrected, in cells.
const AIR_BAND: f64 = 2.0;
/// Sweeps: one per layer of cells.
const SWEEPS: usize = 3;
/// Least Σ a w: a cell without outward faces is not corrected.
const MIN_WEIGHT: f64 = 0.25;

/// Memory that is kept from step to step.
#[derive(Debug)]
pub struct DivergenceCorrection {
    /// What each air cell passes on, per w.
    excess: Field<f64>,
    /// Tiles in which some cell passes on anything.
    fast: Vec<bool>,
    /// The same in the previous sweep.
    before: Vec<bool>,
}

impl Default for DivergenceCorrection {
    fn default() -> Self {
        Self { excess: Field::new(0.0), fast: Vec::new(), before: Vec::new() }
    }
}

impl DivergenceCorrection {
    /// Corrects `velocity` (in m/s); `dt_over_h` is Δt/h (in s/m), `speeds` are in cells per step.
    pub fn apply(
        &mut self,
        geometry: &LiquidGeometry<'_>,
        flags: &FaceFlags,
        dt_over_h: f64,
        speeds: [f64; 2],
        walls: &impl WallVelocity,
        velocity: &mut [Field<f64>; 3],
    ) {
        let Self { excess, fast, before } = self;
        let tiles = geometry.tiles;
        excess.resize(tiles);
        excess.set_all(0.0);
        let fastest = fastest_liquid(geometry, flags, velocity);
        fast.clear();
        fast.resize(tiles.len(), true);
        for _ in 0..SWEEPS {
            std::mem::swap(fast, before);
            fast.clear();
            fast.resize(tiles.len(), false);
            // A tile that passed on nothing still does if nothing around it has changed.
            let (reads, wakes) = (&*velocity, |slot: usize| tiles.touches(before, slot));
            excess.par_tiles_mut().zip(&mut *fast).enumerate().filter(|(slot, _)| wakes(*slot)).for_each(
                |(slot, (excess, fast))| {
                    *fast = find_excess(geometry, flags, [dt_over_h, speeds[0], speeds[1]], walls, reads, slot, excess);
                },
            );
            if !fast.contains(&true) {
                return;
            }
            for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
                let wakes = |slot: usize| fast[slot] || tiles.is_marked(fast, slot, SELF - [1, 3, 9][axis]);
                component.par_tiles_mut().enumerate().filter(|(slot, _)| wakes(*slot)).for_each(|(slot, component)| {
                    pass_on(geometry, &flags[axis], excess, fastest, axis, slot, component);
                });
            }
        }
    }
}

/// Writes what the air cells of a tile pass on; returns whether any does.
fn find_excess(
    geometry: &LiquidGeometry<'_>,
    flags: &FaceFlags,
    [dt_over_h, slow, fast]: [f64; 3],
    walls: &impl WallVelocity,
    velocity: &[Field<f64>; 3],
    slot: usize,
    excess: &mut [f64],
) -> bool {
    let LiquidGeometry { tiles, solids, phi, .. } = geometry;
    let (phi, s) = (phi.values(), solids.distance.values());
    let mut any = false;
    excess.fill(0.0);
    for local in 0..tiles.cells_in_use() {
        let index = CellIndex::new(slot, local);
        if !(0.0..AIR_BAND).contains(&phi[index]) || s[index] <= 0.0 {
            continue;
        }
        // Velocity, and the indices of the neighbor and of the face between.
        let mut faces: [Option<(f64, CellIndex, CellIndex)>; 6] = [None; 6];
        let mut squares = 0.0;
        for (direction, face) in faces.iter_mut().enumerate().take(2 * tiles.dims()) {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = tiles.next(index, axis, if up { 1 } else { -1 }) else { continue };
            let at = if up { next } else { index };
            let u = velocity[axis].values()[at];
            squares += 0.5 * u * u;
            *face = Some((u, next, at));
        }
        let part = ((squares.sqrt() * dt_over_h - slow) / (fast - slow)).clamp(0.0, 1.0);
        if part <= 0.0 {
            continue;
        }
        let (mut outflow, mut weight) = (0.0, 0.0);
        for (direction, face) in faces.into_iter().enumerate() {
            let Some((u, next, face)) = face else { continue };
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let open = solids.open[axis].values()[face];
            let wall = || walls(&solids.wall.values()[index], index, axis);
            let shut = 1.0 - open;
            // A face in a solid that carries no liquid has a velocity from the step before.
            let u = if flags[axis].values()[face] & (IN_SOLID | WET) == IN_SOLID { wall() } else { u };
            let flow = if shut > 0.0 { open * u + shut * wall() } else { u };
            outflow += if up { flow } else { -flow };
            if phi[next] > phi[index] && flags[axis].values()[face] & IN_SOLID == 0 {
                weight += open * (phi[next] - phi[index]).powi(2);
            }
        }
        if weight > MIN_WEIGHT {
            excess[local] = part * outflow / weight;
            any = true;
        }
    }
    any
}

/// Largest velocity component at the faces of liquid cells outside solids, in m/s.
fn fastest_liquid(geometry: &LiquidGeometry<'_>, flags: &FaceFlags, velocity: &[Field<f64>; 3]) -> f64 {
    let LiquidGeometry { tiles, phi, .. } = geometry;
    let in_tile = |slot: usize| {
        let mut fastest: f64 = 0.0;
        for local in (0..tiles.cells_in_use()).filter(|&local| phi.tile(slot)[local] < 0.0) {
            let index = CellIndex::new(slot, local);
            for (axis, component) in velocity.iter().enumerate().take(tiles.dims()) {
                let high = tiles.next(index, axis, 1).unwrap_or(index);
                for face in [index, high] {
                    if flags[axis].values()[face] & IN_SOLID == 0 {
                        fastest = fastest.max(component.values()[face].abs());
                    }
                }
            }
        }
        fastest
    };
    (0..tiles.len()).into_par_iter().map(in_tile).reduce(|| 0.0, f64::max)
}

/// Subtracts what the cells below pass on from the faces of one tile.
fn pass_on(
    geometry: &LiquidGeometry<'_>,
    flags: &Field<u8>,
    excess: &Field<f64>,
    fastest: f64,
    axis: usize,
    slot: usize,
    component: &mut [f64],
) {
    let LiquidGeometry { tiles, phi, .. } = geometry;
    let phi = phi.values();
    for local in 0..tiles.cells_in_use() {
        let index = CellIndex::new(slot, local);
        if phi[index] < 0.0 || flags.values()[index] & IN_SOLID != 0 {
            continue;
        }
        let Some(low) = tiles.next(index, axis, -1).filter(|&low| phi[low] >= 0.0) else { continue };
        let rise = phi[index] - phi[low];
        let (owner, outward) = if rise > 0.0 { (low, 1.0) } else { (index, -1.0) };
        let excess = excess.values()[owner];
        if excess != 0.0 {
            component[local] = (component[local] - outward * rise * rise * excess).clamp(-fastest, fastest);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify_faces;
    use crate::testing::cap_on_plane;

    const SPEEDS: [f64; 2] = [0.05, 0.15];

    /// A stretched film of 1.4 cells thins up to its interface, which lies above the last liquid
    /// cell.
    #[test]
    fn a_stretched_film_thins_by_its_whole_thickness() {
        let mut case = cap_on_plane(60f64.to_radians(), 12.0, DVec3::Y, DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut velocity: [Field<f64>; 3] = std::array::from_fn(|_| Field::new(0.0));
        let mut flags: FaceFlags = std::array::from_fn(|_| Field::new(0));
        velocity.iter_mut().for_each(|field| field.resize(tiles));
        flags.iter_mut().for_each(|flags| flags.resize(tiles));
        for index in tiles.indices() {
            let center = case.grid.center(index);
            case.phi.values_mut()[index] = center.y - 1.4;
            velocity[0].values_mut()[index] = center.x - 0.5;
            // As the projection leaves it: constant above the last liquid cell.
            velocity[1].values_mut()[index] = -(center.y - 0.5).clamp(0.0, 1.0);
        }
        classify_faces(tiles, &case.solids, &case.phi, &mut flags);
        let geometry = LiquidGeometry { tiles, solids: &case.solids, phi: &case.phi, slip: 0.0 };
        let v = |velocity: &[Field<f64>; 3], height: i32| velocity[1].get(tiles.find([6, height, 1]));
        // Slow liquid is not changed.
        let mut outflow = DivergenceCorrection::default();
        outflow.apply(&geometry, &flags, 1e-3, SPEEDS, &|_, _, _| 0.0, &mut velocity);
        assert_eq!(v(&velocity, 2), -1.0);
        outflow.apply(&geometry, &flags, 0.1, SPEEDS, &|_, _, _| 0.0, &mut velocity);
        let (below, above) = (v(&velocity, 1), v(&velocity, 2));
        assert!(below == -1.0 && (above + 2.0).abs() < 1e-9, "{below} and {above} m/s at 1 and 2 cells, not −1 and −2");
    }
}
