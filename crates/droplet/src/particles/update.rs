//! Adds and updates single droplets: contact line, retention, detachment.

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_sliding::{DropId, IdCounter, SlotIndex};

use super::{Assessed, Fidelity, ParticleSystem, StepContext, detached};
use crate::curvature::curvature;
use crate::droplets::{CHUNK, Droplet, Size, State};
use crate::integrate::{ForceModel, MotionState};
use crate::paper::{PaperForces, hemisphere_radius};
use crate::physical::PhysicalForces;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, SurfacePoint};

impl ParticleSystem {
    /// Adds a droplet whose contact line has `radius` (in m), as far as the contact angles allow.
    pub fn arrive(&mut self, id: DropId, motion: MotionState, volume: f64, radius: f64, context: &StepContext<'_>) {
        let size = Size { volume, radius, merge_radius: radius as f32, normal_acceleration: 0.0 };
        let state = State { is_sliding: motion.velocity != DVec2::ZERO, ..State::default() };
        self.place(Droplet { id, motion, size, state }, context);
    }

    /// Adds a droplet and returns its slot.
    pub(super) fn place(&mut self, droplet: Droplet, context: &StepContext<'_>) -> SlotIndex {
        let Droplet { motion, state, .. } = droplet;
        if self.neighbors.is_full(self.state.droplets.num_slots()) {
            self.rebuild_neighbors(context.surface);
        }
        let slot = self.state.droplets.insert(&droplet, motion.place.point(context.surface));
        if state.is_sliding {
            self.starting.push(slot);
        }
        if !context.setup.nearby_solids.iter().all(Vec::is_empty) {
            self.arrived.push(slot);
        }
        self.update(slot, droplet, context);
        slot
    }

    /// The droplet that covers a point of a solid's rest pose; of several, the nearest one.
    pub fn covering(&self, solid: SolidIndex, point: DVec3) -> Option<SlotIndex> {
        let mut best: Option<(f64, SlotIndex)> = None;
        self.neighbors.covering(solid, point, |slot| {
            let location = &self.state.droplets[slot].location;
            let distance = location.point.distance(point);
            let covers = location.solid == solid && distance < f64::from(location.merge_radius);
            if covers && best.is_none_or(|found| (distance, slot) < found) {
                best = Some((distance, slot));
            }
        });
        best.map(|(_, slot)| slot)
    }

    /// Adds liquid at a place (a negative volume removes it) and returns the volume added, in m³.
    ///
    /// The liquid goes into the droplet that covers the place, else it becomes a new droplet.
    pub fn pour(&mut self, place: SurfacePoint, volume: f64, context: &StepContext<'_>, ids: &mut IdCounter) -> f64 {
        let solid = context.surface.facet(place.triangle).solid;
        match self.covering(solid, place.point(context.surface)) {
            Some(slot) => {
                let mut droplet = self.state.droplets.get(slot);
                let poured = volume.max(-droplet.size.volume);
                droplet.size.volume += poured;
                self.update(slot, droplet, context);
                poured
            }
            None if volume > 0.0 => {
                self.arrive(ids.issue(), MotionState { place, velocity: DVec2::ZERO }, volume, 0.0, context);
                volume
            }
            None => 0.0,
        }
    }

    /// Reassesses the droplets of solids whose acceleration field has changed.
    ///
    /// Contact lines may move, pinned droplets may start to slide, and hanging ones may detach.
    pub fn reassess(&mut self, context: &StepContext<'_>, changed: &[bool]) {
        let mut affected = std::mem::take(&mut self.scratch.slots);
        affected.clear();
        let this = &*self;
        let is_affected = |&slot: &SlotIndex| {
            let Some(droplet) = this.state.droplets.find(slot) else { return false };
            if !changed[context.surface.facet(droplet.motion.place.triangle).solid] {
                return false;
            }
            let mut fitted = droplet;
            !this.fit_contact_line(&mut fitted, context)
                || fitted.size.radius != droplet.size.radius
                || (!droplet.state.is_sliding && this.exceeds_retention(&fitted, context))
        };
        let slots = (0..self.state.droplets.num_slots()).into_par_iter().with_min_len(CHUNK).map(SlotIndex::new);
        affected.par_extend(slots.filter(is_affected));
        for &slot in &affected {
            let droplet = self.state.droplets.get(slot);
            self.update(slot, droplet, context);
        }
        self.scratch.slots = affected;
    }

    /// Fits the base radius to volume and contact angles; `false` if the droplet cannot hang.
    fn fit_contact_line(&self, droplet: &mut Droplet, context: &StepContext<'_>) -> bool {
        let (surface, liquid, place) = (context.surface, context.liquid(), droplet.motion.place);
        let facet = surface.facet(place.triangle);
        let size = &mut droplet.size;
        if let Fidelity::Paper(paper) = &self.fidelity {
            size.radius = hemisphere_radius(size.volume);
            (size.merge_radius, size.normal_acceleration) = (size.radius as f32, 0.0);
            return !PaperForces::new(context, paper, droplet.id, &droplet.motion, size.volume)
                .detaches(facet, place, 0.0);
        }
        if droplet.state.is_spreading {
            return true;
        }
        let law = self.state.substrate.law(surface, place);
        let normal = -context.acceleration(place.triangle).at(facet.point(place.at), DVec3::ZERO).dot(facet.normal());
        size.normal_acceleration = normal as f32;
        let Some(flat) = law.flat_radius(liquid, size.volume, normal) else {
            // Too heavy to hang at θ_a; a pinned contact line holds more.
            droplet.state.line_excess = 0.0;
            size.merge_radius = (size.radius * law.overhang) as f32;
            return !droplet.state.is_sliding && size.volume <= law.largest_pinned_volume(liquid, size.radius, -normal);
        };
        let curvature = curvature(surface, place, flat);
        let least = law.curved_radius(liquid, size.volume, normal, flat, curvature);
        droplet.state.line_excess = 0.0;
        if droplet.state.is_sliding || size.radius <= least {
            size.radius = least;
        } else {
            let most = law.receding_radius(liquid, size.volume, normal, curvature);
            let most = most.map_or(least, |most| most.max(least));
            size.radius = size.radius.min(most);
            if most > least {
                droplet.state.line_excess = ((size.radius - least) / (most - least)) as f32;
            }
        }
        size.merge_radius = (size.radius * law.overhang) as f32;
        true
    }

    /// Whether the driving force on a pinned droplet exceeds the retention of its contact line. One
    /// that spreads has no pinned line yet: its base begins as a point, and what gravity gains in
    /// these milliseconds is neglected.
    fn exceeds_retention(&self, droplet: &Droplet, context: &StepContext<'_>) -> bool {
        let Droplet { id, motion, size, state } = droplet;
        if state.is_spreading {
            return false;
        }
        let facet = context.surface.facet(motion.place.triangle);
        match &self.fidelity {
            Fidelity::Physical => {
                let forces = PhysicalForces::new(context, &self.state.substrate, motion, size, state);
                !forces.forces(facet, motion.place, DVec2::ZERO).is_retained()
            }
            Fidelity::Paper(paper) => {
                let forces = PaperForces::new(context, paper, *id, motion, size.volume);
                let acceleration = forces.forces(facet, motion.place, DVec2::ZERO).acceleration;
                acceleration.length() > context.parameters().rest_acceleration
            }
        }
    }

    /// Updates a changed droplet: it may vanish, detach, start to slide or come into contact.
    pub fn update(&mut self, slot: SlotIndex, droplet: Droplet, context: &StepContext<'_>) {
        if droplet.size.volume <= 0.0 {
            self.remove(slot);
            return;
        }
        let assessed = self.assess(droplet, context);
        self.apply(slot, &assessed, context.surface);
    }

    /// Fits the contact line of a changed droplet and marks the substrate under it.
    pub(super) fn assess(&self, mut droplet: Droplet, context: &StepContext<'_>) -> Assessed {
        let detaches = !self.fit_contact_line(&mut droplet, context);
        let starts = !detaches && !droplet.state.is_sliding && self.exceeds_retention(&droplet, context);
        if starts {
            droplet.state.is_sliding = true;
            // The contact line of a sliding droplet shrinks to its least radius.
            if droplet.state.line_excess > 0.0 {
                self.fit_contact_line(&mut droplet, context);
            }
        }
        let SurfacePoint { triangle, at } = droplet.motion.place;
        // A spreading droplet wets the solid where it grows.
        if !detaches && !droplet.state.is_spreading {
            self.state.substrate.wet(context.surface, triangle, at, at, droplet.size.radius);
        }
        Assessed { droplet, point: droplet.motion.place.point(context.surface), detaches, starts }
    }

    /// Stores an assessed droplet.
    fn apply(&mut self, slot: SlotIndex, assessed: &Assessed, surface: &SurfaceMesh) {
        let Assessed { droplet, point, detaches, starts } = *assessed;
        if detaches {
            self.remove(slot);
            self.detached.push(detached(assessed, surface));
            return;
        }
        if starts {
            self.starting.push(slot);
        }
        self.state.droplets.set(slot, &droplet);
        self.state.droplets[slot].location.point = point;
        self.insert_neighbor(slot, surface);
        // Sliding droplets query their neighbors after their next step.
        if !droplet.state.is_sliding {
            self.state.pending.push(slot);
        }
    }

    /// Removes a droplet.
    pub(super) fn remove(&mut self, slot: SlotIndex) {
        self.neighbors.remove(&mut self.state.droplets.slots, slot);
        self.state.trails.end(slot);
        self.state.necks.remove(slot);
        self.state.spreads.remove(slot);
        self.state.droplets.remove(slot);
    }
}
