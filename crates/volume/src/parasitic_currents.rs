//! Damping of parasitic currents around the corners of interface cells.
//!
//! A liquid cell at the interface may have two or three *air-side* faces: liquid faces whose center
//! lies in air. Flow in through one and out through another changes neither volume nor shape; the
//! pressures at the two, γκ at points a fraction of a cell apart, never quite agree, and drive it.
//! It has no counterpart in the liquid. So each cell's air-side faces relax to the velocity u_t
//! that is extrapolated linearly from one and two cells below the interface, without changing the
//! cell's outflow:
//!
//! ```text
//! d_i = σ_i (u_t − u)_i,      u_i ← u_i + β σ_i (d_i − Σ a d / Σ a)
//!     σ_i = ±1 out of the cell, a_i the face's open fraction
//! ```
//!
//! The outflow, which moves the interface, remains that of the projection. u_t is taken where the
//! pressure gradient that accelerates the face acts: half way from the liquid cell's center to the
//! interface. Taken at the face's center, or with d_i alone, the damping would feed energy to an
//! oscillating drop (1.5 per second of its amplitude at 22 cells across, planar). β is
//! `NumericalParameters::parasitic_damping`; no time-step limit.

use rayon::prelude::*;
use sessile_numerics::math;

use crate::extrapolation::LiquidGeometry;
use crate::faces::{AIR_SIDE, FaceFlags, HAS_TARGET};
use crate::grid::{CENTER, FACES, gradient, linear, local_center};
use crate::parameters::Parameters;
use crate::scratch::Scratch;
use crate::state::State;
use crate::tiles::{CellIndex, Field, Tiles};

/// Damps the flow through air-side faces that no pressure balances in a step of `dt` (in s).
pub fn damp_parasitic_currents(state: &mut State, scratch: &mut Scratch, params: &Parameters, dt: f64) {
    let State { grid, solids, phi, velocity, .. } = state;
    let (flags, differences) = (&mut scratch.face_flags, &mut scratch.center_velocity);
    let steps = dt / params.reference_step(dt, grid.h);
    let (tiles, beta) = (&grid.tiles, 1.0 - math::powf(1.0 - params.numerics.parasitic_damping, steps));
    let geometry = &LiquidGeometry { tiles, solids, phi, slip: params.slip / grid.h };
    for (axis, out) in differences.iter_mut().enumerate().take(tiles.dims()) {
        find_differences(geometry, axis, params.second_order, &mut flags[axis], &velocity[axis], out);
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
    second_order: bool,
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
            if let Some(target) = target(tiles, phi, axis, second_order, before, CellIndex::new(slot, local)) {
                out[local] = target - before.tile(slot)[local];
                flags[local] |= HAS_TARGET;
            }
        }
    });
}

/// Velocity where the pressure gradient of a face acts, extrapolated linearly from one and two
/// cells below the interface.
///
/// That is half way from the liquid cell's center to the interface; at first order, where the
/// pressure takes the interface to be at the air cell's center, it is the face's center.
fn target(
    tiles: &Tiles,
    phi: &Field<f64>,
    axis: usize,
    second_order: bool,
    before: &Field<f64>,
    index: CellIndex,
) -> Option<f64> {
    let low = tiles.next(index, axis, -1)?;
    let [phi_low, phi_high] = [low, index].map(|index| phi.values()[index]);
    let (liquid, air, outward) = if phi_low < 0.0 { (phi_low, phi_high, 1.0) } else { (phi_high, phi_low, -1.0) };
    // From the liquid cell's center.
    let distance = if second_order { 0.5 * liquid / (liquid - air) } else { 0.5 };
    let height = liquid + (air - liquid) * distance;
    let normal = (gradient(tiles, phi, index) + gradient(tiles, phi, low)).normalize_or_zero();
    let slot = index.slot();
    let mut at = local_center(index.local());
    at[axis] += outward * (distance - 0.5) - 0.5;
    let [one, two] = [height + 1.0, height + 2.0].map(|depth| at - normal * depth);
    if linear(tiles, phi, slot, two, CENTER) > -1.5 {
        return None;
    }
    let [upper, lower] = [one, two].map(|at| linear(tiles, before, slot, at, FACES[axis]));
    Some(upper + (upper - lower) * (1.0 + height))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::classify_faces;
    use crate::testing::{free_space, sampled, uniform};

    /// In a drop with a uniform strain, whose faces at the interface have the velocity of the
    /// places where the pressure accelerates them, there is nothing to damp.
    #[test]
    fn the_target_is_the_velocity_where_the_pressure_acts() {
        let (tiles, solids) = free_space();
        let middle = DVec3::new(0.13, 0.29, 0.41);
        let phi = sampled(&tiles, |at| (at - middle).length() - 11.0);
        let mut flags: FaceFlags = std::array::from_fn(|_| uniform(&tiles, 0));
        classify_faces(&tiles, &solids, &phi, &mut flags);
        let (mut sum, mut count) = ([0.0; 2], 0.0);
        for axis in 0..3 {
            let center = |index: CellIndex| f64::from(tiles.cell(index)[axis]) + 0.5;
            let mut field = sampled(&tiles, |at| at[axis] - 0.5);
            let is_air_side = |index: &CellIndex| flags[axis].values()[*index] & AIR_SIDE != 0;
            let air_side: Vec<CellIndex> = tiles.indices().filter(is_air_side).collect();
            for &index in &air_side {
                let low = tiles.next(index, axis, -1).unwrap();
                let (a, b) = (phi.values()[low], phi.values()[index]);
                let (from, share) = if a < 0.0 { (low, a / (a - b)) } else { (index, -b / (b - a)) };
                field.values_mut()[index] = center(from) + 0.5 * share;
            }
            for &index in &air_side {
                let found = [true, false].map(|second| target(&tiles, &phi, axis, second, &field, index));
                for (sum, target) in sum.iter_mut().zip(found) {
                    *sum += (target.unwrap() - field.values()[index]).powi(2);
                }
                count += 1.0;
            }
        }
        let [here, at_face] = sum.map(|sum| (sum / count).sqrt());
        println!("targets differ by {here:.3} of the strain, at the faces' centers by {at_face:.3}");
        assert!(here < 0.05 && at_face > 0.1, "targets differ by {here:.3} of the strain, {at_face:.3} at centers");
    }
}
