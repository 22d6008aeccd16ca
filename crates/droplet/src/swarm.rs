//! A step of all droplets on surfaces.
//!
//! Every running droplet rides over ground that is frozen for the while (in parallel); what came of it is carried out in the order of
//! slots: film laid and taken up, droplets that came off, cells that changed. Then the ground is marked wet and whoever touched is found
//! (in parallel), and joined in order. Resting droplets cost nothing.

mod across;
mod meet;

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_model::Stages;
use sessile_wetting::Liquid;

use crate::droplets::{CHUNK, Droplet, Droplets, NOBODY, Size, Slots, State};
use crate::field::{Field, Moment};
use crate::footing::bend;
use crate::grid::PER_CELL;
use crate::ground::Ground;
use crate::necks::Necks;
use crate::neighbours::{Neighbours, Round};
use crate::paper::{Paper, PaperRules, half_ball_radius};
use crate::physical::{Physical, PhysicalRules};
use crate::ride::{End, Rider, Rules, Segment, ride};
use crate::track::{Place, Track};
use crate::trails::{Piece, Trails};

/// A running droplet marks the ground after this much way, in base radii.
const WETS_EVERY: f64 = 0.5;
/// A change of the pull into the solid beyond this share calls for a new base radius.
const PRESSING_CHANGE: f64 = 0.01;
/// Speed (in m/s) and pull (in m/s²) below which a droplet of the paper's form, which nothing holds, stands.
const STILL: (f64, f64) = (1e-7, 1e-6);
/// Droplets for which memory is fetched at once.
const AT_ONCE: usize = 32;
/// A droplet cannot leave more than this share of itself in one step.
const MOST_SHED: f64 = 0.5;

/// Which rules move the droplets.
#[derive(Debug)]
pub enum Form {
    /// One wetting description.
    Physical,
    /// The paper's coefficients.
    Paper(Box<Paper>),
}

/// What a step needs to know.
pub struct Scenery<'a> {
    /// The mesh.
    pub track: &'a Track,
    /// Per solid.
    pub fields: &'a [Field],
    /// Per solid: where it is.
    pub moments: &'a [Moment],
    /// Per solid: a box round it in its rest pose, in m.
    pub boxes: &'a [[DVec3; 2]],
    /// Per solid: those that come near it.
    pub beside: &'a [Vec<u32>],
    /// The liquid.
    pub liquid: &'a Liquid,
    /// Bounds of space, in m; what runs over them is lost.
    pub domain: Option<[DVec3; 2]>,
    /// Drag that `settle` adds, in 1/s.
    pub damping: f64,
}

/// A droplet that has come off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fallen {
    /// Its id.
    pub id: u32,
    /// In m³.
    pub volume: f64,
    /// The solid that it came off.
    pub solid: usize,
    /// Where, in the rest pose, in m.
    pub point: DVec3,
    /// In the rest pose, in m/s.
    pub velocity: DVec3,
    /// Away from the surface, unit length.
    pub away: DVec3,
    /// Time that it has left to fly in this step, in s.
    pub left: f64,
}

/// A stretch of a droplet's way, and what it left there.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    slot: u32,
    segment: Segment,
    /// Film left, in m³, and its width, in m.
    film: f64,
    width: f64,
}

/// What came of one piece of parallel work.
#[derive(Clone, Debug, Default)]
struct Log {
    stretches: Vec<Stretch>,
    /// Droplets whose front meets film.
    on_film: Vec<u32>,
    /// Droplets that came off.
    fallen: Vec<(u32, Fallen)>,
    /// Droplets that have stopped.
    stopped: Vec<u32>,
    /// Droplets that have left the domain.
    outside: Vec<u32>,
    /// Droplets that may have touched, and those that have.
    candidates: Vec<(u32, u32)>,
    pairs: Vec<(u32, u32)>,
    round: Round,
    /// Least time in which a droplet goes its own radius, in s.
    turnover: f64,
    finite: bool,
}

/// Droplets on surfaces.
#[derive(Debug)]
pub struct Swarm {
    /// The droplets.
    pub droplets: Droplets,
    /// Which rules move them.
    pub form: Form,
    /// What they are on.
    pub ground: Ground,
    /// Film that will break into beads.
    pub trails: Trails,
    /// Shapes of droplets that have merged not long ago.
    pub necks: Necks,
    /// Those that came off, for the model to take up.
    pub fallen: Vec<Fallen>,
    /// Volume of those that ran out of the domain, for the model to count, in m³.
    pub lost: f64,
    /// Least time in which a droplet went its own radius in the last step, in s.
    pub turnover: f64,
    neighbours: Neighbours,
    /// Slots of running droplets, rising; some may have stopped or gone since.
    runners: Vec<u32>,
    newcomers: Vec<u32>,
    /// Slots that have grown or arrived and may touch something.
    pub touched: Vec<u32>,
    logs: Vec<Log>,
    pairs: Vec<(u32, u32)>,
    groups: meet::Groups,
    /// Runners too are entered among those that stand: all has just been entered anew.
    all_stand: bool,
    spare: Vec<u32>,
}

/// A changed droplet that has found its size: what is to be done with it.
#[derive(Clone, Copy, Debug)]
struct Settled {
    droplet: Droplet,
    point: DVec3,
    /// Too heavy to hang where it is.
    falls: bool,
    starts: bool,
}

impl Swarm {
    /// Empty.
    pub fn new(form: Form, ground: Ground) -> Self {
        Self {
            droplets: Droplets::default(),
            form,
            ground,
            trails: Trails::default(),
            necks: Necks::default(),
            fallen: Vec::new(),
            lost: 0.0,
            turnover: f64::INFINITY,
            neighbours: Neighbours::default(),
            runners: Vec::new(),
            newcomers: Vec::new(),
            touched: Vec::new(),
            logs: Vec::new(),
            pairs: Vec::new(),
            groups: meet::Groups::default(),
            all_stand: false,
            spare: Vec::new(),
        }
    }

    /// Number of droplets on their way.
    pub fn num_running(&self) -> usize {
        self.droplets.slots().filter(|&slot| self.droplets.states[slot as usize].running).count()
    }

    /// Takes over the droplets of a saved state.
    pub fn restore(&mut self, droplets: Droplets, track: &Track) {
        self.droplets = droplets;
        self.index_all(track);
        let running = |&slot: &u32| self.droplets.states[slot as usize].running;
        self.runners = self.droplets.slots().filter(running).collect();
        self.newcomers.clear();
    }

    fn index_all(&mut self, track: &Track) {
        let area: f64 = track.facets().iter().map(|facet| facet.area).sum();
        // Some droplets to a cell when they are spread evenly.
        let cell = |[count, reaches]: [f64; 2]| {
            let least = 8.0 * (reaches / count.max(1.0)).max(1e-6);
            ((PER_CELL * area / count.max(1.0)).sqrt().max(least), least)
        };
        let (mut all, mut running) = ([0.0; 2], [0.0; 2]);
        for slot in self.droplets.slots() {
            let reach = self.droplets.sizes[slot as usize].reach;
            all = [all[0] + 1.0, all[1] + reach];
            if self.droplets.states[slot as usize].running {
                running = [running[0] + 1.0, running[1] + reach];
            }
        }
        let room = (self.runners.len() + self.newcomers.len()).max(running[0] as usize);
        let count = self.droplets.count();
        let ((mut standing, least), (mut moving, _)) = (cell(all), cell(if running[0] > 0.0 { running } else { all }));
        loop {
            self.neighbours = Neighbours::rebuilt(count, room, [standing, moving]);
            for slot in 0..self.droplets.num_slots() as u32 {
                self.droplets.spots[slot as usize].bucket = NOBODY;
                if self.droplets.is_used(slot) {
                    self.index(slot, track);
                }
            }
            self.all_stand = true;
            // They crowd on a small part of the surface: smaller cells.
            if self.neighbours.crowd() < 4.0 * PER_CELL || standing <= least {
                return;
            }
            (standing, moving) = ((0.5 * standing).max(least), (0.5 * moving).max(least));
        }
    }

    fn index(&mut self, slot: u32, track: &Track) {
        let i = slot as usize;
        let solid = track.facet(self.droplets.riders[i].place.triangle).solid;
        self.neighbours.place(&mut self.droplets.spots, slot, solid, self.droplets.sizes[i].reach);
    }

    /// A droplet arrives at a place with its line at `radius` (in m), as far as the angles allow.
    pub fn arrive(&mut self, id: u32, rider: Rider, volume: f64, radius: f64, scenery: &Scenery<'_>) {
        let size = Size { volume, radius, reach: radius, pressing: f64::NAN };
        let state = State { running: rider.velocity != DVec2::ZERO, ..State::default() };
        let droplet = Droplet { id, rider, size, state };
        if self.neighbours.is_full(self.droplets.num_slots()) {
            self.index_all(scenery.track);
        }
        let slot = self.droplets.insert(&droplet, rider.place.point(scenery.track));
        if state.running {
            self.newcomers.push(slot);
        }
        self.replace(slot, droplet, scenery);
    }

    /// The droplet that covers a point of a solid's rest pose; the one with the nearest middle.
    pub fn covering(&self, solid: u32, point: DVec3) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        self.neighbours.covering(solid, point, |slot| {
            let spot = &self.droplets.spots[slot as usize];
            let distance = spot.point.distance(point);
            let covers = spot.solid == solid && distance < f64::from(spot.reach);
            if covers && best.is_none_or(|found| (distance, slot) < found) {
                best = Some((distance, slot));
            }
        });
        best.map(|(_, slot)| slot)
    }

    /// Pours liquid onto a place (negative takes it away): into the droplet that covers it, else as a new one. Says how much was
    /// really poured, in m³.
    pub fn pour(&mut self, place: Place, volume: f64, scenery: &Scenery<'_>, next_id: &mut u32) -> f64 {
        let solid = scenery.track.facet(place.triangle).solid;
        match self.covering(solid, place.point(scenery.track)) {
            Some(slot) => {
                let mut droplet = self.droplets.get(slot);
                let poured = volume.max(-droplet.size.volume);
                droplet.size.volume += poured;
                droplet.size.pressing = f64::NAN;
                self.replace(slot, droplet, scenery);
                poured
            }
            None if volume > 0.0 => {
                let id = *next_id;
                *next_id += 1;
                self.arrive(id, Rider { place, velocity: DVec2::ZERO }, volume, 0.0, scenery);
                volume
            }
            None => 0.0,
        }
    }

    /// Advances all droplets by `dt` seconds to the time `now`.
    pub fn step(
        &mut self,
        scenery: &Scenery<'_>,
        dt: f64,
        now: f64,
        next_id: &mut u32,
        events: &mut Vec<Event>,
        stages: &mut dyn Stages,
    ) -> bool {
        stages.enter("meet");
        // Droplets meet at any time in the step.
        self.necks.at(now - 0.5 * dt);
        if self.neighbours.is_outgrown(self.droplets.count(), self.runners.len() + self.newcomers.len()) {
            self.index_all(scenery.track);
        }
        self.meet_touched(scenery, events);
        stages.enter("run");
        self.run(scenery, dt);
        stages.enter("carry out");
        let finite = self.carry_out(scenery, now);
        stages.enter("wet");
        self.wet(scenery);
        stages.enter("find");
        let runners = std::mem::take(&mut self.runners);
        self.find(&runners, scenery);
        self.runners = runners;
        stages.enter("meet");
        self.meet_touched(scenery, events);
        stages.enter("trails");
        for bead in self.trails.due(now, scenery.track, &mut self.ground) {
            let id = *next_id;
            *next_id += 1;
            let (slot, parent) = bead.from;
            // A droplet that has merged since is nobody to split from.
            if self.droplets.ids.get(slot as usize) == Some(&parent) {
                events.push(Event::Split { split: parent, into: vec![parent, id] });
            }
            self.arrive(id, Rider { place: bead.place, velocity: DVec2::ZERO }, bead.volume, 0.0, scenery);
        }
        self.meet_touched(scenery, events);
        self.necks.at(now);
        finite
    }

    /// What acts has changed on these solids: sizes and starts of their droplets are looked at again.
    pub fn look_again(&mut self, scenery: &Scenery<'_>, changed: &[bool]) {
        let mut found = std::mem::take(&mut self.spare);
        found.clear();
        let this = &*self;
        let looked = (0..self.droplets.num_slots() as u32)
            .into_par_iter()
            .with_min_len(CHUNK)
            .filter(|&slot| this.droplets.is_used(slot))
            .filter(|&slot| {
                let droplet = this.droplets.get(slot);
                if !changed[scenery.track.facet(droplet.rider.place.triangle).solid as usize] {
                    return false;
                }
                let mut fitted = droplet;
                !this.fit(&mut fitted, scenery)
                    || fitted.size.radius != droplet.size.radius
                    || (!droplet.state.running && this.begins(&fitted, scenery))
            });
        found.par_extend(looked);
        for &slot in &found {
            let droplet = self.droplets.get(slot);
            self.replace(slot, droplet, scenery);
        }
        self.spare = found;
    }

    /// Sets a droplet's radius within what its volume and the angles allow; `false` when it cannot hang.
    fn fit(&self, droplet: &mut Droplet, scenery: &Scenery<'_>) -> bool {
        let facet = scenery.track.facet(droplet.rider.place.triangle);
        let field = &scenery.fields[facet.solid as usize];
        let size = &mut droplet.size;
        if let Form::Paper(paper) = &self.form {
            size.radius = half_ball_radius(size.volume);
            (size.reach, size.pressing) = (size.radius, 0.0);
            let mass = scenery.liquid.density * size.volume;
            let rules = PaperRules { paper, field, mass, radius: size.radius };
            return !rules.comes_off(facet, droplet.rider.place, 0.0);
        }
        let law = self.ground.law(scenery.track, droplet.rider.place);
        let pressing = -field.pull(facet.point(droplet.rider.place.at), DVec3::ZERO).dot(facet.normal());
        size.pressing = pressing;
        let Some(flat) = law.advancing_radius(scenery.liquid, size.volume, pressing, 0.0) else { return false };
        let bend = bend(scenery.track, droplet.rider.place, flat);
        let bent = (bend != 0.0).then(|| law.advancing_radius(scenery.liquid, size.volume, pressing, bend));
        let least = bent.flatten().unwrap_or(flat);
        droplet.state.wide = 0.0;
        if droplet.state.running || size.radius <= least {
            size.radius = least;
        } else {
            let most = law.radii(scenery.liquid, size.volume, pressing, bend).map_or(least, |[_, most]| most);
            size.radius = size.radius.min(most);
            if most > least {
                droplet.state.wide = ((size.radius - least) / (most - least)) as f32;
            }
        }
        size.reach = size.radius * law.overhang;
        true
    }

    /// Whether a resting droplet cannot stay.
    fn begins(&self, droplet: &Droplet, scenery: &Scenery<'_>) -> bool {
        let facet = scenery.track.facet(droplet.rider.place.triangle);
        let push = match &self.form {
            Form::Physical => {
                let rules = physical_rules(&self.ground, scenery, droplet);
                rules.push(facet, droplet.rider.place, DVec2::ZERO)
            }
            Form::Paper(paper) => {
                let field = &scenery.fields[facet.solid as usize];
                let mass = scenery.liquid.density * droplet.size.volume;
                let rules = PaperRules { paper, field, mass, radius: droplet.size.radius };
                return rules.push(facet, droplet.rider.place, DVec2::ZERO).acceleration.length() > STILL.1;
            }
        };
        push.acceleration.length() > push.hold
    }

    /// Puts a changed droplet back: it may be gone, fall, start, or touch others now.
    fn replace(&mut self, slot: u32, droplet: Droplet, scenery: &Scenery<'_>) {
        if droplet.size.volume <= 0.0 {
            self.let_go(slot);
            return;
        }
        let settled = self.settled(droplet, scenery);
        self.put(slot, settled, scenery.track);
    }

    /// What becomes of a changed droplet where it is; the ground under it is marked.
    fn settled(&self, mut droplet: Droplet, scenery: &Scenery<'_>) -> Settled {
        let falls = !self.fit(&mut droplet, scenery);
        let starts = !falls && !droplet.state.running && self.begins(&droplet, scenery);
        if starts {
            droplet.state.running = true;
            self.fit(&mut droplet, scenery);
        }
        let Place { triangle, at } = droplet.rider.place;
        if !falls {
            self.ground.wet(scenery.track, triangle, at, at, droplet.size.radius);
        }
        Settled { droplet, point: droplet.rider.place.point(scenery.track), falls, starts }
    }

    fn put(&mut self, slot: u32, settled: Settled, track: &Track) {
        let Settled { droplet, point, falls, starts } = settled;
        if falls {
            self.let_go(slot);
            let facet = track.facet(droplet.rider.place.triangle);
            self.fallen.push(Fallen {
                id: droplet.id,
                volume: droplet.size.volume,
                solid: facet.solid as usize,
                point,
                velocity: facet.lift(droplet.rider.velocity),
                away: facet.normal(),
                left: 0.0,
            });
            return;
        }
        if starts {
            self.newcomers.push(slot);
        }
        self.droplets.set(slot, &droplet);
        self.droplets.spots[slot as usize].point = point;
        self.index(slot, track);
        // Who runs looks whom it touches after its next step.
        if !droplet.state.running {
            self.touched.push(slot);
        }
    }

    fn let_go(&mut self, slot: u32) {
        self.neighbours.remove(&mut self.droplets.spots, slot);
        self.trails.close(slot);
        self.necks.forget(slot);
        self.droplets.remove(slot);
    }

    /// Every running droplet over frozen ground.
    fn run(&mut self, scenery: &Scenery<'_>, dt: f64) {
        self.list_runners();
        let pieces = self.runners.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (form, ground, neighbours) = (&self.form, &self.ground, &self.neighbours);
        let shared = Physical { track: scenery.track, ground, liquid: scenery.liquid, damping: scenery.damping };
        let job = |slots: &[u32], view: &mut Slots<'_>, log: &mut Log| {
            log.clear();
            for (index, &slot) in slots.iter().enumerate() {
                if index.is_multiple_of(AT_ONCE) {
                    view.fetch(&slots[index..slots.len().min(index + AT_ONCE)], scenery.track);
                }
                let i = slot as usize - view.first;
                let droplet = Droplet { id: 0, rider: view.riders[i], size: view.sizes[i], state: view.states[i] };
                let mut rider = droplet.rider;
                let facet = scenery.track.facet(rider.place.triangle);
                let field = &scenery.fields[facet.solid as usize];
                let mut way = 0.0;
                let mut shed = 0.0;
                let before = log.stretches.len();
                let end = match form {
                    Form::Paper(paper) => {
                        let mass = scenery.liquid.density * droplet.size.volume;
                        let rules = PaperRules { paper, field, mass, radius: droplet.size.radius };
                        ride(scenery.track, &rules, &mut rider, dt, |segment| {
                            way += segment.from.distance(segment.to);
                            log.stretches.push(Stretch { slot, segment, film: 0.0, width: 0.0 });
                        })
                    }
                    Form::Physical => {
                        let rules = physical_rules_of(shared, scenery, &droplet);
                        let law = rules.law;
                        ride(scenery.track, &rules, &mut rider, dt, |segment| {
                            let length = segment.from.distance(segment.to);
                            way += length;
                            let speed = length / segment.time.max(f64::MIN_POSITIVE);
                            let (mut film, mut width) = (0.0, 0.0);
                            if speed > law.shedding_speed && segment.time > 0.0 {
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
                        })
                    }
                };
                log.finite &= rider.velocity.is_finite() && rider.place.at.is_finite();
                view.riders[i] = rider;
                let facet = scenery.track.facet(rider.place.triangle);
                let point = facet.point(rider.place.at);
                view.spots[i].step = point - view.spots[i].point;
                view.spots[i].point = point;
                view.states[i].since_wet += way as f32;
                // Ground that does not remember may be marked while others look at it.
                if is_marked_at_once(form, ground, facet.solid) {
                    mark(ground, scenery.track, &log.stretches[before..], &mut view.states[i], droplet.size.radius);
                    if shed == 0.0 {
                        log.stretches.truncate(before);
                    }
                }
                if let End::Leaves { velocity, away, left } = end {
                    let volume = droplet.size.volume - shed;
                    let fallen = Fallen { id: 0, volume, solid: facet.solid as usize, point, velocity, away, left };
                    view.sizes[i].volume = volume;
                    neighbours.stands_at(&mut view.spots[i], facet.solid, view.sizes[i].reach);
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
                if end == End::Rests || stands {
                    view.states[i].running = false;
                    view.riders[i].velocity = DVec2::ZERO;
                    log.stopped.push(slot);
                }
                if let Form::Physical = form {
                    let size = &mut view.sizes[i];
                    size.volume -= shed;
                    let field = &scenery.fields[facet.solid as usize];
                    let pressing = -field.pull(point, DVec3::ZERO).dot(facet.normal());
                    let scale = PRESSING_CHANGE * field.gravity.length();
                    if shed > 0.0 || (pressing - size.pressing).abs() > scale || ground.varies(facet.solid) {
                        let law = ground.law(scenery.track, rider.place);
                        // Lighter than before, it hangs if it has hung; else it is seen to at the next crease.
                        let radius = |bend| law.advancing_radius(scenery.liquid, size.volume, pressing, bend);
                        let flat = radius(0.0).unwrap_or(size.radius);
                        let bend = bend(scenery.track, rider.place, flat);
                        size.radius = if bend == 0.0 { flat } else { radius(bend).unwrap_or(flat) };
                        (size.reach, size.pressing) = (size.radius * law.overhang, pressing);
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
                    log.turnover = log.turnover.min(dt * view.sizes[i].radius / way);
                }
                neighbours.stands_at(&mut view.spots[i], facet.solid, view.sizes[i].reach);
            }
        };
        let pieces_logs = &mut self.logs[..pieces];
        self.droplets.work(&self.runners, pieces_logs, &job);
        self.turnover = pieces_logs.iter().map(|log| log.turnover).fold(f64::INFINITY, f64::min);
    }

    fn room_for(&mut self, pieces: usize) {
        if self.logs.len() < pieces {
            self.logs.resize_with(pieces, Log::default);
        }
    }

    /// Brings the list of runners up to date: rising, each once. They are nobody's neighbours until they have arrived.
    fn list_runners(&mut self) {
        let Self { droplets, neighbours, .. } = self;
        self.runners.retain(|&slot| {
            let runs = droplets.states[slot as usize].running;
            if !runs {
                droplets.spots[slot as usize].step = DVec3::ZERO;
                neighbours.stop(&mut droplets.spots, slot);
            }
            runs
        });
        if !self.newcomers.is_empty() {
            self.list_newcomers();
        }
        if std::mem::take(&mut self.all_stand) {
            for &slot in &self.runners {
                self.neighbours.set_out(&mut self.droplets.spots, slot);
            }
        }
        self.neighbours.all_run();
    }

    fn list_newcomers(&mut self) {
        self.newcomers.sort_unstable();
        self.newcomers.dedup();
        let Droplets { states, spots, .. } = &mut self.droplets;
        for &slot in self.newcomers.iter().filter(|&&slot| states[slot as usize].running) {
            self.neighbours.set_out(spots, slot);
        }
        let droplets = &self.droplets;
        let mut merged = std::mem::take(&mut self.spare);
        merged.clear();
        let mut new = self.newcomers.drain(..).filter(|&slot| droplets.states[slot as usize].running).peekable();
        for &slot in &self.runners {
            while let Some(earlier) = new.next_if(|&newcomer| newcomer <= slot) {
                if earlier < slot {
                    merged.push(earlier);
                }
            }
            merged.push(slot);
        }
        merged.extend(new);
        self.spare = std::mem::replace(&mut self.runners, merged);
    }

    /// Carries out what came of the run, in the order of slots; `false` when something is not a number any more.
    fn carry_out(&mut self, scenery: &Scenery<'_>, now: f64) -> bool {
        let track = scenery.track;
        let pieces = self.runners.len().div_ceil(CHUNK);
        let logs = std::mem::take(&mut self.logs);
        let mut finite = true;
        self.neighbours.arrive(&self.droplets.spots, &self.runners);
        for log in &logs[..pieces] {
            finite &= log.finite;
            if let Form::Paper(paper) = &mut self.form {
                for stretch in &log.stretches {
                    paper.leave_streak(track, &stretch.segment, self.droplets.sizes[stretch.slot as usize].radius);
                }
            }
            for stretch in log.stretches.iter().filter(|stretch| stretch.film > 0.0) {
                self.lay_film(stretch, scenery, now);
            }
            for &slot in &log.on_film {
                self.take_film(slot, scenery);
            }
            for &slot in &log.stopped {
                self.trails.close(slot);
            }
            for &slot in &log.outside {
                if self.droplets.is_used(slot) {
                    self.lost += self.droplets.sizes[slot as usize].volume;
                    self.let_go(slot);
                }
            }
            for &(slot, fallen) in &log.fallen {
                let id = self.droplets.ids[slot as usize];
                self.let_go(slot);
                self.fallen.push(Fallen { id, ..fallen });
            }
        }
        self.logs = logs;
        finite
    }

    /// Lays what a droplet has shed where its rear was.
    fn lay_film(&mut self, stretch: &Stretch, scenery: &Scenery<'_>, now: f64) {
        let (track, segment) = (scenery.track, &stretch.segment);
        let radius = self.droplets.sizes[stretch.slot as usize].radius;
        let way = segment.to - segment.from;
        let back = -way.normalize() * radius;
        let (rear, carried) = track.walk(Place { triangle: segment.triangle, at: segment.to }, back, way);
        // A film that is barely shed has hardly a width: a twentieth of the droplet's at least.
        let width = stretch.width.max(0.1 * radius);
        self.ground.lay_film(track, rear.triangle, rear.at - carried, rear.at, width, stretch.film);
        let law = self.ground.law(track, rear);
        let id = self.droplets.ids[stretch.slot as usize];
        let piece = Piece { slot: stretch.slot, id, place: rear, volume: stretch.film, length: way.length(), width };
        self.trails.extend(&piece, law, scenery.liquid, now);
    }

    /// A droplet takes up the film under its front.
    fn take_film(&mut self, slot: u32, scenery: &Scenery<'_>) {
        let mut droplet = self.droplets.get(slot);
        if droplet.id == 0 {
            return;
        }
        let ahead = droplet.rider.velocity.normalize_or_zero() * (0.4 * droplet.size.radius);
        let front = scenery.track.walk(droplet.rider.place, ahead, DVec2::ZERO).0;
        let taken = self.ground.take_film(scenery.track, front, 0.9 * droplet.size.radius);
        if taken > 0.0 {
            droplet.size.volume += taken;
            droplet.size.pressing = f64::NAN;
            let step = self.droplets.spots[slot as usize].step;
            self.replace(slot, droplet, scenery);
            self.droplets.spots[slot as usize].step = step;
        }
    }

    /// Marks the ground that the runners passed, where that had to wait until all had come to their places.
    fn wet(&mut self, scenery: &Scenery<'_>) {
        let Self { droplets, ground, form, logs, runners, .. } = self;
        let waits = |solid: usize| !is_marked_at_once(form, ground, solid as u32);
        if !(0..scenery.track.num_solids()).any(waits) {
            return;
        }
        let job = |slots: &[u32], view: &mut Slots<'_>, log: &mut Log| {
            let mut stretches = &log.stretches[..];
            for &slot in slots {
                let count = stretches.iter().take_while(|stretch| stretch.slot == slot).count();
                let (own, later) = stretches.split_at(count);
                stretches = later;
                let i = slot as usize - view.first;
                let solid = scenery.track.facet(view.riders[i].place.triangle).solid;
                if !is_marked_at_once(form, ground, solid) {
                    mark(ground, scenery.track, own, &mut view.states[i], view.sizes[i].radius);
                }
            }
        };
        let pieces = runners.len().div_ceil(CHUNK);
        droplets.work(runners, &mut logs[..pieces], &job);
    }
}

/// Whether a runner marks the ground of a solid in its own ride: nobody else's depends on it.
fn is_marked_at_once(form: &Form, ground: &Ground, solid: u32) -> bool {
    matches!(form, Form::Physical) && !ground.remembers(solid)
}

/// Marks the way of one droplet: one that crept marks its place now and then, one that went farther marks its way.
fn mark(ground: &Ground, track: &Track, way: &[Stretch], state: &mut State, radius: f64) {
    let due = f64::from(state.since_wet) > WETS_EVERY * radius;
    for &Stretch { segment: Segment { triangle, from, to, .. }, .. } in way {
        if due || from.distance_squared(to) > (WETS_EVERY * radius).powi(2) {
            ground.wet(track, triangle, from, to, radius);
        }
    }
    if due {
        state.since_wet = 0.0;
    }
}

impl Log {
    fn clear(&mut self) {
        self.stretches.clear();
        self.on_film.clear();
        self.fallen.clear();
        self.stopped.clear();
        self.outside.clear();
        (self.turnover, self.finite) = (f64::INFINITY, true);
    }
}

fn physical_rules<'a>(ground: &'a Ground, scenery: &'a Scenery<'a>, droplet: &Droplet) -> PhysicalRules<'a> {
    let shared = Physical { track: scenery.track, ground, liquid: scenery.liquid, damping: scenery.damping };
    physical_rules_of(shared, scenery, droplet)
}

#[inline]
fn physical_rules_of<'a>(shared: Physical<'a>, scenery: &'a Scenery<'a>, droplet: &Droplet) -> PhysicalRules<'a> {
    let solid = scenery.track.facet(droplet.rider.place.triangle).solid;
    let wide = f64::from(droplet.state.wide);
    PhysicalRules {
        shared,
        field: &scenery.fields[solid as usize],
        law: shared.ground.law(scenery.track, droplet.rider.place),
        volume: droplet.size.volume,
        radius: droplet.size.radius,
        // From 1 to 0.9 (docs/wetting.md, "Holding on").
        factor: 1.0 - 0.1 * wide * wide,
        varies: shared.ground.varies(solid),
    }
}
