//! The running droplets' way over frozen substrate.

use glam::{DVec2, DVec3, Vec3};
use sessile_numerics::merge_sorted;

use super::mark_wet::{is_marked_at_once, mark};
use super::{
    AT_ONCE, Detached, Form, Log, PRESSING_CHANGE, ParticleSystem, STILL, StepContext, Stretch, physical_rules_of,
};
use crate::batch::{Batch, CAPACITY, PathSegment};
use crate::curvature::curvature;
use crate::droplets::{CHUNK, Droplet, Slot, Slots};
use crate::integrate::{TrajectoryEnd, integrate};
use crate::neighbors::Drift;
use crate::paper::PaperRules;
use crate::physical::Physical;

/// A droplet cannot leave more than this share of itself in one step.
const MOST_SHED: f64 = 0.5;

impl ParticleSystem {
    /// Every running droplet over frozen substrate.
    pub(super) fn run(&mut self, context: &StepContext<'_>, dt: f64) {
        self.list_runners();
        let pieces = self.sliding.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (form, substrate, neighbors) = (&self.form, &self.substrate, &self.neighbors);
        let shared = Physical { surface: context.surface, substrate, liquid: context.liquid, damping: context.damping };
        let job = |slots: &[u32], view: &mut Slots<'_>, log: &mut Log| {
            log.clear();
            let mut pack = Batch::new(std::mem::take(&mut log.legs));
            for (some, index) in slots.chunks(CAPACITY).flat_map(|some| (0..some.len()).map(move |index| (some, index)))
            {
                if index == 0 {
                    some.chunks(AT_ONCE).for_each(|few| view.fetch(few, context.surface, substrate));
                    if matches!(form, Form::Physical) {
                        let all = |index: usize| &view.all[some[index] as usize - view.first];
                        let rules = |index: usize| {
                            let &Slot { motion, size, state, .. } = all(index);
                            physical_rules_of(shared, context, &Droplet { id: 0, motion, size, state })
                        };
                        pack.clear();
                        (0..some.len()).for_each(|index| pack.push(all(index).motion, dt));
                        let fetch = |triangle| context.surface.facet(triangle).fetch() + substrate.fetch(triangle);
                        pack.integrate(context.surface, rules, fetch);
                    }
                }
                let slot = some[index];
                let own = &mut view.all[slot as usize - view.first];
                let droplet = Droplet { id: 0, motion: own.motion, size: own.size, state: own.state };
                let solid = context.surface.facet(droplet.motion.place.triangle).solid;
                let field = &context.fields[solid as usize];
                // Substrate that does not remember may be marked while others look at it.
                let at_once = is_marked_at_once(form, substrate, solid);
                let mut way = 0.0;
                let mut shed = 0.0;
                let before = log.stretches.len();
                let (motion, end) = match form {
                    Form::Paper(paper) => {
                        let mass = context.liquid.density * droplet.size.volume;
                        let rules = PaperRules { paper, field, mass, radius: droplet.size.radius };
                        let mut motion = droplet.motion;
                        let end = integrate(context.surface, &rules, &mut motion, dt, |segment| {
                            way += segment.from.distance(segment.to);
                            log.stretches.push(Stretch { slot, segment, film: 0.0, width: 0.0 });
                        });
                        (motion, end)
                    }
                    Form::Physical => {
                        let law = substrate.law(context.surface, droplet.motion.place);
                        let sheds = |leg: &PathSegment| {
                            leg.length > law.shedding_speed * leg.segment.time && leg.segment.time > 0.0
                        };
                        let mut is_kept = !at_once;
                        for leg in pack.path(index) {
                            way += leg.length;
                            is_kept |= sheds(leg);
                        }
                        for leg in pack.path(index).filter(|_| is_kept) {
                            let PathSegment { segment, length, .. } = *leg;
                            let (mut film, mut width) = (0.0, 0.0);
                            if sheds(leg) {
                                let speed = length / segment.time;
                                let facet = context.surface.facet(segment.triangle);
                                let pull = field.pull(facet.point(segment.to), DVec3::ZERO);
                                let (along, into) = (facet.project(pull).length(), -pull.dot(facet.normal()));
                                let (film_width, section) =
                                    law.trail(context.liquid, speed, 2.0 * droplet.size.radius, along, into);
                                film = (section * length).min(MOST_SHED * droplet.size.volume - shed).max(0.0);
                                width = film_width;
                                shed += film;
                            }
                            log.stretches.push(Stretch { slot, segment, film, width });
                        }
                        pack.result(index)
                    }
                };
                log.finite &= motion.velocity.is_finite() && motion.place.at.is_finite();
                own.motion = motion;
                let facet = context.surface.facet(motion.place.triangle);
                let point = facet.point(motion.place.at);
                let step = (point - own.location.point).as_vec3();
                log.drift.include(step);
                own.state.unmarked_distance += way as f32;
                let (state, radius) = (&mut own.state, droplet.size.radius);
                match form {
                    Form::Physical if at_once => {
                        mark(substrate, context.surface, pack.path(index).map(|leg| leg.segment), state, radius);
                        if shed == 0.0 {
                            log.stretches.truncate(before);
                        }
                    }
                    Form::Physical => {}
                    Form::Paper(_) => {
                        let segments = log.stretches[before..].iter().map(|stretch| stretch.segment);
                        mark(substrate, context.surface, segments, state, radius);
                    }
                }
                if let TrajectoryEnd::Detached { velocity, outward: away, remaining: left } = end {
                    let volume = droplet.size.volume - shed;
                    let detached = Detached { id: 0, volume, solid: facet.solid as usize, point, velocity, away, left };
                    own.size.volume = volume;
                    own.location =
                        neighbors.stands_at(&mut log.arrivals, slot, point, step, facet.solid, own.size.merge_radius);
                    log.locations.push((slot, own.location));
                    log.detached.push((slot, detached));
                    continue;
                }
                if let Some([low, high]) = context.domain {
                    let place = context.rigid_states[facet.solid as usize].pose.apply(point);
                    if place.cmplt(low).any() || place.cmpgt(high).any() {
                        log.outside.push(slot);
                    }
                }
                let stands = matches!(form, Form::Paper(_)) && motion.velocity.length() < STILL.0;
                if end == TrajectoryEnd::AtRest || stands {
                    own.state.is_sliding = false;
                    own.motion.velocity = DVec2::ZERO;
                    log.stopped.push(slot);
                }
                if let Form::Physical = form {
                    let size = &mut own.size;
                    size.volume -= shed;
                    let field = &context.fields[facet.solid as usize];
                    let normal_acceleration = -field.pull(point, DVec3::ZERO).dot(facet.normal());
                    let scale = PRESSING_CHANGE * field.gravity.length();
                    if shed > 0.0
                        || (normal_acceleration - f64::from(size.normal_acceleration)).abs() > scale
                        || substrate.varies(facet.solid)
                    {
                        let law = substrate.law(context.surface, motion.place);
                        // Lighter than before, it hangs if it has hung; else it is seen to at the next crease.
                        if let Some(flat) = law.flat_radius(context.liquid, size.volume, normal_acceleration) {
                            let bend = curvature(context.surface, motion.place, flat);
                            size.radius =
                                law.curved_radius(context.liquid, size.volume, normal_acceleration, flat, bend);
                        }
                        (size.merge_radius, size.normal_acceleration) =
                            ((size.radius * law.overhang) as f32, normal_acceleration as f32);
                    }
                    if substrate.has_film(facet.solid) {
                        let heading = motion.velocity.normalize_or_zero() * (0.8 * size.radius);
                        let front = context.surface.trace_geodesic(motion.place, heading, DVec2::ZERO).0;
                        if substrate.film_at(context.surface, front) > 0.0 {
                            log.on_film.push(slot);
                        }
                    }
                }
                if way > 0.0 {
                    log.transit_time = log.transit_time.min(dt * own.size.radius / way);
                }
                let location =
                    neighbors.stands_at(&mut log.arrivals, slot, point, step, facet.solid, own.size.merge_radius);
                own.location = location;
                log.locations.push((slot, location));
            }
            log.legs = pack.into_segments();
        };
        let pieces_logs = &mut self.logs[..pieces];
        self.droplets.work(&self.sliding, pieces_logs, &job);
        self.transit_time = pieces_logs.iter().map(|log| log.transit_time).fold(f64::INFINITY, f64::min);
        self.drift = pieces_logs.iter().fold(Drift::default(), |all, log| all.union(log.drift));
    }

    pub(super) fn room_for(&mut self, pieces: usize) {
        if self.logs.len() < pieces {
            self.logs.resize_with(pieces, Log::default);
        }
    }

    /// Brings the list of sliding up to date: rising, each once. They are nobody's neighbors until they have arrived.
    fn list_runners(&mut self) {
        let Self { droplets, neighbors, sliding, .. } = self;
        let mut stopped = std::mem::take(&mut droplets.stopped);
        stopped.sort_unstable();
        stopped.dedup();
        // Some run again.
        stopped.retain(|&slot| !droplets.all[slot as usize].state.is_sliding);
        let mut left = stopped.iter().copied().peekable();
        sliding.retain(|&slot| {
            while left.next_if(|&other| other < slot).is_some() {}
            let runs = left.next_if_eq(&slot).is_none();
            if !runs {
                droplets.all[slot as usize].location.displacement = Vec3::ZERO;
                neighbors.stop(&mut droplets.all, slot);
            }
            runs
        });
        stopped.clear();
        droplets.stopped = stopped;
        if !self.starting.is_empty() {
            self.list_newcomers();
        }
        self.neighbors.all_run();
    }

    fn list_newcomers(&mut self) {
        self.starting.sort_unstable();
        self.starting.dedup();
        for &slot in &self.starting {
            if self.droplets.all[slot as usize].state.is_sliding {
                self.neighbors.set_out(&mut self.droplets.all, slot);
            }
        }
        let droplets = &self.droplets;
        let new = self.starting.drain(..).filter(|&slot| droplets.all[slot as usize].state.is_sliding);
        merge_sorted(&mut self.sliding, new, &mut self.spare);
    }
}
