//! Rebuilding a surface that came out invalid, and preparing surfaces that were not made by a step.

use glam::DVec3;
use sessile_frames::DropId;
use sessile_numerics::sphere_radius;

use crate::drop::{Drop, Scratch, target_edge};
use crate::dynamics::volume_correction::restore_volume_of;
use crate::merging::sdf_merge::rebuild_from_sdf;
use crate::mesh::check::{check, check_crossings};
use crate::mesh::primitives::sphere;
use crate::parameters::Parameters;
use crate::remesh::{RemeshTarget, remesh};
use crate::room::find_room;
use crate::substrate::Substrate;

/// Remeshing passes over a surface that was not made by a step.
pub const MAX_PASSES: usize = 4;
/// Relative error of the enclosed volume up to which a surface is accepted.
const MAX_VOLUME_ERROR: f64 = 1e-6;
/// Attempts at a rebuild: edge length over the target, and whether the result is remeshed.
///
/// The remesher may fold one side of a narrow gap over the other. A finer grid leaves it less to
/// do, and the last attempt skips it.
const ATTEMPTS: [(f64, bool); 3] = [(1.0, true), (0.7, true), (1.0, false)];

/// Rebuilds a drop's surface from its distance field; a sphere if that yields nothing valid.
///
/// The vertex velocities may be what went wrong: the drop keeps its own velocity and loses its
/// waves.
pub fn rebuild(drop: &mut Drop, substrate: &Substrate, params: &Parameters, scratch: &mut Scratch) {
    if !drop.velocity.is_finite() {
        drop.velocity = DVec3::ZERO;
    }
    let edge = drop.target_edge(params.edge);
    drop.disturb();
    let broken = drop.mesh.clone();
    let mut fallback = None;
    for (fineness, remeshed) in ATTEMPTS {
        let rebuilt = rebuild_from_sdf(&broken, fineness * edge, substrate).filter(|mesh| check(mesh).is_ok());
        let Some(mesh) = rebuilt else { continue };
        drop.set_rigid_mesh(mesh);
        if remeshed {
            remesh_uniformly(drop, substrate, params, scratch);
        } else {
            restore_volume_of(drop, substrate, scratch);
        }
        if encloses_its_volume(drop) {
            if check_crossings(&drop.mesh).is_ok() {
                return set_slip_velocities(drop, substrate, scratch);
            }
            fallback.get_or_insert_with(|| drop.mesh.clone());
        }
    }
    // A surface with its volume that intersects itself is closer to the drop than a sphere; the
    // next substep checks it again.
    if let Some(mesh) = fallback {
        drop.mesh = mesh;
        drop.air_area = drop.mesh.air_area();
        return set_slip_velocities(drop, substrate, scratch);
    }
    drop.mesh = broken;
    replace_by_sphere(drop, substrate, params.edge);
}

/// Sets the velocities of a rebuilt surface on solids: rigid motion that slips along them, at a
/// speed that carries the centroid no faster than the drop.
///
/// Liquid that wraps a solid flows around it: its centroid moves several times as fast as its
/// surface, and a surface at the velocity of the centroid would gain speed with every rebuild.
fn set_slip_velocities(drop: &mut Drop, substrate: &Substrate, scratch: &mut Scratch) {
    if !drop.mesh.touches_solid() {
        return;
    }
    let geometry = &mut scratch.geometry;
    geometry.read(&drop.mesh, substrate);
    let solid = geometry.solid_velocity();
    let slip = drop.velocity - solid;
    drop.mesh.velocities.fill(slip);
    for contact in &geometry.contacts {
        let normal = contact.sample.normal;
        drop.mesh.velocities[contact.vertex] -= normal * normal.dot(slip);
    }
    let carried = slip.dot(geometry.rigid_velocity(&drop.mesh.velocities));
    let share = if carried > slip.length_squared() { slip.length_squared() / carried } else { 1.0 };
    drop.mesh.velocities.iter_mut().for_each(|v| *v = solid + *v * share);
}

/// Whether a drop's surface is valid, up to self-intersections, and encloses its volume.
pub fn encloses_its_volume(drop: &Drop) -> bool {
    let error = (drop.mesh.volume() - drop.volume).abs();
    error.is_finite() && error < MAX_VOLUME_ERROR * drop.volume && check(&drop.mesh).is_ok()
}

/// Replaces a drop by a sphere outside the solids: the last resort, which is always valid.
///
/// Solids that the sphere touches have stopped it: it does not move further into them.
fn replace_by_sphere(drop: &mut Drop, substrate: &Substrate, shortest: f64) {
    let radius = sphere_radius(drop.volume);
    let edge = target_edge(drop.volume, shortest);
    let center = find_room(&drop.mesh, radius, edge, &substrate.world);
    for solid in substrate.solids() {
        let near = solid.closest(center);
        if near.distance < 1.01 * radius {
            let slip = drop.velocity - solid.velocity_at(near.point);
            drop.velocity -= near.normal * near.normal.dot(slip).min(0.0);
        }
    }
    if let Some(mesh) = sphere(center, radius, edge, |_| radius) {
        drop.set_rigid_mesh(mesh);
    }
}

/// A spherical drop.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    /// Id of the drop.
    pub id: DropId,
    /// Center, in m.
    pub at: DVec3,
    /// Volume, in m³.
    pub volume: f64,
    /// Velocity, in m/s.
    pub velocity: DVec3,
}

/// A spherical drop at the nearest place where the solids leave room for it; `None` if none was
/// found.
pub fn sphere_beside_solids(wanted: Sphere, substrate: &Substrate, shortest: f64) -> Option<Drop> {
    let Sphere { id, at, volume, velocity } = wanted;
    let radius = sphere_radius(volume);
    let mesh = sphere(at, radius, target_edge(volume, shortest), |_| radius)?;
    let mut drop = Drop::new(id, mesh, volume, velocity);
    replace_by_sphere(&mut drop, substrate, shortest);
    (substrate.world.signed_distance(drop.mesh.centroid()) > 0.9 * radius).then_some(drop)
}

/// Rebuilds a surface that was made between steps unless it is valid.
pub fn ensure_valid(drop: &mut Drop, substrate: &Substrate, params: &Parameters, scratch: &mut Scratch) {
    let finite = drop.velocity.is_finite() && drop.mesh.velocities.iter().all(|v| v.is_finite());
    if !(finite && encloses_its_volume(drop) && check_crossings(&drop.mesh).is_ok()) {
        rebuild(drop, substrate, params, scratch);
    }
}

/// Remeshes a new surface to uniform edges and restores its volume.
///
/// Roughness left by a grid is not curvature; the following steps refine where it remains.
pub fn remesh_uniformly(drop: &mut Drop, substrate: &Substrate, params: &Parameters, scratch: &mut Scratch) {
    for _ in 0..MAX_PASSES {
        let edge = drop.target_edge(params.edge);
        if !remesh_and_restore(drop, [edge, edge], substrate, params, scratch) {
            break;
        }
    }
}

/// One remeshing pass outside a step, with target lengths down to `finest`, in m; returns whether
/// the mesh changed.
pub fn remesh_and_restore(
    drop: &mut Drop,
    [edge, finest]: [f64; 2],
    substrate: &Substrate,
    params: &Parameters,
    scratch: &mut Scratch,
) -> bool {
    scratch.center = drop.mesh.centroid();
    let read_curvature = drop.substeps_since_sizing == 0;
    let target = RemeshTarget { edge, finest, keep_vertices: false, read_curvature, pinned_speed: 0.0 };
    let done = remesh(drop, target, substrate, params, scratch);
    restore_volume_of(drop, substrate, scratch);
    done.changed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TestDrops;

    /// Liquid around two thirds of a ball: its centroid moves faster than its surface.
    #[test]
    fn rebuilding_a_drop_that_wraps_a_solid_does_not_accelerate_it() {
        let tables = "[world]\ngravity = \"0 0 0 m/s^2\"\n[materials.m]\nadvancing = \"90 deg\"\n[[solids]]\nname = \"s\"\n\
            material = \"m\"\nshape = \"sphere\"\nradius = \"2 mm\"\n[[drops]]\nshape = \"sphere\"\n\
            center = \"0.8 0 0 mm\"\nradius = \"2.3 mm\"\n";
        let mut test = TestDrops::new(tables, 0.3e-3);
        test.drops[0].volume = test.drops[0].mesh.volume();
        test.drops[0].velocity = DVec3::new(0.0, 0.5, 0.0);
        test.each(1e-5, 1e-5, |drop, context, scratch| {
            rebuild(drop, context.end, context.params, scratch);
            // What the constraints of the next step leave of the velocities.
            let geometry = &mut scratch.geometry;
            geometry.read(&drop.mesh, context.end);
            for contact in &geometry.contacts {
                let (velocity, normal) = (&mut drop.mesh.velocities[contact.vertex], contact.sample.normal);
                *velocity -= normal * normal.dot(*velocity);
            }
            let speed = geometry.rigid_velocity(&drop.mesh.velocities).length();
            assert!(speed < 0.51 && speed > 0.4, "a drop of 0.5 m/s moves at {speed} m/s");
        });
    }
}
