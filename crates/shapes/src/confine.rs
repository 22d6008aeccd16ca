//! Moves the free surface of a drop out of solids and restores its volume.
//!
//! Vertices inside a solid are projected onto its surface; the others move along their normals by
//! the distance that restores the volume, until both hold:
//!
//! ```text
//! x ← P(x) inside,   x ← x + δ n elsewhere,   δ = (V − V(x)) / Σ n·∂V/∂x
//! ```

use glam::DVec3;
use sessile_numerics::math;

use crate::build::DropMesh;

/// Largest number of projections.
const MAX_ROUNDS: usize = 60;
/// Relative error of the volume at which the projections end.
const PRECISION: f64 = 2e-4;
/// Largest move of a vertex in one round, in cube roots of the volume.
const LONGEST_MOVE: f64 = 0.15;

/// Confines a drop of `volume` (in m³) to the outside of solids. Where no shape outside with its
/// volume is found, returns `false` and leaves the drop as it was.
///
/// `projected` returns the nearest place outside for a vertex that is inside a solid; the flag says
/// whether the vertex lies on the drop's own solid, where it must stay.
pub fn confine(built: &mut DropMesh, volume: f64, projected: impl Fn(DVec3, bool) -> Option<DVec3>) -> bool {
    let DropMesh { mesh, on_solid } = built;
    let original = mesh.positions.clone();
    // Volumes far from the origin would lose digits.
    let origin = mesh.positions.first().copied().unwrap_or_default();
    let mut on_base = vec![false; mesh.positions.len()];
    for (triangle, _) in mesh.triangles.iter().zip(&*on_solid).filter(|&(_, &on)| on) {
        triangle.iter().for_each(|&v| on_base[v as usize] = true);
    }
    // Vertices that were projected stay where they are.
    let mut held = on_base.clone();
    let mut areas = vec![DVec3::ZERO; mesh.positions.len()];
    for _ in 0..MAX_ROUNDS {
        for (v, position) in mesh.positions.iter_mut().enumerate() {
            if let Some(outside) = projected(*position, on_base[v]) {
                (*position, held[v]) = (outside, true);
            }
        }
        areas.fill(DVec3::ZERO);
        let mut enclosed = 0.0;
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| mesh.positions[v as usize] - origin);
            enclosed += a.dot(b.cross(c)) / 6.0;
            let area = 0.5 * (b - a).cross(c - a);
            triangle.iter().for_each(|&v| areas[v as usize] += area);
        }
        let error = enclosed / volume - 1.0;
        if error.abs() < PRECISION {
            return true;
        }
        let free = |v: &usize| !held[*v];
        let gradient: f64 = (0..held.len()).filter(free).map(|v| areas[v].length() / 3.0).sum();
        if gradient <= 0.0 {
            break;
        }
        let longest = LONGEST_MOVE * math::cbrt(volume);
        let distance = ((volume - enclosed) / gradient).clamp(-longest, longest);
        for v in (0..held.len()).filter(free) {
            mesh.positions[v] += areas[v].normalize_or_zero() * distance;
        }
    }
    mesh.positions = original;
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Detail, drop_mesh};
    use crate::instance::{Instance, LocalFrame, Shape};
    use glam::DMat3;

    #[test]
    fn a_sphere_between_two_plates_keeps_its_volume_and_stays_outside() {
        let volume = 4e-9;
        let frame = LocalFrame { origin: DVec3::ZERO, axes: DMat3::IDENTITY };
        let sphere = Instance { drop: 1, solid: None, frame, volume, velocity: DVec3::ZERO, shape: Shape::Sphere };
        let mut built = drop_mesh(&sphere, &Detail::default());
        let half_gap = 0.6e-3;
        let fits =
            confine(&mut built, volume, |p, _| (p.z.abs() > half_gap).then(|| p.with_z(half_gap * p.z.signum())));
        assert!(fits && (built.mesh.volume() / volume - 1.0).abs() < 1e-3, "{}", built.mesh.volume());
        let highest = built.mesh.positions.iter().map(|p| p.z.abs()).fold(0.0, f64::max);
        assert!(highest < 1.001 * half_gap, "{highest}");
    }
}
