//! One substep of one drop.
//!
//! Advance, contact, remeshing and volume correction, in that order, followed by a check of the
//! result. A surface that comes out invalid (not finite, degenerate, self-intersecting, without its
//! volume, faster than capillarity allows) is restored and advanced again in shorter substeps;
//! where these cannot be shorter, it is rebuilt from its distance field ([`crate::rebuild`]).

use glam::DVec3;
use sessile_numerics::sphere_radius;

use crate::contact::{ContactReport, update_contact};
use crate::drop::{Drop, Scratch, StepContext};
use crate::dynamics::advance::{AdvanceReport, advance};
use crate::dynamics::geometry::{Contact, DropGeometry};
use crate::dynamics::volume_correction::{restore_volume, restore_volume_outside};
use crate::dynamics::zhang2011;
use crate::merging::boolean_merge::{remesh_merged, self_union};
use crate::mesh::check::{check, clearance};
use crate::mesh::quality::MeshQuality;
use crate::rebuild::rebuild;
use crate::remesh::{RemeshReport, RemeshTarget, remesh};
use crate::time_step::{Motion, update_pace};

/// Free area over that of the sphere of the same volume beyond which a surface is rejected: no
/// sheet or ligament that the mesh can resolve has as much.
const MAX_AREA_RATIO: f64 = 12.0;
/// Relative error of the enclosed volume beyond which a surface is rejected.
const MAX_VOLUME_ERROR: f64 = 1e-7;
/// Largest distance between opposite sheets that is measured, in edges.
const MAX_CLEARANCE: f64 = 0.5;

/// Factor on what the velocities of pinned vertices miss those of their solids by.
const PINNED_MARGIN: f64 = 1.5;

/// What happened to a drop in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It was advanced.
    #[default]
    Advanced,
    /// It was advanced and a neck was cut: the surface may have several components.
    Cut,
    /// The result was invalid; the drop was restored and takes shorter substeps.
    Retried,
    /// Parts of it that met were joined.
    SelfMerged,
    /// The result was invalid and the surface was rebuilt from its distance field.
    Rebuilt,
}

impl Outcome {
    /// Whether the surface may have several components.
    pub fn may_be_split(self) -> bool {
        matches!(self, Self::Cut | Self::SelfMerged | Self::Rebuilt)
    }
}

/// Report of a substep of one drop.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropStepReport {
    /// Solve and speeds.
    pub advanced: AdvanceReport,
    /// Contact changes.
    pub contact: ContactReport,
    /// Mesh changes.
    pub remeshed: RemeshReport,
    /// What became of the drop.
    pub outcome: Outcome,
}

/// Advances a drop by one substep.
pub fn step_drop(drop: &mut Drop, context: &StepContext<'_>, scratch: &mut Scratch) -> DropStepReport {
    let params = context.params;
    let edge = drop.target_edge(params.edge);
    scratch.backup.copy_from(&drop.mesh);
    let velocity = drop.velocity;
    let mut advanced = match &params.paper {
        None => advance(drop, context, scratch),
        Some(paper) => zhang2011::advance(drop, context, paper, scratch),
    };
    advanced.pinned_speed = pinned_speed(drop, context, &scratch.geometry);
    let motion = match &scratch.geometry {
        geometry if !geometry.on_solid() || geometry.has_outlet() => Motion::InFlight,
        _ if advanced.slip_speed > 0.0 => Motion::Sliding,
        _ => Motion::Held,
    };
    let contact = update_contact(drop, edge, context.end, &params.numerics, scratch);
    let remeshed = remesh_moved(drop, edge, &advanced, context, scratch);
    let reconnected = contact.reconnected() || remeshed.reconnected();
    if contact.changed() || remeshed.changed() {
        restore_remeshed(drop, &contact, reconnected, context, scratch);
    }
    restore_centroid(drop, &advanced, &contact);
    let valid = is_valid(drop, velocity, &advanced, context, &scratch.quality)
        && !(reconnected && check(&drop.mesh).is_err())
        && update_pace(drop, drop.velocity - velocity, motion, [context.dt, context.min_dt], params);
    if valid {
        drop.substeps_since_wet_mark += 1;
        drop.substeps_since_sizing = (drop.substeps_since_sizing + 1) % params.numerics.sizing_interval;
    }
    let report = DropStepReport { advanced, contact, remeshed, outcome: Outcome::Advanced };
    let intersecting = valid && intersects_itself(drop, &advanced, context, &scratch.quality);
    if !valid || intersecting {
        if intersecting && params.self_merge && merge_with_itself(drop, context, scratch) {
            return DropStepReport { outcome: Outcome::SelfMerged, ..report };
        }
        return reject(drop, velocity, report, context, scratch);
    }
    update_rest(drop, &advanced, context, contact.changed());
    let outcome = if remeshed.cuts > 0 { Outcome::Cut } else { Outcome::Advanced };
    DropStepReport { outcome, ..report }
}

/// Remeshes a drop that has moved.
fn remesh_moved(
    drop: &mut Drop,
    edge: f64,
    advanced: &AdvanceReport,
    context: &StepContext<'_>,
    scratch: &mut Scratch,
) -> RemeshReport {
    scratch.center = scratch.geometry.centroid + drop.velocity * context.dt;
    let target = RemeshTarget {
        edge,
        finest: context.params.edge,
        keep_vertices: is_still(drop, advanced, context),
        read_curvature: drop.substeps_since_sizing == 0,
        pinned_speed: advanced.pinned_speed,
    };
    remesh(drop, target, context.end, context.params, scratch)
}

/// Speed relative to its solid up to which a vertex of the contact line has not moved in this
/// substep, in m/s: what the velocity of a pinned one misses that of its solid by at the end.
fn pinned_speed(drop: &Drop, context: &StepContext<'_>, geometry: &DropGeometry) -> f64 {
    let misses = |contact: &Contact| {
        let sample = &contact.sample;
        let pinned = if context.params.paper.is_some() { sample.velocity } else { sample.velocity + sample.gain() };
        context.end.velocity_at(contact.interface, drop.mesh.positions[contact.vertex]).distance(pinned)
    };
    PINNED_MARGIN * geometry.contacts.iter().map(misses).fold(0.0, f64::max)
}

/// Restores the volume after contact or mesh changes and measures the mesh again.
fn restore_remeshed(
    drop: &mut Drop,
    contact: &ContactReport,
    reconnected: bool,
    context: &StepContext<'_>,
    scratch: &mut Scratch,
) {
    if reconnected {
        scratch.geometry.read_normals(&drop.mesh);
        drop.air_area = scratch.geometry.air_area;
    }
    if contact.projected > 0 {
        let Scratch { geometry, contact, held, .. } = scratch;
        restore_volume_outside(drop, geometry, context.end, &contact.near, held);
    } else {
        restore_volume(drop, &scratch.geometry);
    }
    scratch.quality.read_shape(&drop.mesh, scratch.center);
}

/// Moves a drop in flight, or along the plane that it slides on, to where its momentum carries its
/// centroid.
///
/// The vertices move along straight lines, and the volume correction and the remesher move them
/// without a force. Both displace the centroid, and without end where they repeat.
fn restore_centroid(drop: &mut Drop, advanced: &AdvanceReport, contact: &ContactReport) {
    let Some(target) = advanced.centroid else { return };
    let missing = target.at - drop.mesh.centroid();
    let shift = match target.plane {
        Some(normal) => missing - normal * normal.dot(missing),
        // A solid has stopped it.
        None if contact.projected > 0 || drop.mesh.touches_solid() => return,
        None => missing,
    };
    drop.mesh.positions.iter_mut().for_each(|p| *p += shift);
}

/// Restores a drop whose result is invalid, and retries or rebuilds it.
fn reject(
    drop: &mut Drop,
    velocity: DVec3,
    report: DropStepReport,
    context: &StepContext<'_>,
    scratch: &mut Scratch,
) -> DropStepReport {
    drop.mesh.copy_from(&scratch.backup);
    (drop.velocity, drop.pace) = (velocity, 0.0);
    if context.dt > context.min_dt {
        let parts = context.params.numerics.retry_substeps;
        drop.substeps.remaining = parts * (drop.substeps.remaining + 1);
        drop.substeps.dt = context.dt / f64::from(parts);
        return DropStepReport { outcome: Outcome::Retried, ..report };
    }
    // In flight it continues its ballistic path, on solids it moves with them.
    let mean_velocity = if drop.mesh.touches_solid() {
        scratch.geometry.read(&drop.mesh, context.start);
        scratch.geometry.solid_velocity()
    } else {
        drop.velocity += context.gravity * context.dt;
        velocity + context.gravity * (0.5 * context.dt)
    };
    drop.mesh.positions.iter_mut().for_each(|p| *p += mean_velocity * context.dt);
    rebuild(drop, context.end, context.params, scratch);
    DropStepReport { outcome: Outcome::Rebuilt, ..report }
}

/// Joins the parts of a drop that intersect, if the curve is long enough for a neck or the substep
/// cannot be shortened; returns whether it did.
fn merge_with_itself(drop: &mut Drop, context: &StepContext<'_>, scratch: &mut Scratch) -> bool {
    let params = context.params;
    let edge = drop.target_edge(params.edge);
    let Ok((mesh, length)) = self_union(&drop.mesh, edge, drop.volume, context.end) else { return false };
    if length < params.numerics.min_neck_length * edge && context.dt > context.min_dt {
        return false;
    }
    let before = std::mem::replace(&mut drop.mesh, mesh);
    let area = std::mem::replace(&mut drop.air_area, drop.mesh.air_area());
    if remesh_merged(drop, context.end, params, scratch) {
        drop.clearance = 0.0;
        return true;
    }
    (drop.mesh, drop.air_area) = (before, area);
    false
}

/// Whether a surface intersects itself.
///
/// The search runs only where the surface is not star-shaped and where opposite sheets could have
/// met since the last search: each moves at `max_speed` at most.
fn intersects_itself(
    drop: &mut Drop,
    advanced: &AdvanceReport,
    context: &StepContext<'_>,
    quality: &MeshQuality,
) -> bool {
    if quality.star_shaped {
        drop.clearance = 0.0;
        return false;
    }
    drop.clearance -= 2.0 * advanced.max_speed * context.dt;
    if drop.clearance > 0.0 {
        return false;
    }
    match clearance(&drop.mesh, MAX_CLEARANCE * drop.target_edge(context.params.edge)) {
        Ok(clear) => {
            drop.clearance = clear;
            false
        }
        Err(_) => true,
    }
}

/// Whether a surface is finite, non-degenerate, has its volume and moves no faster than liquid can.
///
/// The fastest motion that capillarity drives is the retraction of the thinnest sheet that the mesh
/// resolves, √(2σ/ρh) up to a factor.
fn is_valid(
    drop: &Drop,
    velocity_before: DVec3,
    advanced: &AdvanceReport,
    context: &StepContext<'_>,
    quality: &MeshQuality,
) -> bool {
    let liquid = &context.params.liquid;
    let thinnest = 0.05 * drop.target_edge(context.params.edge);
    let retraction = (liquid.surface_tension / (liquid.density * thinnest)).sqrt();
    let limit = 4.0 * retraction + 2.0 * velocity_before.length();
    let velocity_change = drop.velocity.distance(velocity_before);
    let volume_error = (quality.volume - drop.volume).abs();
    let radius = sphere_radius(drop.volume);
    let crumpled = drop.air_area > MAX_AREA_RATIO * 4.0 * std::f64::consts::PI * radius * radius;
    advanced.max_normal_speed.is_finite()
        && !crumpled
        && advanced.max_normal_speed < limit
        && advanced.max_speed < 2.0 * limit
        && velocity_change < 0.5 * limit
        && volume_error.is_finite()
        && volume_error < MAX_VOLUME_ERROR * drop.volume
        && !quality.degenerate
}

/// √(σ/ρR), in m/s.
fn capillary_speed(drop: &Drop, context: &StepContext<'_>) -> f64 {
    let liquid = &context.params.liquid;
    (liquid.surface_tension / (liquid.density * sphere_radius(drop.volume))).sqrt()
}

/// Whether a drop rests on its solid up to small oscillations.
fn is_still(drop: &Drop, advanced: &AdvanceReport, context: &StepContext<'_>) -> bool {
    let (numerics, speed) = (&context.params.numerics, capillary_speed(drop, context));
    advanced.max_normal_speed < numerics.still_normal_speed * speed
        && advanced.slip_speed < numerics.still_slip_speed * speed
        && drop.mesh.touches_solid()
}

/// Counts the substeps at rest and puts a drop to sleep.
fn update_rest(drop: &mut Drop, advanced: &AdvanceReport, context: &StepContext<'_>, contact_changed: bool) {
    let numerics = &context.params.numerics;
    let at_rest = !contact_changed
        && advanced.max_normal_speed < numerics.rest_normal_speed * capillary_speed(drop, context)
        && is_still(drop, advanced, context);
    drop.steps_at_rest = if at_rest { drop.steps_at_rest + 1 } else { 0 };
    drop.asleep = f64::from(drop.steps_at_rest) * context.dt > numerics.rest_time;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::check::check_crossings;
    use crate::test_support::{TestDrops, floor};

    const FREE: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\n";

    /// A resting cap of 4 µL on a floor with hysteresis.
    fn cap() -> TestDrops {
        let drop = "[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"4 uL\"\ncontact_angle = \"75 deg\"\n";
        TestDrops::new(&format!("{}{drop}", floor(90.0, 60.0)), 0.2e-3)
    }

    /// A free drop with a velocity field that tears it apart within a step.
    fn torn() -> TestDrops {
        let mut test = TestDrops::new(FREE, 0.2e-3);
        let mesh = &mut test.drops[0].mesh;
        for v in mesh.vertex_indices() {
            mesh.velocities[v] = mesh.positions[v] * if v.to_usize() % 2 == 0 { 1e5 } else { -1e5 };
        }
        test
    }

    #[test]
    fn an_invalid_result_is_restored_and_retried_in_shorter_substeps() {
        let mut test = torn();
        let before = test.drops[0].clone();
        let reports = test.step_with_retries(1e-3, 1e-4);
        assert_eq!(reports[0].outcome, Outcome::Retried);
        assert_eq!(test.drops[0].mesh, before.mesh, "the mesh is restored");
        assert_eq!(test.drops[0].velocity, before.velocity);
        assert_eq!((test.drops[0].substeps.remaining, test.drops[0].substeps.dt), (4, 1e-3 / 4.0));
    }

    #[test]
    fn an_invalid_result_of_the_shortest_substep_is_rebuilt_with_its_volume_and_velocity() {
        let mut test = torn();
        test.drops[0].velocity = DVec3::new(0.1, 0.0, 0.0);
        let reports = test.step(1e-3);
        let drop = &test.drops[0];
        assert_eq!(reports[0].outcome, Outcome::Rebuilt);
        assert_eq!(drop.velocity, DVec3::new(0.1, 0.0, 0.0));
        assert!((drop.mesh.volume() / drop.volume - 1.0).abs() < 1e-6);
        check(&drop.mesh).unwrap();
        check_crossings(&drop.mesh).unwrap();
        let moved = drop.mesh.centroid().distance(DVec3::new(1e-4, 0.0, 0.0));
        assert!(moved < 1e-5, "it continues its ballistic path, {moved} m off");
    }

    #[test]
    fn a_drop_at_rest_sleeps_after_the_rest_time() {
        let mut test = cap();
        let mut asleep_after = None;
        for step in 1..1000 {
            test.step(1e-3);
            if test.drops[0].asleep {
                asleep_after = Some(step);
                break;
            }
        }
        let steps = asleep_after.expect("a small drop comes to rest within a second");
        assert!(f64::from(steps) * 1e-3 > test.params.numerics.rest_time, "asleep after {steps} steps");
        assert!(f64::from(test.drops[0].steps_at_rest) * 1e-3 > test.params.numerics.rest_time);
    }

    #[test]
    fn every_valid_substep_advances_the_schedules_of_sizing_and_wet_marking() {
        let mut test = cap();
        let interval = test.params.numerics.sizing_interval;
        for step in 1..=10 {
            test.step(1e-3);
            let drop = &test.drops[0];
            assert_eq!((drop.substeps_since_wet_mark, drop.substeps_since_sizing), (step, step % interval));
        }
    }
}
