//! Contacts between droplets on different solids.
//!
//! Positions and velocities are stored in the rest pose of the droplet's own solid and transformed
//! into that of the other one. Only droplets near the bounding box of another solid are tested. The
//! merged droplet is on the solid of the larger one.

use glam::DVec3;
use sessile_geometry::bvh::Bounds;

use super::StepContext;
use super::contacts::ContactTime;
use sessile_numerics::OptionalIndex;
use sessile_sliding::SlotIndex;

use crate::droplets::{Droplets, Location};
use crate::grid::Query;
use crate::neighbors::Neighbors;
use crate::surface_mesh::SolidIndex;

/// A location in the rest pose of solid `from`.
#[inline]
pub(super) fn seen_from(context: &StepContext<'_>, from: SolidIndex, location: &Location) -> Location {
    if location.solid == from {
        return *location;
    }
    let pose = &context.rigid_states[from].pose;
    let point = pose.apply_inverse(context.rigid_states[location.solid].pose.apply(location.point));
    let displacement = rotated(context, from, location.solid, location.displacement.as_dvec3()).as_vec3();
    Location { point, displacement, ..*location }
}

/// A direction of the rest pose of `solid` in that of `from`.
#[inline]
pub(super) fn rotated(context: &StepContext<'_>, from: SolidIndex, solid: SolidIndex, direction: DVec3) -> DVec3 {
    if solid == from {
        return direction;
    }
    let back = context.rigid_states[from].pose.rotation.transpose();
    back * context.rigid_states[solid].pose.turn(direction)
}

/// The velocity `own` of a droplet relative to its solid, relative to solid `from` instead, in m/s.
#[inline]
pub(super) fn velocity(context: &StepContext<'_>, from: SolidIndex, location: &Location, own: DVec3) -> DVec3 {
    if location.solid == from {
        return own;
    }
    let (here, there) = (&context.rigid_states[from], &context.rigid_states[location.solid]);
    let at = there.pose.apply(location.point);
    let velocity = |solid: SolidIndex| context.setup.velocity_at(context.rigid_states, solid, at);
    let past = velocity(location.solid) - velocity(from);
    rotated(context, from, location.solid, own) + here.pose.rotation.transpose() * past
}

/// Adds pairs of a location's index and a droplet of another solid that may be in contact.
pub(super) fn find(
    context: &StepContext<'_>,
    droplets: &Droplets,
    neighbors: &Neighbors,
    when: ContactTime,
    locations: &[(SlotIndex, Location)],
    candidates: &mut Vec<(u32, SlotIndex)>,
) {
    let setup = context.setup;
    if setup.nearby_solids.iter().all(Vec::is_empty) {
        return;
    }
    let largest = neighbors.largest_merge_radius();
    for (index, (_, location)) in (0..).zip(locations) {
        for &other in &setup.nearby_solids[location.solid] {
            let there = seen_from(context, other, location);
            let radius = f64::from(location.merge_radius);
            let Bounds { low, high } = setup.bounds[other];
            let margin = radius + 2.0 * f64::from(location.displacement.length()) + largest;
            if there.point.distance(there.point.clamp(low, high)) > margin {
                continue;
            }
            let from = match when {
                ContactTime::InStep => there.point - there.displacement.as_dvec3(),
                ContactTime::Now => there.point,
            };
            let query = Query { solid: other, own: OptionalIndex::NONE, from, to: there.point, radius };
            neighbors.near_path(&query, |found| {
                if droplets[found].location.solid == other {
                    candidates.push((index, found));
                }
            });
        }
    }
}
