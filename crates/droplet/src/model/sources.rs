//! Liquid that emitters add: falling drops, streams, condensation and needles.

use std::f64::consts::PI;

use sessile_numerics::sphere_volume;
use sessile_world::Emission;
use sessile_world::random::Stream;

use super::DropletModel;
use crate::flight::Ball;
use crate::surface_mesh::SurfacePoint;

/// Key of the random stream of condensation.
const DEW_STREAM: u64 = 0xd20b;

impl DropletModel {
    /// Adds everything that emitters emit between the current time and `until` (in s).
    pub(super) fn emit(&mut self, until: f64) {
        for emission in self.world.emissions(self.state.time, until) {
            match emission {
                Emission::Ball { time, center, radius, velocity } => {
                    let volume = sphere_volume(radius);
                    let id = self.new_id();
                    self.state.added += volume;
                    self.state.balls.push(Ball { id, center, velocity, volume, owed: until - time });
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let volume = PI * radius * radius * speed * (to - from);
                    let velocity = direction * speed;
                    self.emit_stream(
                        &Ball { id: 0, center: at, velocity, volume: sphere_volume(radius), owed: 0.0 },
                        volume,
                    );
                }
                Emission::Condense { solid, rate, from, to } => {
                    let area = self.setup.cumulative_areas[self.surface.triangles_of(solid).end - 1];
                    self.condense(solid, rate * (to - from) * area);
                }
                Emission::Feed { at, volume, .. } => {
                    if let Some((place, _)) = self.nearest_place(at, self.setup.parameters.max_feed_distance) {
                        self.pour(place, volume);
                    }
                }
            }
        }
    }

    /// Adds `volume` (in m³) where a stream lands, whose path is that of `water`; it is lost if it lands nowhere.
    fn emit_stream(&mut self, water: &Ball, volume: f64) {
        let (gravity, time) = (self.world.gravity(), self.setup.parameters.max_stream_flight);
        match self.first_touch(water, gravity, time) {
            Some((solid, touch)) => self.pour(self.place_at(solid, touch.triangle, touch.point), volume),
            None => {
                self.state.added += volume;
                self.state.lost += volume;
            }
        }
    }

    /// Adds liquid at a place, in m³.
    fn pour(&mut self, place: SurfacePoint, volume: f64) {
        let mut next_id = self.state.next_id;
        let (particles, context) = self.particles_and_context();
        let poured = particles.pour(place, volume, &context, &mut next_id);
        self.state.next_id = next_id;
        self.state.added += poured;
    }

    /// Condenses a volume (in m³) as small droplets at random places of a solid; those on a droplet feed it.
    fn condense(&mut self, solid: usize, volume: f64) {
        self.state.dew[solid] += volume;
        let droplet = self.setup.dew_volumes[solid];
        while self.state.dew[solid] >= droplet {
            let mut random = Stream::new(self.setup.seed, &[DEW_STREAM, self.state.num_dew]);
            self.state.num_dew += 1;
            self.state.dew[solid] -= droplet;
            let range = self.surface.triangles_of(solid);
            let areas = &self.setup.cumulative_areas[range.clone()];
            let wanted = random.uniform() * areas[areas.len() - 1];
            let t = areas.partition_point(|&sum| sum <= wanted).min(areas.len() - 1);
            let (a, b) = (random.uniform(), random.uniform());
            let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
            let triangle = (range.start + t) as u32;
            let corners = &self.surface.facet(triangle).corners;
            let at = corners[1] * a + corners[2] * b;
            self.pour(SurfacePoint { triangle, at }, droplet);
        }
    }
}
