//! What becomes of droplets that hang together by touching.
//!
//! Volumes and momenta add up, the middle is that of their volumes, the largest keeps its slot and id. Groups have nothing to do with one another, so what
//! comes of each is worked out in parallel, some groups at a time, and written down; then it is carried out in that order, by one thread among those
//! that stand, by another among those that run, while a third sees to the droplets themselves. That is done before memory has forgotten them, some
//! thousand groups at a time, or some hundred where there is one thread.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::{Event, Ids};

use super::{Assessed, Detached, ParticleSystem, StepContext, detached, other_solids};
use crate::droplets::{CHUNK, Droplet, Droplets, NIL, PREFETCH, Size, Slot, State};
use crate::integrate::MotionState;
use crate::necks::{Necks, Part, Planned};
use crate::neighbors::{Changes, Move};

/// Groups whose outcome one thread writes down.
const TOGETHER: usize = CHUNK / 2;
/// Pieces of that size for each thread that are worked out before they are carried out.
const AHEAD: usize = 8;

/// Groups that hang together, and what comes of them; kept from step to step for its memory.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Number of each slot among those that were met; [`NIL`] before and after.
    numbers: Vec<u32>,
    /// Everybody in a group, as met.
    met: Vec<u32>,
    /// By number: whom it goes with, none met later than itself; then the group's number.
    into: Vec<u32>,
    /// Slots, group by group, and where the groups begin, and the end.
    members: Vec<u32>,
    starts: Vec<u32>,
    outcomes: Vec<Outcome>,
}

/// What comes of some groups.
#[derive(Debug, Default)]
struct Outcome {
    /// Slots that become empty.
    gone: Vec<u32>,
    /// Changes of their cells and of the cells of those that stay.
    cells: Changes,
    stays: Vec<(Assessed, Move)>,
    necks: Vec<(u32, Planned)>,
    detached: Vec<Detached>,
    events: Vec<Event>,
}

impl ParticleSystem {
    /// Makes one droplet of every group that hangs together by pairs.
    pub(super) fn join_pairs(&mut self, context: &StepContext<'_>, events: &mut Vec<Event>) {
        let mut groups = std::mem::take(&mut self.scratch.groups);
        groups.gather(&self.scratch.pairs, self.droplets.num_slots());
        self.scratch.pairs.clear();
        let Groups { members, starts, outcomes, .. } = &mut groups;
        let pieces = (starts.len() - 1).div_ceil(TOGETHER);
        let threads = rayon::current_num_threads();
        // As much at a time as is still at hand when it is carried out.
        let at_once = if threads == 1 { 1 } else { AHEAD * threads };
        outcomes.resize_with(at_once.min(pieces).max(outcomes.len()), Outcome::default);
        for first in (0..pieces).step_by(at_once) {
            let outcomes = &mut outcomes[..at_once.min(pieces - first)];
            let this = &*self;
            let work = |piece: usize, outcome: &mut Outcome| {
                let last = (starts.len() - 1).min((piece + 1) * TOGETHER);
                this.join_groups(members, &starts[piece * TOGETHER..=last], context, outcome);
            };
            if let [outcome] = outcomes {
                work(first, outcome);
            } else {
                outcomes.par_iter_mut().enumerate().for_each(|(piece, outcome)| work(first + piece, outcome));
            }
            self.carry_out_joining(outcomes, events);
        }
        self.scratch.groups = groups;
    }

    /// Writes down what comes of the groups that begin at `starts`, but the last.
    fn join_groups(&self, members: &[u32], starts: &[u32], context: &StepContext<'_>, outcome: &mut Outcome) {
        outcome.clear();
        for some in (0..starts.len() - 1).step_by(PREFETCH) {
            let end = (starts.len() - 1).min(some + PREFETCH);
            let all = &members[starts[some] as usize..starts[end] as usize];
            self.droplets.prefetch(all.iter().copied(), context.surface, Some(&self.substrate));
            for group in some..end {
                self.join(&members[starts[group] as usize..starts[group + 1] as usize], context, outcome);
            }
        }
    }

    /// Writes down what comes of a group.
    fn join(&self, members: &[u32], context: &StepContext<'_>, outcome: &mut Outcome) {
        let all = &self.droplets;
        let rank = |slot: u32| (all[slot].size.volume, std::cmp::Reverse(all[slot].id));
        let stays = members.iter().copied().reduce(|a, b| if rank(b) > rank(a) { b } else { a });
        let stays = stays.expect("a group has members");
        let large = self.droplets.get(stays);
        let volume: f64 = members.iter().map(|&slot| all[slot].size.volume).sum();
        let facet = context.surface.facet(large.motion.place.triangle);
        let origin = all[stays].location.point;
        let mut velocity = facet.lift(large.motion.velocity) * (large.size.volume / volume);
        let (mut way, mut center) = (glam::DVec2::ZERO, DVec3::ZERO);
        let mut square = large.size.radius * large.size.radius;
        for &slot in members.iter().filter(|&&slot| slot != stays) {
            let Slot { location, motion, size, .. } = &all[slot];
            let share = size.volume / volume;
            let offset = other_solids::seen_from(context, facet.solid, location).point - origin;
            let own = context.surface.facet(motion.place.triangle).lift(motion.velocity);
            velocity += other_solids::velocity(context, facet.solid, location, own) * share;
            // Along the surface as far as the two are apart in space.
            way += facet.project(offset).normalize_or_zero() * (offset.length() * share);
            center += offset * share;
            square += size.radius * size.radius;
            outcome.gone.push(slot);
            outcome.cells.remove(slot, location);
        }
        let (place, velocity) = context.surface.trace_geodesic(large.motion.place, way, facet.project(velocity));
        let droplet = Droplet {
            id: large.id,
            motion: MotionState { place, velocity },
            size: Size { volume, radius: square.sqrt(), ..large.size },
            state: State { is_sliding: velocity != glam::DVec2::ZERO, ..large.state },
        };
        let mut assessed = self.assess(droplet, context);
        assessed.starts |= droplet.state.is_sliding && !large.state.is_sliding;
        let id = |slot: u32| all[slot].id;
        if let &[a, b] = members {
            let (a, b) = (id(a), id(b));
            let merge = Ids::from_buf_and_len([a.min(b), a.max(b), 0, 0], 2);
            outcome.events.push(Event::Merge { merge, into: large.id });
        } else {
            let mut merge: Ids = members.iter().map(|&slot| id(slot)).collect();
            merge.sort_unstable();
            outcome.events.push(Event::Merge { merge, into: large.id });
        }
        let location = &all[stays].location;
        if assessed.detaches {
            outcome.gone.push(stays);
            outcome.cells.remove(stays, location);
            outcome.detached.push(detached(&assessed, context.surface));
            return;
        }
        let parts = members.iter().map(|&slot| {
            let Slot { location, size, .. } = &all[slot];
            let offset = other_solids::seen_from(context, facet.solid, location).point - (origin + center);
            (slot, Part { offset, share: size.volume / volume })
        });
        outcome.necks.extend(self.necks.plan(volume, parts, context.liquid()).map(|planned| (stays, planned)));
        let solid = context.surface.facet(assessed.droplet.motion.place.triangle).solid;
        let (point, merge_radius) = (assessed.point, assessed.droplet.size.merge_radius);
        let moved = self.neighbors.plan_move(stays, location, solid, point, merge_radius, &mut outcome.cells);
        outcome.stays.push((assessed, moved));
    }

    fn carry_out_joining(&mut self, outcomes: &mut [Outcome], events: &mut Vec<Event>) {
        for outcome in &mut *outcomes {
            events.append(&mut outcome.events);
        }
        let Self { droplets, trails, necks, neighbors, starting, pending, detached, .. } = self;
        let outcomes = &*outcomes;
        let mut change_droplets = || {
            for outcome in outcomes {
                for some in outcome.gone.chunks(PREFETCH) {
                    fetch(droplets, necks, some.iter().copied());
                    for &slot in some {
                        trails.close(slot);
                        necks.forget(slot);
                        droplets.remove(slot);
                        droplets[slot].location.bucket = NIL;
                    }
                }
                for some in outcome.stays.chunks(PREFETCH) {
                    fetch(droplets, necks, some.iter().map(|(_, moved)| moved.slot));
                    for (assessed, moved) in some {
                        let Assessed { droplet, point, starts, .. } = assessed;
                        necks.forget(moved.slot);
                        droplets.set(moved.slot, droplet);
                        moved.apply(&mut droplets[moved.slot].location, *point);
                        if *starts {
                            starting.push(moved.slot);
                        }
                        // Who runs looks whom it touches after its next step.
                        if !droplet.state.is_sliding {
                            pending.push(moved.slot);
                        }
                    }
                }
                outcome.necks.iter().for_each(|(slot, planned)| necks.carry_out(*slot, planned));
                detached.extend(&outcome.detached);
            }
        };
        let changes = || outcomes.iter().map(|outcome| &outcome.cells);
        if outcomes.len() > 1 {
            rayon::join(change_droplets, || neighbors.apply(changes));
        } else {
            change_droplets();
            neighbors.apply(changes);
        }
    }
}

/// Reads what is about to be changed, all at once, so that it need not be waited for one by one.
fn fetch(droplets: &Droplets, necks: &Necks, slots: impl Iterator<Item = u32>) {
    let read = |sum, slot: u32| sum ^ droplets[slot].id ^ necks.fetch(slot);
    std::hint::black_box(slots.fold(0, read));
}

impl Outcome {
    fn clear(&mut self) {
        self.gone.clear();
        self.cells.clear();
        self.stays.clear();
        self.necks.clear();
        self.detached.clear();
        self.events.clear();
    }
}

impl Groups {
    /// Sorts everybody in `pairs` into groups that hang together, in the order in which they are first met.
    fn gather(&mut self, pairs: &[(u32, u32)], num_slots: usize) {
        let Self { numbers, met, into, members, starts, .. } = self;
        numbers.resize(num_slots.max(numbers.len()), NIL);
        met.clear();
        into.clear();
        for some in pairs.chunks(PREFETCH) {
            let fetch = |sum, &(a, b): &(u32, u32)| sum ^ numbers[a as usize] ^ numbers[b as usize];
            std::hint::black_box(some.iter().fold(0, fetch));
            for &(a, b) in some {
                let [a, b] = [a, b].map(|slot| {
                    let number = &mut numbers[slot as usize];
                    if *number == NIL {
                        *number = met.len() as u32;
                        met.push(slot);
                        into.push(*number);
                    }
                    root(into, *number)
                });
                into[a.max(b) as usize] = a.min(b);
            }
        }
        starts.clear();
        // Nobody goes with one met later, so the number of that one's group is known by now.
        for number in 0..met.len() as u32 {
            let before = into[number as usize];
            let group = if before == number { starts.len() as u32 } else { into[before as usize] };
            if before == number {
                starts.push(0);
            }
            starts[group as usize] += 1;
            into[number as usize] = group;
        }
        let mut begins = 0;
        for start in &mut *starts {
            begins += std::mem::replace(start, begins);
        }
        members.clear();
        members.resize(met.len(), 0);
        for (&slot, &group) in met.iter().zip(&*into) {
            let start = &mut starts[group as usize];
            members[*start as usize] = slot;
            *start += 1;
            numbers[slot as usize] = NIL;
        }
        // Each start has become the next one's.
        starts.insert(0, 0);
        // Who is added up first must not hang on who was met first.
        for group in 0..starts.len() - 1 {
            members[starts[group] as usize..starts[group + 1] as usize].sort_unstable();
        }
    }
}

/// The first of those that a number goes with.
fn root(into: &mut [u32], mut number: u32) -> u32 {
    while into[number as usize] != number {
        // Halves the way for the next.
        into[number as usize] = into[into[number as usize] as usize];
        number = into[number as usize];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_that_hang_together_each_member_once() {
        let mut groups = Groups::default();
        for _ in 0..2 {
            groups.gather(&[(4, 9), (1, 2), (9, 4), (3, 8), (2, 8), (5, 9), (6, 7)], 10);
            let of = |k: usize| &groups.members[groups.starts[k] as usize..groups.starts[k + 1] as usize];
            assert_eq!([of(0), of(1), of(2)], [&[4, 5, 9][..], &[1, 2, 3, 8], &[6, 7]]);
            assert_eq!(groups.starts.len(), 4);
        }
    }
}
