//! Splitting a drop into its connected components after a neck was cut.

use glam::DVec3;
use sessile_numerics::sphere_radius;

use crate::drop::{Drop, Scratch};
use crate::dynamics::volume_correction::restore_volume_of;
use crate::mesh::Mesh;
use crate::mesh::index::TriangleIndex;
use crate::parameters::Parameters;
use crate::rebuild::ensure_valid;
use crate::substrate::Substrate;

/// Components with fewer triangles than this are dropped: a single tetrahedron has four.
const MIN_TRIANGLES: usize = 5;
/// Radius of the sphere of the same volume, over the scene's shortest edge, below which a component
/// is dropped.
const MIN_RADIUS: f64 = 0.25;

/// Splits a drop into its connected components, largest first; all keep the drop's id.
///
/// Volume and momentum are shared between them; components that are too small give theirs to the
/// others. A connected drop is returned unchanged.
pub fn split_components(drop: Drop, substrate: &Substrate, params: &Parameters, scratch: &mut Scratch) -> Vec<Drop> {
    let Some(meshes) = component_meshes(&drop, params.edge) else { return vec![drop] };
    let Some(total) = meshes.iter().map(Mesh::volume).reduce(|a, b| a + b) else { return vec![drop] };
    let mut parts: Vec<Drop> = meshes
        .into_iter()
        .map(|mesh| {
            scratch.geometry.read(&mesh, substrate);
            let velocity = scratch.geometry.rigid_velocity(&mesh.velocities);
            // A component without volume has no velocity of its own.
            let velocity = if velocity.is_finite() { velocity } else { drop.velocity };
            let volume = drop.volume * mesh.volume() / total;
            let velocities = mesh.velocities.clone();
            let mut part = Drop::new(drop.id, mesh, volume, velocity);
            part.mesh.velocities = velocities;
            part.air_area = scratch.geometry.air_area;
            part.pressure = drop.pressure;
            (part.substeps, part.advanced) = (drop.substeps, drop.advanced);
            part
        })
        .collect();
    let momentum: DVec3 = parts.iter().map(|part| part.velocity * part.volume).sum();
    let missing = drop.velocity - momentum / drop.volume;
    for part in &mut parts {
        part.velocity += missing;
        part.mesh.velocities.iter_mut().for_each(|v| *v += missing);
        part.estimate_deformation_speed();
        restore_volume_of(part, substrate, scratch);
        ensure_valid(part, substrate, params, scratch);
    }
    parts
}

/// Meshes of the components that are large enough, largest first; `None` if there is only one.
fn component_meshes(drop: &Drop, shortest: f64) -> Option<Vec<Mesh>> {
    let components = drop.mesh.components();
    if components.len() < 2 {
        return None;
    }
    let mut sized: Vec<(f64, Vec<TriangleIndex>)> =
        components.into_iter().map(|list| (drop.mesh.component_volume(&list), list)).collect();
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let largest = sized[0].0;
    sized.retain(|(volume, list)| {
        *volume == largest || (list.len() >= MIN_TRIANGLES && sphere_radius(*volume) > MIN_RADIUS * shortest)
    });
    let lists: Vec<Vec<TriangleIndex>> = sized.into_iter().map(|(_, list)| list).collect();
    Some(drop.mesh.extract(&lists))
}
