//! Contact detection.
//!
//! Contacts within a step are found along the displacements of both droplets, taken as straight,
//! so fast droplets do not pass each other between two steps. Each connected group of droplets in
//! contact becomes one droplet ([`super::join`]).

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_sliding::SlotIndex;

use super::{ChunkLog, ParticleSystem, StepContext, other_solids};
use crate::droplets::{CHUNK, Droplets, Location};
use crate::neighbors::{Drift, Neighbors};

/// When two droplets must have been in contact.
///
/// Sliding droplets query along the step that they have just made. New and enlarged droplets query
/// the current locations: the others were elsewhere during their last step, and whether a query
/// finds them there must not affect the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContactTime {
    /// At some time during the last step.
    InStep,
    /// Now.
    Now,
}

/// Detects the contacts of chunks of droplets.
struct Detector<'a> {
    context: &'a StepContext<'a>,
    droplets: &'a Droplets,
    neighbors: &'a Neighbors,
    /// Bounds of all displacements, for contacts in a step.
    drift: Option<&'a Drift>,
    when: ContactTime,
}

impl ParticleSystem {
    /// Coalesces all droplets in contact, until none are.
    pub(super) fn coalesce_contacts(&mut self, context: &StepContext<'_>, events: &mut Vec<Event>) {
        loop {
            let mut pending = std::mem::take(&mut self.state.pending);
            pending.sort_unstable();
            pending.dedup();
            self.find_neighbors(&pending, ContactTime::Now, context);
            pending.clear();
            self.state.pending = pending;
            if self.scratch.pairs.is_empty() {
                return;
            }
            self.join_pairs(context, events);
        }
    }

    /// Finds all droplets in contact with these; for contacts in a step, these are the sliding
    /// ones.
    pub(super) fn find_neighbors(&mut self, slots: &[SlotIndex], when: ContactTime, context: &StepContext<'_>) {
        let num_chunks = slots.len().div_ceil(CHUNK);
        self.scratch.reserve_logs(num_chunks);
        let drift = (when == ContactTime::InStep).then_some(&self.drift);
        let detector = Detector { context, droplets: &self.state.droplets, neighbors: &self.neighbors, drift, when };
        match &mut self.scratch.logs[..num_chunks] {
            [log] => detector.find(log, slots),
            logs => logs.par_iter_mut().zip(slots.par_chunks(CHUNK)).for_each(|(log, own)| detector.find(log, own)),
        }
        let super::Scratch { logs, pairs, .. } = &mut self.scratch;
        for log in &mut logs[..num_chunks] {
            pairs.append(&mut log.pairs);
        }
    }
}

impl Detector<'_> {
    /// Appends the contacts of a chunk to its log.
    fn find(&self, log: &mut ChunkLog, slots: &[SlotIndex]) {
        let Self { context, droplets, neighbors, when, .. } = *self;
        let ChunkLog { locations, candidates, pairs, queries, .. } = log;
        if when == ContactTime::Now {
            locations.clear();
            locations.extend(slots.iter().map(|&slot| (slot, droplets[slot].location)));
        }
        candidates.clear();
        neighbors.near(locations, self.drift, queries, |index, other| candidates.push((index as u32, other)));
        other_solids::find(context, droplets, neighbors, when, locations, candidates);
        // Droplets are accessed in random order: all are prefetched before the first is read.
        let prefetch = |sum, &(_, other): &(u32, SlotIndex)| sum ^ droplets[other].location.solid.to_usize();
        std::hint::black_box(candidates.iter().fold(0, prefetch));
        candidates.retain(|&(index, other)| {
            let (slot, location) = &locations[index as usize];
            self.closest_approach(location, other).is_some() && droplets.is_used(*slot)
        });
        droplets.prefetch(candidates.iter().map(|&(_, other)| other), context.surface, None);
        let near = candidates.iter().map(|&(index, other)| (locations[index as usize].0, other));
        let in_contact = near.filter(|&(slot, other)| self.are_in_contact(slot, other));
        pairs.extend(in_contact.map(|(a, b)| (a.min(b), a.max(b))));
    }

    /// Vector between two droplets at their closest approach, in m, if they overlap there.
    fn closest_approach(&self, location: &Location, other: SlotIndex) -> Option<DVec3> {
        let theirs = &other_solids::seen_from(self.context, location.solid, &self.droplets[other].location);
        let within = f64::from(location.merge_radius) + f64::from(theirs.merge_radius);
        let relative = match self.when {
            ContactTime::InStep => (theirs.displacement - location.displacement).as_dvec3(),
            ContactTime::Now => DVec3::ZERO,
        };
        let apart = theirs.point - location.point - relative;
        let square = relative.length_squared();
        let nearest = if square > 0.0 { (-apart.dot(relative) / square).clamp(0.0, 1.0) } else { 0.0 };
        let gap = apart + relative * nearest;
        (gap.length_squared() < within * within).then_some(gap)
    }

    /// Whether two droplets are in contact and not on opposite sides of a thin solid.
    fn are_in_contact(&self, slot: SlotIndex, other: SlotIndex) -> bool {
        let Self { context, droplets, .. } = *self;
        let location = &droplets[slot].location;
        let Some(gap) = self.closest_approach(location, other) else { return false };
        let [own, solid] = [slot, other].map(|s| droplets[s].location.solid);
        let [mine, theirs] = [slot, other].map(|s| context.surface.facet(droplets[s].motion.place.triangle).normal());
        let theirs = other_solids::rotated(context, own, solid, theirs);
        mine.dot(theirs) >= 0.0 || gap.dot(mine) >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use sessile_sliding::SlotIndex;

    use crate::model::tests::model_of;

    /// Two droplets 0.2 mm apart in space, on the two sides of a plate, and two side by side.
    #[test]
    fn droplets_on_opposite_sides_of_a_thin_plate_do_not_touch() {
        let plate = "[[solids]]\nname = \"plate\"\nmaterial = \"m\"\nshape = \"box\"\n\
            min = \"-20 29.8 -20 mm\"\nmax = \"20 30 20 mm\"\n";
        let cap = |x: f64, y: f64| {
            format!("[[drops]]\nshape = \"cap\"\non = \"plate\"\ncenter = \"{x} {y} 0 mm\"\nvolume = \"1 uL\"\n")
        };
        for (other, are_in_contact) in [(cap(0.0, 29.8), false), (cap(0.5, 30.0), true)] {
            let mut model = model_of(&(plate.to_owned() + &cap(0.0, 30.0) + &other));
            let (particles, context) = model.particles_and_context();
            particles.state.pending = SlotIndex::first(2).collect();
            let mut events = Vec::new();
            particles.coalesce_contacts(&context, &mut events);
            assert_eq!(events.len() == 1, are_in_contact, "{events:?}");
        }
    }
}
