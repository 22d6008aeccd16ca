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
//! 1 on a solid. This and everything that changed the surface since the last solve (its own motion,
//! contact, remeshing) change Σ W v, the momentum over the mass. A uniform shift restores it.

use glam::DVec3;

use super::contact_line;
use super::geometry::DropGeometry;
use super::volume_correction::normal_speed_squared;
use crate::drop::Drop;
use crate::mesh::index::VertexIndex;
use crate::mesh::{Mesh, VertexKind};

/// Shifts of the velocities: the first is exact in flight and on planes.
const CURVED_PASSES: usize = 2;

/// Removes the tangential velocities of free vertices and conserves the drop's velocity.
pub fn remove_tangential_velocity(drop: &mut Drop, geometry: &DropGeometry) {
    project_onto_normals(drop, geometry, drop.velocity);
    restore_velocity(drop, geometry);
}

/// The same for the paper's operators, which on a solid conserve the momentum Σ m v of a shell,
/// with these masses; sets the drop's velocity.
pub fn remove_tangential_velocity_of_shell(drop: &mut Drop, geometry: &DropGeometry, masses: &[f64]) {
    drop.velocity = geometry.rigid_velocity(&drop.mesh.velocities);
    let Some(normal) = geometry.footprint_normal() else {
        return remove_tangential_velocity(drop, geometry);
    };
    let momentum = |drop: &Drop| -> DVec3 {
        let sum: DVec3 = masses.iter().zip(&drop.mesh.velocities).map(|(&m, &v)| v * m).sum();
        sum - normal * normal.dot(sum)
    };
    let free = |v: &VertexIndex| geometry.kinds[*v] == VertexKind::Free;
    let free_mass: f64 = drop.mesh.vertex_indices().filter(free).map(|v| masses[v]).sum();
    let before = momentum(drop);
    project_onto_normals(drop, geometry, before / masses.iter().sum::<f64>());
    let missing = (before - momentum(drop)) / free_mass.max(f64::MIN_POSITIVE);
    for v in drop.mesh.vertex_indices().filter(free) {
        drop.mesh.velocities[v] += missing;
    }
    drop.velocity = geometry.rigid_velocity(&drop.mesh.velocities);
}

/// Removes the tangential velocities of free vertices relative to `u`, in m/s, and the growth of
/// the volume.
fn project_onto_normals(drop: &mut Drop, geometry: &DropGeometry, u: DVec3) {
    for v in drop.mesh.vertex_indices() {
        if geometry.kinds[v] == VertexKind::Free {
            let n = geometry.normals[v];
            let relative = drop.mesh.velocities[v] - u;
            drop.mesh.velocities[v] = u + n * n.dot(relative);
        }
    }
    let growth: f64 = geometry.volume_gradient.iter().zip(&drop.mesh.velocities).map(|(c, &v)| c.dot(v)).sum();
    let in_flight = !geometry.on_solid();
    let weight = |mesh: &Mesh, v: VertexIndex| if in_flight { normal_speed_squared(mesh, geometry, v, u) } else { 1.0 };
    let free = |v: &VertexIndex| geometry.kinds[*v] == VertexKind::Free;
    let total: f64 = drop
        .mesh
        .vertex_indices()
        .filter(free)
        .map(|v| geometry.volume_gradient[v].dot(geometry.normals[v]) * weight(&drop.mesh, v))
        .sum();
    if total > 0.0 {
        for v in drop.mesh.vertex_indices().filter(free) {
            let removed = weight(&drop.mesh, v) * (growth / total);
            drop.mesh.velocities[v] -= geometry.normals[v] * removed;
        }
    }
}

/// Shifts the velocities so that they add up to the drop's velocity again.
///
/// Along a solid this is done where no part of the line can be pinned. A line with hysteresis, and
/// the solid across itself, take up the difference.
fn restore_velocity(drop: &mut Drop, geometry: &DropGeometry) {
    if geometry.contacts.is_empty() {
        let missing = drop.velocity - geometry.rigid_velocity(&drop.mesh.velocities);
        drop.mesh.velocities.iter_mut().for_each(|v| *v += missing);
        return;
    }
    let Some(normal) = geometry.footprint_normal().filter(|_| contact_line::slides_freely(geometry)) else { return };
    for _ in 0..CURVED_PASSES {
        let missing = drop.velocity - geometry.rigid_velocity(&drop.mesh.velocities);
        let missing = missing - normal * normal.dot(missing);
        for v in drop.mesh.vertex_indices().filter(|&v| geometry.kinds[v] == VertexKind::Free) {
            drop.mesh.velocities[v] += missing;
        }
        for contact in geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::ContactLine) {
            let n = contact.sample.normal;
            drop.mesh.velocities[contact.vertex] += missing - n * n.dot(missing);
        }
    }
}
