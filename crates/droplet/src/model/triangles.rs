//! Adds the triangles of solids when droplets come near them: a scene may have thousands of solids
//! of which droplets touch a few.
//!
//! A solid gets its triangles before anything asks for a place on it: when a cap starts on it, dew
//! or a needle wets it, or the path of a droplet in flight meets the ball around it. So which
//! solids have triangles, and how these are numbered, follows from the course of the simulation; a
//! checkpoint records it.

use glam::DVec3;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_sliding::Projectile;
use sessile_world::Emission;

use super::DropletModel;
use crate::particles::Fidelity;
use crate::setup::{declared_mesh, u_axis};
use crate::surface_mesh::{Facet, SolidIndex};

/// Radius that a droplet in flight counts with, in radii: contact begins at a gap.
const REACH: f64 = 1.1;
/// Largest number of points tested along a path.
const MAX_ADVANCES: usize = 100;

impl DropletModel {
    /// Adds the triangles of a solid if it has none.
    pub(super) fn build_solid(&mut self, solid: SolidIndex) {
        if self.surface.is_built(solid) {
            return;
        }
        let mesh = declared_mesh(&self.world.solids()[solid], self.setup.divisions[solid]);
        self.surface.build(solid, &mesh);
        let added = &self.surface.facets()[self.surface.range_of(solid)];
        self.particles.state.substrate.build(&self.surface, &mesh);
        if let Fidelity::Paper(paper) = &mut self.particles.fidelity {
            let axis = |(t, facet): (usize, &Facet)| u_axis(mesh.corner_uvs.get(t), &facet.corners);
            paper.build(solid, added.iter().enumerate().map(axis));
        }
        let mut sum = 0.0;
        self.setup.cumulative_areas.extend(added.iter().map(|facet| {
            sum += facet.area();
            sum
        }));
        self.setup.meshes[solid] = Some(MeshDistance::new(mesh));
    }

    /// Adds the triangles of solids that a place within a distance of a point of the world (both in
    /// m) may be on; without bound, of those that may be nearest.
    pub(super) fn build_within(&mut self, point: DVec3, within: f64) {
        let unbuilt: Vec<SolidIndex> = self.surface.unbuilt().collect();
        if unbuilt.is_empty() {
            return;
        }
        let farthest = |solid| {
            let (center, radius) = self.setup.bounding_ball(solid, &self.rigid_states);
            center.distance(point) + radius
        };
        let nearest = self.surface.solids().map(farthest).fold(within, f64::min);
        for solid in unbuilt {
            if self.may_be_within(solid, point, nearest) {
                self.build_solid(solid);
            }
        }
    }

    /// Whether a place on a solid may be within a distance of a point of the world (both in m).
    pub(super) fn may_be_within(&self, solid: SolidIndex, point: DVec3, distance: f64) -> bool {
        let (center, radius) = self.setup.bounding_ball(solid, &self.rigid_states);
        center.distance(point) - radius <= distance
    }

    /// Adds the triangles of solids that droplets in flight may touch in the rest of the step.
    pub(super) fn build_under_balls(&mut self) {
        if self.surface.unbuilt().next().is_none() {
            return;
        }
        for index in 0..self.state.balls.len() {
            let ball = self.state.balls[index];
            self.build_along(&ball.body, (ball.remaining, ball.remaining));
        }
    }

    /// Adds the triangles of solids that emissions wet, and of those below the dew point; droplets
    /// in flight are looked at later.
    pub(super) fn build_for(&mut self, emissions: &[Emission]) {
        for emission in emissions {
            match *emission {
                Emission::Ball { .. } => {}
                Emission::Stream { at, direction, radius, speed, .. } => {
                    let volume = sessile_numerics::sphere_volume(radius);
                    let stream = Projectile { center: at, velocity: direction * speed, volume };
                    self.build_along(&stream, (self.setup.parameters.max_stream_flight, 0.0));
                }
                Emission::Condense { solid, .. } => self.build_solid(SolidIndex::new(solid)),
                Emission::Feed { at, .. } => self.build_within(at, self.setup.parameters.max_feed_distance),
            }
        }
        for solid in self.surface.solids() {
            let condenses = self.setup.evaporation.as_ref().is_some_and(|rates| rates[solid.to_usize()] < 0.0);
            if condenses {
                self.build_solid(solid);
            }
        }
    }

    /// Adds the triangles of solids that a sphere in free fall may touch within `time` seconds; the
    /// current poses are those `pose_after` seconds after the start of the flight.
    fn build_along(&mut self, ball: &Projectile, (time, pose_after): (f64, f64)) {
        let unbuilt: Vec<SolidIndex> = self.surface.unbuilt().collect();
        let gravity = self.world.gravity();
        for solid in unbuilt {
            let moving = self.setup.velocity_at(&self.rigid_states, solid, ball.center);
            let start = ball.center + moving * pose_after;
            let (center, radius) = self.setup.bounding_ball(solid, &self.rigid_states);
            let path = (start - center, ball.velocity - moving, gravity);
            if may_reach(path, time, radius + REACH * ball.radius()) {
                self.build_solid(solid);
            }
        }
    }

    /// Gives triangles to these solids in this order, and to no others.
    pub(super) fn set_built(&mut self, order: &[SolidIndex]) {
        let kept = self.surface.built().iter().zip(order).take_while(|(own, wanted)| own == wanted).count();
        for &solid in &self.surface.built()[kept..] {
            self.setup.meshes[solid] = None;
        }
        self.surface.truncate(kept);
        let count = self.surface.facets().len();
        self.particles.state.substrate.truncate(&self.surface);
        if let Fidelity::Paper(paper) = &mut self.particles.fidelity {
            paper.truncate(count);
        }
        self.setup.cumulative_areas.truncate(count);
        for &solid in &order[kept..] {
            self.build_solid(solid);
        }
    }
}

/// Whether a path in free fall (position, velocity and acceleration, in SI units) may come within
/// `distance` of the origin within `time` seconds.
fn may_reach((start, velocity, acceleration): (DVec3, DVec3, DVec3), time: f64, distance: f64) -> bool {
    let mut t = 0.0;
    for _ in 0..MAX_ADVANCES {
        let gap = (start + velocity * t + 0.5 * acceleration * t * t).length() - distance;
        // NaN may reach anything.
        if gap.is_nan() || gap <= 0.0 {
            return true;
        }
        if t >= time {
            return false;
        }
        let fastest = (velocity + acceleration * t).length() + acceleration.length() * (time - t);
        t = (t + gap / fastest).min(time);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model_of;

    const SPHERES: &str = "[[solids]]\nname = \"near\"\nmaterial = \"m\"\nshape = \"sphere\"\n\
        center = \"0 10 0 mm\"\nradius = \"5 mm\"\n\
        [[solids]]\nname = \"far\"\nmaterial = \"m\"\nshape = \"sphere\"\n\
        center = \"30 10 0 mm\"\nradius = \"5 mm\"\n";

    /// A ball falls on a sphere and misses another, and falls off to a table.
    #[test]
    fn a_solid_has_triangles_from_the_time_that_a_droplet_may_touch_it() {
        let mut model = model_of(SPHERES);
        let all = |model: &DropletModel| model.surface.built().iter().map(|solid| solid.to_usize()).collect::<Vec<_>>();
        assert_eq!(all(&model), Vec::<usize>::new());
        let body = Projectile { center: DVec3::new(0.0, 25e-3, 0.0), velocity: DVec3::ZERO, volume: 4e-9 };
        model.state.add_ball(body, 0.02);
        model.build_under_balls();
        assert_eq!(all(&model), [0], "the table reaches far");
        model.state.balls[0].remaining = 0.1;
        model.build_under_balls();
        assert_eq!(all(&model), [0, 1]);
        // The ball around the box around the sphere has a radius of 8.7 mm.
        model.build_within(DVec3::new(30e-3, 30e-3, 0.0), 11e-3);
        assert_eq!(all(&model), [0, 1]);
        model.build_within(DVec3::new(30e-3, 30e-3, 0.0), 12e-3);
        assert_eq!(all(&model), [0, 1, 2]);
        model.set_built(&[SolidIndex::new(0), SolidIndex::new(2)]);
        assert_eq!(all(&model), [0, 2]);
        let facets = model.surface.facets();
        assert_eq!(facets.len(), model.setup.cumulative_areas.len());
        assert!(model.surface.triangles_of(SolidIndex::new(2)).all(|t| model.surface.facet(t).solid.to_usize() == 2));
    }
}
