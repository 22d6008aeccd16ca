//! A step of all droplets on surfaces.
//!
//! Every running droplet rides over ground that is frozen for the while (in parallel); what came of it is carried out in the order of
//! slots: film laid and taken up, droplets that came off, cells that changed. Then the ground is marked wet and whoever pending is found
//! (in parallel), and joined in order. Resting droplets cost nothing.

mod contacts;
mod join;
mod mark_wet;
mod other_solids;
mod slide;

use contacts::When;
use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use sessile_frames::{Event, Ids};
use sessile_model::StageTimer;
use sessile_sliding::{DropId, FilmSegment, IdCounter, Necks, Trails};
use sessile_wetting::{Liquid, retention};

use crate::acceleration::{AccelerationField, RigidState};
use crate::batch::PathSegment;
use crate::curvature::curvature;
use crate::droplets::{CHUNK, Droplet, Droplets, Location, NIL, Size, Slot, State};
use crate::grid::{Arrivals, PER_CELL, least_width};
use crate::integrate::{ForceModel, MotionState, Segment};
use crate::neighbors::{Drift, Neighbors, Round};
use crate::paper::{Paper, PaperRules, half_ball_radius};
use crate::physical::{Physical, PhysicalRules};
use crate::substrate::Substrate;
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint};
use crate::trails::{MeshFilm, TrailSegment};

/// A change of the pull into the solid beyond this share calls for a new base radius.
const PRESSING_CHANGE: f64 = 0.01;
/// Speed (in m/s) and pull (in m/s²) below which a droplet of the paper's form, which nothing holds, stands.
const STILL: (f64, f64) = (1e-7, 1e-6);
/// Pieces of film that one straight stretch of way is cut into at most.
const MOST_PIECES: f64 = 64.0;
/// Droplets for which memory is fetched at once.
const AT_ONCE: usize = 32;

/// Which rules move the droplets.
#[derive(Debug)]
pub enum Form {
    /// One wetting description.
    Physical,
    /// The paper's coefficients.
    Paper(Box<Paper>),
}

/// What a step needs to know.
pub struct StepContext<'a> {
    /// The mesh.
    pub surface: &'a SurfaceMesh,
    /// Per solid.
    pub fields: &'a [AccelerationField],
    /// Per solid: where it is.
    pub rigid_states: &'a [RigidState],
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
pub struct Detached {
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
    /// Memory for ways.
    legs: Vec<PathSegment>,
    /// Droplets whose front meets film.
    on_film: Vec<u32>,
    /// Droplets that came off.
    detached: Vec<(u32, Detached)>,
    /// Droplets that have stopped.
    stopped: Vec<u32>,
    /// Droplets that have left the domain.
    outside: Vec<u32>,
    /// Everybody, where they have come to.
    arrivals: Arrivals,
    /// Those who look round, and where they are: read once more in this order, rather than all over memory.
    locations: Vec<(u32, Location)>,
    /// Droplets that may have pending, and those that have.
    candidates: Vec<(u32, u32)>,
    pairs: Vec<(u32, u32)>,
    round: Round,
    /// Least time in which a droplet goes its own radius, in s.
    transit_time: f64,
    drift: Drift,
    finite: bool,
}

/// Droplets on surfaces.
#[derive(Debug)]
pub struct ParticleSystem {
    /// The droplets.
    pub droplets: Droplets,
    /// Which rules move them.
    pub form: Form,
    /// What they are on.
    pub substrate: Substrate,
    /// Film that will break into beads.
    pub trails: Trails<TrailSegment>,
    /// Shapes of droplets that have merged not long ago.
    pub necks: Necks,
    /// Those that came off, for the model to take up.
    pub detached: Vec<Detached>,
    /// Volume of those that ran out of the domain, for the model to count, in m³.
    pub lost: f64,
    /// Least time in which a droplet went its own radius in the last step, in s.
    pub transit_time: f64,
    neighbors: Neighbors,
    /// Slots of running droplets, rising; some may have stopped or gone since.
    sliding: Vec<u32>,
    starting: Vec<u32>,
    /// Slots that have grown or arrived and may touch something.
    pub pending: Vec<u32>,
    logs: Vec<Log>,
    pairs: Vec<(u32, u32)>,
    groups: join::Groups,
    spare: Vec<u32>,
    /// How the sliding moved in the last step.
    drift: Drift,
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

impl ParticleSystem {
    /// Empty.
    pub fn new(form: Form, substrate: Substrate) -> Self {
        Self {
            droplets: Droplets::default(),
            form,
            substrate,
            trails: Trails::default(),
            necks: Necks::default(),
            detached: Vec::new(),
            lost: 0.0,
            transit_time: f64::INFINITY,
            neighbors: Neighbors::default(),
            sliding: Vec::new(),
            starting: Vec::new(),
            pending: Vec::new(),
            logs: Vec::new(),
            pairs: Vec::new(),
            groups: join::Groups::default(),
            spare: Vec::new(),
            drift: Drift::default(),
        }
    }

    /// Number of droplets on their way.
    pub fn num_running(&self) -> usize {
        self.droplets.slots().filter(|&slot| self.droplets.all[slot as usize].state.is_sliding).count()
    }

    /// Takes over the droplets of a saved state.
    pub fn restore(&mut self, droplets: Droplets, surface: &SurfaceMesh) {
        self.droplets = droplets;
        self.index_all(surface);
        // Who stopped in the last step is taken off the list, and its step forgotten, in the next.
        let is_listed = |&slot: &u32| {
            let slot = &self.droplets.all[slot as usize];
            slot.state.is_sliding || slot.location.displacement != Vec3::ZERO
        };
        self.sliding = self.droplets.slots().filter(is_listed).collect();
        let stands = |slot: &&u32| !self.droplets.all[**slot as usize].state.is_sliding;
        self.droplets.stopped = self.sliding.iter().filter(stands).copied().collect();
        self.starting.clear();
        self.drift = Drift::default();
        self.droplets
            .slots()
            .for_each(|slot| self.drift.include(self.droplets.all[slot as usize].location.displacement));
    }

    fn index_all(&mut self, surface: &SurfaceMesh) {
        let area: f64 = surface.facets().iter().map(Facet::area).sum();
        let farthest = surface.facets().iter().map(|facet| facet.origin.abs().max_element()).fold(0.0, f64::max);
        // Some droplets to a cell when they are spread evenly.
        let cell = |[count, reaches]: [f64; 2]| {
            let least = 8.0 * (reaches / count.max(1.0)).max(1e-6).max(least_width(farthest));
            ((PER_CELL * area / count.max(1.0)).sqrt().max(least), least)
        };
        let (mut all, mut running) = ([0.0; 2], [0.0; 2]);
        for slot in self.droplets.slots() {
            let merge_radius = f64::from(self.droplets.all[slot as usize].size.merge_radius);
            all = [all[0] + 1.0, all[1] + merge_radius];
            if self.droplets.all[slot as usize].state.is_sliding {
                running = [running[0] + 1.0, running[1] + merge_radius];
            }
        }
        let room = (self.sliding.len() + self.starting.len()).max(running[0] as usize);
        let count = self.droplets.count();
        let ((mut standing, least), (mut moving, _)) = (cell(all), cell(if running[0] > 0.0 { running } else { all }));
        loop {
            self.neighbors = Neighbors::rebuilt(count, room, [standing, moving]);
            for slot in 0..self.droplets.num_slots() as u32 {
                self.droplets.all[slot as usize].location.bucket = NIL;
                let Slot { state, motion, size, .. } = self.droplets.all[slot as usize];
                if state.is_sliding {
                    let solid = surface.facet(motion.place.triangle).solid;
                    self.neighbors.place_runner(&mut self.droplets.all, slot, solid, size.merge_radius);
                } else if self.droplets.is_used(slot) {
                    self.index(slot, surface);
                }
            }
            // They crowd on a small part of the surface: smaller cells.
            if self.neighbors.crowd() < 4.0 * PER_CELL || standing <= least {
                return;
            }
            (standing, moving) = ((0.5 * standing).max(least), (0.5 * moving).max(least));
        }
    }

    fn index(&mut self, slot: u32, surface: &SurfaceMesh) {
        let i = slot as usize;
        let solid = surface.facet(self.droplets.all[i].motion.place.triangle).solid;
        let merge_radius = self.droplets.all[i].size.merge_radius;
        self.neighbors.place(&mut self.droplets.all, slot, solid, merge_radius);
    }

    /// A droplet arrives at a place with its line at `radius` (in m), as far as the angles allow.
    pub fn arrive(&mut self, id: u32, motion: MotionState, volume: f64, radius: f64, context: &StepContext<'_>) {
        let size = Size { volume, radius, merge_radius: radius as f32, normal_acceleration: f32::NAN };
        let state = State { is_sliding: motion.velocity != DVec2::ZERO, ..State::default() };
        let droplet = Droplet { id, motion, size, state };
        if self.neighbors.is_full(self.droplets.num_slots()) {
            self.index_all(context.surface);
        }
        let slot = self.droplets.insert(&droplet, motion.place.point(context.surface));
        if state.is_sliding {
            self.starting.push(slot);
        }
        self.replace(slot, droplet, context);
    }

    /// The droplet that covers a point of a solid's rest pose; the one with the nearest middle.
    pub fn covering(&self, solid: u32, point: DVec3) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        self.neighbors.covering(solid, point, |slot| {
            let location = &self.droplets.all[slot as usize].location;
            let distance = location.point.distance(point);
            let covers = location.solid == solid && distance < f64::from(location.merge_radius);
            if covers && best.is_none_or(|found| (distance, slot) < found) {
                best = Some((distance, slot));
            }
        });
        best.map(|(_, slot)| slot)
    }

    /// Pours liquid onto a place (negative takes it away): into the droplet that covers it, else as a new one. Says how much was
    /// really poured, in m³.
    pub fn pour(&mut self, place: SurfacePoint, volume: f64, context: &StepContext<'_>, ids: &mut IdCounter) -> f64 {
        let solid = context.surface.facet(place.triangle).solid;
        match self.covering(solid, place.point(context.surface)) {
            Some(slot) => {
                let mut droplet = self.droplets.get(slot);
                let poured = volume.max(-droplet.size.volume);
                droplet.size.volume += poured;
                droplet.size.normal_acceleration = f32::NAN;
                self.replace(slot, droplet, context);
                poured
            }
            None if volume > 0.0 => {
                let id = ids.issue().get();
                self.arrive(id, MotionState { place, velocity: DVec2::ZERO }, volume, 0.0, context);
                volume
            }
            None => 0.0,
        }
    }

    /// Advances all droplets by `dt` seconds to the time `now`.
    pub fn step(
        &mut self,
        context: &StepContext<'_>,
        dt: f64,
        now: f64,
        ids: &mut IdCounter,
        events: &mut Vec<Event>,
        stages: &mut dyn StageTimer,
    ) -> bool {
        stages.enter("meet");
        // Droplets meet at any time in the step.
        self.necks.advance_to(now - 0.5 * dt, now);
        if self.neighbors.is_outgrown(self.droplets.count(), self.sliding.len() + self.starting.len()) {
            self.index_all(context.surface);
        }
        self.meet_touched(context, events);
        stages.enter("run");
        self.run(context, dt);
        stages.enter("carry out");
        let finite = self.carry_out(context, now);
        stages.enter("wet");
        self.wet(context);
        stages.enter("find");
        let sliding = std::mem::take(&mut self.sliding);
        self.find(&sliding, When::InStep, context);
        self.sliding = sliding;
        stages.enter("meet");
        self.meet_touched(context, events);
        stages.enter("trails");
        let mut film = MeshFilm { surface: context.surface, substrate: &mut self.substrate };
        for bead in self.trails.rupture(now, &mut film) {
            let (id, parent) = (ids.issue().get(), bead.parent.get());
            // A droplet that has merged since cannot split.
            if self.droplets.all.get(bead.slot as usize).is_some_and(|slot| slot.id == parent) {
                events.push(Event::Split { split: parent, into: Ids::from_slice(&[parent, id]) });
            }
            self.arrive(id, MotionState { place: bead.place, velocity: DVec2::ZERO }, bead.volume, 0.0, context);
        }
        self.meet_touched(context, events);
        self.necks.advance_to(now, now);
        finite
    }

    /// What acts has changed on these solids: sizes and starts of their droplets are looked at again.
    pub fn look_again(&mut self, context: &StepContext<'_>, changed: &[bool]) {
        let mut found = std::mem::take(&mut self.spare);
        found.clear();
        let this = &*self;
        let looked = (0..self.droplets.num_slots() as u32)
            .into_par_iter()
            .with_min_len(CHUNK)
            .filter(|&slot| this.droplets.is_used(slot))
            .filter(|&slot| {
                let droplet = this.droplets.get(slot);
                if !changed[context.surface.facet(droplet.motion.place.triangle).solid as usize] {
                    return false;
                }
                let mut fitted = droplet;
                !this.fit(&mut fitted, context)
                    || fitted.size.radius != droplet.size.radius
                    || (!droplet.state.is_sliding && this.begins(&fitted, context))
            });
        found.par_extend(looked);
        for &slot in &found {
            let droplet = self.droplets.get(slot);
            self.replace(slot, droplet, context);
        }
        self.spare = found;
    }

    /// Sets a droplet's radius within what its volume and the angles allow; `false` when it cannot hang.
    fn fit(&self, droplet: &mut Droplet, context: &StepContext<'_>) -> bool {
        let facet = context.surface.facet(droplet.motion.place.triangle);
        let field = &context.fields[facet.solid as usize];
        let size = &mut droplet.size;
        if let Form::Paper(paper) = &self.form {
            size.radius = half_ball_radius(size.volume);
            (size.merge_radius, size.normal_acceleration) = (size.radius as f32, 0.0);
            let mass = context.liquid.density * size.volume;
            let rules = PaperRules { paper, field, mass, radius: size.radius };
            return !rules.detaches(facet, droplet.motion.place, 0.0);
        }
        let law = self.substrate.law(context.surface, droplet.motion.place);
        let normal_acceleration = -field.pull(facet.point(droplet.motion.place.at), DVec3::ZERO).dot(facet.normal());
        size.normal_acceleration = normal_acceleration as f32;
        let Some(flat) = law.flat_radius(context.liquid, size.volume, normal_acceleration) else { return false };
        let bend = curvature(context.surface, droplet.motion.place, flat);
        let least = law.curved_radius(context.liquid, size.volume, normal_acceleration, flat, bend);
        droplet.state.line_excess = 0.0;
        if droplet.state.is_sliding || size.radius <= least {
            size.radius = least;
        } else {
            let most = law.receding_radius(context.liquid, size.volume, normal_acceleration, bend);
            let most = most.map_or(least, |most| most.max(least));
            size.radius = size.radius.min(most);
            if most > least {
                droplet.state.line_excess = ((size.radius - least) / (most - least)) as f32;
            }
        }
        size.merge_radius = (size.radius * law.overhang) as f32;
        true
    }

    /// Whether a resting droplet cannot stay.
    fn begins(&self, droplet: &Droplet, context: &StepContext<'_>) -> bool {
        let facet = context.surface.facet(droplet.motion.place.triangle);
        let push = match &self.form {
            Form::Physical => {
                let rules = physical_rules(&self.substrate, context, droplet);
                rules.forces(facet, droplet.motion.place, DVec2::ZERO)
            }
            Form::Paper(paper) => {
                let field = &context.fields[facet.solid as usize];
                let mass = context.liquid.density * droplet.size.volume;
                let rules = PaperRules { paper, field, mass, radius: droplet.size.radius };
                return rules.forces(facet, droplet.motion.place, DVec2::ZERO).acceleration.length() > STILL.1;
            }
        };
        !push.is_retained()
    }

    /// Puts a changed droplet back: it may be gone, fall, start, or touch others now.
    fn replace(&mut self, slot: u32, droplet: Droplet, context: &StepContext<'_>) {
        if droplet.size.volume <= 0.0 {
            self.let_go(slot);
            return;
        }
        let settled = self.settled(droplet, context);
        self.put(slot, settled, context.surface);
    }

    /// What becomes of a changed droplet where it is; the ground under it is marked.
    fn settled(&self, mut droplet: Droplet, context: &StepContext<'_>) -> Settled {
        let falls = !self.fit(&mut droplet, context);
        let starts = !falls && !droplet.state.is_sliding && self.begins(&droplet, context);
        if starts {
            droplet.state.is_sliding = true;
            // Who rests on its narrowest line already keeps it.
            if droplet.state.line_excess > 0.0 {
                self.fit(&mut droplet, context);
            }
        }
        let SurfacePoint { triangle, at } = droplet.motion.place;
        if !falls {
            self.substrate.wet(context.surface, triangle, at, at, droplet.size.radius);
        }
        Settled { droplet, point: droplet.motion.place.point(context.surface), falls, starts }
    }

    fn put(&mut self, slot: u32, settled: Settled, surface: &SurfaceMesh) {
        let Settled { droplet, point, falls, starts } = settled;
        if falls {
            self.let_go(slot);
            self.detached.push(detached(&settled, surface));
            return;
        }
        if starts {
            self.starting.push(slot);
        }
        self.droplets.set(slot, &droplet);
        self.droplets.all[slot as usize].location.point = point;
        self.index(slot, surface);
        // Who runs looks whom it touches after its next step.
        if !droplet.state.is_sliding {
            self.pending.push(slot);
        }
    }

    fn let_go(&mut self, slot: u32) {
        self.neighbors.remove(&mut self.droplets.all, slot);
        self.trails.end(slot);
        self.necks.remove(slot);
        self.droplets.remove(slot);
    }

    /// Carries out what came of the run, in the order of slots; `false` when something is not a number any more.
    fn carry_out(&mut self, context: &StepContext<'_>, now: f64) -> bool {
        let surface = context.surface;
        let pieces = self.sliding.len().div_ceil(CHUNK);
        let mut logs = std::mem::take(&mut self.logs);
        let mut finite = true;
        for log in &logs[..pieces] {
            self.neighbors.arrive(&log.arrivals);
        }
        for log in &mut logs[..pieces] {
            finite &= log.finite;
            if let Form::Paper(paper) = &mut self.form {
                for stretch in &log.stretches {
                    paper.leave_streak(surface, &stretch.segment, self.droplets.all[stretch.slot as usize].size.radius);
                }
            }
            for stretch in log.stretches.iter().filter(|stretch| stretch.film > 0.0) {
                self.lay_film(stretch, context, now);
            }
            for &slot in &log.on_film {
                self.take_film(slot, context);
                if let Ok(index) = log.locations.binary_search_by_key(&slot, |&(slot, _)| slot) {
                    log.locations[index].1 = self.droplets.all[slot as usize].location;
                }
            }
            for &slot in &log.stopped {
                self.trails.end(slot);
            }
            self.droplets.stopped.extend(&log.stopped);
            for &slot in &log.outside {
                if self.droplets.is_used(slot) {
                    self.lost += self.droplets.all[slot as usize].size.volume;
                    self.let_go(slot);
                }
            }
            for &(slot, detached) in &log.detached {
                let id = self.droplets.all[slot as usize].id;
                self.let_go(slot);
                self.detached.push(Detached { id, ..detached });
            }
        }
        self.logs = logs;
        finite
    }

    /// Lays what a droplet has shed where its rear was, in pieces as long as beads lie apart.
    fn lay_film(&mut self, stretch: &Stretch, context: &StepContext<'_>, now: f64) {
        let (surface, segment) = (context.surface, &stretch.segment);
        let Slot { id, size, .. } = self.droplets.all[stretch.slot as usize];
        let end = SurfacePoint { triangle: segment.triangle, at: segment.to };
        let way = segment.to - segment.from;
        let (length, along) = (way.length(), way.normalize());
        // A film that is barely shed has hardly a width: a twentieth of the droplet's at least.
        let width = stretch.width.max(0.1 * size.radius);
        let law = *self.substrate.law(surface, end);
        let beads = if law.film_is_stable() { 1.0 } else { length / law.bead_spacing(width, stretch.film / length) };
        let pieces = beads.ceil().clamp(1.0, MOST_PIECES) as u32;
        let share = 1.0 / f64::from(pieces);
        for later in (0..pieces).rev() {
            let back = along * -(size.radius + f64::from(later) * share * length);
            let (rear, carried) = surface.trace_geodesic(end, back, way * share);
            let laid = TrailSegment { from: rear.at - carried, to: rear };
            let volume = share * stretch.film;
            self.substrate.lay_film(surface, rear.triangle, laid.from, rear.at, width, volume);
            let Some(id) = DropId::new(id) else { continue };
            let segment = FilmSegment { slot: stretch.slot, id, at: laid, volume, length: share * length, width };
            self.trails.extend(&segment, &law, context.liquid, now);
        }
    }

    /// A droplet takes up the film under its front.
    fn take_film(&mut self, slot: u32, context: &StepContext<'_>) {
        let mut droplet = self.droplets.get(slot);
        if droplet.id == 0 {
            return;
        }
        let ahead = droplet.motion.velocity.normalize_or_zero() * (0.4 * droplet.size.radius);
        let front = context.surface.trace_geodesic(droplet.motion.place, ahead, DVec2::ZERO).0;
        let taken = self.substrate.take_film(context.surface, front, 0.9 * droplet.size.radius);
        if taken > 0.0 {
            droplet.size.volume += taken;
            droplet.size.normal_acceleration = f32::NAN;
            let step = self.droplets.all[slot as usize].location.displacement;
            self.replace(slot, droplet, context);
            self.droplets.all[slot as usize].location.displacement = step;
        }
    }
}

/// A droplet that cannot hang where it is.
fn detached(settled: &Settled, surface: &SurfaceMesh) -> Detached {
    let Droplet { id, motion, size, .. } = settled.droplet;
    let facet = surface.facet(motion.place.triangle);
    Detached {
        id,
        volume: size.volume,
        solid: facet.solid as usize,
        point: settled.point,
        velocity: facet.lift(motion.velocity),
        away: facet.normal(),
        left: 0.0,
    }
}

impl Log {
    fn clear(&mut self) {
        self.stretches.clear();
        self.on_film.clear();
        self.detached.clear();
        self.stopped.clear();
        self.outside.clear();
        self.arrivals.clear();
        self.locations.clear();
        (self.transit_time, self.drift, self.finite) = (f64::INFINITY, Drift::default(), true);
    }
}

fn physical_rules<'a>(substrate: &'a Substrate, context: &'a StepContext<'a>, droplet: &Droplet) -> PhysicalRules<'a> {
    let shared = Physical { surface: context.surface, substrate, liquid: context.liquid, damping: context.damping };
    physical_rules_of(shared, context, droplet)
}

#[inline]
fn physical_rules_of<'a>(shared: Physical<'a>, context: &'a StepContext<'a>, droplet: &Droplet) -> PhysicalRules<'a> {
    let solid = context.surface.facet(droplet.motion.place.triangle).solid;
    let wide = f64::from(droplet.state.line_excess);
    PhysicalRules {
        shared,
        field: &context.fields[solid as usize],
        law: shared.substrate.law(context.surface, droplet.motion.place),
        volume: droplet.size.volume,
        radius: droplet.size.radius,
        factor: retention::retention_factor(wide),
        varies: shared.substrate.varies(solid),
    }
}
