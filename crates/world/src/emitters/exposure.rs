//! Which part of a solid rain can reach.
//!
//! A ball that comes along `velocity` must have had a clear path: going back from where it touches, its center must not pass
//! through a solid. The path is followed by sphere tracing, that is, in steps of the signed distance, which can never jump over
//! anything.

use glam::DVec3;
use sessile_scene::types::SolidShape;

use crate::solid::Solid;

/// Steps after which a path that has met nothing is taken to be clear.
const MAX_STEPS: usize = 1000;

/// Whether a solid stands between a ball's center at `from` and open sky along the unit vector `back`.
///
/// Planes and leaves block with their bodies where the path starts inside, and beyond that with their drawn part only. The space
/// around a hollow sphere blocks nothing.
pub(crate) fn sheltered(solids: &[&Solid], from: DVec3, back: DVec3, radius: f64) -> bool {
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
    let drawn_only = matches!(shape, SolidShape::Plane { .. } | SolidShape::Leaf { .. });
    let (middle, size) = solid.bounding_ball();
    let reach = from.distance(middle) + size;
    let touching = 1e-3 * radius;
    let mut along = 0.0;
    for _ in 0..MAX_STEPS {
        let point = from + back * along;
        let clear = solid.signed_distance(point);
        if clear < touching {
            let uv = solid.closest(point).uv;
            return !drawn_only || (uv.min_element() >= 0.0 && uv.max_element() <= 1.0);
        }
        along += clear;
        if along > reach {
            return false;
        }
    }
    false
}
