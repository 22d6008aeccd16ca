//! Airborne droplets: free fall, landing, loss, and detachment from solids.

use glam::DVec3;
use rayon::prelude::*;
use sessile_model::StageReports;
use sessile_numerics::sphere_volume;
use sessile_scene::SolidShape;
use sessile_sliding::{Ball, DropId, Projectile, SlotIndex};

use super::DropletModel;
use crate::flight::Contact;
use crate::integrate::MotionState;
use crate::surface_mesh::SolidIndex;

/// Distance from a mesh over that from the endless surface that it is a part of, above which a
/// point is beside the mesh.
pub(super) const BESIDE: f64 = 1.000_1;
/// Volume of a droplet over that of the cavity of a sphere, above which it fills it.
const FULL: f64 = 0.8;

/// Outcome of a ball's flight.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flight {
    Airborne,
    Lands { solid: SolidIndex, contact: Contact },
    Lost,
}

impl DropletModel {
    /// Moves all balls for their remaining time of the step; some land, some are lost.
    pub(super) fn fly(&mut self, report: &mut StageReports) {
        self.build_under_balls();
        let gravity = self.world.gravity();
        let mut flights = std::mem::take(&mut self.scratch.flights);
        let bounds = self.bounds();
        let outcome =
            |ball: &Ball| match self.locator().first_contact(&ball.body, gravity, (ball.remaining, ball.remaining)) {
                Some((solid, contact)) => Flight::Lands { solid, contact },
                None => {
                    let mut flown = *ball;
                    flown.finish_step(gravity);
                    if self.is_lost(flown.body.center, gravity, bounds) { Flight::Lost } else { Flight::Airborne }
                }
            };
        self.state.balls.par_iter().with_min_len(64).map(outcome).collect_into_vec(&mut flights);
        let mut balls = std::mem::take(&mut self.state.balls);
        let mut outcomes = flights.iter();
        let (mut num_landed, mut num_lost) = (0, 0);
        balls.retain_mut(|ball| match outcomes.next() {
            Some(Flight::Lands { solid, contact }) => {
                self.land(ball, *solid, contact);
                num_landed += 1;
                false
            }
            Some(Flight::Lost) => {
                self.state.lost += ball.body.volume;
                num_lost += 1;
                false
            }
            Some(Flight::Airborne) | None => {
                ball.finish_step(gravity);
                true
            }
        });
        report.add("flight.landed", num_landed);
        report.add("flight.lost", num_lost);
        self.state.balls = balls;
        self.scratch.flights = flights;
    }

    /// Reports airborne droplets behind the surface of an open solid, one per solid: they have come
    /// from beside it, or from another solid that passes through it. A closed surface has a solid
    /// behind it only if it is that around a sphere.
    pub(super) fn report_behind(&mut self, now: f64) {
        for solid in self.surface.solids() {
            let is_around = matches!(self.world.solids()[solid].scene().shape, SolidShape::Sphere { inside: true, .. });
            let is_body = self.surface.is_closed(solid) && !is_around;
            if is_body || self.scratch.reported.contains(&(solid, solid)) {
                continue;
            }
            let may_be_behind = |ball: &Ball| {
                let depth = self.depth_behind(solid, ball);
                depth.is_some_and(|depth| self.may_be_within(solid, ball.body.center, depth))
            };
            if !self.state.balls.iter().any(may_be_behind) {
                continue;
            }
            self.build_solid(solid);
            // The mesh is a part of an endless surface: behind the rest there is no solid.
            let is_behind = |ball: &&Ball| {
                let depth = self.depth_behind(solid, ball);
                depth.is_some_and(|depth| self.locator().place_on(solid, ball.body.center, depth).is_some())
            };
            if let Some(id) = self.state.balls.iter().find(is_behind).map(|ball| ball.id) {
                let advice = "it came from behind the surface, where droplets do not see it; close the solid";
                self.report_airborne(id, solid, now, advice);
            }
        }
    }

    /// Depth of a ball behind the endless surface that a solid's mesh is a part of, and a little
    /// more, in m; `None` in front of it.
    fn depth_behind(&self, solid: SolidIndex, ball: &Ball) -> Option<f64> {
        let distance = self.world.solids()[solid].signed_distance(ball.body.center);
        (distance < -ball.body.radius()).then_some(-distance * BESIDE)
    }

    /// Reports droplets that fill the cavity of a sphere that they are in, one per solid.
    pub(super) fn report_overfull(&mut self, now: f64) {
        for solid in self.surface.solids() {
            let SolidShape::Sphere { inside: true, radius, .. } = self.world.solids()[solid].scene().shape else {
                continue;
            };
            if self.scratch.reported.contains(&(solid, solid)) {
                continue;
            }
            let (droplets, room) = (&self.particles.state.droplets, FULL * sphere_volume(radius));
            let fills = |slot: &SlotIndex| {
                let droplet = &droplets[*slot];
                droplet.size.volume > room && self.surface.facet(droplet.motion.place.triangle).solid == solid
            };
            let id = droplets.used().find(fills).and_then(|slot| droplets[slot].id);
            if let Some(id) = id {
                self.scratch.reported.push((solid, solid));
                let name = self.world.solids()[solid].name();
                self.scratch.notices.push(format!(
                    "droplet {} is shown inside the wall of `{name}` at {now:.4} s: its volume is that of the cavity or \
                     more",
                    id.get()
                ));
            }
        }
    }

    /// Reports airborne droplets that overlap a solid on which they cannot hang, one per solid.
    pub(super) fn report_overlaps(&mut self, now: f64) {
        self.build_under_balls();
        let gravity = self.world.gravity();
        let overlap = |ball: &Ball| Some((ball.id, self.locator().first_contact(&ball.body, gravity, (0.0, 0.0))?.0));
        let overlaps: Vec<(DropId, SolidIndex)> = self.state.balls.iter().filter_map(overlap).collect();
        for (id, solid) in overlaps {
            self.report_airborne(
                id,
                solid,
                now,
                "there is no room for it where it fell off; it lands in the next step",
            );
        }
    }

    /// Adds a message about an airborne droplet in a solid, one per solid.
    fn report_airborne(&mut self, id: DropId, solid: SolidIndex, now: f64, why: &str) {
        if !self.scratch.reported.contains(&(solid, solid)) {
            self.scratch.reported.push((solid, solid));
            let name = self.world.solids()[solid].name();
            self.scratch.notices.push(format!("droplet {} is inside `{name}` at {now:.4} s: {why}", id.get()));
        }
    }

    /// Attaches a ball to a solid: the normal component of its velocity is lost.
    fn land(&mut self, ball: &Ball, solid: SolidIndex, contact: &Contact) {
        let place = self.locator().place_at(solid, contact.triangle, contact.point);
        let facet = self.surface.facet(place.triangle);
        let normal_speed = (-contact.velocity.dot(facet.normal())).max(0.0);
        let motion = MotionState { place, velocity: facet.project(contact.velocity) };
        let delay = self.scratch.step - (ball.remaining - contact.time);
        let (particles, context) = self.particles_and_context();
        particles.land(ball, motion, normal_speed, delay, &context);
    }

    /// Bounding box of all solids, in m.
    fn bounds(&self) -> [DVec3; 2] {
        self.surface.solids().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], solid| {
            let (center, half) = self.setup.bounding_ball(solid, &self.rigid_states);
            [low.min(center - half), high.max(center + half)]
        })
    }

    /// Whether a ball at `center` has left the domain or passed all solids.
    fn is_lost(&self, center: DVec3, gravity: DVec3, [low, high]: [DVec3; 2]) -> bool {
        if let Some([min, max]) = self.setup.domain {
            return center.cmplt(min).any() || center.cmpgt(max).any();
        }
        let Some(down) = gravity.try_normalize() else {
            return center.distance(center.clamp(low, high)) > self.setup.parameters.lost_beyond;
        };
        let lowest = DVec3::select(down.cmpgt(DVec3::ZERO), high, low);
        center.dot(down) > lowest.dot(down) + self.setup.parameters.lost_below
    }

    /// Makes airborne droplets of those that have detached from a solid; `false` if there are none.
    pub(super) fn launch_detached(&mut self) -> bool {
        let has_any = !self.particles.detached.is_empty();
        let (rigid_states, setup) = (&self.rigid_states, &self.setup);
        let balls = self.particles.detached.drain(..).map(|detached| {
            let rigid = &rigid_states[detached.solid];
            let body = Projectile::detached(detached.point, detached.outward, detached.velocity, detached.volume);
            let center = rigid.pose.apply(body.center);
            let velocity = rigid.pose.turn(detached.velocity) + setup.velocity_at(rigid_states, detached.solid, center);
            Ball { id: detached.id, body: Projectile { center, velocity, ..body }, remaining: detached.remaining }
        });
        self.state.take_detached(balls);
        has_any
    }
}
