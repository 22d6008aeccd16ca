//! The droplet model in a window: what is shown, and what a hand changes.

use glam::{DVec2, DVec3};
use sessile_frames::VolumeBalance;
use sessile_model::{DropView, InteractionError, Region, Stroke, Tool, View, check_added};
use sessile_numerics::math;
use sessile_sliding::{Ball, NeckPart, Projectile, ball_radius};
use sessile_wetting::Wetting;

use super::DropletModel;
use crate::display::{MAX_SAG, MAX_STRETCH, STRETCH_SPEED};
use crate::droplets::Droplet;
use crate::surface_mesh::{SolidIndex, SurfacePoint};

/// Distance of two places along a stroke where film is taken and left, in widths of its track.
const FILM_SPACING: f64 = 0.5;
/// Width of the track of each part of a blade, in m.
const BLADE_PART: f64 = 4e-3;
/// Largest number of places along a stroke.
const MAX_PLACES: f64 = 64.0;

impl DropletModel {
    /// Shows all droplets; one that has merged recently as its parts.
    pub(super) fn show(&self, into: &mut View) {
        into.clear(self.state.time);
        let droplets = &self.particles.state.droplets;
        for slot in droplets.used() {
            let Some(droplet) = droplets.find(slot) else { continue };
            let view = self.droplet_view(&droplet);
            let Some(parts) = self.particles.state.necks.get(slot) else {
                into.push(&view);
                continue;
            };
            let solid = self.surface.facet(droplet.motion.place.triangle).solid;
            let pose = &self.rigid_states[solid].pose;
            for NeckPart { offset, share } in parts.as_slice() {
                let place = view.place + pose.turn(*offset);
                let (radius, volume) = (view.radius * math::cbrt(*share), view.volume * share);
                into.push(&DropView { place, radius, volume, ..view });
            }
        }
        for Ball { id, body, .. } in &self.state.balls {
            into.push(&DropView::in_flight(id.get(), body.center, body.velocity, body.volume, body.radius()));
        }
    }

    /// A droplet on a solid, with the sag and stretch of a frame's shapes.
    fn droplet_view(&self, droplet: &Droplet) -> DropView {
        let place = droplet.motion.place;
        let facet = self.surface.facet(place.triangle);
        let (rigid, liquid) = (&self.rigid_states[facet.solid], &self.setup.liquid);
        let point = facet.point(place.at);
        let acceleration = self.context().acceleration(place.triangle).at(point, DVec3::ZERO);
        let tangential = facet.project(acceleration);
        let law = self.particles.state.substrate.law(&self.surface, place);
        let radius = droplet.size.radius;
        let bond = liquid.density * tangential.length() * radius * radius / liquid.surface_tension;
        let (speed, half) = (droplet.motion.velocity.length(), law.shedding_speed.clamp(0.02, STRETCH_SPEED));
        let heading = droplet.motion.velocity.try_normalize().or(tangential.try_normalize()).unwrap_or(DVec2::X);
        let at = rigid.pose.apply(point);
        DropView {
            id: droplet.id.get(),
            place: at,
            on: Some((facet.solid.to_usize() as u32, rigid.pose.turn(facet.normal()))),
            heading: rigid.pose.turn(facet.lift(heading)),
            radius,
            volume: droplet.size.volume,
            sag: (bond * law.sag_per_bond).min(MAX_SAG),
            stretch: MAX_STRETCH * speed / (speed + half),
            velocity: rigid.pose.turn(facet.lift(droplet.motion.velocity))
                + self.setup.velocity_at(&self.rigid_states, facet.solid, at),
            sliding: droplet.state.is_sliding,
        }
    }

    /// The present volume balance.
    pub(super) fn present_balance(&self) -> VolumeBalance {
        let film = self.particles.state.substrate.film_volume();
        VolumeBalance { added: self.state.added, lost: self.state.lost, film, evaporated: self.state.evaporated }
    }

    /// Adds liquid: to the nearest solid where a ball of its volume touches it, else in flight.
    pub(super) fn add_by_hand(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        check_added(at, velocity, volume)?;
        self.build_within(at, 1.001 * ball_radius(volume));
        match self.locator().nearest_place(at, 1.001 * ball_radius(volume)) {
            Some((place, _)) => {
                let Self { surface, accelerations, rigid_states, setup, particles, state, .. } = self;
                let context = crate::context::StepContext { surface, accelerations, rigid_states, setup };
                state.added += particles.pour(place, volume, &context, &mut state.ids);
                self.launch_detached();
            }
            None => self.state.add_ball(Projectile { center: at, velocity, volume }, 0.0),
        }
        Ok(())
    }

    /// Takes liquid of a region away.
    pub(super) fn take_by_hand(&mut self, region: &Region, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        self.build_within(region.center, region.radius);
        let place = self.locator().nearest_place(region.center, region.radius);
        let (particles, context) = self.particles_and_context();
        let mut taken = particles.take_droplets(region, share, &context);
        if let Some((place, _)) = place {
            let film = particles.state.substrate.take_film(context.surface, place, region.radius);
            let SurfacePoint { triangle, at } = place;
            if share < 1.0 && film > 0.0 {
                let (rest, width) = ((1.0 - share) * film, 2.0 * region.radius);
                particles.state.substrate.lay_film(context.surface, triangle, at, at, width, rest);
            }
            taken += share * film;
        }
        self.state.added -= taken;
        self.launch_detached();
        taken
    }

    /// Wipes the solids.
    pub(super) fn wipe_by_hand(&mut self, stroke: &Stroke) -> f64 {
        let places = self.places_under(stroke);
        let (particles, context) = self.particles_and_context();
        let mut taken = particles.wipe_droplets(stroke, &context);
        let surface = context.surface;
        for &(place, width) in &places {
            taken += particles.state.substrate.take_film(surface, place, 0.5 * width);
        }
        let mut left = 0.0;
        for &(place, width) in &places {
            let thickness = particles.film_behind(stroke, place, &context);
            let volume = (thickness * stroke.area() / places.len() as f64).min(taken - left);
            if volume > 0.0 {
                let SurfacePoint { triangle, at } = place;
                particles.state.substrate.lay_film(surface, triangle, at, at, width, volume);
                particles.state.substrate.wet(surface, triangle, at, at, 0.5 * width);
                left += volume;
            }
        }
        taken -= left;
        self.state.added -= taken;
        self.launch_detached();
        taken
    }

    /// Places on solids along a stroke, and the width of its track around each, in m.
    fn places_under(&mut self, stroke: &Stroke) -> Vec<(SurfacePoint, f64)> {
        let (width, starts) = match stroke.tool {
            Tool::Finger { radius } => (2.0 * radius, vec![DVec3::ZERO]),
            Tool::Blade { half } => {
                let count = (2.0 * half.length() / BLADE_PART).ceil().clamp(1.0, MAX_PLACES) as u32;
                let at = |k: u32| half * (2.0 * (f64::from(k) + 0.5) / f64::from(count) - 1.0);
                (2.0 * half.length() / f64::from(count), (0..count).map(at).collect())
            }
        };
        let path = stroke.to - stroke.from;
        let steps = (path.length() / (FILM_SPACING * width)).ceil().clamp(1.0, MAX_PLACES) as u32;
        let along = (0..steps).map(|k| stroke.from + path * ((f64::from(k) + 0.5) / f64::from(steps)));
        let points: Vec<DVec3> = along.flat_map(|at| starts.iter().map(move |start| at + *start)).collect();
        points.iter().for_each(|&point| self.build_within(point, width));
        let place = |point: DVec3| self.locator().nearest_place(point, width).map(|(place, _)| (place, width));
        points.into_iter().filter_map(place).collect()
    }

    /// Changes the wetting of a solid and reassesses the droplets on it.
    pub(super) fn set_material_by_hand(
        &mut self,
        solid: usize,
        wetting: Option<Wetting>,
    ) -> Result<(), InteractionError> {
        self.world.set_material(solid, wetting)?;
        self.refresh_laws();
        let mut changed = vec![false; self.world.solids().len()];
        changed[solid] = true;
        let (particles, context) = self.particles_and_context();
        particles.reassess(&context, &changed);
        self.launch_detached();
        Ok(())
    }

    /// Derives the laws of all places from the world again.
    pub(super) fn refresh_laws(&mut self) {
        let Self { world, setup, surface, particles, .. } = self;
        for solid in SolidIndex::first(world.solids().len()) {
            let built = &world.solids()[solid];
            let area = surface.area(solid);
            particles.state.substrate.refresh_laws(solid, area, built, &setup.liquid, &setup.parameters);
        }
    }
}
