//! Which droplets are near: those that stand where they are, and those on their way.
//!
//! The two are kept apart. Who stands is entered once and costs nothing until somebody comes by. Who runs is entered anew after
//! every step, where it has come to; whoever looks for sliding looks farther by their steps, without looking farther for those at rest.

use glam::{DVec3, Vec3};

use crate::droplets::{Location, NIL, Slot};
use crate::grid::{Arrival, Arrivals, Grid, Look, Region, Scratch};

/// Mark of a bucket among those of sliding.
const RUNS: u32 = 1 << 31;

/// Droplets for which memory is fetched at once.
const AT_ONCE: usize = 32;

/// Room for looking round.
#[derive(Clone, Debug, Default)]
pub struct Round {
    looks: Vec<Look>,
    scratch: Scratch,
}

/// Slots by where they are. Which bucket a slot is in lies in its location; every call is handed all slots.
#[derive(Clone, Debug)]
pub struct Neighbors {
    standing: Grid,
    running: Grid,
    /// Droplets and sliding that it was made for.
    made_for: [usize; 2],
}

impl Default for Neighbors {
    fn default() -> Self {
        Self::rebuilt(0, 0, [4e-3; 2])
    }
}

impl Neighbors {
    /// An empty one for `count` droplets, of which `running` run; `cells` are the widths of the smallest cells for both, in m.
    pub fn rebuilt(count: usize, running: usize, cells: [f64; 2]) -> Self {
        Self { standing: Grid::new(count, cells[0]), running: Grid::new(running, cells[1]), made_for: [count, running] }
    }

    /// Droplets in a cell, as a droplet finds them on average: those that stand or those that run, whichever are more.
    pub fn crowd(&self) -> f64 {
        self.standing.crowd().max(self.running.crowd())
    }

    /// Whether it was made for many fewer droplets than there are, or sliding, or for smaller ones: [`Neighbors::rebuilt`] is due.
    pub fn is_outgrown(&self, droplets: usize, running: usize) -> bool {
        let outgrown = |count: usize, made_for: usize| count > made_for + made_for / 4 + 64;
        self.standing.is_outgrown() || outgrown(droplets, self.made_for[0]) || outgrown(running, self.made_for[1])
    }

    /// Whether it was made for so many fewer slots that it cannot wait until the next step.
    pub fn is_full(&self, slots: usize) -> bool {
        slots > 4 * self.made_for[0] + 1024
    }

    /// Puts a slot where it belongs now; a runner that is entered as such remains so.
    pub fn place(&mut self, slots: &mut [Slot], slot: u32, solid: u32, merge_radius: f32) {
        let location = &mut slots[slot as usize].location;
        (location.solid, location.merge_radius) = (solid, merge_radius);
        let runs = runs(location);
        let (grid, mark) = if runs { (&mut self.running, RUNS) } else { (&mut self.standing, 0) };
        let before = if location.bucket == NIL { NIL } else { location.bucket & !RUNS };
        let arrival = grid.arrival(slot, solid, location.point, merge_radius);
        grid.replace(before, &arrival);
        location.bucket = arrival.bucket | mark;
    }

    /// Puts a runner that is nowhere yet where it is now, until [all run](Neighbors::all_run).
    pub fn place_runner(&mut self, slots: &mut [Slot], slot: u32, solid: u32, merge_radius: f32) {
        let location = &mut slots[slot as usize].location;
        (location.solid, location.merge_radius) = (solid, merge_radius);
        location.bucket = self.running.insert(slot, solid, location.point, merge_radius) | RUNS;
    }

    /// What it takes to put a slot elsewhere on a solid, where a runner that is entered as such remains so.
    #[inline]
    pub fn moved(
        &self,
        slot: u32,
        location: &Location,
        solid: u32,
        point: DVec3,
        merge_radius: f32,
        changes: &mut Changes,
    ) -> Move {
        let runs = runs(location);
        let (grid, mark) = if runs { (&self.running, RUNS) } else { (&self.standing, 0) };
        let arrival = grid.arrival(slot, solid, point, merge_radius);
        let before = if location.bucket == NIL { NIL } else { location.bucket & !RUNS };
        changes.of(runs).push(Change { slot, before, after: Some(arrival) });
        Move { slot, solid, merge_radius, bucket: arrival.bucket | mark }
    }

    /// Carries out many changes; each slot has one at most.
    pub fn change<'a, I: Iterator<Item = &'a Changes>>(&mut self, changes: impl Fn() -> I + Sync) {
        let carry_out = |grid: &mut Grid, list: fn(&Changes) -> &[Change]| {
            for some in changes().flat_map(|changes| list(changes).chunks(AT_ONCE)) {
                grid.fetch(some.iter().flat_map(Change::buckets));
                some.iter().for_each(|change| change.carry_out(grid));
            }
        };
        let Self { standing, running, .. } = self;
        let mut stand = || carry_out(standing, |changes| &changes.standing);
        let mut run = || carry_out(running, |changes| &changes.running);
        if changes().nth(1).is_some() {
            rayon::join(stand, run);
        } else {
            stand();
            run();
        }
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slots: &mut [Slot], slot: u32) {
        let location = &mut slots[slot as usize].location;
        if location.bucket == NIL {
            return;
        }
        if runs(location) {
            self.running.remove(location.bucket & !RUNS, slot);
        } else {
            self.standing.remove(location.bucket, slot);
        }
        location.bucket = NIL;
    }

    /// A runner has stopped: it stands from now on.
    pub fn stop(&mut self, slots: &mut [Slot], slot: u32) {
        let location = &slots[slot as usize].location;
        if location.bucket != NIL && runs(location) {
            let (solid, merge_radius) = (location.solid, location.merge_radius);
            self.remove(slots, slot);
            self.place(slots, slot, solid, merge_radius);
        }
    }

    /// A droplet sets out: it is not entered as standing any more.
    pub fn set_out(&mut self, slots: &mut [Slot], slot: u32) {
        let location = &mut slots[slot as usize].location;
        if location.bucket != NIL && !runs(location) {
            self.standing.remove(location.bucket, slot);
            location.bucket = NIL;
        }
    }

    /// All sliding are on their way: nobody is entered as one until it [arrives](Neighbors::arrive).
    pub fn all_run(&mut self) {
        self.running.clear();
    }

    /// The location of a runner that has come to a point of a solid by a step; [`Neighbors::arrive`] will enter it there.
    #[inline]
    pub fn stands_at(
        &self,
        arrivals: &mut Arrivals,
        slot: u32,
        point: DVec3,
        step: Vec3,
        solid: u32,
        merge_radius: f32,
    ) -> Location {
        let bucket = self.running.announce(arrivals, slot, solid, point, merge_radius) | RUNS;
        Location { point, displacement: step, merge_radius, solid, bucket }
    }

    /// Enters sliding where they have come to.
    pub fn arrive(&mut self, arrivals: &Arrivals) {
        self.running.take(arrivals);
    }

    /// Slots that may cover a point of a solid; some may belong to another solid, some come twice.
    pub fn covering(&self, solid: u32, point: DVec3, mut found: impl FnMut(u32)) {
        self.standing.near(solid, point, point, 0.0, &mut found);
        self.running.near(solid, point, point, 0.0, &mut found);
    }

    /// Slots of a solid that may lie within `around` plus their own merge_radius of a way, and sliding as far again as the way is long.
    pub fn near_way(&self, look: &Look, mut found: impl FnMut(u32)) {
        let &Look { solid, from, to, around, .. } = look;
        self.standing.near(solid, from, to, around, &mut found);
        self.running.near(solid, from, to, around + from.distance(to), &mut found);
    }

    /// Largest merge_radius of anybody, in m.
    pub fn largest_reach(&self) -> f64 {
        self.standing.largest_seen().max(self.running.largest_seen())
    }

    /// For each location, by its index, the slots that it may have pending; some may belong to another solid, some come twice.
    ///
    /// With `drift`, the steps of all, that is in the last step: who stands within both reaches of its way, and which sliding, none faster than itself, may
    /// have been within them at some time. Without, where all are now.
    pub fn near(
        &self,
        locations: &[(u32, Location)],
        drift: Option<&Drift>,
        round: &mut Round,
        mut found: impl FnMut(usize, u32),
    ) {
        for (first, some) in (0..).step_by(AT_ONCE).zip(locations.chunks(AT_ONCE)) {
            let Round { looks, scratch } = round;
            let look = |&(own, ref location): &(u32, Location)| {
                let around = f64::from(location.merge_radius);
                let from =
                    if drift.is_some() { location.point - location.displacement.as_dvec3() } else { location.point };
                Look { solid: location.solid, own, from, to: location.point, around }
            };
            looks.clear();
            looks.extend(some.iter().map(look));
            self.standing.near_many(looks, Region::Way, scratch, |index, other| found(first + index, other));
            if let Some(drift) = drift {
                for (look, (_, location)) in looks.iter_mut().zip(some) {
                    let [back, ahead] = drift.past(location.displacement);
                    (look.from, look.to) = (location.point + back.as_dvec3(), location.point + ahead.as_dvec3());
                }
            }
            self.running.near_many(looks, Region::Box, scratch, |index, other| found(first + index, other));
        }
    }
}

/// Changes among those that stand and among those that run.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    standing: Vec<Change>,
    running: Vec<Change>,
}

impl Changes {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.standing.clear();
        self.running.clear();
    }

    /// A slot is to be taken out, if it is entered.
    #[inline]
    pub fn remove(&mut self, slot: u32, location: &Location) {
        if location.bucket != NIL {
            self.of(runs(location)).push(Change { slot, before: location.bucket & !RUNS, after: None });
        }
    }

    fn of(&mut self, runs: bool) -> &mut Vec<Change> {
        if runs { &mut self.running } else { &mut self.standing }
    }
}

/// A slot leaves its bucket, for another or for none.
#[derive(Clone, Copy, Debug)]
struct Change {
    slot: u32,
    /// Where it is, or [`NIL`].
    before: u32,
    after: Option<Arrival>,
}

impl Change {
    /// Those that it is about.
    #[inline]
    fn buckets(&self) -> impl Iterator<Item = u32> + use<> {
        let before = Some(self.before).filter(|&bucket| bucket != NIL);
        let after = self.after.map(|after| after.bucket).filter(|&bucket| bucket != self.before);
        before.into_iter().chain(after)
    }

    #[inline]
    fn carry_out(&self, grid: &mut Grid) {
        match &self.after {
            Some(after) => grid.replace(self.before, after),
            None => grid.remove(self.before, self.slot),
        }
    }
}

/// A slot goes to another place.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// Which.
    pub slot: u32,
    solid: u32,
    merge_radius: f32,
    bucket: u32,
}

impl Move {
    /// Writes into the slot's location that it has come to a point.
    #[inline]
    pub fn note(&self, location: &mut Location, point: DVec3) {
        (location.point, location.solid, location.merge_radius, location.bucket) =
            (point, self.solid, self.merge_radius, self.bucket);
    }
}

/// How sliding moved in a step: a box round all their steps, each in the rest pose of its own solid, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    low: Vec3,
    high: Vec3,
}

impl Default for Drift {
    fn default() -> Self {
        Self { low: Vec3::ZERO, high: Vec3::ZERO }
    }
}

impl Drift {
    /// Takes a step in.
    #[inline]
    pub fn include(&mut self, step: Vec3) {
        (self.low, self.high) = (self.low.min(step), self.high.max(step));
    }

    /// All steps of both.
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// A box round what any runner that was no faster than one with this step has moved past it, and round zero.
    ///
    /// Where j has come to, seen from where i has, is where they were nearest plus some of sⱼ − sᵢ. Steps sⱼ lie in the box of all and, for the
    /// faster of two looks, within |sᵢ|: who runs down a slope with all others need not look to its sides.
    fn past(&self, step: Vec3) -> [Vec3; 2] {
        let speed = Vec3::splat(step.length() * (1.0 + 4.0 * f32::EPSILON));
        let (low, high) = (self.low.max(-speed) - step, self.high.min(speed) - step);
        [low.min(Vec3::ZERO), high.max(Vec3::ZERO)]
    }
}

fn runs(location: &Location) -> bool {
    location.bucket != NIL && location.bucket & RUNS != 0
}
