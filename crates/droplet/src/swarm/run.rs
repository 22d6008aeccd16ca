//! The running droplets' way over frozen ground.

use glam::{DVec2, DVec3, Vec3};
use sessile_numerics::merge_sorted;

use super::mark::{is_marked_at_once, mark};
use super::{AT_ONCE, Fallen, Form, Log, PRESSING_CHANGE, STILL, Scenery, Stretch, Swarm, physical_rules_of};
use crate::batch::{Batch, CAPACITY, PathSegment};
use crate::curvature::curvature;
use crate::droplets::{CHUNK, Droplet, Slot, Slots};
use crate::integrate::{TrajectoryEnd, integrate};
use crate::neighbors::Drift;
use crate::paper::PaperRules;
use crate::physical::Physical;

/// A droplet cannot leave more than this share of itself in one step.
const MOST_SHED: f64 = 0.5;

impl Swarm {
    /// Every running droplet over frozen ground.
    pub(super) fn run(&mut self, scenery: &Scenery<'_>, dt: f64) {
        self.list_runners();
        let pieces = self.runners.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (form, ground, neighbors) = (&self.form, &self.ground, &self.neighbors);
        let shared = Physical { track: scenery.track, ground, liquid: scenery.liquid, damping: scenery.damping };
        let job = |slots: &[u32], view: &mut Slots<'_>, log: &mut Log| {
            log.clear();
            let mut pack = Batch::new(std::mem::take(&mut log.legs));
            for (some, index) in slots.chunks(CAPACITY).flat_map(|some| (0..some.len()).map(move |index| (some, index)))
            {
                if index == 0 {
                    some.chunks(AT_ONCE).for_each(|few| view.fetch(few, scenery.track, ground));
                    if matches!(form, Form::Physical) {
                        let all = |index: usize| &view.all[some[index] as usize - view.first];
                        let rules = |index: usize| {
                            let &Slot { rider, size, state, .. } = all(index);
                            physical_rules_of(shared, scenery, &Droplet { id: 0, rider, size, state })
                        };
                        pack.clear();
                        (0..some.len()).for_each(|index| pack.push(all(index).rider, dt));
                        let fetch = |triangle| scenery.track.facet(triangle).fetch() + ground.fetch(triangle);
                        pack.integrate(scenery.track, rules, fetch);
                    }
                }
                let slot = some[index];
                let own = &mut view.all[slot as usize - view.first];
                let droplet = Droplet { id: 0, rider: own.rider, size: own.size, state: own.state };
                let solid = scenery.track.facet(droplet.rider.place.triangle).solid;
                let field = &scenery.fields[solid as usize];
                // Ground that does not remember may be marked while others look at it.
                let at_once = is_marked_at_once(form, ground, solid);
                let mut way = 0.0;
                let mut shed = 0.0;
                let before = log.stretches.len();
                let (rider, end) = match form {
                    Form::Paper(paper) => {
                        let mass = scenery.liquid.density * droplet.size.volume;
                        let rules = PaperRules { paper, field, mass, radius: droplet.size.radius };
                        let mut rider = droplet.rider;
                        let end = integrate(scenery.track, &rules, &mut rider, dt, |segment| {
                            way += segment.from.distance(segment.to);
                            log.stretches.push(Stretch { slot, segment, film: 0.0, width: 0.0 });
                        });
                        (rider, end)
                    }
                    Form::Physical => {
                        let law = ground.law(scenery.track, droplet.rider.place);
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
                                let facet = scenery.track.facet(segment.triangle);
                                let pull = field.pull(facet.point(segment.to), DVec3::ZERO);
                                let (along, into) = (facet.along(pull).length(), -pull.dot(facet.normal()));
                                let (film_width, section) =
                                    law.trail(scenery.liquid, speed, 2.0 * droplet.size.radius, along, into);
                                film = (section * length).min(MOST_SHED * droplet.size.volume - shed).max(0.0);
                                width = film_width;
                                shed += film;
                            }
                            log.stretches.push(Stretch { slot, segment, film, width });
                        }
                        pack.result(index)
                    }
                };
                log.finite &= rider.velocity.is_finite() && rider.place.at.is_finite();
                own.rider = rider;
                let facet = scenery.track.facet(rider.place.triangle);
                let point = facet.point(rider.place.at);
                let step = (point - own.spot.point).as_vec3();
                log.drift.include(step);
                own.state.since_wet += way as f32;
                let (state, radius) = (&mut own.state, droplet.size.radius);
                match form {
                    Form::Physical if at_once => {
                        mark(ground, scenery.track, pack.path(index).map(|leg| leg.segment), state, radius);
                        if shed == 0.0 {
                            log.stretches.truncate(before);
                        }
                    }
                    Form::Physical => {}
                    Form::Paper(_) => {
                        let segments = log.stretches[before..].iter().map(|stretch| stretch.segment);
                        mark(ground, scenery.track, segments, state, radius);
                    }
                }
                if let TrajectoryEnd::Detached { velocity, outward: away, remaining: left } = end {
                    let volume = droplet.size.volume - shed;
                    let fallen = Fallen { id: 0, volume, solid: facet.solid as usize, point, velocity, away, left };
                    own.size.volume = volume;
                    own.spot = neighbors.stands_at(&mut log.arrivals, slot, point, step, facet.solid, own.size.reach);
                    log.spots.push((slot, own.spot));
                    log.fallen.push((slot, fallen));
                    continue;
                }
                if let Some([low, high]) = scenery.domain {
                    let place = scenery.moments[facet.solid as usize].pose.apply(point);
                    if place.cmplt(low).any() || place.cmpgt(high).any() {
                        log.outside.push(slot);
                    }
                }
                let stands = matches!(form, Form::Paper(_)) && rider.velocity.length() < STILL.0;
                if end == TrajectoryEnd::AtRest || stands {
                    own.state.running = false;
                    own.rider.velocity = DVec2::ZERO;
                    log.stopped.push(slot);
                }
                if let Form::Physical = form {
                    let size = &mut own.size;
                    size.volume -= shed;
                    let field = &scenery.fields[facet.solid as usize];
                    let pressing = -field.pull(point, DVec3::ZERO).dot(facet.normal());
                    let scale = PRESSING_CHANGE * field.gravity.length();
                    if shed > 0.0 || (pressing - f64::from(size.pressing)).abs() > scale || ground.varies(facet.solid) {
                        let law = ground.law(scenery.track, rider.place);
                        // Lighter than before, it hangs if it has hung; else it is seen to at the next crease.
                        if let Some(flat) = law.flat_radius(scenery.liquid, size.volume, pressing) {
                            let bend = curvature(scenery.track, rider.place, flat);
                            size.radius = law.curved_radius(scenery.liquid, size.volume, pressing, flat, bend);
                        }
                        (size.reach, size.pressing) = ((size.radius * law.overhang) as f32, pressing as f32);
                    }
                    if ground.has_film(facet.solid) {
                        let heading = rider.velocity.normalize_or_zero() * (0.8 * size.radius);
                        let front = scenery.track.walk(rider.place, heading, DVec2::ZERO).0;
                        if ground.film_at(scenery.track, front) > 0.0 {
                            log.on_film.push(slot);
                        }
                    }
                }
                if way > 0.0 {
                    log.turnover = log.turnover.min(dt * own.size.radius / way);
                }
                let spot = neighbors.stands_at(&mut log.arrivals, slot, point, step, facet.solid, own.size.reach);
                own.spot = spot;
                log.spots.push((slot, spot));
            }
            log.legs = pack.into_segments();
        };
        let pieces_logs = &mut self.logs[..pieces];
        self.droplets.work(&self.runners, pieces_logs, &job);
        self.turnover = pieces_logs.iter().map(|log| log.turnover).fold(f64::INFINITY, f64::min);
        self.drift = pieces_logs.iter().fold(Drift::default(), |all, log| all.union(log.drift));
    }

    pub(super) fn room_for(&mut self, pieces: usize) {
        if self.logs.len() < pieces {
            self.logs.resize_with(pieces, Log::default);
        }
    }

    /// Brings the list of runners up to date: rising, each once. They are nobody's neighbors until they have arrived.
    fn list_runners(&mut self) {
        let Self { droplets, neighbors, runners, .. } = self;
        let mut stopped = std::mem::take(&mut droplets.stopped);
        stopped.sort_unstable();
        stopped.dedup();
        // Some run again.
        stopped.retain(|&slot| !droplets.all[slot as usize].state.running);
        let mut left = stopped.iter().copied().peekable();
        runners.retain(|&slot| {
            while left.next_if(|&other| other < slot).is_some() {}
            let runs = left.next_if_eq(&slot).is_none();
            if !runs {
                droplets.all[slot as usize].spot.step = Vec3::ZERO;
                neighbors.stop(&mut droplets.all, slot);
            }
            runs
        });
        stopped.clear();
        droplets.stopped = stopped;
        if !self.newcomers.is_empty() {
            self.list_newcomers();
        }
        self.neighbors.all_run();
    }

    fn list_newcomers(&mut self) {
        self.newcomers.sort_unstable();
        self.newcomers.dedup();
        for &slot in &self.newcomers {
            if self.droplets.all[slot as usize].state.running {
                self.neighbors.set_out(&mut self.droplets.all, slot);
            }
        }
        let droplets = &self.droplets;
        let new = self.newcomers.drain(..).filter(|&slot| droplets.all[slot as usize].state.running);
        merge_sorted(&mut self.runners, new, &mut self.spare);
    }
}
