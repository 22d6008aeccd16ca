//! Airborne droplets: free fall, landing, loss, and detachment from solids.

use glam::DVec3;
use rayon::prelude::*;
use sessile_model::StageReports;

use super::DropletModel;
use crate::flight::{Ball, Touch, ball_radius};
use crate::integrate::MotionState;

/// Outcome of a ball's flight.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flight {
    Airborne,
    Lands { solid: usize, touch: Touch },
    Lost,
}

impl DropletModel {
    /// The first solid that a ball touches within `time` seconds.
    pub(super) fn first_touch(&self, ball: &Ball, gravity: DVec3, time: f64) -> Option<(usize, Touch)> {
        let mut first: Option<(usize, Touch)> = None;
        for (solid, (mesh, rigid)) in self.setup.meshes.iter().zip(&self.rigid_states).enumerate() {
            let time = first.map_or(time, |(_, touch)| touch.time);
            if let Some(touch) = ball.touches(mesh, rigid, gravity, time)
                && first.is_none_or(|(_, earlier)| touch.time < earlier.time)
            {
                first = Some((solid, touch));
            }
        }
        first
    }

    /// Moves all balls for their remaining time of the step; some land, some are lost.
    pub(super) fn fly(&mut self, report: &mut StageReports) {
        let gravity = self.world.gravity();
        let mut flights = std::mem::take(&mut self.scratch.flights);
        let bounds = self.bounds();
        let outcome = |ball: &Ball| match self.first_touch(ball, gravity, ball.owed) {
            Some((solid, touch)) => Flight::Lands { solid, touch },
            None => {
                let mut flown = *ball;
                flown.fall(gravity, ball.owed);
                if self.is_lost(flown.center, gravity, bounds) { Flight::Lost } else { Flight::Airborne }
            }
        };
        self.state.balls.par_iter().with_min_len(64).map(outcome).collect_into_vec(&mut flights);
        let mut balls = std::mem::take(&mut self.state.balls);
        let mut outcomes = flights.iter();
        let (mut num_landed, mut num_lost) = (0, 0);
        balls.retain_mut(|ball| match outcomes.next() {
            Some(Flight::Lands { solid, touch }) => {
                self.land(ball, *solid, touch);
                num_landed += 1;
                false
            }
            Some(Flight::Lost) => {
                self.state.lost += ball.volume;
                num_lost += 1;
                false
            }
            Some(Flight::Airborne) | None => {
                ball.fall(gravity, ball.owed);
                ball.owed = 0.0;
                true
            }
        });
        report.add("flight.landed", num_landed);
        report.add("flight.lost", num_lost);
        self.state.balls = balls;
        self.scratch.flights = flights;
    }

    /// Attaches a ball to a solid: the normal component of its velocity is lost.
    fn land(&mut self, ball: &Ball, solid: usize, touch: &Touch) {
        let place = self.place_at(solid, touch.triangle, touch.point);
        let facet = self.surface.facet(place.triangle);
        let normal_speed = -touch.velocity.dot(facet.normal());
        let law = self.particles.substrate.law(&self.surface, place);
        let radius = law.spread_radius(&self.setup.liquid, ball.volume, normal_speed.max(0.0));
        let motion = MotionState { place, velocity: facet.project(touch.velocity) };
        let (particles, context) = self.particles_and_context();
        particles.arrive(ball.id, motion, ball.volume, radius, &context);
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

    /// Turns detached droplets into balls.
    pub(super) fn launch_detached(&mut self) {
        for detached in self.particles.detached.drain(..) {
            let rigid = &self.rigid_states[detached.solid];
            // Just clear of the surface, so that it does not land where it detached.
            let clearance = 1.001 * ball_radius(detached.volume);
            let center = rigid.pose.apply(detached.point + detached.outward * clearance);
            let velocity = rigid.pose.turn(detached.velocity) + rigid.velocity.at(center);
            let ball = Ball { id: detached.id, center, velocity, volume: detached.volume, owed: detached.remaining };
            self.state.balls.push(ball);
        }
        self.state.balls.sort_unstable_by_key(|ball| ball.id);
    }
}
