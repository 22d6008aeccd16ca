//! Droplets on different solids that touch.
//!
//! Places and velocities are kept in the rest pose of the droplet's own solid; a droplet of another solid is brought over. Only those within reach of the box
//! round another solid look there. The one that becomes of two stands on the solid of the larger.

use glam::DVec3;

use super::Scenery;
use super::meet::When;
use crate::droplets::{Droplets, NOBODY, Spot};
use crate::grid::Look;
use crate::neighbors::Neighbors;

/// A spot as it is seen in the rest pose of solid `from`.
#[inline]
pub(super) fn seen_from(scenery: &Scenery<'_>, from: u32, spot: &Spot) -> Spot {
    if spot.solid == from {
        return *spot;
    }
    let pose = &scenery.moments[from as usize].pose;
    let point = pose.apply_inverse(scenery.moments[spot.solid as usize].pose.apply(spot.point));
    Spot { point, step: turned(scenery, from, spot.solid, spot.step.as_dvec3()).as_vec3(), ..*spot }
}

/// A direction of the rest pose of `solid` in that of `from`.
#[inline]
pub(super) fn turned(scenery: &Scenery<'_>, from: u32, solid: u32, direction: DVec3) -> DVec3 {
    if solid == from {
        return direction;
    }
    let back = scenery.moments[from as usize].pose.rotation.transpose();
    back * scenery.moments[solid as usize].pose.turn(direction)
}

/// The velocity of a droplet over its own solid, as one over solid `from`, in m/s.
#[inline]
pub(super) fn velocity(scenery: &Scenery<'_>, from: u32, spot: &Spot, own: DVec3) -> DVec3 {
    if spot.solid == from {
        return own;
    }
    let (here, there) = (&scenery.moments[from as usize], &scenery.moments[spot.solid as usize]);
    let at = there.pose.apply(spot.point);
    let past = there.velocity.at(at) - here.velocity.at(at);
    turned(scenery, from, spot.solid, own) + here.pose.rotation.transpose() * past
}

/// Adds pairs of a spot's index and those of other solids that it may have touched.
pub(super) fn find(
    scenery: &Scenery<'_>,
    droplets: &Droplets,
    neighbors: &Neighbors,
    when: When,
    spots: &[(u32, Spot)],
    candidates: &mut Vec<(u32, u32)>,
) {
    if scenery.beside.iter().all(Vec::is_empty) {
        return;
    }
    let largest = neighbors.largest_reach();
    for (index, (_, spot)) in (0..).zip(spots) {
        for &other in &scenery.beside[spot.solid as usize] {
            let there = seen_from(scenery, other, spot);
            let around = f64::from(spot.reach);
            let [low, high] = scenery.boxes[other as usize];
            let margin = around + 2.0 * f64::from(spot.step.length()) + largest;
            if there.point.distance(there.point.clamp(low, high)) > margin {
                continue;
            }
            let from = if when == When::InStep { there.point - there.step.as_dvec3() } else { there.point };
            let look = Look { solid: other, own: NOBODY, from, to: there.point, around };
            neighbors.near_way(&look, |found| {
                if droplets.all[found as usize].spot.solid == other {
                    candidates.push((index, found));
                }
            });
        }
    }
}
