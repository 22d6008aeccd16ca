//! Who touched whom.
//!
//! Touching in a step is found along the way of both, taken as straight, so that fast droplets do not pass each other by between two steps. All that hang together
//! by touching become one droplet at once.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;

use super::{Log, Scenery, Swarm, across};
use crate::droplets::{CHUNK, Droplets, Spot};

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

    /// Finds whom these have touched; in a step, they are those who have just run.
    pub(super) fn find(&mut self, slots: &[u32], when: When, scenery: &Scenery<'_>) {
        let pieces = slots.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (droplets, neighbors, drift) =
            (&self.droplets, &self.neighbors, (when == When::InStep).then_some(&self.drift));
        let work = |log: &mut Log, own: &[u32]| {
            let Log { spots, candidates, pairs, round, .. } = log;
            if when == When::Now {
                spots.clear();
                spots.extend(own.iter().map(|&slot| (slot, droplets.all[slot as usize].spot)));
            }
            candidates.clear();
            neighbors.near(spots, drift, round, |index, other| candidates.push((index as u32, other)));
            across::find(scenery, droplets, neighbors, when, spots, candidates);
            // Those others lie anywhere in memory: all are fetched before the first is looked at.
            let fetch = |sum, &(_, other): &(u32, u32)| sum ^ droplets.all[other as usize].spot.solid;
            std::hint::black_box(candidates.iter().fold(0, fetch));
            candidates.retain_mut(|(index, other)| {
                let (slot, spot) = &spots[*index as usize];
                *index = *slot;
                gap(spot, *other, when, droplets, scenery).is_some() && droplets.is_used(*slot)
            });
            droplets.fetch(candidates.iter().map(|&(_, other)| other), scenery.track, None);
            let touch = |&&(slot, other): &&(u32, u32)| touch(slot, other, when, droplets, scenery);
            pairs.extend(candidates.iter().filter(touch).map(|&(a, b)| (a.min(b), a.max(b))));
        };
        match &mut self.logs[..pieces] {
            [log] => work(log, slots),
            logs => logs.par_iter_mut().zip(slots.par_chunks(CHUNK)).for_each(|(log, own)| work(log, own)),
        }
        for log in &mut self.logs[..pieces] {
            self.pairs.append(&mut log.pairs);
        }
    }
}

/// From one droplet to the other where they were nearest, in m, if they touched; in a step both are taken to have moved straight.
fn gap(spot: &Spot, other: u32, when: When, droplets: &Droplets, scenery: &Scenery<'_>) -> Option<DVec3> {
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
    let spot = &droplets.all[slot as usize].spot;
    let Some(gap) = gap(spot, other, when, droplets, scenery) else { return false };
    let [own, solid] = [slot, other].map(|s| droplets.all[s as usize].spot.solid);
    // On the two sides of something thin they do not meet.
    let [mine, its] =
        [slot, other].map(|s| scenery.track.facet(droplets.all[s as usize].rider.place.triangle).normal());
    let its = across::turned(scenery, own, solid, its);
    mine.dot(its) >= 0.0 || gap.dot(mine) >= 0.0
}
