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

use glam::{DMat3, DVec3};

use super::contact_line;
use super::geometry::DropGeometry;
use super::volume_correction::normal_speed_squared;
use crate::drop::Drop;
use crate::mesh::index::VertexIndex;
use crate::mesh::{Mesh, VertexKind};

/// Shifts of the velocities: the first is exact in flight and on planes.
const CURVED_PASSES: usize = 2;
/// Share of a shell's mass that counts for its inertia along its normals.
pub const FLAT_SHARE: f64 = 1e-3;

/// Removes the tangential velocities of free vertices and conserves the drop's velocity.
pub fn remove_tangential_velocity(drop: &mut Drop, geometry: &DropGeometry) {
    project_onto_normals(drop, geometry, drop.velocity);
    restore_velocity(drop, geometry);
}

/// The same for the paper's operators on a solid: the drop is a shell with these masses, and has no
/// slip if it `sticks`. Sets the drop's velocity and returns the velocity at which it slides along
/// the solid, in m/s.
///
/// The shell moves along the solid as one, at the mean velocity of the free surface and the wetted
/// face, so that friction on the one slows the other. What the free vertices lose along the surface
/// they get back along their normals, as the pressure of liquid inside would pass it on.
pub fn remove_tangential_velocity_of_shell(
    drop: &mut Drop,
    geometry: &DropGeometry,
    masses: &[f64],
    footprint_normal: DVec3,
    sticks: bool,
) -> DVec3 {
    let across = |v: DVec3| v - footprint_normal * footprint_normal.dot(v);
    let sum = |drop: &Drop, kind: VertexKind| {
        let (mut momentum, mut mass) = (DVec3::ZERO, 0.0);
        for v in drop.mesh.vertex_indices().filter(|&v| geometry.kinds[v] == kind) {
            momentum += drop.mesh.velocities[v] * masses[v];
            mass += masses[v];
        }
        (across(momentum), mass)
    };
    let (free_momentum, free_mass) = sum(drop, VertexKind::Free);
    let (wetted_momentum, wetted_mass) = sum(drop, VertexKind::Wetted);
    let mass: f64 = masses.iter().sum();
    let u = (free_momentum + wetted_momentum) / (free_mass + wetted_mass);
    let solid = across(geometry.solid_velocity());
    let slip = if sticks { DVec3::ZERO } else { u - solid };
    let u = solid + slip;
    project_onto_normals(drop, geometry, u);
    for contact in geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::Wetted) {
        let n = contact.sample.normal;
        drop.mesh.velocities[contact.vertex] = u + n * n.dot(contact.sample.velocity - u);
    }
    let free = |v: &VertexIndex| geometry.kinds[*v] == VertexKind::Free;
    // Σ m n nᵀ along the solid; the small part of the mass keeps it regular on flat drops.
    let mut inertia = DMat3::from_diagonal(DVec3::splat(FLAT_SHARE * mass));
    for v in drop.mesh.vertex_indices().filter(free) {
        let n = across(geometry.normals[v]);
        inertia += outer(n) * masses[v];
    }
    let shift = inertia.inverse() * (u * free_mass - sum(drop, VertexKind::Free).0);
    for v in drop.mesh.vertex_indices().filter(free) {
        drop.mesh.velocities[v] += geometry.normals[v] * geometry.normals[v].dot(shift);
    }
    drop.velocity = geometry.rigid_velocity(&drop.mesh.velocities);
    slip
}

/// a aᵀ.
pub fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
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
