//! The physical form: drops that hold, run, merge and leave trails by the liquid's and the material's own numbers.
//!
//! A step is: look again at everything if gravity or wind have changed; run every moving drop over ground that is frozen for
//! the while (in parallel); carry out what came of it, in the order of slots; wet the ground that fronts passed (in parallel);
//! merge what touches (pairs found in parallel, joined in order); break films that have dewetted into beads. Resting
//! drops cost nothing.

use std::collections::BTreeMap;

use glam::DVec2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids};
use sessile_model::StageTimer;
use sessile_numerics::merge_sorted;
use sessile_wetting::Liquid;

use crate::drops::{Drops, PaneDrop};
use crate::ground::{Ground, GroundState};
use crate::motion::{Outcome, Slope, advance, film_cells, starts};
use crate::neck::{Necks, Part};
use crate::trail::{Piece, Trails};

/// A running drop wets the ground under it after this much way, in base radii.
const WETS_EVERY: f64 = 0.5;

/// Drops on a pane.
#[derive(Debug)]
pub struct Physical {
    /// Extent of the pane, in m.
    pub size: DVec2,
    /// What they are on.
    pub ground: Ground,
    /// The drops.
    pub drops: Drops,
    /// Shapes of drops that have merged not long ago.
    pub necks: Necks,
    trails: Trails,
    /// Left over the pane's edge so far, in m³.
    pub lost: f64,
    /// Too heavy to hang: to be taken up as balls in the air.
    pub fallen: Vec<PaneDrop>,
    /// Slots of running drops, rising; some may have stopped or gone since.
    runners: Vec<u32>,
    /// Slots that have set off since, in any order.
    newcomers: Vec<u32>,
    /// The fastest drop's speed after the last run, in m/s.
    fastest: f64,
    /// Slots that have grown or arrived and may touch something.
    touched: Vec<u32>,
    /// What acted in the last step: resting drops need a look only when this changes.
    last_slope: Option<Slope>,
    outcomes: Vec<Outcome>,
    pairs: Vec<(u32, u32)>,
    spare: Vec<u32>,
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
pub struct PhysicalState {
    ground: GroundState,
    drops: (Vec<PaneDrop>, Vec<u32>),
    necks: Necks,
    trails: Trails,
    lost: f64,
    touched: Vec<u32>,
    last_slope: Option<Slope>,
    fastest: f64,
}

impl Physical {
    /// An empty pane of this extent, in m.
    pub fn new(size: DVec2, ground: Ground) -> Self {
        let drops = Drops::new(size, ground.cell);
        Self {
            size,
            ground,
            drops,
            necks: Necks::default(),
            trails: Trails::default(),
            lost: 0.0,
            fallen: Vec::new(),
            runners: Vec::new(),
            newcomers: Vec::new(),
            fastest: 0.0,
            touched: Vec::new(),
            last_slope: None,
            outcomes: Vec::new(),
            pairs: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Number of drops that are on their way.
    pub fn num_running(&self) -> usize {
        self.drops.iter().filter(|(_, drop)| drop.running).count()
    }

    /// Longest step now, in s.
    pub fn longest_step(&self, slope: &Slope) -> f64 {
        slope.longest_step(self.fastest, self.ground.cell)
    }

    /// A drop arrives on the pane with its line at `radius` (in m), as far as the angles allow.
    pub fn arrive(&mut self, mut drop: PaneDrop, radius: f64, slope: &Slope) {
        drop.radius = radius;
        if self.fit(&mut drop, slope) {
            let slot = self.drops.insert(drop);
            self.replace(slot, drop, slope);
        } else {
            self.fallen.push(drop);
        }
    }

    /// Pours liquid onto a place (negative takes it away): into the drop that covers it, else as a new drop.
    ///
    /// Says how much was really poured, in m³: there may be nothing to take.
    pub fn pour(&mut self, at: DVec2, volume: f64, slope: &Slope, next_id: &mut u32) -> f64 {
        match self.drops.covering(at) {
            Some(slot) => {
                let mut drop = *self.drops.get(slot);
                let poured = volume.max(-drop.volume);
                drop.volume += poured;
                self.replace(slot, drop, slope);
                poured
            }
            None if volume > 0.0 => {
                let id = *next_id;
                *next_id += 1;
                self.arrive(PaneDrop::resting(id, at, volume), 0.0, slope);
                volume
            }
            None => 0.0,
        }
    }

    /// Advances all drops by `dt` seconds to the time `now`.
    pub fn step(
        &mut self,
        slope: &Slope,
        dt: f64,
        now: f64,
        next_id: &mut u32,
        events: &mut Vec<Event>,
        stages: &mut dyn StageTimer,
    ) {
        if self.last_slope != Some(*slope) {
            stages.enter("look again");
            self.look_again(slope);
            self.last_slope = Some(*slope);
        }
        stages.enter("merge");
        self.merge_touching(slope, events);
        stages.enter("run");
        self.run(slope, dt);
        stages.enter("carry out");
        self.carry_out(slope, now);
        stages.enter("merge");
        self.merge_touching(slope, events);
        stages.enter("trails");
        for bead in self.trails.beads_due(now, &mut self.ground, &self.drops, next_id, events) {
            self.arrive(bead, 0.0, slope);
        }
        self.merge_touching(slope, events);
        self.necks.relax(dt);
    }

    /// Gravity or wind have changed: sizes and starts of all drops are looked at again.
    fn look_again(&mut self, slope: &Slope) {
        let changed: Vec<(u32, PaneDrop)> = {
            let slots = self.drops.slots();
            (0..slots.len() as u32)
                .into_par_iter()
                .filter(|&slot| slots[slot as usize].id != 0)
                .filter_map(|slot| {
                    let mut drop = slots[slot as usize];
                    let holds = self.fit(&mut drop, slope);
                    let begins = !drop.running && self.begins(&drop, slope);
                    (!holds || begins || drop != slots[slot as usize]).then_some((slot, drop))
                })
                .collect()
        };
        for (slot, drop) in changed {
            self.replace(slot, drop, slope);
        }
    }

    /// Sets a drop's radius within what its volume and the angles allow; `false` when it is too heavy to hang.
    ///
    /// The line is pinned: it moves only as far as the advancing angle pushes it out or the receding angle draws it in. A
    /// running drop's line has moved, so it is at the advancing radius.
    fn fit(&self, drop: &mut PaneDrop, slope: &Slope) -> bool {
        let law = self.ground.law(self.ground.cell_at(drop.place));
        let Some(least) = law.advancing_radius(drop.volume, slope) else { return false };
        let most = |least: f64| law.receding_radius(drop.volume, slope).unwrap_or(least).max(least);
        drop.radius = match drop.radius {
            radius if drop.running || radius <= least => least,
            radius => radius.min(most(least)),
        };
        drop.reach = (drop.radius * law.overhang) as f32;
        true
    }

    /// Whether a resting drop cannot stay.
    fn begins(&self, drop: &PaneDrop, slope: &Slope) -> bool {
        let law = self.ground.law(self.ground.cell_at(drop.place));
        let spread = match law.radii(drop.volume, slope) {
            Some([least, most]) if most > least => (drop.radius - least) / (most - least),
            _ => 0.0,
        };
        starts(slope, &self.ground, drop.place, drop.volume, drop.radius, spread)
    }

    /// Puts a changed drop back: it may be gone, fall, start, or touch others now.
    fn replace(&mut self, slot: u32, mut drop: PaneDrop, slope: &Slope) {
        if drop.volume <= 0.0 {
            self.let_go(slot);
        } else if self.fit(&mut drop, slope) {
            if !drop.running && self.begins(&drop, slope) {
                self.set_off(slot, &mut drop, slope);
            }
            self.wet_under(&drop);
            self.drops.update(slot, drop);
            self.touched.push(slot);
        } else {
            self.let_go(slot);
            self.fallen.push(drop);
        }
    }

    fn set_off(&mut self, slot: u32, drop: &mut PaneDrop, slope: &Slope) {
        (drop.running, drop.has_run, drop.to_next) = (true, true, 0.0);
        self.newcomers.push(slot);
        self.fit(drop, slope);
    }

    /// Forgets a drop; the list of runners is cleaned once a step, not here.
    fn let_go(&mut self, slot: u32) -> PaneDrop {
        self.trails.close(slot);
        self.necks.forget(slot);
        self.drops.remove(slot)
    }

    fn wet_under(&self, drop: &PaneDrop) {
        let law = self.ground.law(self.ground.cell_at(drop.place));
        self.ground.wet_disc(drop.place, drop.radius, law.raggedness);
    }

    /// Every running drop over frozen ground, to its new place.
    fn run(&mut self, slope: &Slope, dt: f64) {
        self.list_runners();
        self.outcomes.resize_with(self.runners.len(), Outcome::default);
        let (ground, size) = (&self.ground, self.size);
        let run = |drop: &mut PaneDrop, outcome: &mut Outcome| {
            if !drop.running {
                *outcome = Outcome::default();
                return;
            }
            *outcome = advance(drop, slope, ground, dt);
            if outcome.sheds {
                let law = ground.law(ground.cell_at(drop.place));
                // Lighter than before, it hangs if it has hung; else the serial part lets it fall.
                drop.radius = law.advancing_radius(drop.volume, slope).unwrap_or(drop.radius);
                drop.reach = (drop.radius * law.overhang) as f32;
            }
            // Wetting at every half radius leaves edges within 3 % of a smooth path's.
            outcome.wets = outcome.is_notable || f64::from(drop.since_wet) > WETS_EVERY * drop.radius;
            if outcome.wets {
                drop.since_wet = 0.0;
            }
            outcome.is_notable |= drop.place.cmplt(DVec2::ZERO).any() || drop.place.cmpgt(size).any();
            outcome.speed = drop.speed;
        };
        self.drops.change_in_place(&self.runners, &mut self.outcomes, &run, &|outcome| outcome.is_notable = true);
        self.fastest = self.outcomes.iter().map(|outcome| f64::from(outcome.speed)).fold(0.0, f64::max);
    }

    /// Brings the list of runners up to date: rising, each once. Slots that run no more are still in it.
    fn list_runners(&mut self) {
        self.newcomers.sort_unstable();
        self.newcomers.dedup();
        if !self.newcomers.is_empty() {
            merge_sorted(&mut self.runners, self.newcomers.drain(..), &mut self.spare);
        }
    }

    /// Looks at what came of it, drop by drop in the order of slots: film left and taken up, stops, drops that left the pane.
    fn carry_out(&mut self, slope: &Slope, now: f64) {
        let runners = std::mem::take(&mut self.runners);
        let outcomes = std::mem::take(&mut self.outcomes);
        for (&slot, outcome) in runners.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_notable) {
            let mut drop = *self.drops.get(slot);
            self.lay_film(slot, &drop, outcome, &slope.liquid, now);
            let taken = self.take_film(&drop, outcome);
            if drop.speed == 0.0 {
                // The way it took is closed; another may be open.
                drop.running = self.begins(&drop, slope);
                drop.to_next = 0.0;
            }
            if !drop.running {
                self.trails.close(slot);
            }
            if taken > 0.0 {
                drop.volume += taken;
                drop.running |= self.begins(&drop, slope);
                if !self.fit(&mut drop, slope) {
                    self.let_go(slot);
                    self.fallen.push(drop);
                    continue;
                }
            }
            if drop.place.cmplt(DVec2::ZERO).any() || drop.place.cmpgt(self.size).any() {
                self.let_go(slot);
                self.lost += drop.volume;
                continue;
            }
            self.drops.update(slot, drop);
        }
        self.wet_and_touch(&runners, &outcomes);
        // Who did not move has stopped or gone before.
        self.runners = std::mem::take(&mut self.spare);
        self.runners.clear();
        let moved = runners.iter().zip(&outcomes).filter(|(_, outcome)| outcome.num_segments() > 0);
        self.runners.extend(moved.map(|(&slot, _)| slot));
        (self.spare, self.outcomes) = (runners, outcomes);
    }

    /// Lays down what a drop has shed.
    fn lay_film(&mut self, slot: u32, drop: &PaneDrop, outcome: &Outcome, liquid: &Liquid, now: f64) {
        if !outcome.sheds {
            return;
        }
        let behind = drop.heading.as_dvec2() * drop.radius;
        // A film that is barely shed has hardly a width: a twentieth of the drop's at least.
        let width = f64::from(outcome.trail_width).max(0.1 * drop.radius);
        for segment in (0..outcome.num_segments()).filter(|&segment| outcome.shed(segment) > 0.0) {
            let (from, to) = (outcome.corner(segment, drop.place), outcome.corner(segment + 1, drop.place));
            let (rear, volume) = (self.ground.cell_at(to - behind), outcome.shed(segment));
            self.ground.add_film(rear, volume);
            let piece = Piece { slot, drop: drop.id, cell: rear as u32, volume, length: to.distance(from), width };
            self.trails.extend(&piece, self.ground.law(rear), liquid, now);
        }
    }

    /// Takes up the film that a drop has met, and says how much, in m³.
    fn take_film(&mut self, drop: &PaneDrop, outcome: &Outcome) -> f64 {
        let mut taken = 0.0;
        for at in outcome.ends(drop.place) {
            for cell in film_cells(&self.ground, at, drop.heading.as_dvec2(), drop.radius) {
                taken += self.ground.take_film(cell);
            }
        }
        taken
    }

    /// Wets the ground that the runners passed and finds which drops they touched on their way.
    fn wet_and_touch(&mut self, runners: &[u32], outcomes: &[Outcome]) {
        let (drops, ground) = (&self.drops, &self.ground);
        let found: Vec<(u32, u32)> = runners
            .par_iter()
            .zip(outcomes)
            .with_min_len(256)
            .fold(Vec::new, |mut pairs, (&slot, outcome)| {
                let drop = drops.get(slot);
                let path = outcome.ends(drop.place);
                if outcome.wets {
                    for at in path.clone() {
                        ground.wet_disc(at, drop.radius, ground.law(ground.cell_at(at)).raggedness);
                    }
                }
                if drop.id != 0 {
                    drops.touching_path(&path, f64::from(drop.reach), slot, |other| {
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

    /// Joins all drops that touch, until none do.
    fn merge_touching(&mut self, slope: &Slope, events: &mut Vec<Event>) {
        loop {
            let mut touched = std::mem::take(&mut self.touched);
            touched.sort_unstable();
            touched.dedup();
            for &slot in &touched {
                let drop = *self.drops.get(slot);
                if drop.id != 0 {
                    let pairs = &mut self.pairs;
                    self.drops.touching(drop.place, f64::from(drop.reach), slot, |other| {
                        pairs.push((slot.min(other), slot.max(other)));
                    });
                }
            }
            touched.clear();
            self.touched = touched;
            if self.pairs.is_empty() {
                return;
            }
            let mut pairs = std::mem::take(&mut self.pairs);
            pairs.sort_unstable();
            pairs.dedup();
            for group in groups(&pairs) {
                self.join(&group, slope, events);
            }
            pairs.clear();
            self.pairs = pairs;
        }
    }

    /// Makes one drop of several: volume and momentum add up, the largest keeps its slot and id.
    fn join(&mut self, slots: &[u32], slope: &Slope, events: &mut Vec<Event>) {
        let members: Vec<(u32, PaneDrop)> =
            slots.iter().map(|&slot| (slot, *self.drops.get(slot))).filter(|(_, drop)| drop.id != 0).collect();
        let Some(&(slot, largest)) =
            members.iter().max_by(|(_, a), (_, b)| a.volume.total_cmp(&b.volume).then(b.id.cmp(&a.id)))
        else {
            return;
        };
        if members.len() < 2 {
            return;
        }
        let volume: f64 = members.iter().map(|(_, drop)| drop.volume).sum();
        let mean = |quantity: fn(&PaneDrop) -> DVec2| {
            members.iter().map(|(_, drop)| drop.volume * quantity(drop)).sum::<DVec2>() / volume
        };
        let (place, velocity) = (mean(|drop| drop.place), mean(PaneDrop::velocity));
        let area: f64 = members.iter().map(|(_, drop)| drop.radius * drop.radius).sum();
        let parts: Vec<Part> = members
            .iter()
            .flat_map(|&(slot, ref drop)| self.necks.parts_of(slot, drop.place, place, drop.volume / volume))
            .collect();
        let mut ids: Ids = members.iter().map(|(_, drop)| drop.id).collect();
        ids.sort_unstable();
        events.push(Event::Merge { merge: ids, into: largest.id });

        let was_running = largest.running;
        for &(other, _) in members.iter().filter(|&&(other, _)| other != slot) {
            self.let_go(other);
        }
        let speed = velocity.length();
        let mut joined = PaneDrop { place, volume, radius: area.sqrt(), speed: speed as f32, ..largest };
        if speed > 0.0 {
            (joined.heading, joined.has_run) = ((velocity / speed).as_vec2(), true);
            if !was_running {
                self.set_off(slot, &mut joined, slope);
            }
        }
        self.necks.remember(slot, parts, &slope.liquid, volume);
        self.replace(slot, joined, slope);
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> PhysicalState {
        PhysicalState {
            ground: self.ground.save(),
            drops: self.drops.save(),
            necks: self.necks.clone(),
            trails: self.trails.clone(),
            lost: self.lost,
            touched: self.touched.clone(),
            last_slope: self.last_slope,
            fastest: self.fastest,
        }
    }

    /// Takes up a saved state on a pane that is still empty; `false` when it belongs to another.
    pub fn restore(&mut self, state: PhysicalState) -> bool {
        if !self.ground.restore(state.ground) {
            return false;
        }
        self.drops.restore(state.drops);
        self.runners = self.drops.iter().filter(|(_, drop)| drop.running).map(|(slot, _)| slot).collect();
        (self.necks, self.trails) = (state.necks, state.trails);
        (self.lost, self.touched) = (state.lost, state.touched);
        (self.last_slope, self.fastest) = (state.last_slope, state.fastest);
        true
    }
}

/// Groups of slots that hang together by pairs, each sorted, by rising first slot.
fn groups(pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut parent: BTreeMap<u32, u32> = BTreeMap::new();
    fn root(parent: &BTreeMap<u32, u32>, mut slot: u32) -> u32 {
        while let Some(&up) = parent.get(&slot).filter(|&&up| up != slot) {
            slot = up;
        }
        slot
    }
    for &(a, b) in pairs {
        let (a, b) = (root(&parent, a), root(&parent, b));
        parent.insert(a.max(b), a.min(b));
        parent.entry(a.min(b)).or_insert(a.min(b));
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &slot in parent.keys() {
        groups.entry(root(&parent, slot)).or_default().push(slot);
    }
    groups.into_values().collect()
}
