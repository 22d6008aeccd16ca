//! Damping of parasitic currents around the corners of interface cells.
//!
//! A liquid cell at the interface may have two or three *air-side* faces: liquid faces whose center
//! lies in air. Flow in through one and out through another changes neither volume nor shape; the
//! pressures at the two, γκ at points a fraction of a cell apart, never quite agree, and drive it
//! (a sphere at rest of 10 cells radius: 18 mm/s after 5 ms, with damping 3). It has no counterpart
//! in the liquid. So each cell's air-side faces relax to the velocity u_t that is extrapolated
//! linearly from one and two cells below the interface, without changing the cell's outflow:
//!
//! ```text
//! d_i = σ_i (u_t − u)_i,      u_i ← u_i + β σ_i (d_i − Σ a d / Σ a)
//!     σ_i = ±1 out of the cell, a_i the face's open fraction
//! ```
//!
//! The outflow, which moves the interface, remains that of the projection. With d_i alone the faces
//! would feed energy to an oscillating drop: its amplitude then falls at half the viscous rate. β
//! is `NumericalParameters::parasitic_damping`; no time-step limit.

use rayon::prelude::*;

use crate::extrapolation::LiquidGeometry;
use crate::faces::{AIR_SIDE, FaceFlags, HAS_TARGET};
use crate::grid::{CENTER, FACES, gradient, linear, local_center};
use crate::params::Parameters;
use crate::scratch::Scratch;
use crate::state::State;
use crate::tiles::{CellIndex, Field, Tiles};

/// Damps the flow through air-side faces that no pressure balances.
pub fn damp_parasitic_currents(state: &mut State, scratch: &mut Scratch, params: &Parameters) {
    let State { grid, solids, phi, velocity, .. } = state;
    let (flags, differences) = (&mut scratch.face_flags, &mut scratch.center_velocity);
    let (tiles, beta) = (&grid.tiles, params.numerics.parasitic_damping);
    let geometry = &LiquidGeometry { tiles, solids, phi, slip: params.slip / grid.h };
    for (axis, out) in differences.iter_mut().enumerate().take(tiles.dims()) {
        find_differences(geometry, axis, &mut flags[axis], &velocity[axis], out);
    }
    let (flags, differences) = (&*flags, &*differences);
    for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
        component.par_tiles_mut().enumerate().for_each(|(slot, component)| {
            let own_flags = flags[axis].tile(slot);
            for local in (0..tiles.cells_in_use()).filter(|&local| own_flags[local] & HAS_TARGET != 0) {
                let index = CellIndex::new(slot, local);
                let own = differences[axis].values()[index];
                let Some(low) = tiles.next(index, axis, -1) else { continue };
                let liquid = if geometry.phi.values()[low] < 0.0 { low } else { index };
                let outward = if liquid == low { 1.0 } else { -1.0 };
                if let Some(mean) = mean_outflow(geometry, flags, differences, liquid) {
                    component[local] += beta * (own - outward * mean);
                }
            }
        });
    }
}

/// Σ a d / Σ a over a cell's air-side faces; `None` if it has only one.
fn mean_outflow(
    geometry: &LiquidGeometry<'_>,
    flags: &FaceFlags,
    differences: &[Field<f64>; 3],
    cell: CellIndex,
) -> Option<f64> {
    let LiquidGeometry { tiles, solids, .. } = geometry;
    let (mut sum, mut weight, mut count) = (0.0, 0.0, 0);
    for axis in 0..tiles.dims() {
        for (face, outward) in [(Some(cell), -1.0), (tiles.next(cell, axis, 1), 1.0)] {
            let Some(face) = face else { continue };
            if flags[axis].values()[face] & HAS_TARGET != 0 {
                let difference = differences[axis].values()[face];
                let open = solids.open[axis].values()[face];
                sum += open * outward * difference;
                weight += open;
                count += 1;
            }
        }
    }
    (count > 1 && weight > 0.0).then(|| sum / weight)
}

/// Writes u_t − u at the air-side faces of component `axis`, and flags the faces that have it: not
/// those where the liquid is less than two cells deep.
fn find_differences(
    geometry: &LiquidGeometry<'_>,
    axis: usize,
    flags: &mut Field<u8>,
    before: &Field<f64>,
    out: &mut Field<f64>,
) {
    let LiquidGeometry { tiles, phi, .. } = geometry;
    out.par_tiles_mut().zip(flags.par_tiles_mut()).enumerate().for_each(|(slot, (out, flags))| {
        for local in 0..tiles.cells_in_use() {
            if flags[local] & AIR_SIDE == 0 {
                continue;
            }
            if let Some(target) = target(tiles, phi, axis, before, slot, local) {
                out[local] = target - before.tile(slot)[local];
                flags[local] |= HAS_TARGET;
            }
        }
    });
}

/// Velocity at a face, extrapolated linearly from one and two cells below the interface.
fn target(tiles: &Tiles, phi: &Field<f64>, axis: usize, before: &Field<f64>, slot: usize, local: usize) -> Option<f64> {
    let index = CellIndex::new(slot, local);
    let low = tiles.next(index, axis, -1)?;
    let height = 0.5 * (phi.values()[index] + phi.values()[low]);
    let normal = (gradient(tiles, phi, index) + gradient(tiles, phi, low)).normalize_or_zero();
    let mut at = local_center(local);
    at[axis] -= 0.5;
    let [one, two] = [height + 1.0, height + 2.0].map(|depth| at - normal * depth);
    if linear(tiles, phi, slot, two, CENTER) > -1.5 {
        return None;
    }
    let [upper, lower] = [one, two].map(|at| linear(tiles, before, slot, at, FACES[axis]));
    Some(upper + (upper - lower) * (1.0 + height))
}
