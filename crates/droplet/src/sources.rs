//! The droplet model's solids, as emitters see them.

use glam::DVec3;
use sessile_sliding::{CondensingSurface, EmissionTarget, IdCounter, Projectile};
use sessile_world::random::Stream;

use crate::context::StepContext;
use crate::locate::Locator;
use crate::particles::ParticleSystem;
use crate::surface_mesh::{SolidIndex, SurfacePoint};

/// Droplets and solids that emitters add liquid to.
pub struct Target<'a> {
    /// The droplets on the solids.
    pub particles: &'a mut ParticleSystem,
    /// The context of the step.
    pub context: StepContext<'a>,
    /// The solids.
    pub locator: Locator<'a>,
    /// Gravity, in m/s².
    pub gravity: DVec3,
}

impl EmissionTarget for Target<'_> {
    type Place = SurfacePoint;

    fn stream_impact(&self, stream: &Projectile) -> Option<SurfacePoint> {
        let (solid, contact) =
            self.locator.first_contact(stream, self.gravity, (self.context.parameters().max_stream_flight, 0.0))?;
        Some(self.locator.place_at(solid, contact.triangle, contact.point))
    }

    fn feed_place(&self, tip: DVec3) -> Option<SurfacePoint> {
        self.locator.nearest_place(tip, self.context.parameters().max_feed_distance).map(|(place, _)| place)
    }

    fn condensing_surface(&self, solid: usize) -> Option<CondensingSurface> {
        let Locator { setup, surface, .. } = self.locator;
        let area = setup.cumulative_areas[surface.range_of(SolidIndex::new(solid)).end - 1];
        Some(CondensingSurface { area, grain: setup.dew_volumes[solid] })
    }

    fn random_place(&self, solid: usize, random: &mut Stream) -> SurfacePoint {
        let Locator { setup, surface, .. } = self.locator;
        let solid = SolidIndex::new(solid);
        let areas = &setup.cumulative_areas[surface.range_of(solid)];
        let wanted = random.uniform() * areas[areas.len() - 1];
        let t = areas.partition_point(|&sum| sum <= wanted).min(areas.len() - 1);
        let (a, b) = (random.uniform(), random.uniform());
        let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
        let triangle = surface.triangle_of(solid, t);
        let corners = &surface.facet(triangle).corners;
        SurfacePoint { triangle, at: corners[1] * a + corners[2] * b }
    }

    fn is_covered(&self, place: &SurfacePoint) -> bool {
        let solid = self.context.surface.facet(place.triangle).solid;
        self.particles.covering(solid, place.point(self.context.surface)).is_some()
    }

    fn pour(&mut self, place: SurfacePoint, volume: f64, ids: &mut IdCounter) -> f64 {
        self.particles.pour(place, volume, &self.context, ids)
    }
}
