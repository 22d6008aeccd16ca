//! What becomes of droplets that hang together by touching.
//!
//! Volumes and momenta add up, the middle is that of their volumes, the largest keeps its slot and id. Groups have nothing to do with one another, so what
//! comes of each is worked out in parallel, some groups at a time, and written down; then it is carried out in that order, by one thread among those
//! that stand, by another among those that run, while a third sees to the droplets themselves. That is done before memory has forgotten them, some
//! thousand groups at a time, or some hundred where there is one thread.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::{Event, Ids};

use super::{AT_ONCE, Fallen, Scenery, Settled, Swarm, across, fallen};
use crate::droplets::{CHUNK, Droplet, Droplets, NOBODY, Size, Slot, State};
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
    /// Number of each slot among those that were met; [`NOBODY`] before and after.
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
    stays: Vec<(Settled, Move)>,
    necks: Vec<(u32, Planned)>,
    fallen: Vec<Fallen>,
    events: Vec<Event>,
}

impl Swarm {
    /// Makes one droplet of every group that hangs together by pairs.
    pub(super) fn join_pairs(&mut self, scenery: &Scenery<'_>, events: &mut Vec<Event>) {
        let mut groups = std::mem::take(&mut self.groups);
        groups.gather(&self.pairs, self.droplets.num_slots());
        self.pairs.clear();
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
                this.join_groups(members, &starts[piece * TOGETHER..=last], scenery, outcome);
            };
            if let [outcome] = outcomes {
                work(first, outcome);
            } else {
                outcomes.par_iter_mut().enumerate().for_each(|(piece, outcome)| work(first + piece, outcome));
            }
            self.carry_out_joining(outcomes, events);
        }
        self.groups = groups;
    }

    /// Writes down what comes of the groups that begin at `starts`, but the last.
    fn join_groups(&self, members: &[u32], starts: &[u32], scenery: &Scenery<'_>, outcome: &mut Outcome) {
        outcome.clear();
        for some in (0..starts.len() - 1).step_by(AT_ONCE) {
            let end = (starts.len() - 1).min(some + AT_ONCE);
            let all = &members[starts[some] as usize..starts[end] as usize];
            self.droplets.fetch(all.iter().copied(), scenery.track, Some(&self.ground));
            for group in some..end {
                self.join(&members[starts[group] as usize..starts[group + 1] as usize], scenery, outcome);
            }
        }
    }

    /// Writes down what comes of a group.
    fn join(&self, members: &[u32], scenery: &Scenery<'_>, outcome: &mut Outcome) {
        let all = &self.droplets.all;
        let rank = |slot: u32| (all[slot as usize].size.volume, std::cmp::Reverse(all[slot as usize].id));
        let stays = members.iter().copied().reduce(|a, b| if rank(b) > rank(a) { b } else { a });
        let stays = stays.expect("a group has members");
        let large = self.droplets.get(stays);
        let volume: f64 = members.iter().map(|&slot| all[slot as usize].size.volume).sum();
        let facet = scenery.track.facet(large.rider.place.triangle);
        let origin = all[stays as usize].spot.point;
        let mut velocity = facet.lift(large.rider.velocity) * (large.size.volume / volume);
        let (mut way, mut center) = (glam::DVec2::ZERO, DVec3::ZERO);
        let mut square = large.size.radius * large.size.radius;
        for &slot in members.iter().filter(|&&slot| slot != stays) {
            let Slot { spot, rider, size, .. } = &all[slot as usize];
            let share = size.volume / volume;
            let offset = across::seen_from(scenery, facet.solid, spot).point - origin;
            let own = scenery.track.facet(rider.place.triangle).lift(rider.velocity);
            velocity += across::velocity(scenery, facet.solid, spot, own) * share;
            // Along the surface as far as the two are apart in space.
            way += facet.along(offset).normalize_or_zero() * (offset.length() * share);
            center += offset * share;
            square += size.radius * size.radius;
            outcome.gone.push(slot);
            outcome.cells.remove(slot, spot);
        }
        let (place, velocity) = scenery.track.walk(large.rider.place, way, facet.along(velocity));
        let droplet = Droplet {
            id: large.id,
            rider: MotionState { place, velocity },
            size: Size { volume, radius: square.sqrt(), pressing: f32::NAN, ..large.size },
            state: State { running: velocity != glam::DVec2::ZERO, ..large.state },
        };
        let mut settled = self.settled(droplet, scenery);
        settled.starts |= droplet.state.running && !large.state.running;
        let id = |slot: u32| all[slot as usize].id;
        if let &[a, b] = members {
            let (a, b) = (id(a), id(b));
            let merge = Ids::from_buf_and_len([a.min(b), a.max(b), 0, 0], 2);
            outcome.events.push(Event::Merge { merge, into: large.id });
        } else {
            let mut merge: Ids = members.iter().map(|&slot| id(slot)).collect();
            merge.sort_unstable();
            outcome.events.push(Event::Merge { merge, into: large.id });
        }
        let spot = &all[stays as usize].spot;
        if settled.falls {
            outcome.gone.push(stays);
            outcome.cells.remove(stays, spot);
            outcome.fallen.push(fallen(&settled, scenery.track));
            return;
        }
        let parts = members.iter().map(|&slot| {
            let Slot { spot, size, .. } = &all[slot as usize];
            let offset = across::seen_from(scenery, facet.solid, spot).point - (origin + center);
            (slot, Part { offset, share: size.volume / volume })
        });
        outcome.necks.extend(self.necks.plan(volume, parts, scenery.liquid).map(|planned| (stays, planned)));
        let solid = scenery.track.facet(settled.droplet.rider.place.triangle).solid;
        let (point, reach) = (settled.point, settled.droplet.size.reach);
        let moved = self.neighbors.moved(stays, spot, solid, point, reach, &mut outcome.cells);
        outcome.stays.push((settled, moved));
    }

    fn carry_out_joining(&mut self, outcomes: &mut [Outcome], events: &mut Vec<Event>) {
        for outcome in &mut *outcomes {
            events.append(&mut outcome.events);
        }
        let Self { droplets, trails, necks, neighbors, newcomers, touched, fallen, .. } = self;
        let outcomes = &*outcomes;
        let mut change_droplets = || {
            for outcome in outcomes {
                for some in outcome.gone.chunks(AT_ONCE) {
                    fetch(droplets, necks, some.iter().copied());
                    for &slot in some {
                        trails.close(slot);
                        necks.forget(slot);
                        droplets.remove(slot);
                        droplets.all[slot as usize].spot.bucket = NOBODY;
                    }
                }
                for some in outcome.stays.chunks(AT_ONCE) {
                    fetch(droplets, necks, some.iter().map(|(_, moved)| moved.slot));
                    for (settled, moved) in some {
                        let Settled { droplet, point, starts, .. } = settled;
                        necks.forget(moved.slot);
                        droplets.set(moved.slot, droplet);
                        moved.note(&mut droplets.all[moved.slot as usize].spot, *point);
                        if *starts {
                            newcomers.push(moved.slot);
                        }
                        // Who runs looks whom it touches after its next step.
                        if !droplet.state.running {
                            touched.push(moved.slot);
                        }
                    }
                }
                outcome.necks.iter().for_each(|(slot, planned)| necks.carry_out(*slot, planned));
                fallen.extend(&outcome.fallen);
            }
        };
        let changes = || outcomes.iter().map(|outcome| &outcome.cells);
        if outcomes.len() > 1 {
            rayon::join(change_droplets, || neighbors.change(changes));
        } else {
            change_droplets();
            neighbors.change(changes);
        }
    }
}

/// Reads what is about to be changed, all at once, so that it need not be waited for one by one.
fn fetch(droplets: &Droplets, necks: &Necks, slots: impl Iterator<Item = u32>) {
    let read = |sum, slot: u32| sum ^ droplets.all[slot as usize].id ^ necks.fetch(slot);
    std::hint::black_box(slots.fold(0, read));
}

impl Outcome {
    fn clear(&mut self) {
        self.gone.clear();
        self.cells.clear();
        self.stays.clear();
        self.necks.clear();
        self.fallen.clear();
        self.events.clear();
    }
}

impl Groups {
    /// Sorts everybody in `pairs` into groups that hang together, in the order in which they are first met.
    fn gather(&mut self, pairs: &[(u32, u32)], num_slots: usize) {
        let Self { numbers, met, into, members, starts, .. } = self;
        numbers.resize(num_slots.max(numbers.len()), NOBODY);
        met.clear();
        into.clear();
        for some in pairs.chunks(AT_ONCE) {
            let fetch = |sum, &(a, b): &(u32, u32)| sum ^ numbers[a as usize] ^ numbers[b as usize];
            std::hint::black_box(some.iter().fold(0, fetch));
            for &(a, b) in some {
                let [a, b] = [a, b].map(|slot| {
                    let number = &mut numbers[slot as usize];
                    if *number == NOBODY {
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
            numbers[slot as usize] = NOBODY;
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
