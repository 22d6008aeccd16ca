//! Droplets that touch become one.
//!
//! Who touched whom in a step is found along the way of both, taken as straight, so that fast ones do not pass each other by between two
//! steps. All that hang together by touching become one droplet at once: volumes and momenta add up, the middle is that of their
//! volumes, the largest keeps its slot and id. Groups have nothing to do with one another, so what comes of each is worked out in parallel; it is carried
//! out in the order of slots.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;

use super::{AT_ONCE, Log, Scenery, Settled, Swarm, across};
use crate::droplets::{CHUNK, Droplet, Droplets, Size, State};
use crate::necks::Part;
use crate::ride::Rider;

/// When two droplets must have touched to be joined.
///
/// Runners look along the step that they have just made. Who has come or grown since looks at where all are now: the others were elsewhere in their last
/// step, and whether a search happens to come upon them there must not decide anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At some time in the last step.
    InStep,
    /// Now.
    Now,
}

/// What is needed to find groups, kept from step to step.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Whom each slot goes with; itself between two rounds.
    into: Vec<u32>,
    /// The group of every slot that touched somebody, named by its lowest slot.
    members: Vec<(u32, u32)>,
    /// Where the groups begin among them, and the end.
    starts: Vec<usize>,
    joined: Vec<Joined>,
}

/// What comes of a group.
#[derive(Clone, Copy, Debug)]
struct Joined {
    stays: u32,
    /// Middle of the group, from where `stays` was, in m.
    center: DVec3,
    settled: Settled,
}

impl Swarm {
    /// Joins all droplets that touch, until none do.
    pub(super) fn meet_touched(&mut self, scenery: &Scenery<'_>, events: &mut Vec<Event>) {
        loop {
            let mut touched = std::mem::take(&mut self.touched);
            touched.sort_unstable();
            touched.dedup();
            self.find(&touched, When::Now, scenery);
            touched.clear();
            self.touched = touched;
            if self.pairs.is_empty() {
                return;
            }
            self.join_pairs(scenery, events);
        }
    }

    /// Finds whom these have touched.
    pub(super) fn find(&mut self, slots: &[u32], when: When, scenery: &Scenery<'_>) {
        let pieces = slots.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (droplets, neighbours, drift) =
            (&self.droplets, &self.neighbours, (when == When::InStep).then_some(&self.drift));
        self.logs[..pieces].par_iter_mut().zip(slots.par_chunks(CHUNK)).for_each(|(log, own)| {
            let Log { candidates, pairs, round, .. } = log;
            candidates.clear();
            neighbours.near(&droplets.all, own, drift, round, |slot, other| {
                if slot != other && droplets.is_used(slot) {
                    candidates.push((slot, other));
                }
            });
            across::find(scenery, droplets, neighbours, when, own, candidates);
            // Those others lie anywhere in memory: all are fetched before the first is looked at.
            let fetch = |sum, &(_, other): &(u32, u32)| sum ^ droplets.all[other as usize].spot.solid;
            std::hint::black_box(candidates.iter().fold(0, fetch));
            candidates.retain(|&(slot, other)| gap(slot, other, when, droplets, scenery).is_some());
            droplets.fetch(candidates.iter().map(|&(_, other)| other), scenery.track);
            let touch = |&&(slot, other): &&(u32, u32)| touch(slot, other, when, droplets, scenery);
            pairs.extend(candidates.iter().filter(touch).map(|&(a, b)| (a.min(b), a.max(b))));
        });
        for log in &mut self.logs[..pieces] {
            self.pairs.append(&mut log.pairs);
        }
    }

    /// Makes one droplet of every group that hangs together by pairs.
    fn join_pairs(&mut self, scenery: &Scenery<'_>, events: &mut Vec<Event>) {
        let mut groups = std::mem::take(&mut self.groups);
        groups.gather(&self.pairs, self.droplets.num_slots());
        self.pairs.clear();
        let Groups { members, starts, joined, .. } = &mut groups;
        let this = &*self;
        let num_groups = starts.len() - 1;
        // The members of this group and the next ones, to be fetched at once.
        let some = |group: usize| &members[starts[group]..starts[num_groups.min(group + AT_ONCE)]];
        let group = |group: usize| &members[starts[group]..starts[group + 1]];
        (0..num_groups)
            .into_par_iter()
            .with_min_len(2 * AT_ONCE)
            .map(|index| {
                if index.is_multiple_of(AT_ONCE) {
                    this.droplets.fetch(some(index).iter().map(|&(_, slot)| slot), scenery.track);
                }
                this.joined(group(index), scenery)
            })
            .collect_into_vec(joined);
        for (index, joined) in joined.drain(..).enumerate() {
            if index.is_multiple_of(AT_ONCE) {
                self.neighbours.fetch(&self.droplets.all, some(index).iter().map(|&(_, slot)| slot));
            }
            self.carry_out_joining(group(index), joined, scenery, events);
        }
        self.groups = groups;
    }

    /// What comes of a group.
    fn joined(&self, members: &[(u32, u32)], scenery: &Scenery<'_>) -> Joined {
        let droplets = &self.droplets;
        let rank =
            |slot: u32| (droplets.all[slot as usize].size.volume, std::cmp::Reverse(droplets.all[slot as usize].id));
        let stays = members.iter().map(|&(_, slot)| slot).reduce(|a, b| if rank(b) > rank(a) { b } else { a });
        let stays = stays.expect("a group has members");
        let large = droplets.get(stays);
        let volume: f64 = members.iter().map(|&(_, slot)| droplets.all[slot as usize].size.volume).sum();
        let facet = scenery.track.facet(large.rider.place.triangle);
        let mut velocity = facet.lift(large.rider.velocity) * (large.size.volume / volume);
        let (mut way, mut center) = (glam::DVec2::ZERO, DVec3::ZERO);
        let mut square = large.size.radius * large.size.radius;
        for &(_, slot) in members.iter().filter(|&&(_, slot)| slot != stays) {
            let other = droplets.get(slot);
            let share = other.size.volume / volume;
            let theirs = across::seen_from(scenery, facet.solid, &droplets.all[slot as usize].spot);
            let offset = theirs.point - droplets.all[stays as usize].spot.point;
            let own = scenery.track.facet(other.rider.place.triangle).lift(other.rider.velocity);
            velocity += across::velocity(scenery, facet.solid, &droplets.all[slot as usize].spot, own) * share;
            // Along the surface as far as the two are apart in space.
            way += facet.along(offset).normalize_or_zero() * (offset.length() * share);
            center += offset * share;
            square += other.size.radius * other.size.radius;
        }
        let (place, velocity) = scenery.track.walk(large.rider.place, way, facet.along(velocity));
        let droplet = Droplet {
            id: large.id,
            rider: Rider { place, velocity },
            size: Size { volume, radius: square.sqrt(), pressing: f32::NAN, ..large.size },
            state: State { running: velocity != glam::DVec2::ZERO, ..large.state },
        };
        let mut settled = self.settled(droplet, scenery);
        settled.starts |= droplet.state.running && !large.state.running;
        Joined { stays, center, settled }
    }

    fn carry_out_joining(
        &mut self,
        members: &[(u32, u32)],
        joined: Joined,
        scenery: &Scenery<'_>,
        events: &mut Vec<Event>,
    ) {
        let Joined { stays, center, settled } = joined;
        let (droplets, volume) = (&self.droplets, settled.droplet.size.volume);
        let solid = droplets.all[stays as usize].spot.solid;
        let origin = droplets.all[stays as usize].spot.point + center;
        let parts = members.iter().map(|&(_, slot)| {
            let offset = across::seen_from(scenery, solid, &droplets.all[slot as usize].spot).point - origin;
            (slot, Part { offset, share: droplets.all[slot as usize].size.volume / volume })
        });
        self.necks.join(stays, volume, parts, scenery.liquid);
        let mut ids: Vec<u32> = members.iter().map(|&(_, slot)| droplets.all[slot as usize].id).collect();
        ids.sort_unstable();
        events.push(Event::Merge { merge: ids, into: settled.droplet.id });
        for &(_, slot) in members.iter().filter(|&&(_, slot)| slot != stays) {
            self.let_go(slot);
        }
        self.put(stays, settled, scenery.track);
    }
}

impl Groups {
    /// Sorts everybody in `pairs` into groups that hang together.
    fn gather(&mut self, pairs: &[(u32, u32)], num_slots: usize) {
        let Self { into, members, starts, .. } = self;
        into.extend(into.len() as u32..num_slots as u32);
        let root = |into: &mut [u32], mut slot: u32| {
            while into[slot as usize] != slot {
                // Halves the way for the next.
                into[slot as usize] = into[into[slot as usize] as usize];
                slot = into[slot as usize];
            }
            slot
        };
        for &(a, b) in pairs {
            let (a, b) = (root(into, a), root(into, b));
            into[a.max(b) as usize] = a.min(b);
        }
        members.clear();
        members.extend(pairs.iter().flat_map(|&(a, b)| [a, b]).map(|slot| (root(into, slot), slot)));
        for &(_, slot) in &*members {
            into[slot as usize] = slot;
        }
        if members.len() > 4 * CHUNK {
            members.par_sort_unstable();
        } else {
            members.sort_unstable();
        }
        members.dedup();
        starts.clear();
        starts.extend((0..members.len()).filter(|&k| k == 0 || members[k].0 != members[k - 1].0));
        starts.push(members.len());
    }
}

/// From one droplet to the other where they were nearest, in m, if they touched; in a step both are taken to have moved straight.
fn gap(slot: u32, other: u32, when: When, droplets: &Droplets, scenery: &Scenery<'_>) -> Option<DVec3> {
    let spot = &droplets.all[slot as usize].spot;
    let theirs = &across::seen_from(scenery, spot.solid, &droplets.all[other as usize].spot);
    let within = f64::from(spot.reach) + f64::from(theirs.reach);
    let drift = if when == When::InStep { (theirs.step - spot.step).as_dvec3() } else { DVec3::ZERO };
    let apart = theirs.point - spot.point - drift;
    let speed = drift.length_squared();
    let nearest = if speed > 0.0 { (-apart.dot(drift) / speed).clamp(0.0, 1.0) } else { 0.0 };
    let gap = apart + drift * nearest;
    (gap.length_squared() < within * within).then_some(gap)
}

/// Whether two droplets have touched.
fn touch(slot: u32, other: u32, when: When, droplets: &Droplets, scenery: &Scenery<'_>) -> bool {
    let Some(gap) = gap(slot, other, when, droplets, scenery) else { return false };
    let [own, solid] = [slot, other].map(|s| droplets.all[s as usize].spot.solid);
    // On the two sides of something thin they do not meet.
    let [mine, its] =
        [slot, other].map(|s| scenery.track.facet(droplets.all[s as usize].rider.place.triangle).normal());
    let its = across::turned(scenery, own, solid, its);
    mine.dot(its) >= 0.0 || gap.dot(mine) >= 0.0
}
