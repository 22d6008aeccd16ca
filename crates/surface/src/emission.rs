//! Liquid from emitters: drips and rain, needles and taps.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_numerics::{math, sphere_radius, sphere_volume};
use sessile_world::Emission;

use crate::drop::{Drop, DropIndex, Scratch, target_edge};
use crate::dynamics::volume_correction::restore_volume_of;
use crate::mesh::Interface;
use crate::mesh::primitives::{CapGeometry, cap_mesh, sphere};
use crate::notices::Notices;
use crate::parameters::Parameters;
use crate::room::room_beside;
use crate::state::State;
use crate::substrate::{Outlet, OutletIndex};

/// Largest part of a drop that a needle may remove at once.
const MAX_DRAINED: f64 = 0.9;
/// Radius of the first drop at a needle, over the shortest edge.
const MIN_NEEDLE_RADIUS: f64 = 0.5;

/// Adds everything that emitters emit between the current time and `until`, in s.
pub fn emit(state: &mut State, params: &Parameters, until: f64, scratch: &mut Scratch, notices: &mut Notices) {
    state.substrate.outlets.iter_mut().for_each(|outlet| outlet.speed = 0.0);
    let mut nearby = NearestDrop::default();
    for emission in state.substrate.world.emissions(state.run.time, until) {
        match emission {
            Emission::Ball { center, radius, velocity, .. } => {
                add_sphere(state, params, center, radius, velocity, notices);
            }
            Emission::Feed { at, volume, .. } => feed(state, params, at, volume, &mut nearby, notices),
            Emission::Stream { at, direction, radius, speed, from, to } => {
                let outlets = &mut state.substrate.outlets;
                let found = outlets.iter().position(|o| o.at == at && o.direction == direction && o.radius == radius);
                if let Some(outlet) = found.map(OutletIndex::new) {
                    if state.substrate.world.signed_distance(at) < 0.0 {
                        notices.report_blocked_emitter(state.run.time, at);
                        continue;
                    }
                    outlets[outlet].speed = speed;
                    pour(state, params, outlet, PI * radius * radius * speed * (to - from), scratch);
                }
            }
            Emission::Condense { .. } => {}
        }
    }
    detach_from_closed_outlets(state);
}

/// Frees the faces that close a stream at a tap that has been shut.
fn detach_from_closed_outlets(state: &mut State) {
    let State { drops, substrate, .. } = state;
    if substrate.outlets.iter().all(|outlet| outlet.speed != 0.0) {
        return;
    }
    for drop in drops {
        for interface in &mut drop.mesh.interfaces {
            if matches!(*interface, Interface::Outlet(k) if substrate.outlets[k].speed == 0.0) {
                *interface = Interface::Air;
            }
        }
    }
}

/// Adds a sphere where there is room for it, or nothing; returns whether it did.
pub(crate) fn add_sphere(
    state: &mut State,
    params: &Parameters,
    center: DVec3,
    radius: f64,
    velocity: DVec3,
    notices: &mut Notices,
) -> bool {
    let volume = sphere_volume(radius);
    let edge = target_edge(volume, params.edge);
    let Some(center) = room_beside(center, radius, edge, &state.substrate.world) else {
        notices.report_blocked_emitter(state.run.time, center);
        return false;
    };
    let Some(mesh) = sphere(center, radius, edge, |_| radius) else { return false };
    let id = state.run.ids.issue();
    state.run.added += volume;
    state.drops.push(Drop::new(id, mesh, volume, velocity));
    true
}

/// Adds a volume, in m³, to the stream at an outlet; a hemisphere forms when there is enough for
/// it.
fn pour(state: &mut State, params: &Parameters, outlet: OutletIndex, volume: f64, scratch: &mut Scratch) {
    let interface = Interface::Outlet(outlet);
    if let Some(drop) = state.drops.iter_mut().find(|drop| drop.mesh.interfaces.contains(&interface)) {
        drop.volume += volume;
        drop.wake();
        state.run.added += volume;
        return;
    }
    state.run.pending_at_outlets[outlet] += volume;
    let Outlet { at, direction, radius, speed } = state.substrate.outlets[outlet];
    let pending = state.run.pending_at_outlets[outlet];
    if pending < 2.0 / 3.0 * PI * radius.powi(3) {
        return;
    }
    let across = direction.any_orthonormal_vector();
    let other = direction.cross(across);
    let azimuth = |phi: f64| across * math::cos(phi) + other * math::sin(phi);
    let surface = |fraction: f64, phi: f64| {
        let (sin, cos) = math::sin_cos(0.5 * PI * fraction);
        at + (azimuth(phi) * sin + direction * if fraction >= 1.0 { 0.0 } else { cos }) * radius
    };
    let base = |fraction: f64, phi: f64| at + azimuth(phi) * (fraction * radius);
    let edge = target_edge(pending, params.edge);
    let Some(mesh) = cap_mesh(&CapGeometry { edge, surface: &surface, base: &base, interface }) else { return };
    state.run.pending_at_outlets[outlet] = 0.0;
    state.run.added += pending;
    let id = state.run.ids.issue();
    let mut drop = Drop::new(id, mesh, pending, direction * speed);
    restore_volume_of(&mut drop, &state.substrate, scratch);
    drop.update_bounds();
    state.drops.push(drop);
}

/// Adds a volume, in m³, to the drop nearest to a needle's tip, or removes it where it is negative.
///
/// Without a drop liquid accumulates until it makes one that the mesh resolves.
fn feed(
    state: &mut State,
    params: &Parameters,
    at: DVec3,
    volume: f64,
    nearby: &mut NearestDrop,
    notices: &mut Notices,
) {
    match nearby.find(&state.drops, at) {
        Some(nearest) => {
            let drop = &mut state.drops[nearest];
            let volume = volume.max(-MAX_DRAINED * drop.volume);
            drop.volume += volume;
            drop.wake();
            state.run.added += volume;
        }
        None => {
            let pending = &mut state.run.pending_at_needles;
            *pending = (*pending + volume).max(0.0);
            if sphere_radius(*pending) > MIN_NEEDLE_RADIUS * params.edge {
                let radius = sphere_radius(*pending);
                if add_sphere(state, params, at, radius, DVec3::ZERO, notices) {
                    state.run.pending_at_needles = 0.0;
                }
            }
        }
    }
}

/// Finds the drop whose bounding box is nearest to a point, by a search along x outward from it.
///
/// The boxes are valid while surfaces stay as they are and drops are only added.
#[derive(Default)]
struct NearestDrop {
    /// Bounding boxes of the drops by ascending lower x, with the drops they belong to.
    boxes: Vec<([DVec3; 2], DropIndex)>,
    /// Largest extent of a box along x, in m.
    widest: f64,
}

impl NearestDrop {
    /// The first of the drops that are nearest; `None` without drops.
    fn find(&mut self, drops: &[Drop], at: DVec3) -> Option<DropIndex> {
        if self.boxes.len() < drops.len() {
            self.boxes = DropIndex::first(drops.len()).map(|i| (drops[i].bounds, i)).collect();
            self.boxes.sort_by(|([a, _], i), ([b, _], j)| a.x.total_cmp(&b.x).then(i.cmp(j)));
            self.widest = self.boxes.iter().map(|([low, high], _)| high.x - low.x).fold(0.0, f64::max);
        }
        let mut best: Option<(f64, DropIndex)> = None;
        let mut consider = |&([low, high], index): &([DVec3; 2], DropIndex), along_x: f64| {
            if best.is_some_and(|(distance, _)| along_x > distance) {
                return false;
            }
            let found = (at.distance(at.clamp(low, high)), index);
            if best.is_none_or(|best| found.0.total_cmp(&best.0).then(found.1.cmp(&best.1)).is_lt()) {
                best = Some(found);
            }
            true
        };
        let split = self.boxes.partition_point(|([low, _], _)| low.x <= at.x);
        let (left, right) = self.boxes.split_at(split);
        let _ = left.iter().rev().all(|drop| consider(drop, at.x - drop.0[0].x - self.widest));
        let _ = right.iter().all(|drop| consider(drop, drop.0[0].x - at.x));
        best.map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use sessile_frames::IdCounter;
    use sessile_world::random::Stream;

    use super::*;

    #[test]
    fn a_needle_feeds_the_first_of_the_nearest_drops() {
        let mut ids = IdCounter::default();
        let mut random = Stream::new(1, &[3]);
        let mut place = |reach: f64| DVec3::from([0; 3].map(|_| random.uniform_in(-reach, reach)));
        let drops: Vec<Drop> = (0..60)
            .map(|k| {
                let center = place(0.03);
                // Two drops in each place, of different widths from place to place.
                let radius = if k % 7 == 0 { 8e-3 } else { 1e-3 };
                sphere(center, radius, 0.5 * radius, |_| radius).unwrap()
            })
            .flat_map(|mesh| [mesh.clone(), mesh])
            .map(|mesh| Drop::new(ids.issue(), mesh, 1e-9, DVec3::ZERO))
            .collect();
        let mut nearby = NearestDrop::default();
        for _ in 0..200 {
            let at = place(0.04);
            let distance = |drop: &Drop| {
                let [low, high] = drop.mesh.bounds();
                at.distance(at.clamp(low, high))
            };
            let all = DropIndex::first(drops.len());
            let nearest = all.min_by(|&i, &j| distance(&drops[i]).total_cmp(&distance(&drops[j])));
            assert_eq!(nearby.find(&drops, at), nearest, "at {at}");
        }
        assert_eq!(NearestDrop::default().find(&[], DVec3::ZERO), None);
    }
}
