//! The particle system: all droplets on surfaces and one step of them.
//!
//! Sliding droplets are integrated in parallel over a substrate that does not change meanwhile
//! ([`slide`]); what follows for others (film, detachment, grid cells) is committed in the order of
//! slots ([`commit`]). The wet map is then marked ([`mark_wet`]), contacts are detected in parallel
//! ([`contacts`]) and droplets in contact coalesce in order ([`join`]). Pinned droplets cost
//! nothing in a step.

mod by_hand;
mod commit;
mod contacts;
mod evaporate;
mod film;
mod index;
mod join;
mod mark_wet;
mod other_solids;
mod slide;
mod spread;
mod update;

use contacts::ContactTime;
use glam::{DVec2, DVec3};
use sessile_frames::{Event, Ids};
use sessile_model::{StageReports, StageTimer};
use sessile_sliding::{DropId, IdCounter, Necks, SlotIndex, SpreadOutcome, Spreads, Trails};

use crate::batch::PathSegment;
use crate::context::StepContext;
use crate::droplets::{Droplet, Droplets, Location};
use crate::grid::Arrivals;
use crate::integrate::{MotionState, Segment};
use crate::neighbors::{Drift, NeighborQueries, Neighbors};
use crate::paper::Paper;
use crate::substrate::Substrate;
use crate::surface_mesh::{SolidIndex, SurfaceMesh};
use crate::trails::{FilmPath, MeshFilm};

/// Which forces move the droplets.
#[derive(Debug)]
pub enum Fidelity {
    /// Contact-angle hysteresis, viscous drag and films.
    Physical,
    /// The coefficients of the paper (reproduction mode).
    Paper(Box<Paper>),
}

/// A droplet that has detached from its solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detached {
    /// Its id.
    pub id: DropId,
    /// Volume, in m³.
    pub volume: f64,
    /// The solid that it was on.
    pub solid: SolidIndex,
    /// Position in the rest pose of that solid, in m.
    pub point: DVec3,
    /// Velocity in the rest pose, in m/s.
    pub velocity: DVec3,
    /// Unit direction away from the surface.
    pub outward: DVec3,
    /// Remaining time of the step, in s.
    pub remaining: f64,
}

/// A path segment of a droplet and the film left on it.
#[derive(Clone, Copy, Debug)]
struct TrailSegment {
    slot: SlotIndex,
    segment: Segment,
    /// Volume of film, in m³.
    film: f64,
    /// Width of the film, in m.
    width: f64,
}

/// Results of one chunk of parallel work.
#[derive(Clone, Debug, Default)]
struct ChunkLog {
    trail: Vec<TrailSegment>,
    /// Memory for the paths of a batch.
    path: Vec<PathSegment>,
    /// Number of path segments integrated.
    num_segments: u64,
    /// Droplets whose front is on film.
    on_film: Vec<SlotIndex>,
    detached: Vec<(SlotIndex, Detached)>,
    /// Droplets that came to rest.
    stopped: Vec<SlotIndex>,
    /// Droplets that have left the domain.
    outside: Vec<SlotIndex>,
    /// Grid entries of all droplets at their new locations.
    arrivals: Arrivals,
    /// Locations of the droplets that query their neighbors, in the order of the chunk.
    locations: Vec<(SlotIndex, Location)>,
    /// Indices of such locations, with slots that may be in contact.
    candidates: Vec<(u32, SlotIndex)>,
    /// Pairs in contact.
    pairs: Vec<(SlotIndex, SlotIndex)>,
    queries: NeighborQueries,
    /// Least time in which a droplet travels its own radius, in s.
    transit_time: f64,
    drift: Drift,
    is_finite: bool,
}

impl ChunkLog {
    fn clear(&mut self) {
        self.trail.clear();
        self.on_film.clear();
        self.detached.clear();
        self.stopped.clear();
        self.outside.clear();
        self.arrivals.clear();
        self.locations.clear();
        (self.transit_time, self.drift, self.is_finite) = (f64::INFINITY, Drift::default(), true);
        self.num_segments = 0;
    }
}

/// Memory that is kept from step to step.
#[derive(Debug, Default)]
struct Scratch {
    logs: Vec<ChunkLog>,
    /// Pairs of droplets in contact.
    pairs: Vec<(SlotIndex, SlotIndex)>,
    groups: join::Groups,
    slots: Vec<SlotIndex>,
    spread_outcomes: Vec<SpreadOutcome>,
    /// Coefficients of evaporation of droplets on each solid, in m²/s.
    coefficients: Vec<f64>,
}

impl Scratch {
    fn reserve_logs(&mut self, num_chunks: usize) {
        if self.logs.len() < num_chunks {
            self.logs.resize_with(num_chunks, ChunkLog::default);
        }
    }
}

/// State of the droplets on surfaces: what a checkpoint holds, besides the streaks of the
/// reproduction mode.
#[derive(Debug)]
pub struct ParticleState {
    /// The droplets.
    pub droplets: Droplets,
    /// The surfaces that they are on.
    pub substrate: Substrate,
    /// Films that will break up into beads.
    pub trails: Trails<FilmPath>,
    /// Shapes of recently merged droplets.
    pub necks: Necks,
    /// Droplets that have landed and still spread or retract.
    pub spreads: Spreads,
    /// Slots that have grown or arrived and may be in contact.
    pub pending: Vec<SlotIndex>,
    /// Least time in which a droplet traveled its own radius in the last step, in s.
    pub transit_time: f64,
}

/// Droplets on surfaces: their state, the forces that move them, and what follows from the state
/// (grids, lists of slots) or lives within a step.
#[derive(Debug)]
pub struct ParticleSystem {
    /// The state.
    pub state: ParticleState,
    /// Which forces move the droplets.
    pub fidelity: Fidelity,
    /// Slots of droplets that have arrived in the step and have not reacted to other solids yet.
    pub arrived: Vec<SlotIndex>,
    /// Detached droplets, for the model to collect.
    pub detached: Vec<Detached>,
    /// Volume that left the domain, for the model to count, in m³.
    pub lost: f64,
    neighbors: Neighbors,
    /// Sorted slots of sliding droplets; some may have stopped or been removed since.
    sliding: Vec<SlotIndex>,
    /// Slots of droplets that have started to slide.
    starting: Vec<SlotIndex>,
    /// Bounds of the displacements in the last step.
    drift: Drift,
    scratch: Scratch,
}

impl ParticleSystem {
    /// Without droplets.
    pub fn new(fidelity: Fidelity, substrate: Substrate) -> Self {
        let state = ParticleState {
            droplets: Droplets::default(),
            substrate,
            trails: Trails::default(),
            necks: Necks::default(),
            spreads: Spreads::default(),
            pending: Vec::new(),
            transit_time: f64::INFINITY,
        };
        Self {
            state,
            fidelity,
            arrived: Vec::new(),
            detached: Vec::new(),
            lost: 0.0,
            neighbors: Neighbors::default(),
            sliding: Vec::new(),
            starting: Vec::new(),
            drift: Drift::default(),
            scratch: Scratch::default(),
        }
    }

    /// Number of sliding droplets.
    pub fn num_sliding(&self) -> usize {
        self.state.droplets.used().filter(|&slot| self.state.droplets[slot].state.is_sliding).count()
    }

    /// Restores the droplets of a checkpoint.
    pub fn restore(&mut self, droplets: Droplets, surface: &SurfaceMesh) {
        self.state.droplets = droplets;
        self.rebuild_neighbors(surface);
        // A droplet that stopped in the last step is removed from the list in the next one.
        let is_listed = |&slot: &SlotIndex| {
            let slot = &self.state.droplets[slot];
            slot.state.is_sliding || slot.location.displacement != glam::Vec3::ZERO
        };
        self.sliding = self.state.droplets.used().filter(is_listed).collect();
        let has_stopped = |slot: &&SlotIndex| !self.state.droplets[**slot].state.is_sliding;
        self.state.droplets.stopped = self.sliding.iter().filter(has_stopped).copied().collect();
        self.starting.clear();
        self.drift = Drift::default();
        self.state.droplets.used().for_each(|slot| self.drift.include(self.state.droplets[slot].location.displacement));
    }

    /// Advances all droplets by `dt` seconds to the time `now`; `false` if a velocity is not
    /// finite.
    pub fn step(
        &mut self,
        context: &StepContext<'_>,
        (dt, now): (f64, f64),
        ids: &mut IdCounter,
        events: &mut Vec<Event>,
        stages: &mut dyn StageTimer,
        report: &mut StageReports,
    ) -> bool {
        stages.enter("coalesce");
        // Droplets coalesce at any time in the step.
        self.state.necks.advance_to(now - 0.5 * dt, now);
        self.resize_neighbors(context.surface);
        self.coalesce_contacts(context, events);
        stages.enter("slide");
        self.slide(context, dt);
        stages.enter("commit");
        let is_finite = self.commit(context, now, report);
        stages.enter("mark wet");
        self.mark_wet(context);
        stages.enter("find neighbors");
        self.find_sliding_contacts(context, report);
        stages.enter("coalesce");
        self.coalesce_contacts(context, events);
        stages.enter("break up films");
        let num_beads = self.break_up_films(context, now, ids, events);
        report.add("films.beads", num_beads);
        self.coalesce_contacts(context, events);
        stages.enter("spread");
        self.spread(context, dt);
        self.state.necks.advance_to(now, now);
        is_finite
    }

    /// Detects contacts of sliding droplets along the step that they have just made.
    fn find_sliding_contacts(&mut self, context: &StepContext<'_>, report: &mut StageReports) {
        let sliding = std::mem::take(&mut self.sliding);
        self.find_neighbors(&sliding, ContactTime::InStep, context);
        self.sliding = sliding;
        report.add("contacts.pairs", self.scratch.pairs.len() as u64);
    }

    /// Turns films that have dewetted by `now` into droplets; returns how many.
    fn break_up_films(
        &mut self,
        context: &StepContext<'_>,
        now: f64,
        ids: &mut IdCounter,
        events: &mut Vec<Event>,
    ) -> u64 {
        let mut film = MeshFilm { surface: context.surface, substrate: &mut self.state.substrate };
        let beads = self.state.trails.rupture(now, &mut film);
        for bead in &beads {
            let (id, parent) = (ids.issue(), bead.parent);
            // A droplet that has coalesced since cannot split.
            if self.state.droplets.slots.get(bead.slot.to_usize()).is_some_and(|slot| slot.id == Some(parent)) {
                let into = Ids::from_slice(&[parent.get(), id.get()]);
                events.push(Event::Split { split: parent.get(), into });
            }
            self.arrive(id, MotionState { place: bead.place, velocity: DVec2::ZERO }, bead.volume, 0.0, context);
        }
        beads.len() as u64
    }
}

/// A changed droplet after its contact line has been fitted.
#[derive(Clone, Copy, Debug)]
struct Assessed {
    droplet: Droplet,
    point: DVec3,
    /// It is too heavy to hang where it is.
    detaches: bool,
    /// It starts to slide.
    starts: bool,
}

/// The detached droplet of an assessment.
fn detached(assessed: &Assessed, surface: &SurfaceMesh) -> Detached {
    let Droplet { id, motion, size, .. } = assessed.droplet;
    let facet = surface.facet(motion.place.triangle);
    Detached {
        id,
        volume: size.volume,
        solid: facet.solid,
        point: assessed.point,
        velocity: facet.lift(motion.velocity),
        outward: facet.normal(),
        remaining: 0.0,
    }
}
