//! Wiping droplets and taking them away.

use std::f64::consts::SQRT_2;

use glam::DVec3;
use sessile_model::{BLADE_FILM, Region, Stroke, Tool};
use sessile_sliding::SlotIndex;
use sessile_wetting::film::landau_levich_thickness;

use super::{ParticleSystem, StepContext};
use crate::droplets::Droplet;
use crate::surface_mesh::SurfacePoint;

impl ParticleSystem {
    /// Takes what a stroke takes from the droplets; returns their volume, in m³.
    pub fn wipe_droplets(&mut self, stroke: &Stroke, context: &StepContext<'_>) -> f64 {
        let (middle, reach) = (stroke.middle(), stroke.reach());
        let is_near = |place: DVec3, radius: f64| place.distance(middle) <= reach + radius;
        let mut taken = 0.0;
        for (slot, place, droplet) in self.placed(context) {
            let radius = f64::from(droplet.size.merge_radius);
            if !is_near(place, radius) {
                continue;
            }
            if let Some((share, shift)) = stroke.bite(place, radius) {
                taken += self.reduce(slot, droplet, share, shift, context);
            }
        }
        taken
    }

    /// Takes a share of all droplets in a region away; returns their volume, in m³.
    pub fn take_droplets(&mut self, region: &Region, share: f64, context: &StepContext<'_>) -> f64 {
        let mut taken = 0.0;
        for (slot, place, droplet) in self.placed(context) {
            if place.distance(region.center) <= region.radius {
                taken += self.reduce(slot, droplet, share, DVec3::ZERO, context);
            }
        }
        taken
    }

    /// All droplets with their slots and places in the world, by slot.
    fn placed(&self, context: &StepContext<'_>) -> Vec<(SlotIndex, DVec3, Droplet)> {
        let droplets = &self.state.droplets;
        let place = |droplet: &Droplet| {
            let facet = context.surface.facet(droplet.motion.place.triangle);
            context.rigid_states[facet.solid].pose.apply(facet.point(droplet.motion.place.at))
        };
        let found = droplets.used().filter_map(|slot| droplets.find(slot).map(|droplet| (slot, droplet)));
        found.map(|(slot, droplet)| (slot, place(&droplet), droplet)).collect()
    }

    /// Takes a share of a droplet and shifts the rest (in m, in the world); returns the volume
    /// taken, in m³.
    fn reduce(
        &mut self,
        slot: SlotIndex,
        mut droplet: Droplet,
        share: f64,
        shift: DVec3,
        context: &StepContext<'_>,
    ) -> f64 {
        let part = if share < 1.0 { share * droplet.size.volume } else { droplet.size.volume };
        droplet.size.volume -= part;
        let place = droplet.motion.place;
        let facet = context.surface.facet(place.triangle);
        let along = facet.project(context.rigid_states[facet.solid].pose.rotation.transpose() * shift);
        let (place, velocity) = context.surface.trace_geodesic(place, along, droplet.motion.velocity);
        (droplet.motion.place, droplet.motion.velocity) = (place, velocity);
        self.update(slot, droplet, context);
        part
    }

    /// Thickness of the film that a tool leaves at a place, in m: behind a finger Landau and
    /// Levich's, and none below the speed at which the contact line follows it.
    pub fn film_behind(&self, stroke: &Stroke, place: SurfacePoint, context: &StepContext<'_>) -> f64 {
        let speed = stroke.speed();
        let law = self.state.substrate.law(context.surface, place);
        match stroke.tool {
            Tool::Blade { .. } => BLADE_FILM,
            Tool::Finger { .. } if speed <= law.shedding_speed => 0.0,
            Tool::Finger { .. } => {
                let facet = context.surface.facet(place.triangle);
                let gravity = context.acceleration(place.triangle).at(facet.point(place.at), DVec3::ZERO).length();
                let curvature = SQRT_2 / context.liquid().capillary_length(gravity);
                landau_levich_thickness(context.liquid(), speed, curvature)
            }
        }
    }
}
