//! Airborne droplets: free fall, landing, loss, and detachment from solids.

use glam::DVec3;
use rayon::prelude::*;
use sessile_model::StageReports;
use sessile_sliding::{Ball, Projectile};

use super::DropletModel;
use crate::flight::Contact;
use crate::integrate::MotionState;
use crate::surface_mesh::SolidIndex;

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
        let gravity = self.world.gravity();
        let mut flights = std::mem::take(&mut self.scratch.flights);
        let bounds = self.bounds();
        let outcome = |ball: &Ball| match self.locator().first_contact(&ball.body, gravity, ball.remaining) {
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

    /// Attaches a ball to a solid: the normal component of its velocity is lost.
    fn land(&mut self, ball: &Ball, solid: SolidIndex, contact: &Contact) {
        let place = self.locator().place_at(solid, contact.triangle, contact.point);
        let facet = self.surface.facet(place.triangle);
        let normal_speed = -contact.velocity.dot(facet.normal());
        let law = self.particles.substrate.law(&self.surface, place);
        let radius = law.spread_radius(&self.setup.liquid, ball.body.volume, normal_speed.max(0.0));
        let motion = MotionState { place, velocity: facet.project(contact.velocity) };
        let (particles, context) = self.particles_and_context();
        particles.arrive(ball.id, motion, ball.body.volume, radius, &context);
    }

    /// Bounding box of all solids, in m.
    fn bounds(&self) -> [DVec3; 2] {
        let meshes = self.setup.meshes.iter().zip(&self.rigid_states);
        meshes.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], (mesh, rigid)| {
            let bounds = mesh.bounds();
            let (center, half) = (rigid.pose.apply(bounds.center()), 0.5 * bounds.extent().length());
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

    /// Makes airborne droplets of those that have detached from a solid.
    pub(super) fn launch_detached(&mut self) {
        let rigid_states = &self.rigid_states;
        let balls = self.particles.detached.drain(..).map(|detached| {
            let rigid = &rigid_states[detached.solid];
            let body = Projectile::detached(detached.point, detached.outward, detached.velocity, detached.volume);
            let center = rigid.pose.apply(body.center);
            let velocity = rigid.pose.turn(detached.velocity) + rigid.velocity.at(center);
            Ball { id: detached.id, body: Projectile { center, velocity, ..body }, remaining: detached.remaining }
        });
        self.state.take_detached(balls);
    }
}
