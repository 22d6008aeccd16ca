//! Removal of vertex motion within the surface, which is not motion of the liquid.
//!
//! A vertex keeps the velocity U of the drop and its own component along the normal,
//!
//! ```text
//! v ← U + n (n · (v − U)) − n w (c · v)/Σ w c · n
//! ```
//!
//! where the last term removes the growth of the volume: the midpoint rule would alternate its sign
//! at every step without damping. The weights w are those of
//! [`restore_volume_by_motion`](super::volume_correction::restore_volume_by_motion) in flight, and
//! 1 on a solid.

use super::geometry::DropGeometry;
use super::volume_correction::normal_speed_squared;
use crate::drop::Drop;
use crate::mesh::{Mesh, VertexKind};

/// Removes the tangential velocities of free vertices and conserves the drop's velocity in flight.
pub fn remove_tangential_velocity(drop: &mut Drop, geometry: &DropGeometry) {
    let u = drop.velocity;
    for v in 0..drop.mesh.velocities.len() {
        if geometry.kinds[v] == VertexKind::Free {
            let n = geometry.normals[v];
            let relative = drop.mesh.velocities[v] - u;
            drop.mesh.velocities[v] = u + n * n.dot(relative);
        }
    }
    let growth: f64 = geometry.volume_gradient.iter().zip(&drop.mesh.velocities).map(|(c, &v)| c.dot(v)).sum();
    let in_flight = !geometry.on_solid();
    let weight = |mesh: &Mesh, v: usize| if in_flight { normal_speed_squared(mesh, geometry, v, u) } else { 1.0 };
    let free = |v: &usize| geometry.kinds[*v] == VertexKind::Free;
    let count = drop.mesh.velocities.len();
    let total: f64 = (0..count)
        .filter(free)
        .map(|v| geometry.volume_gradient[v].dot(geometry.normals[v]) * weight(&drop.mesh, v))
        .sum();
    if total > 0.0 {
        for v in (0..count).filter(free) {
            let removed = weight(&drop.mesh, v) * (growth / total);
            drop.mesh.velocities[v] -= geometry.normals[v] * removed;
        }
    }
    // On a solid the drop's velocity follows from its shape.
    if geometry.contacts.is_empty() {
        let missing = u - geometry.rigid_velocity(&drop.mesh.velocities);
        drop.mesh.velocities.iter_mut().for_each(|v| *v += missing);
    }
}
