//! Integrates all sliding droplets over a substrate that does not change meanwhile.
//!
//! Chunks of droplets are integrated in parallel. Everything that affects other droplets is
//! recorded in a [`ChunkLog`] per chunk and applied afterwards in the order of slots
//! ([`super::commit`]), so results do not depend on the number of threads.

use glam::{DVec2, DVec3, Vec3};
use sessile_numerics::merge_sorted;
use sessile_sliding::SlotIndex;

use super::mark_wet::{is_marked_at_once, mark};
use super::{ChunkLog, Detached, Fidelity, ParticleState, ParticleSystem, StepContext, TrailSegment};
use crate::batch::{Batch, CAPACITY, PathSegment};
use crate::curvature::curvature;
use crate::droplets::{CHUNK, PREFETCH, Slot, SlotRange};
use crate::integrate::{ForceModel, MotionState, Segment, TrajectoryEnd, integrate};
use crate::neighbors::{Drift, Neighbors};
use crate::paper::PaperForces;
use crate::physical::PhysicalForces;
use crate::substrate::Substrate;
use crate::surface_mesh::Facet;

/// Integrates chunks of sliding droplets.
struct Slider<'a> {
    context: &'a StepContext<'a>,
    fidelity: &'a Fidelity,
    substrate: &'a Substrate,
    neighbors: &'a Neighbors,
    dt: f64,
}

/// Motion of one droplet over the step.
struct Moved {
    motion: MotionState,
    end: TrajectoryEnd,
    /// Path length, in m.
    distance: f64,
    /// Volume left as film, in m³.
    shed: f64,
    /// Index of the droplet's first segment in the log.
    first_segment: usize,
}

impl ParticleSystem {
    /// Integrates all sliding droplets for `dt` seconds.
    pub(super) fn slide(&mut self, context: &StepContext<'_>, dt: f64) {
        self.update_sliding_list();
        let num_chunks = self.sliding.len().div_ceil(CHUNK);
        self.scratch.reserve_logs(num_chunks);
        let Self { state: ParticleState { droplets, substrate, .. }, fidelity, neighbors, sliding, scratch, .. } = self;
        let slider = Slider { context, fidelity, substrate, neighbors, dt };
        let logs = &mut scratch.logs[..num_chunks];
        droplets.par_chunks(sliding, logs, &|slots, range, log| slider.slide_chunk(slots, range, log));
        self.state.transit_time = logs.iter().map(|log| log.transit_time).fold(f64::INFINITY, f64::min);
        self.drift = logs.iter().fold(Drift::default(), |all, log| all.union(log.drift));
    }

    /// Updates the sorted list of sliding droplets; they are not in the neighbor grid until they
    /// have moved.
    fn update_sliding_list(&mut self) {
        let Self { state: ParticleState { droplets, .. }, neighbors, sliding, .. } = self;
        let mut stopped = std::mem::take(&mut droplets.stopped);
        stopped.sort_unstable();
        stopped.dedup();
        // Some have started again.
        stopped.retain(|&slot| !droplets[slot].state.is_sliding);
        let mut left = stopped.iter().copied().peekable();
        sliding.retain(|&slot| {
            while left.next_if(|&other| other < slot).is_some() {}
            let slides = left.next_if_eq(&slot).is_none();
            if !slides {
                droplets[slot].location.displacement = Vec3::ZERO;
                neighbors.stop(&mut droplets.slots, slot);
            }
            slides
        });
        stopped.clear();
        droplets.stopped = stopped;
        if !self.starting.is_empty() {
            self.start_sliding();
        }
        self.neighbors.clear_sliding();
    }

    /// Adds droplets that have started to the list of sliding ones.
    fn start_sliding(&mut self) {
        self.starting.sort_unstable();
        self.starting.dedup();
        for &slot in &self.starting {
            if self.state.droplets[slot].state.is_sliding {
                self.neighbors.remove_pinned(&mut self.state.droplets.slots, slot);
            }
        }
        let droplets = &self.state.droplets;
        let new = self.starting.drain(..).filter(|&slot| droplets[slot].state.is_sliding);
        merge_sorted(&mut self.sliding, new, &mut self.scratch.slots);
    }
}

impl Slider<'_> {
    fn slide_chunk(&self, slots: &[SlotIndex], range: &mut SlotRange<'_>, log: &mut ChunkLog) {
        log.clear();
        let mut batch = Batch::new(std::mem::take(&mut log.path));
        for some in slots.chunks(CAPACITY) {
            some.chunks(PREFETCH).for_each(|few| range.prefetch(few, self.context.surface, self.substrate));
            if matches!(self.fidelity, Fidelity::Physical) {
                self.integrate_batch(&mut batch, some, range);
            }
            for (index, &slot) in some.iter().enumerate() {
                self.slide_droplet(slot, range.slot(slot), (&batch, index), log);
            }
            log.num_segments += batch.num_segments() as u64;
        }
        log.path = batch.into_segments();
    }

    /// Integrates up to [`CAPACITY`] droplets side by side.
    fn integrate_batch(&self, batch: &mut Batch, slots: &[SlotIndex], range: &mut SlotRange<'_>) {
        let (surface, substrate) = (self.context.surface, self.substrate);
        batch.clear();
        slots.iter().for_each(|&slot| batch.push(range.slot(slot).motion, self.dt));
        let range = &*range;
        let forces = |index: usize| {
            let Slot { motion, size, state, .. } = range.get(slots[index]);
            PhysicalForces::new(self.context, substrate, motion, size, state)
        };
        let prefetch = |triangle| surface.facet(triangle).prefetch() + substrate.prefetch(triangle);
        batch.integrate(surface, forces, prefetch);
    }

    /// Moves one droplet; in the physical mode, to where the batch has integrated it.
    #[inline]
    fn slide_droplet(&self, slot: SlotIndex, own: &mut Slot, (batch, index): (&Batch, usize), log: &mut ChunkLog) {
        let surface = self.context.surface;
        let solid = surface.facet(own.motion.place.triangle).solid;
        // Where wetness has no effect, the map may be marked while others read it.
        let at_once = is_marked_at_once(self.fidelity, self.substrate, solid);
        let moved = match self.fidelity {
            Fidelity::Paper(_) => self.integrate_paper(slot, own, log),
            Fidelity::Physical => self.leave_film(slot, own, (batch, index), at_once, log),
        };
        log.is_finite &= moved.motion.velocity.is_finite() && moved.motion.place.at.is_finite();
        own.motion = moved.motion;
        let facet = surface.facet(moved.motion.place.triangle);
        let point = facet.point(moved.motion.place.at);
        let displacement = (point - own.location.point).as_vec3();
        log.drift.include(displacement);
        own.state.unmarked_distance += moved.distance as f32;
        let radius = own.size.radius;
        match self.fidelity {
            Fidelity::Physical if at_once => {
                mark(self.context, self.substrate, batch.path(index).map(|part| part.segment), &mut own.state, radius);
                if moved.shed == 0.0 {
                    log.trail.truncate(moved.first_segment);
                }
            }
            Fidelity::Physical => {}
            Fidelity::Paper(_) => {
                let segments = log.trail[moved.first_segment..].iter().map(|part| part.segment);
                mark(self.context, self.substrate, segments, &mut own.state, radius);
            }
        }
        if let TrajectoryEnd::Detached { velocity, outward, remaining } = moved.end {
            own.size.volume -= moved.shed;
            let volume = own.size.volume;
            let (id, solid) = (own.id.expect("a sliding droplet exists"), facet.solid);
            log.detached.push((slot, Detached { id, volume, solid, point, velocity, outward, remaining }));
        } else {
            self.update_droplet(slot, own, &moved, facet, point, log);
        }
        let merge_radius = own.size.merge_radius;
        let arrivals = &mut log.arrivals;
        own.location = self.neighbors.sliding_location(arrivals, slot, point, displacement, facet.solid, merge_radius);
        log.locations.push((slot, own.location));
    }

    /// Integrates a droplet of the reproduction mode.
    fn integrate_paper(&self, slot: SlotIndex, own: &Slot, log: &mut ChunkLog) -> Moved {
        let Fidelity::Paper(paper) = self.fidelity else { unreachable!("the fidelity has been matched") };
        let id = own.id.expect("a sliding droplet exists");
        let forces = PaperForces::new(self.context, paper, id, &own.motion, own.size.volume);
        let (mut motion, mut distance, first_segment) = (own.motion, 0.0, log.trail.len());
        let end = integrate(self.context.surface, &forces, &mut motion, self.dt, |segment| {
            distance += segment.from.distance(segment.to);
            log.trail.push(TrailSegment { slot, segment, film: 0.0, width: 0.0 });
        });
        Moved { motion, end, distance, shed: 0.0, first_segment }
    }

    /// Computes the film that a droplet leaves along its path, and records the path where it is
    /// needed.
    #[inline]
    fn leave_film(
        &self,
        slot: SlotIndex,
        own: &Slot,
        (batch, index): (&Batch, usize),
        at_once: bool,
        log: &mut ChunkLog,
    ) -> Moved {
        let StepContext { surface, .. } = *self.context;
        let law = self.substrate.law(surface, own.motion.place);
        let field = self.context.acceleration(own.motion.place.triangle);
        let sheds =
            |part: &PathSegment| part.length > law.shedding_speed * part.segment.time && part.segment.time > 0.0;
        let (mut distance, mut is_recorded, mut shed, first_segment) = (0.0, !at_once, 0.0, log.trail.len());
        for part in batch.path(index) {
            distance += part.length;
            is_recorded |= sheds(part);
        }
        for part in batch.path(index).filter(|_| is_recorded) {
            let PathSegment { segment, length, .. } = *part;
            let (mut film, mut width) = (0.0, 0.0);
            if sheds(part) {
                let Segment { triangle, to, time, .. } = segment;
                let facet = surface.facet(triangle);
                let pull = field.at(facet.point(to), DVec3::ZERO);
                let (along, into) = (facet.project(pull).length(), -pull.dot(facet.normal()));
                let (film_width, section) =
                    law.trail(self.context.liquid(), length / time, 2.0 * own.size.radius, along, into);
                let most = self.context.parameters().max_shed * own.size.volume - shed;
                film = (section * length).min(most).max(0.0);
                width = film_width;
                shed += film;
            }
            log.trail.push(TrailSegment { slot, segment, film, width });
        }
        let (motion, end) = batch.result(index);
        Moved { motion, end, distance, shed, first_segment }
    }

    /// Updates a droplet that is still on its solid: domain, rest, size and film ahead.
    #[inline]
    fn update_droplet(
        &self,
        slot: SlotIndex,
        own: &mut Slot,
        moved: &Moved,
        facet: &Facet,
        point: DVec3,
        log: &mut ChunkLog,
    ) {
        if let Some([low, high]) = self.context.setup.domain {
            let place = self.context.rigid_states[facet.solid].pose.apply(point);
            if place.cmplt(low).any() || place.cmpgt(high).any() {
                log.outside.push(slot);
            }
        }
        if moved.end == TrajectoryEnd::AtRest || self.is_still(own, moved, facet) {
            own.state.is_sliding = false;
            own.motion.velocity = DVec2::ZERO;
            log.stopped.push(slot);
        }
        if let Fidelity::Physical = self.fidelity {
            self.update_size(own, moved, facet, point);
            if self.substrate.has_film(facet.solid) {
                let heading = moved.motion.velocity.normalize_or_zero() * (0.8 * own.size.radius);
                let front = self.context.surface.trace_geodesic(moved.motion.place, heading, DVec2::ZERO).0;
                if self.substrate.film_at(self.context.surface, front) > 0.0 {
                    log.on_film.push(slot);
                }
            }
        }
        if moved.distance > 0.0 {
            log.transit_time = log.transit_time.min(self.dt * own.size.radius / moved.distance);
        }
    }

    /// Whether a droplet of the reproduction mode, which has no retention, neither moves nor is
    /// pulled.
    fn is_still(&self, own: &Slot, moved: &Moved, facet: &Facet) -> bool {
        let Fidelity::Paper(paper) = self.fidelity else { return false };
        let (motion, parameters) = (&moved.motion, self.context.parameters());
        let Some(id) = own.id.filter(|_| motion.velocity.length() < parameters.rest_speed) else { return false };
        let forces = PaperForces::new(self.context, paper, id, motion, own.size.volume);
        let pull = forces.forces(facet, motion.place, DVec2::ZERO).acceleration;
        pull.length() <= parameters.rest_acceleration
    }

    /// Updates the base radius after a change of volume, normal acceleration or substrate.
    #[inline]
    fn update_size(&self, own: &mut Slot, moved: &Moved, facet: &Facet, point: DVec3) {
        let (surface, liquid) = (self.context.surface, self.context.liquid());
        let size = &mut own.size;
        size.volume -= moved.shed;
        if own.state.is_spreading {
            return;
        }
        let field = self.context.acceleration(moved.motion.place.triangle);
        let normal = -field.at(point, DVec3::ZERO).dot(facet.normal());
        let tolerance = self.context.parameters().normal_acceleration_tolerance * field.gravity.length();
        let has_changed = (normal - f64::from(size.normal_acceleration)).abs() > tolerance;
        if moved.shed > 0.0 || has_changed || self.substrate.varies(facet.solid) {
            let place = moved.motion.place;
            let law = self.substrate.law(surface, place);
            // It is lighter than before, so it hangs; otherwise it detaches at the next edge.
            if let Some(flat) = law.flat_radius(liquid, size.volume, normal) {
                let curvature = curvature(surface, place, flat);
                size.radius = law.curved_radius(liquid, size.volume, normal, flat, curvature);
            }
            size.merge_radius = (size.radius * law.overhang) as f32;
            size.normal_acceleration = normal as f32;
        }
    }
}
