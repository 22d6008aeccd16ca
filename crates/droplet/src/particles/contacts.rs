//! Who pending whom.
//!
//! Touching in a step is found along the way of both, taken as straight, so that fast droplets do not pass each other by between two steps. All that hang together
//! by touching become one droplet at once.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;

use super::{Log, ParticleSystem, StepContext, other_solids};
use crate::droplets::{CHUNK, Droplets, Location};

/// When two droplets must have pending to be joined.
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

impl ParticleSystem {
    /// Joins all droplets that touch, until none do.
    pub(super) fn meet_touched(&mut self, context: &StepContext<'_>, events: &mut Vec<Event>) {
        loop {
            let mut pending = std::mem::take(&mut self.pending);
            pending.sort_unstable();
            pending.dedup();
            self.find(&pending, When::Now, context);
            pending.clear();
            self.pending = pending;
            if self.pairs.is_empty() {
                return;
            }
            self.join_pairs(context, events);
        }
    }

    /// Finds whom these have pending; in a step, they are those who have just run.
    pub(super) fn find(&mut self, slots: &[u32], when: When, context: &StepContext<'_>) {
        let pieces = slots.len().div_ceil(CHUNK);
        self.room_for(pieces);
        let (droplets, neighbors, drift) =
            (&self.droplets, &self.neighbors, (when == When::InStep).then_some(&self.drift));
        let work = |log: &mut Log, own: &[u32]| {
            let Log { locations, candidates, pairs, round, .. } = log;
            if when == When::Now {
                locations.clear();
                locations.extend(own.iter().map(|&slot| (slot, droplets.all[slot as usize].location)));
            }
            candidates.clear();
            neighbors.near(locations, drift, round, |index, other| candidates.push((index as u32, other)));
            other_solids::find(context, droplets, neighbors, when, locations, candidates);
            // Those others lie anywhere in memory: all are fetched before the first is looked at.
            let fetch = |sum, &(_, other): &(u32, u32)| sum ^ droplets.all[other as usize].location.solid;
            std::hint::black_box(candidates.iter().fold(0, fetch));
            candidates.retain_mut(|(index, other)| {
                let (slot, location) = &locations[*index as usize];
                *index = *slot;
                gap(location, *other, when, droplets, context).is_some() && droplets.is_used(*slot)
            });
            droplets.fetch(candidates.iter().map(|&(_, other)| other), context.surface, None);
            let touch = |&&(slot, other): &&(u32, u32)| touch(slot, other, when, droplets, context);
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

/// From one droplet to the other where they were nearest, in m, if they pending; in a step both are taken to have moved straight.
fn gap(location: &Location, other: u32, when: When, droplets: &Droplets, context: &StepContext<'_>) -> Option<DVec3> {
    let theirs = &other_solids::seen_from(context, location.solid, &droplets.all[other as usize].location);
    let within = f64::from(location.merge_radius) + f64::from(theirs.merge_radius);
    let drift =
        if when == When::InStep { (theirs.displacement - location.displacement).as_dvec3() } else { DVec3::ZERO };
    let apart = theirs.point - location.point - drift;
    let speed = drift.length_squared();
    let nearest = if speed > 0.0 { (-apart.dot(drift) / speed).clamp(0.0, 1.0) } else { 0.0 };
    let gap = apart + drift * nearest;
    (gap.length_squared() < within * within).then_some(gap)
}

/// Whether two droplets have pending.
fn touch(slot: u32, other: u32, when: When, droplets: &Droplets, context: &StepContext<'_>) -> bool {
    let location = &droplets.all[slot as usize].location;
    let Some(gap) = gap(location, other, when, droplets, context) else { return false };
    let [own, solid] = [slot, other].map(|s| droplets.all[s as usize].location.solid);
    // On the two sides of something thin they do not meet.
    let [mine, its] =
        [slot, other].map(|s| context.surface.facet(droplets.all[s as usize].motion.place.triangle).normal());
    let its = other_solids::turned(context, own, solid, its);
    mine.dot(its) >= 0.0 || gap.dot(mine) >= 0.0
}
