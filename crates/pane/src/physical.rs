//! The physical mode: drops stick, slide, coalesce and leave trails by the properties of liquid and
//! material.
//!
//! A changed drop detaches from a pane that faces down where it is heavier than the law's largest
//! pendant drop (`Physical::update`).
//!
//! Stages of a step: reassess all drops if gravity or wind have changed; coalesce new and enlarged
//! drops; integrate all sliding drops over a fixed substrate (in parallel); commit film, stops and
//! losses in the order of slots, wet the substrate and find contacts (in parallel); coalesce;
//! rupture films into beads. Drops at rest cost nothing.

mod by_hand;
mod coalesce;
mod evaporate;
mod spread;

use glam::DVec2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids};
use sessile_model::{StageReports, StageTimer};
use sessile_numerics::merge_sorted;
use sessile_sliding::{CoalescenceGroups, FilmSegment, IdCounter, Necks, SlotIndex, SpreadOutcome, Spreads, Trails};
use sessile_wetting::Liquid;

use crate::drops::{Drops, PaneDrop};
use crate::motion::{Outcome, StepContext, film_cells, integrate};
use crate::parameters::PARAMETERS;
use crate::substrate::{CellIndex, Substrate, SubstrateState};

/// Smallest number of drops for which contacts are searched in one task.
const CONTACT_TASK: usize = 256;

/// Drops on a pane in the physical mode.
#[derive(Debug)]
pub struct Physical {
    /// Extent of the pane, in m.
    pub size: DVec2,
    /// The cells.
    pub substrate: Substrate,
    /// The drops.
    pub drops: Drops,
    /// Necks of drops that have merged recently.
    pub necks: Necks,
    /// Drops that have landed and still spread or retract.
    pub spreads: Spreads,
    trails: Trails<CellIndex>,
    /// Volume lost over the pane's edges so far, in m³.
    pub lost: f64,
    /// Drops that leave the pane, to become airborne, with their speeds off it (in m/s).
    pub detached: Vec<(PaneDrop, f64)>,
    /// Slots of sliding drops, ascending; some may have stopped or gone.
    sliding: Vec<SlotIndex>,
    /// Slots of drops that have started to slide, in any order.
    starting: Vec<SlotIndex>,
    /// Largest speed after the last step, in m/s.
    fastest: f64,
    /// Slots of drops that are new or have grown and may touch others.
    pending: Vec<SlotIndex>,
    /// Context of the last step: drops at rest are reassessed when it changes.
    last_context: Option<StepContext>,
    outcomes: Vec<Outcome>,
    /// Slots of drops that touch.
    pairs: Vec<(SlotIndex, SlotIndex)>,
    groups: CoalescenceGroups,
    scratch: Vec<SlotIndex>,
    spread_outcomes: Vec<SpreadOutcome>,
}

/// The state that a checkpoint stores.
#[derive(Serialize, Deserialize)]
pub struct PhysicalState {
    substrate: SubstrateState,
    drops: (Vec<PaneDrop>, Vec<SlotIndex>),
    necks: Necks,
    spreads: Spreads,
    trails: Trails<CellIndex>,
    lost: f64,
    pending: Vec<SlotIndex>,
    last_context: Option<StepContext>,
    fastest: f64,
}

impl Physical {
    /// An empty pane of this extent, in m.
    pub fn new(size: DVec2, substrate: Substrate) -> Self {
        let drops = Drops::new(size, substrate.cell_size);
        Self {
            size,
            substrate,
            drops,
            necks: Necks::default(),
            spreads: Spreads::default(),
            trails: Trails::default(),
            lost: 0.0,
            detached: Vec::new(),
            sliding: Vec::new(),
            starting: Vec::new(),
            fastest: 0.0,
            pending: Vec::new(),
            last_context: None,
            outcomes: Vec::new(),
            pairs: Vec::new(),
            groups: CoalescenceGroups::default(),
            scratch: Vec::new(),
            spread_outcomes: Vec::new(),
        }
    }

    /// Number of sliding drops.
    pub fn num_sliding(&self) -> usize {
        self.drops.iter().filter(|(_, drop)| drop.sliding).count()
    }

    /// Longest step now, in s.
    pub fn longest_step(&self, context: &StepContext) -> f64 {
        let law = self.substrate.law_at(0.5 * self.size);
        context.longest_step(self.fastest, self.substrate.cell_size, law)
    }

    /// Puts a drop on the pane with its contact line at `radius` (in m), within the bounds of the
    /// contact angles.
    pub fn deposit(&mut self, mut drop: PaneDrop, radius: f64, context: &StepContext) {
        drop.radius = radius;
        if self.fit_radius(&mut drop, context) {
            let slot = self.drops.insert(drop);
            self.update(slot, drop, context);
        } else {
            self.detached.push((drop, 0.0));
        }
    }

    /// Adds liquid at a position (negative: removes it): to the drop that covers it, else as a new
    /// drop.
    ///
    /// Returns the volume that was really added, in m³: there may be nothing to remove.
    pub fn pour(&mut self, at: DVec2, volume: f64, context: &StepContext, ids: &mut IdCounter) -> f64 {
        match self.drops.covering(at) {
            Some(slot) => {
                let mut drop = *self.drops.get(slot);
                let poured = volume.max(-drop.volume);
                drop.volume += poured;
                self.update(slot, drop, context);
                poured
            }
            None if volume > 0.0 => {
                self.deposit(PaneDrop::at_rest(ids.issue(), at, volume), 0.0, context);
                volume
            }
            None => 0.0,
        }
    }

    /// Advances all drops by `dt` seconds to the time `end`; returns counts of the stages.
    pub fn step(
        &mut self,
        context: &StepContext,
        (dt, end): (f64, f64),
        ids: &mut IdCounter,
        events: &mut Vec<Event>,
        timer: &mut dyn StageTimer,
    ) -> StageReports {
        let mut report = StageReports::default();
        // Drops meet at any time in the step; the next frame is at its end at the earliest.
        self.necks.advance_to(end - 0.5 * dt, end);
        timer.enter("reassess");
        self.reassess(context);
        timer.enter("spread");
        self.spread(context, dt);
        timer.enter("coalesce");
        let mut merges = self.coalesce(context, events);
        timer.enter("integrate");
        self.integrate_sliding(context, dt);
        timer.enter("commit");
        let sliding = self.commit(context, end);
        timer.enter("coalesce");
        merges += self.coalesce(context, events);
        timer.enter("trails");
        let beads = self.rupture_films(context, end, ids, events);
        merges += self.coalesce(context, events);
        self.necks.advance_to(end, end);
        report.keep_largest("integrate.sliding_drops", sliding as f64);
        report.add("coalesce.merges", merges);
        report.add("trails.beads", beads);
        report
    }

    /// Fits all drops anew and starts those that exceed their retention, if gravity or wind have
    /// changed.
    fn reassess(&mut self, context: &StepContext) {
        if self.last_context.is_some_and(|last| last.has_same_forces(context)) {
            return;
        }
        self.last_context = Some(*context);
        let changed: Vec<(SlotIndex, PaneDrop)> = {
            let slots = self.drops.slots();
            (0..slots.len())
                .into_par_iter()
                .map(SlotIndex::new)
                .filter(|&slot| slots[slot].id.is_some())
                .filter_map(|slot| {
                    let mut drop = slots[slot];
                    let hangs = self.fit_radius(&mut drop, context);
                    let starts = !drop.sliding && self.exceeds_retention(&drop, context);
                    (!hangs || starts || drop != slots[slot]).then_some((slot, drop))
                })
                .collect()
        };
        for (slot, drop) in changed {
            self.update(slot, drop, context);
        }
    }

    /// Sets a drop's radius within the bounds of its volume and the contact angles; `false` if it
    /// is too heavy to hang.
    ///
    /// The contact line is pinned: it advances only as far as θ_a and recedes only as far as θ_r
    /// demand. That of a sliding drop is at the advancing radius.
    fn fit_radius(&self, drop: &mut PaneDrop, context: &StepContext) -> bool {
        if drop.spreading {
            return true;
        }
        let law = self.substrate.law_at(drop.position);
        let Some(least) = context.advancing_radius(law, drop.volume) else {
            // Too heavy to hang at θ_a; a pinned contact line holds more.
            drop.merge_radius = (drop.radius * law.overhang) as f32;
            let outward = -context.normal_acceleration;
            return !drop.sliding && drop.volume <= law.largest_pinned_volume(&context.liquid, drop.radius, outward);
        };
        drop.radius = match drop.radius {
            radius if drop.sliding || radius <= least => least,
            radius => radius.min(context.receding_radius(law, drop.volume, least)),
        };
        drop.merge_radius = (drop.radius * law.overhang) as f32;
        true
    }

    /// Whether a drop at rest must start to slide.
    ///
    /// One that spreads has no pinned line yet: its base begins as a point, and what gravity gains
    /// in these milliseconds is neglected.
    fn exceeds_retention(&self, drop: &PaneDrop, context: &StepContext) -> bool {
        if drop.spreading {
            return false;
        }
        let law = self.substrate.law_at(drop.position);
        let line_excess = context.advancing_radius(law, drop.volume).map_or(0.0, |least| {
            let most = context.receding_radius(law, drop.volume, least);
            if most > least { (drop.radius - least) / (most - least) } else { 0.0 }
        });
        context.exceeds_retention(&self.substrate, drop, line_excess)
    }

    /// Stores a changed drop: it may be gone, detach, start to slide, or touch others now.
    fn update(&mut self, slot: SlotIndex, mut drop: PaneDrop, context: &StepContext) {
        if drop.volume <= 0.0 {
            self.remove(slot);
        } else if self.fit_radius(&mut drop, context) {
            if !drop.sliding && self.exceeds_retention(&drop, context) {
                self.start_sliding(slot, &mut drop, context);
            }
            // A spreading drop wets the pane where it grows.
            if !drop.spreading {
                self.substrate.wet_footprint(drop.position, drop.radius);
            }
            self.drops.update(slot, drop);
            self.pending.push(slot);
        } else {
            self.detach(slot, drop);
        }
    }

    fn start_sliding(&mut self, slot: SlotIndex, drop: &mut PaneDrop, context: &StepContext) {
        (drop.sliding, drop.has_moved, drop.to_next_choice) = (true, true, 0.0);
        self.starting.push(slot);
        self.fit_radius(drop, context);
    }

    /// Removes a drop; the list of sliding drops is cleaned up once per step.
    fn remove(&mut self, slot: SlotIndex) {
        self.trails.end(slot);
        self.necks.remove(slot);
        self.spreads.remove(slot);
        self.drops.remove(slot);
    }

    fn detach(&mut self, slot: SlotIndex, drop: PaneDrop) {
        self.remove(slot);
        self.detached.push((drop, 0.0));
    }

    /// Moves every sliding drop over the fixed substrate.
    fn integrate_sliding(&mut self, context: &StepContext, dt: f64) {
        self.list_sliding();
        self.outcomes.resize_with(self.sliding.len(), Outcome::default);
        let (substrate, size) = (&self.substrate, self.size);
        let change = |drop: &mut PaneDrop, outcome: &mut Outcome| {
            if !drop.sliding {
                *outcome = Outcome::default();
                return;
            }
            *outcome = integrate(drop, context, substrate, dt);
            if outcome.sheds && !drop.spreading {
                let law = substrate.law_at(drop.position);
                // Lighter than before, it hangs if it did before; else the commit detaches it.
                drop.radius = context.advancing_radius(law, drop.volume).unwrap_or(drop.radius);
                drop.merge_radius = (drop.radius * law.overhang) as f32;
            }
            let wetting_due = f64::from(drop.since_wetting) > PARAMETERS.wetting_interval * drop.radius;
            outcome.wets = outcome.needs_commit || wetting_due;
            if outcome.wets {
                drop.since_wetting = 0.0;
            }
            outcome.needs_commit |= is_outside(drop.position, size);
            outcome.speed = drop.speed;
        };
        let strayed = |outcome: &mut Outcome| outcome.needs_commit = true;
        self.drops.change_in_place(&self.sliding, &mut self.outcomes, &change, &strayed);
        self.fastest = self.outcomes.iter().map(|outcome| f64::from(outcome.speed)).fold(0.0, f64::max);
    }

    /// Adds the starting drops to the list of sliding ones: ascending, each once. Stopped drops are
    /// still in it.
    fn list_sliding(&mut self) {
        self.starting.sort_unstable();
        self.starting.dedup();
        if !self.starting.is_empty() {
            merge_sorted(&mut self.sliding, self.starting.drain(..), &mut self.scratch);
        }
    }

    /// Commits the outcomes in the order of slots; returns the number of drops that slid.
    fn commit(&mut self, context: &StepContext, end: f64) -> usize {
        let sliding = std::mem::take(&mut self.sliding);
        let outcomes = std::mem::take(&mut self.outcomes);
        for (&slot, outcome) in sliding.iter().zip(&outcomes).filter(|(_, outcome)| outcome.needs_commit) {
            self.commit_drop(slot, outcome, context, end);
        }
        self.wet_and_find_contacts(&sliding, &outcomes);
        // A drop without a segment had stopped or gone before the step.
        self.sliding = std::mem::take(&mut self.scratch);
        self.sliding.clear();
        let moved = sliding.iter().zip(&outcomes).filter(|(_, outcome)| outcome.num_segments() > 0);
        self.sliding.extend(moved.map(|(&slot, _)| slot));
        (self.scratch, self.outcomes) = (sliding, outcomes);
        self.sliding.len()
    }

    /// Commits one outcome: film left and absorbed, stop, detachment, loss over the edge.
    fn commit_drop(&mut self, slot: SlotIndex, outcome: &Outcome, context: &StepContext, end: f64) {
        let mut drop = *self.drops.get(slot);
        self.leave_film(slot, &drop, outcome, &context.liquid, end);
        let taken = self.take_film(&drop, outcome);
        if drop.speed == 0.0 {
            // Its direction is blocked; another may be open.
            drop.sliding = self.exceeds_retention(&drop, context);
            drop.to_next_choice = 0.0;
        }
        if !drop.sliding {
            self.trails.end(slot);
        }
        if taken > 0.0 {
            drop.volume += taken;
            drop.sliding |= self.exceeds_retention(&drop, context);
            if !self.fit_radius(&mut drop, context) {
                self.detach(slot, drop);
                return;
            }
        }
        if is_outside(drop.position, self.size) {
            self.remove(slot);
            self.lost += drop.volume;
            return;
        }
        self.drops.update(slot, drop);
    }

    /// Puts the film that a drop has left on the cells under its rear.
    fn leave_film(&mut self, slot: SlotIndex, drop: &PaneDrop, outcome: &Outcome, liquid: &Liquid, now: f64) {
        let Some(id) = drop.id.filter(|_| outcome.sheds) else { return };
        let behind = drop.heading.as_dvec2() * drop.radius;
        let width = f64::from(outcome.trail_width).max(PARAMETERS.min_film_width * drop.radius);
        for segment in (0..outcome.num_segments()).filter(|&segment| outcome.shed(segment) > 0.0) {
            let (from, to) = (outcome.vertex(segment, drop.position), outcome.vertex(segment + 1, drop.position));
            let (rear, volume) = (self.substrate.cell_at(to - behind), outcome.shed(segment));
            self.substrate.add_film(rear, volume);
            let film = FilmSegment { slot, id, at: rear, volume, length: to.distance(from), width };
            self.trails.extend(&film, self.substrate.law(rear), liquid, now);
        }
    }

    /// Takes up the film that a drop has met and returns its volume, in m³.
    fn take_film(&mut self, drop: &PaneDrop, outcome: &Outcome) -> f64 {
        let mut taken = 0.0;
        for at in outcome.ends(drop.position) {
            for cell in film_cells(&self.substrate, at, drop.heading.as_dvec2(), drop.radius) {
                taken += self.substrate.take_film(cell);
            }
        }
        taken
    }

    /// Wets the substrate along the paths and finds the drops that were touched on the way.
    fn wet_and_find_contacts(&mut self, sliding: &[SlotIndex], outcomes: &[Outcome]) {
        let (drops, substrate) = (&self.drops, &self.substrate);
        let found: Vec<(SlotIndex, SlotIndex)> = sliding
            .par_iter()
            .zip(outcomes)
            .with_min_len(CONTACT_TASK)
            .fold(Vec::new, |mut pairs, (&slot, outcome)| {
                let drop = drops.get(slot);
                let path = outcome.ends(drop.position);
                if outcome.wets {
                    path.clone().for_each(|at| substrate.wet_footprint(at, drop.radius));
                }
                if drop.id.is_some() {
                    drops.touching_path(&path, f64::from(drop.merge_radius), slot, |other| {
                        pairs.push((slot.min(other), slot.max(other)));
                    });
                }
                pairs
            })
            .reduce(Vec::new, |mut a, mut b| {
                a.append(&mut b);
                a
            });
        self.pairs.extend(found);
    }

    /// Ruptures the films that are due into beads; returns the number of beads.
    fn rupture_films(&mut self, context: &StepContext, now: f64, ids: &mut IdCounter, events: &mut Vec<Event>) -> u64 {
        let beads = self.trails.rupture(now, &mut self.substrate);
        for bead in &beads {
            let (id, parent) = (ids.issue(), bead.parent);
            // A drop that has merged since cannot split.
            if self.drops.get(bead.slot).id == Some(parent) {
                let into = Ids::from_slice(&[parent.get(), id.get()]);
                events.push(Event::Split { split: parent.get(), into });
            }
            self.deposit(PaneDrop::at_rest(id, bead.place, bead.volume), 0.0, context);
        }
        beads.len() as u64
    }

    /// The state that a checkpoint stores.
    pub fn save(&self) -> PhysicalState {
        PhysicalState {
            substrate: self.substrate.save(),
            drops: self.drops.save(),
            necks: self.necks.clone(),
            spreads: self.spreads.clone(),
            trails: self.trails.clone(),
            lost: self.lost,
            pending: self.pending.clone(),
            last_context: self.last_context,
            fastest: self.fastest,
        }
    }

    /// Restores a saved state on an empty pane; `false` if it belongs to another pane.
    pub fn restore(&mut self, state: PhysicalState) -> bool {
        if !state.necks.is_consistent()
            || !state.spreads.is_consistent(state.drops.0.len())
            || !self.substrate.restore(state.substrate)
        {
            return false;
        }
        self.drops.restore(state.drops);
        self.sliding = self.drops.iter().filter(|(_, drop)| drop.sliding).map(|(slot, _)| slot).collect();
        (self.necks, self.spreads, self.trails) = (state.necks, state.spreads, state.trails);
        (self.lost, self.pending) = (state.lost, state.pending);
        (self.last_context, self.fastest) = (state.last_context, state.fastest);
        true
    }
}

/// Whether a position lies outside a pane of this size.
fn is_outside(position: DVec2, size: DVec2) -> bool {
    position.cmplt(DVec2::ZERO).any() || position.cmpgt(size).any()
}
