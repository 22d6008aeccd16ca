//! Visibility of a surface point to rain.
//!
//! The path of a drop must be unobstructed: traced back from the point of contact, its center must
//! not pass through a solid. The path is sphere traced, i.e. in steps of the signed distance.

use glam::DVec3;
use sessile_scene::types::SolidShape;

use crate::solid::Solid;

/// Maximum number of steps; a path that has hit nothing by then counts as clear.
const MAX_STEPS: usize = 1000;

/// Whether a solid blocks the path from a drop's center at `from` along the unit vector `back`.
///
/// Planes and leaves block with their half-space where the path starts inside it, and otherwise
/// with their meshed part only. The space around a hollow sphere blocks nothing.
pub(crate) fn is_sheltered(solids: &[&Solid], from: DVec3, back: DVec3, radius: f64) -> bool {
    solids.iter().any(|solid| blocks(solid, from, back, radius))
}

fn blocks(solid: &Solid, from: DVec3, back: DVec3, radius: f64) -> bool {
    let shape = &solid.scene().shape;
    if matches!(shape, SolidShape::Sphere { inside: true, .. }) {
        return false;
    }
    let distance = solid.signed_distance(from);
    if distance <= 0.0 {
        return true;
    }
    let meshed_part_only = matches!(shape, SolidShape::Plane { .. } | SolidShape::Leaf { .. });
    let (center, bounding_radius) = solid.bounding_ball();
    let max_distance = from.distance(center) + bounding_radius;
    let touching = 1e-3 * radius;
    let mut along = 0.0;
    for _ in 0..MAX_STEPS {
        let point = from + back * along;
        let clear = solid.signed_distance(point);
        if clear < touching {
            let uv = solid.closest(point).uv;
            return !meshed_part_only || (uv.min_element() >= 0.0 && uv.max_element() <= 1.0);
        }
        along += clear;
        if along > max_distance {
            return false;
        }
    }
    false
}
