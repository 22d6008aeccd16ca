//! Restoring the volume of a drop after its vertices have moved (physical fidelity).
//!
//! The local and global corrections of Zhang et al. are in [`zhang2011`](super::zhang2011).
//!
//! The linear solve conserves the volume to first order. In flight the rest is first restored where
//! the surface moved: a patch that moves at w along its normal grows by 2Hw per time, H its mean
//! curvature, so its second-order volume error goes with w². An even correction would instead take
//! the gain at a ligament's fast end from its whole length. The remainder is restored along all
//! normals:
//!
//! ```text
//! x_i += n_i ΔV w_i²/Σ w² c · n,         then        x_i += n_i ΔV/Σ c · n
//! ```

use glam::DVec3;
use sessile_numerics::sphere_radius;
use sessile_world::Solid;

use super::geometry::DropGeometry;
use crate::drop::{Drop, Scratch};
use crate::mesh::index::VertexIndex;
use crate::mesh::{Mesh, VertexKind};
use crate::substrate::{SolidIndex, Substrate};

/// Secant iterations; each gains some digits.
const MAX_PASSES: usize = 8;
/// Passes that put vertices back on the solids that they entered.
const MAX_PROJECTIONS: usize = 16;
/// Steps along the path of a vertex toward a solid, each as long as the distance from it.
const MAX_MARCHES: usize = 64;
/// Distance from the solid at which a path ends, over its length.
const ENTRY_TOLERANCE: f64 = 1e-6;
/// Relative error of the volume at which the iteration ends.
const TOLERANCE: f64 = 1e-11;

/// Squared normal speed of a vertex relative to `u`, in m²/s².
pub fn normal_speed_squared(mesh: &Mesh, geometry: &DropGeometry, v: VertexIndex, u: DVec3) -> f64 {
    geometry.normals[v].dot(mesh.velocities[v] - u).powi(2)
}

/// Restores the volume of a drop in flight where its surface moved.
///
/// Does nothing where a vertex would move by more than a tenth of `edge`, in m: then the error has
/// another cause.
pub fn restore_volume_by_motion(drop: &mut Drop, geometry: &DropGeometry, edge: f64) {
    let weight = |mesh: &Mesh, v: VertexIndex| normal_speed_squared(mesh, geometry, v, drop.velocity);
    let (mut total, mut largest) = (0.0, 0.0f64);
    for v in VertexIndex::first(geometry.normals.len()) {
        let w = weight(&drop.mesh, v);
        total += w * geometry.normals[v].dot(geometry.volume_gradient[v]);
        largest = largest.max(w);
    }
    let factor = (drop.volume - drop.mesh.volume()) / total;
    if total > 0.0 && (factor * largest).abs() < 0.1 * edge {
        for v in VertexIndex::first(geometry.normals.len()) {
            let shift = factor * weight(&drop.mesh, v);
            drop.mesh.positions[v] += geometry.normals[v] * shift;
        }
    }
}

/// Moves the free vertices along their normals until the drop has its volume.
///
/// Gives up where they would have to move by the drop's radius; the checks then reject the surface.
pub fn restore_volume(drop: &mut Drop, geometry: &DropGeometry) {
    restore_volume_by(drop, geometry, |v| geometry.kinds[v] == VertexKind::Free);
}

/// Does the same without moving vertices into `solids`.
///
/// A vertex that enters a solid is put back on its surface and held there: the volume that the
/// solid displaces appears elsewhere. `held` is reusable memory.
pub fn restore_volume_outside(
    drop: &mut Drop,
    geometry: &DropGeometry,
    substrate: &Substrate,
    solids: &[SolidIndex],
    held: &mut Vec<bool>,
) {
    held.clear();
    held.resize(geometry.kinds.len(), false);
    for _ in 0..MAX_PROJECTIONS {
        let shift = restore_volume_by(drop, geometry, |v| geometry.kinds[v] == VertexKind::Free && !held[v]);
        let mut entered = false;
        for v in drop.mesh.vertex_indices().filter(|&v| geometry.kinds[v] == VertexKind::Free) {
            let before = drop.mesh.positions[v] - geometry.normals[v] * if held[v] { 0.0 } else { shift };
            for solid in solids.iter().map(|&s| &substrate.solids()[s]) {
                let position = &mut drop.mesh.positions[v];
                if solid.signed_distance(*position) < 0.0 {
                    *position = entry(solid, before, *position);
                    entered |= !std::mem::replace(&mut held[v], true);
                }
            }
        }
        if !entered {
            break;
        }
    }
    restore_volume_by(drop, geometry, |v| geometry.kinds[v] == VertexKind::Free && !held[v]);
}

/// Where a vertex that moved into a solid met its surface, in m: through a thin solid the closest
/// point may be on the other side.
fn entry(solid: &Solid, before: DVec3, after: DVec3) -> DVec3 {
    let path = after - before;
    let length = path.length();
    // A vertex that was put back on the surface before may read as inside by rounding.
    if length == 0.0 {
        return solid.closest(after).point;
    }
    let mut passed = 0.0;
    for _ in 0..MAX_MARCHES {
        let distance = solid.signed_distance(before + path * (passed / length));
        // A vertex that was inside before leaves by the shortest way.
        if passed == 0.0 && distance <= 0.0 {
            return solid.closest(after).point;
        }
        passed = (passed + distance).min(length);
        if distance < ENTRY_TOLERANCE * length {
            break;
        }
    }
    solid.closest(before + path * (passed / length)).point
}

/// Moves the vertices that `moves` selects along their normals until the drop has its volume;
/// returns by how far, in m.
fn restore_volume_by(drop: &mut Drop, geometry: &DropGeometry, moves: impl Fn(VertexIndex) -> bool) -> f64 {
    let mut total = 0.0;
    let mut growth = 0.0;
    for v in VertexIndex::first(geometry.normals.len()) {
        if moves(v) {
            growth += geometry.normals[v].dot(geometry.volume_gradient[v]);
        }
    }
    let max_shift = sphere_radius(drop.volume);
    let mut volume = drop.mesh.volume();
    for _ in 0..MAX_PASSES {
        let missing = drop.volume - volume;
        if missing.abs() <= TOLERANCE * drop.volume || growth.is_nan() || growth <= 0.0 {
            break;
        }
        let shift = missing / growth;
        if shift.abs() > max_shift {
            break;
        }
        total += shift;
        for v in VertexIndex::first(geometry.normals.len()) {
            if moves(v) {
                drop.mesh.positions[v] += geometry.normals[v] * shift;
            }
        }
        let before = std::mem::replace(&mut volume, drop.mesh.volume());
        let secant = (volume - before) / shift;
        if secant > 0.2 * growth && secant < 5.0 * growth {
            growth = secant;
        }
    }
    total
}

/// Evaluates the geometry of a drop whose mesh was replaced, and restores its volume outside the
/// solids.
///
/// A merged surface misses all that its parts had in common.
pub fn restore_volume_of(drop: &mut Drop, substrate: &Substrate, scratch: &mut Scratch) {
    let Scratch { geometry, contact, held, .. } = scratch;
    geometry.read(&drop.mesh, substrate);
    drop.air_area = geometry.air_area;
    substrate.find_near(drop.mesh.bounds(), sphere_radius(drop.volume), &mut contact.near);
    restore_volume_outside(drop, geometry, substrate, &contact.near, held);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{TestDrops, floor};

    /// The remaining volume of a merged drop may be as much as one of its parts.
    #[test]
    fn a_drop_that_grows_against_a_thin_plate_stays_on_its_side() {
        let plate = "[materials.m]\nadvancing = \"90 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\n\
            shape = \"box\"\nmin = \"-9 -0.3 -9 mm\"\nmax = \"9 0 9 mm\"\n";
        let ball = "[[drops]]\nshape = \"sphere\"\ncenter = \"0 1.1 0 mm\"\nradius = \"1 mm\"\n";
        let TestDrops { mut drops, substrate, mut scratch, .. } = TestDrops::new(&format!("{plate}{ball}"), 0.2e-3);
        let drop = &mut drops[0];
        drop.volume *= 2.5;
        restore_volume_of(drop, &substrate, &mut scratch);
        let error = drop.mesh.volume() / drop.volume - 1.0;
        assert!(error.abs() < 1e-9, "the volume is off by {error:e}");
        let lowest = drop.mesh.bounds()[0].y;
        assert!(lowest > -1e-9, "a vertex is at {lowest} m");
    }

    /// On a sphere, points that were put on its surface read as inside by rounding.
    #[test]
    fn restoring_the_volume_moves_no_vertex_into_a_solid() {
        let ball = "[[drops]]\nshape = \"sphere\"\ncenter = \"0 1.005 0 mm\"\nradius = \"1 mm\"\n";
        let sphere = "[materials.m]\nadvancing = \"90 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\n\
            shape = \"sphere\"\ncenter = \"0 -5 0 mm\"\nradius = \"5 mm\"\n";
        for solid in [floor(90.0, 90.0), sphere.to_owned()] {
            let TestDrops { mut drops, substrate, mut scratch, .. } = TestDrops::new(&format!("{solid}{ball}"), 0.2e-3);
            let drop = &mut drops[0];
            drop.volume *= 1.2;
            scratch.geometry.read(&drop.mesh, &substrate);
            let solids: Vec<SolidIndex> = substrate.solid_indices().collect();
            restore_volume_outside(drop, &scratch.geometry, &substrate, &solids, &mut scratch.held);
            let error = drop.mesh.volume() / drop.volume - 1.0;
            assert!(error.abs() < 1e-9, "the volume is off by {error:e}");
            let depth = |p: &DVec3| substrate.solids()[solids[0]].signed_distance(*p);
            let deepest = drop.mesh.positions.iter().map(depth).fold(f64::INFINITY, |a, b| if a < b { a } else { b });
            assert!(deepest > -1e-12, "a vertex is {deepest} m above the solid");
            assert!(drop.mesh.positions.iter().all(|p| p.is_finite()));
            assert!(scratch.held.contains(&true), "the solid holds no vertex");
        }
    }
}
