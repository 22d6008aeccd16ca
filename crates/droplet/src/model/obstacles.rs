//! Reaction of droplets on one solid to the other solids.
//!
//! A droplet is a point with a base radius R. With d the distance of its place from another solid
//! and N that solid's normal there, tangential part N_t:
//!
//! ```text
//! wall  |N_t| > 0.3   a sliding droplet comes no nearer than R/2: it is moved along N_t, and its
//!                     velocity into the solid is lost; a pinned one is pushed ahead of a moving
//!                     wall, and out of one that covers its place
//! plate |N_t| ≤ 0.3   nothing moves; a gap below half of the droplet's height is reported: there
//!                     are no liquid bridges
//! ```
//!
//! Fast droplets, and those near fast solids, are tested along their relative path.

use glam::{DVec2, DVec3};
use sessile_model::StageReports;
use sessile_sliding::SlotIndex;
use sessile_world::Solid;

use super::DropletModel;
use super::airborne::BESIDE;
use crate::integrate::MotionState;
use crate::surface_mesh::{SolidIndex, SurfacePoint};

/// Tangential part of a normal above which a solid is a wall.
const WALL: f64 = 0.3;
/// Distance of a sliding droplet from a wall, in base radii.
const SLIDING_CLEARANCE: f64 = 0.5;
/// Distance of a pinned droplet from a wall, in base radii.
const PINNED_CLEARANCE: f64 = 0.1;
/// Height over the solid at which distances are taken, in base radii: solids that do not stand out
/// from the droplet's own one are not in its way.
const PROBE_HEIGHT: f64 = 0.5;
/// The same where a solid covers the place of a droplet.
const LOW_PROBE: f64 = 0.02;
/// Depth in another solid, in base radii, beyond which a droplet is behind an open solid.
const BEHIND: f64 = 6.0;
/// Distance of two tests along the path of a step, in m; at most half a base radius.
const TEST_SPACING: f64 = 0.3e-3;
/// Largest number of tests along the path of a step.
const MAX_TESTS: f64 = 64.0;

/// Where a droplet is near another solid.
struct Near {
    place: SurfacePoint,
    /// Distance from the other solid, in m.
    distance: f64,
    /// Normal of the other solid.
    normal: DVec3,
    /// Whether the droplet entered the other solid after that.
    entered: bool,
}

/// What another solid does to a droplet.
enum Reaction {
    /// A wall: the droplet moves along the solid to this place, with this velocity.
    Moved(MotionState),
    /// A plate, nearer than half of the droplet's height.
    Squeezed,
    /// It is inside the solid, and there is no free place nearby.
    Covered,
}

impl DropletModel {
    /// Lets droplets react to other solids at the end of a step of `dt` seconds, at the time `now`.
    pub(super) fn avoid_solids(&mut self, dt: f64, now: f64, report: &mut StageReports) {
        let mut arrived = std::mem::take(&mut self.particles.arrived);
        if self.setup.nearby_solids.iter().all(Vec::is_empty) {
            arrived.clear();
            self.particles.arrived = arrived;
            return;
        }
        let droplets = &self.particles.state.droplets;
        let solids_move = self.scratch.has_moved;
        let is_candidate = |slot: SlotIndex| solids_move || droplets[slot].state.is_sliding;
        arrived.extend(droplets.used().filter(|&slot| is_candidate(slot)));
        arrived.sort_unstable();
        arrived.dedup();
        let (mut moved, mut blocked) = (0, 0);
        for &slot in &arrived {
            if !self.particles.state.droplets.is_used(slot) {
                continue;
            }
            let own = self.surface.facet(self.particles.state.droplets[slot].motion.place.triangle).solid;
            for k in 0..self.setup.nearby_solids[own].len() {
                // One that is moved to where it cannot hang falls off.
                if !self.particles.state.droplets.is_used(slot) {
                    break;
                }
                let other = self.setup.nearby_solids[own][k];
                match self.reaction(slot, own, other, dt) {
                    Some(Reaction::Moved(motion)) => {
                        self.displace(slot, motion);
                        moved += 1;
                    }
                    Some(Reaction::Squeezed) => {
                        blocked += 1;
                        self.notify(now, slot, own, other, "is squeezed by");
                    }
                    Some(Reaction::Covered) => {
                        blocked += 1;
                        self.notify(now, slot, own, other, "is inside");
                    }
                    None if self.is_deep_inside(slot, own, other) => {
                        blocked += 1;
                        self.notify(now, slot, own, other, "is inside");
                    }
                    None => {}
                }
            }
        }
        arrived.clear();
        self.particles.arrived = arrived;
        report.add("solids.moved_droplets", moved);
        report.add("solids.blocked_droplets", blocked);
    }

    /// Reaction of a droplet on solid `own` to solid `other`.
    fn reaction(&self, slot: SlotIndex, own: SolidIndex, other: SolidIndex, dt: f64) -> Option<Reaction> {
        let droplet = self.particles.state.droplets.get(slot);
        let solid = &self.world.solids()[other];
        let radius = droplet.size.radius;
        let Near { place, distance, normal, entered } = self.nearest_on_path(slot, own, solid, dt)?;
        let pose = &self.rigid_states[own].pose;
        let facet = self.surface.facet(place.triangle);
        let up = pose.turn(facet.normal());
        let along = normal - up * normal.dot(up);
        let is_sliding = droplet.state.is_sliding;
        if along.length() <= WALL {
            let height = droplet.size.volume / (0.5 * std::f64::consts::PI * radius * radius);
            return match distance {
                d if d < 0.0 => Some(Reaction::Covered),
                d if normal.dot(up) < 0.0 && d < 0.5 * height => Some(Reaction::Squeezed),
                _ => None,
            };
        }
        let clearance = radius * if is_sliding { SLIDING_CLEARANCE } else { PINNED_CLEARANCE };
        if distance >= clearance && !entered {
            return None;
        }
        let back = |v: DVec3| facet.project(pose.rotation.transpose() * v);
        let shift = back(along.normalize()) * ((clearance - distance) / along.length()).clamp(0.0, BEHIND * radius);
        let (end, velocity) = self.surface.trace_geodesic(place, shift, droplet.motion.velocity);
        let at = pose.apply(end.point(&self.surface));
        if solid.signed_distance(at + up * (LOW_PROBE * radius)) < -PINNED_CLEARANCE * radius {
            return Some(Reaction::Covered);
        }
        // Velocity relative to the wall, without its part into it.
        let own_velocity = self.setup.velocity_at(&self.rigid_states, own, at);
        let wall = self.setup.velocity_at(&self.rigid_states, other, at) - own_velocity;
        let (facet, out) = (self.surface.facet(end.triangle), along.normalize());
        let to_facet = |v: DVec3| facet.project(pose.rotation.transpose() * v);
        let (out, wall) = (to_facet(out).normalize_or_zero(), to_facet(wall));
        let into = (velocity - wall).dot(out).min(0.0);
        let velocity = if is_sliding { velocity - out * into } else { DVec2::ZERO };
        Some(Reaction::Moved(MotionState { place: end, velocity }))
    }

    /// The last place outside of a solid on a droplet's path of the last `dt` seconds relative to
    /// the solid, if it entered it, else the present one; `None` far from it.
    fn nearest_on_path(&self, slot: SlotIndex, own: SolidIndex, solid: &Solid, dt: f64) -> Option<Near> {
        let droplet = self.particles.state.droplets.get(slot);
        let (radius, place) = (droplet.size.radius, droplet.motion.place);
        let (facet, pose) = (self.surface.facet(place.triangle), &self.rigid_states[own].pose);
        let lift = facet.normal() * (PROBE_HEIGHT * radius);
        let low = pose.apply(place.point(&self.surface) + facet.normal() * (LOW_PROBE * radius));
        let point = place.point(&self.surface);
        let position = pose.apply(point);
        let [here, there] =
            [own, SolidIndex::new(solid.index())].map(|k| self.setup.velocity_at(&self.rigid_states, k, position));
        let mut path = pose.rotation.transpose() * (here - there) * dt;
        if droplet.state.is_sliding {
            path += self.particles.state.droplets[slot].location.displacement.as_dvec3();
        }
        let at = |share: f64| pose.apply(point - path * share + lift);
        let length = path.length();
        let tests = (length / (0.5 * radius).min(TEST_SPACING)).ceil().min(MAX_TESTS);
        if tests >= 1.0 && solid.signed_distance(at(0.0)) < length + SLIDING_CLEARANCE * radius {
            let share = |k: u32| f64::from(k) / tests;
            let entered = (0..tests as u32).rev().find(|&k| solid.signed_distance(at(share(k))) < 0.0);
            // The last place outside, if it came from outside.
            if let Some(last) = entered.map(|k| share(k + 1)).filter(|&last| solid.signed_distance(at(last)) >= 0.0) {
                let (place, _) = self.surface.trace_geodesic(place, facet.project(path) * -last, DVec2::ZERO);
                let near = solid.closest(at(last));
                return Some(Near { place, distance: near.distance, normal: near.normal, entered: true });
            }
        }
        let below = solid.closest(low);
        let near = if below.distance < 0.0 { below } else { solid.closest(at(0.0)) };
        let is_near = near.distance > -BEHIND * radius && near.distance < 4.0 * radius;
        is_near.then_some(Near { place, distance: near.distance, normal: near.normal, entered: false })
    }

    /// Whether a droplet is too deep in another solid to react to it, and no message was about
    /// these two solids yet: it condensed or landed where the solids overlap.
    fn is_deep_inside(&mut self, slot: SlotIndex, own: SolidIndex, other: SolidIndex) -> bool {
        let droplet = self.particles.state.droplets.get(slot);
        let point = self.rigid_states[own].pose.apply(droplet.motion.place.point(&self.surface));
        let depth = -self.world.solids()[other].signed_distance(point);
        if depth < BEHIND * droplet.size.radius
            || self.scratch.reported.contains(&(own, other))
            || !self.may_be_within(other, point, depth * BESIDE)
        {
            return false;
        }
        self.build_solid(other);
        // The mesh is a part of an endless surface: behind the rest there is no solid.
        self.locator().place_on(other, point, depth * BESIDE).is_some()
    }

    /// Moves a droplet along its solid.
    fn displace(&mut self, slot: SlotIndex, motion: MotionState) {
        let (particles, context) = self.particles_and_context();
        let mut droplet = particles.state.droplets.get(slot);
        droplet.motion = motion;
        particles.update(slot, droplet, &context);
    }

    /// Adds a message about a droplet that cannot react to a solid, one per pair of solids.
    fn notify(&mut self, now: f64, slot: SlotIndex, own: SolidIndex, other: SolidIndex, what: &str) {
        if self.scratch.reported.contains(&(own, other)) {
            return;
        }
        self.scratch.reported.push((own, other));
        let name = |solid: SolidIndex| self.world.solids()[solid].name();
        self.scratch.notices.push(format!(
            "droplet {} on `{}` {what} `{}` at {now:.4} s: droplets of this model do not bridge solids; \
             use the surface or volume model",
            self.particles.state.droplets.get(slot).id.get(),
            name(own),
            name(other)
        ));
    }
}
