//! Droplets on different solids that touch.
//!
//! Places and velocities are kept in the rest pose of the droplet's own solid; a droplet of another solid is brought over. Only those within merge_radius of the box
//! round another solid look there. The one that becomes of two stands on the solid of the larger.

use glam::DVec3;

use super::StepContext;
use super::contacts::When;
use crate::droplets::{Droplets, Location, NIL};
use crate::grid::Look;
use crate::neighbors::Neighbors;

/// A location as it is seen in the rest pose of solid `from`.
#[inline]
pub(super) fn seen_from(context: &StepContext<'_>, from: u32, location: &Location) -> Location {
    if location.solid == from {
        return *location;
    }
    let pose = &context.rigid_states[from as usize].pose;
    let point = pose.apply_inverse(context.rigid_states[location.solid as usize].pose.apply(location.point));
    Location {
        point,
        displacement: turned(context, from, location.solid, location.displacement.as_dvec3()).as_vec3(),
        ..*location
    }
}

/// A direction of the rest pose of `solid` in that of `from`.
#[inline]
pub(super) fn turned(context: &StepContext<'_>, from: u32, solid: u32, direction: DVec3) -> DVec3 {
    if solid == from {
        return direction;
    }
    let back = context.rigid_states[from as usize].pose.rotation.transpose();
    back * context.rigid_states[solid as usize].pose.turn(direction)
}

/// The velocity of a droplet over its own solid, as one over solid `from`, in m/s.
#[inline]
pub(super) fn velocity(context: &StepContext<'_>, from: u32, location: &Location, own: DVec3) -> DVec3 {
    if location.solid == from {
        return own;
    }
    let (here, there) = (&context.rigid_states[from as usize], &context.rigid_states[location.solid as usize]);
    let at = there.pose.apply(location.point);
    let past = there.velocity.at(at) - here.velocity.at(at);
    turned(context, from, location.solid, own) + here.pose.rotation.transpose() * past
}

/// Adds pairs of a location's index and those of other solids that it may have pending.
pub(super) fn find(
    context: &StepContext<'_>,
    droplets: &Droplets,
    neighbors: &Neighbors,
    when: When,
    locations: &[(u32, Location)],
    candidates: &mut Vec<(u32, u32)>,
) {
    if context.beside.iter().all(Vec::is_empty) {
        return;
    }
    let largest = neighbors.largest_reach();
    for (index, (_, location)) in (0..).zip(locations) {
        for &other in &context.beside[location.solid as usize] {
            let there = seen_from(context, other, location);
            let around = f64::from(location.merge_radius);
            let [low, high] = context.boxes[other as usize];
            let margin = around + 2.0 * f64::from(location.displacement.length()) + largest;
            if there.point.distance(there.point.clamp(low, high)) > margin {
                continue;
            }
            let from = if when == When::InStep { there.point - there.displacement.as_dvec3() } else { there.point };
            let look = Look { solid: other, own: NIL, from, to: there.point, around };
            neighbors.near_way(&look, |found| {
                if droplets.all[found as usize].location.solid == other {
                    candidates.push((index, found));
                }
            });
        }
    }
}
