//! Flow round the corners of surface cells, which no force holds back, is kept to what the liquid below does.
//!
//! A liquid cell at the surface may have two or three *outer* faces: wet ones whose middle lies in air. Flow in through one and out through the other changes no volume and no shape; the
//! pressures at the two, γκ at two places a fraction of a cell apart, never quite agree, and drive it (a ball at rest of 10 cells' radius: 18 mm/s after 5 ms, with this 3). It has no counterpart in the
//! liquid. So each cell's outer faces are drawn towards the velocity u_t that the two cells below the surface point to, linear along the normal, by the part that leaves the cell's outflow alone:
//!
//! ```text
//! d_i = σ_i (u_t − u)_i,      u_i ← u_i + β σ_i (d_i − Σ a d / Σ a)      σ_i = ±1 out of the cell, a_i the face's open share
//! ```
//!
//! What moves the surface, the outflow, stays the projection's. Drawing the faces all the way (d_i alone) feeds energy to a ringing drop: its amplitude then falls by half of what viscosity takes.

use rayon::prelude::*;

use crate::extrapolation::Around;
use crate::faces::{Kinds, OUTER};
use crate::grid::{CENTER, FACES, gradient, linear, local_center};
use crate::tiles::{CELLS, Field, Tiles};

/// β, the share of the way per step.
const DRAWN: f64 = 0.2;

/// Draws the outer faces of `velocity` as told above; `differences` is scratch.
pub fn calm_loops(
    around: &Around<'_>,
    kinds: &Kinds,
    differences: &mut [Field<f64>; 3],
    velocity: &mut [Field<f64>; 3],
) {
    let tiles = around.tiles;
    for (axis, out) in differences.iter_mut().enumerate().take(tiles.dims()) {
        find_differences(around, axis, &kinds[axis], &velocity[axis], out);
    }
    let differences = &*differences;
    for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
        component.par_tiles_mut().enumerate().for_each(|(slot, component)| {
            let kinds = kinds[axis].tile(slot);
            for local in 0..tiles.cells_in_use() {
                let index = slot * CELLS + local;
                let own = differences[axis].values()[index];
                if kinds[local] & OUTER == 0 || own.is_nan() {
                    continue;
                }
                let Some(low) = tiles.next(index, axis, -1) else { continue };
                let liquid = if around.phi.values()[low] < 0.0 { low } else { index };
                let outward = if liquid == low { 1.0 } else { -1.0 };
                if let Some(mean) = mean_outflow(around, differences, liquid) {
                    component[local] += DRAWN * (own - outward * mean);
                }
            }
        });
    }
}

/// Σ a d / Σ a over a cell's outer faces; `None` if it has but one.
fn mean_outflow(around: &Around<'_>, differences: &[Field<f64>; 3], cell: usize) -> Option<f64> {
    let Around { tiles, solids, .. } = around;
    let (mut sum, mut weight, mut count) = (0.0, 0.0, 0);
    for axis in 0..tiles.dims() {
        for (face, outward) in [(Some(cell), -1.0), (tiles.next(cell, axis, 1), 1.0)] {
            let Some(face) = face else { continue };
            let difference = differences[axis].values()[face];
            if difference.is_finite() {
                let open = solids.open[axis].values()[face];
                sum += open * outward * difference;
                weight += open;
                count += 1;
            }
        }
    }
    (count > 1 && weight > 0.0).then(|| sum / weight)
}

/// u_t − u at the outer faces of component `axis`; not a number at others, and where the liquid is not two cells deep.
fn find_differences(around: &Around<'_>, axis: usize, kinds: &Field<u8>, before: &Field<f64>, out: &mut Field<f64>) {
    let Around { tiles, phi, .. } = around;
    out.par_tiles_mut().enumerate().for_each(|(slot, out)| {
        let kinds = kinds.tile(slot);
        out.fill(f64::NAN);
        for local in (0..tiles.cells_in_use()).filter(|&local| kinds[local] & OUTER != 0) {
            if let Some(target) = target(tiles, phi, axis, before, slot, local) {
                out[local] = target - before.tile(slot)[local];
            }
        }
    });
}

/// What the velocity one and two cells below the surface points to at a face.
fn target(tiles: &Tiles, phi: &Field<f64>, axis: usize, before: &Field<f64>, slot: usize, local: usize) -> Option<f64> {
    let index = slot * CELLS + local;
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
