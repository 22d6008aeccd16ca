//! Velocity in the air next to the liquid is made free of divergence, so that the surface moves by as much as the liquid flows.
//!
//! The projection makes whole cells free of divergence; the surface lies somewhere in or above the last of them. Carried out constant along the normal, velocity says of a film of 1.4 cells
//! that is drawn out that it thins by as much as one of 1.0: φ then gains or loses a share of every film. In the air cells next to the liquid the faces that lead away from it are therefore given what the
//! cell's other faces leave to them:
//!
//! ```text
//! u_f ← u_f − σ_f w_f (Σ σ a u) / (Σ a w),      w = max(0, φ_beyond − φ)²,      σ = ±1 out of the cell, a the open share
//! ```
//!
//! in `SWEEPS` sweeps, since a cell's inflow is the outflow of the one below it. Liquid faces are never touched.
//!
//! Only where the surface is fast (`FAST`). What keeps loops of flow at the surface calm ([`surface_loops`](crate::surface_loops)) feeds energy to a ringing drop, and more of it through a
//! velocity that goes on beyond the surface: everywhere, a drop of 13 cells across that should decay by 5 per second would grow by 4. Walls in motion are not allowed for: their part of a cut
//! face counts as still.

use rayon::prelude::*;

use crate::extrapolation::Around;
use crate::faces::{BURIED, Kinds};
use crate::tiles::{CELLS, Field, NONE, SELF};

/// Air cells up to this distance from the surface, in cells.
const WITHIN: f64 = 2.0;
/// One per layer of cells.
const SWEEPS: usize = 3;
/// Least Σ a w: a cell that leads nowhere is left alone.
const LEAST: f64 = 0.25;

/// Speeds between which the correction sets in, in cells per step.
const FAST: [f64; 2] = [0.05, 0.15];

/// Memory that is used again.
#[derive(Debug)]
pub struct Outflow {
    /// What each air cell hands on, per w.
    share: Field<f64>,
    /// Tiles in which some cell hands on anything.
    fast: Vec<bool>,
    /// The same, in the sweep before.
    before: Vec<bool>,
}

impl Default for Outflow {
    fn default() -> Self {
        Self { share: Field::new(0.0), fast: Vec::new(), before: Vec::new() }
    }
}

impl Outflow {
    /// Corrects `velocity` (in m/s) as told above; `reach` is Δt/h (in s/m).
    pub fn make_air_divergence_free(
        &mut self,
        around: &Around<'_>,
        kinds: &Kinds,
        reach: f64,
        velocity: &mut [Field<f64>; 3],
    ) {
        let Self { share, fast, before } = self;
        let tiles = around.tiles;
        share.resize(tiles);
        share.set_all(0.0);
        fast.clear();
        fast.resize(tiles.len(), true);
        for _ in 0..SWEEPS {
            std::mem::swap(fast, before);
            fast.clear();
            fast.resize(tiles.len(), false);
            // Where nothing has changed around a tile that handed on nothing, it still does.
            let (reads, wakes) = (&*velocity, |slot: usize| tiles.touches(before, slot));
            share
                .par_tiles_mut()
                .zip(&mut *fast)
                .enumerate()
                .filter(|(slot, _)| wakes(*slot))
                .for_each(|(slot, (share, fast))| *fast = find_shares(around, kinds, reach, reads, slot, share));
            if !fast.contains(&true) {
                return;
            }
            for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
                let wakes = |slot: usize| fast[slot] || tiles.is_marked(fast, slot, SELF - [1, 3, 9][axis]);
                component
                    .par_tiles_mut()
                    .enumerate()
                    .filter(|(slot, _)| wakes(*slot))
                    .for_each(|(slot, component)| hand_on(around, &kinds[axis], share, axis, slot, component));
            }
        }
    }
}

/// Writes what the air cells of a tile hand on; says whether any does.
fn find_shares(
    around: &Around<'_>,
    kinds: &Kinds,
    reach: f64,
    velocity: &[Field<f64>; 3],
    slot: usize,
    share: &mut [f64],
) -> bool {
    let Around { tiles, solids, phi, .. } = around;
    let (phi, s) = (phi.values(), solids.distance.values());
    let mut any = false;
    share.fill(0.0);
    for local in 0..tiles.cells_in_use() {
        let index = slot * CELLS + local;
        if !(0.0..WITHIN).contains(&phi[index]) || s[index] <= 0.0 {
            continue;
        }
        let mut faces = [(0.0, NONE, NONE); 6];
        let mut squares = 0.0;
        for (direction, face) in faces.iter_mut().enumerate().take(2 * tiles.dims()) {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = tiles.next(index, axis, if up { 1 } else { -1 }) else { continue };
            let at = if up { next } else { index };
            let u = velocity[axis].values()[at];
            squares += 0.5 * u * u;
            *face = (u, next as u32, at as u32);
        }
        let [slow, fast] = FAST;
        let part = ((squares.sqrt() * reach - slow) / (fast - slow)).clamp(0.0, 1.0);
        if part <= 0.0 {
            continue;
        }
        let (mut outflow, mut weight) = (0.0, 0.0);
        for (direction, (u, next, face)) in faces.into_iter().enumerate().filter(|(_, face)| face.1 != NONE) {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let (next, face) = (next as usize, face as usize);
            let open = solids.open[axis].values()[face];
            outflow += open * if up { u } else { -u };
            if phi[next] > phi[index] && kinds[axis].values()[face] & BURIED == 0 {
                weight += open * (phi[next] - phi[index]).powi(2);
            }
        }
        if weight > LEAST {
            share[local] = part * outflow / weight;
            any = true;
        }
    }
    any
}

/// Takes what the cells below hand on off the faces of one tile.
fn hand_on(
    around: &Around<'_>,
    kinds: &Field<u8>,
    share: &Field<f64>,
    axis: usize,
    slot: usize,
    component: &mut [f64],
) {
    let Around { tiles, phi, .. } = around;
    let phi = phi.values();
    for local in 0..tiles.cells_in_use() {
        let index = slot * CELLS + local;
        if phi[index] < 0.0 || kinds.values()[index] & BURIED != 0 {
            continue;
        }
        let Some(low) = tiles.next(index, axis, -1).filter(|&low| phi[low] >= 0.0) else { continue };
        let rise = phi[index] - phi[low];
        let (owner, outward) = if rise > 0.0 { (low, 1.0) } else { (index, -1.0) };
        component[local] -= outward * rise * rise * share.values()[owner];
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify;
    use crate::testing::cap_on_plane;

    /// A film of 1.4 cells that is drawn out thins all the way up to its surface, which lies above the last liquid cell.
    #[test]
    fn a_film_thins_by_its_whole_thickness() {
        let mut case = cap_on_plane(60f64.to_radians(), 12.0, DVec3::Y, DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut velocity: [Field<f64>; 3] = std::array::from_fn(|_| Field::new(0.0));
        let mut kinds: Kinds = std::array::from_fn(|_| Field::new(0));
        velocity.iter_mut().for_each(|field| field.resize(tiles));
        kinds.iter_mut().for_each(|kinds| kinds.resize(tiles));
        for index in 0..tiles.len() * CELLS {
            let center = case.grid.center(index);
            case.phi.values_mut()[index] = center.y - 1.4;
            velocity[0].values_mut()[index] = center.x - 0.5;
            // As the projection leaves it, constant above the last liquid cell.
            velocity[1].values_mut()[index] = -(center.y - 0.5).clamp(0.0, 1.0);
        }
        classify(tiles, &case.solids, &case.phi, &mut kinds);
        let around = Around { tiles, solids: &case.solids, phi: &case.phi, slip: 0.0 };
        let v = |velocity: &[Field<f64>; 3], height: i32| velocity[1].get(tiles.find([6, height, 1]));
        // What hardly moves is left alone.
        let mut outflow = Outflow::default();
        outflow.make_air_divergence_free(&around, &kinds, 1e-3, &mut velocity);
        assert_eq!(v(&velocity, 2), -1.0);
        outflow.make_air_divergence_free(&around, &kinds, 0.1, &mut velocity);
        let (below, above) = (v(&velocity, 1), v(&velocity, 2));
        assert!(below == -1.0 && (above + 2.0).abs() < 1e-9, "{below} and {above} m/s at 1 and 2 cells, not −1 and −2");
    }
}
