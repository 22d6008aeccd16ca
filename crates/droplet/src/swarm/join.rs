//! What becomes of droplets that hang together by touching.
//!
//! Volumes and momenta add up, the middle is that of their volumes, the largest keeps its slot and id. Groups have nothing to do with one another, so what
//! comes of each is worked out in parallel, some groups at a time, and written down; then it is carried out in that order, by one thread among those
//! that stand, by another among those that run, while a third sees to the droplets themselves.

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;

use super::{AT_ONCE, Fallen, Scenery, Settled, Swarm, across, fallen};
use crate::droplets::{CHUNK, Droplet, NOBODY, Size, Slot, State};
use crate::necks::{Part, Planned};
use crate::neighbours::{Change, Move};
use crate::ride::Rider;

/// Groups whose outcome one thread writes down.
const TOGETHER: usize = CHUNK / 2;

/// Groups that hang together, and what comes of them; kept from step to step for its memory.
#[derive(Debug, Default)]
pub(super) struct Groups {
    links: Vec<Link>,
    /// Everybody in a group, with the group's number, as found.
    found: Vec<(u32, u32)>,
    /// Slots, group by group, and where the groups begin, and the end.
    members: Vec<u32>,
    starts: Vec<u32>,
    outcomes: Vec<Outcome>,
}

/// A slot while groups are found; on its own before and after.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Whom it goes with.
    into: u32,
    /// Number of its group.
    group: u32,
}

/// What comes of some groups.
#[derive(Debug, Default)]
struct Outcome {
    /// Slots that become empty.
    gone: Vec<u32>,
    /// Changes of their cells and of the cells of those that stay.
    cells: Vec<Change>,
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
        if outcomes.len() < pieces {
            outcomes.resize_with(pieces, Outcome::default);
        }
        let outcomes = &mut outcomes[..pieces];
        let this = &*self;
        let work = |piece: usize, outcome: &mut Outcome| {
            let last = (starts.len() - 1).min((piece + 1) * TOGETHER);
            let starts = &starts[piece * TOGETHER..=last];
            outcome.clear();
            for some in (0..starts.len() - 1).step_by(AT_ONCE) {
                let end = (starts.len() - 1).min(some + AT_ONCE);
                let all = &members[starts[some] as usize..starts[end] as usize];
                this.droplets.fetch(all.iter().copied(), scenery.track);
                for group in some..end {
                    this.join(&members[starts[group] as usize..starts[group + 1] as usize], scenery, outcome);
                }
            }
        };
        if let [outcome] = outcomes {
            work(0, outcome);
        } else {
            outcomes.par_iter_mut().enumerate().for_each(|(piece, outcome)| work(piece, outcome));
        }
        self.carry_out_joining(outcomes, events);
        self.groups = groups;
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
            outcome.cells.extend(self.neighbours.removal(slot, spot));
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
        let mut ids: Vec<u32> = members.iter().map(|&slot| all[slot as usize].id).collect();
        ids.sort_unstable();
        outcome.events.push(Event::Merge { merge: ids, into: large.id });
        let spot = &all[stays as usize].spot;
        if settled.falls {
            outcome.gone.push(stays);
            outcome.cells.extend(self.neighbours.removal(stays, spot));
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
        let moved = self.neighbours.moved(stays, spot, solid, settled.point, settled.droplet.size.reach);
        outcome.cells.push(moved.change);
        outcome.stays.push((settled, moved));
    }

    fn carry_out_joining(&mut self, outcomes: &mut [Outcome], events: &mut Vec<Event>) {
        for outcome in &mut *outcomes {
            events.append(&mut outcome.events);
        }
        let Self { droplets, trails, necks, neighbours, newcomers, touched, fallen, .. } = self;
        let outcomes = &*outcomes;
        let mut change_droplets = || {
            for outcome in outcomes {
                for &slot in &outcome.gone {
                    trails.close(slot);
                    necks.forget(slot);
                    droplets.remove(slot);
                    droplets.all[slot as usize].spot.bucket = NOBODY;
                }
                for (settled, moved) in &outcome.stays {
                    let Settled { droplet, point, starts, .. } = *settled;
                    necks.forget(moved.slot);
                    droplets.set(moved.slot, &droplet);
                    moved.note(&mut droplets.all[moved.slot as usize].spot, point);
                    if starts {
                        newcomers.push(moved.slot);
                    }
                    // Who runs looks whom it touches after its next step.
                    if !droplet.state.running {
                        touched.push(moved.slot);
                    }
                }
                outcome.necks.iter().for_each(|(slot, planned)| necks.carry_out(*slot, planned));
                fallen.extend(&outcome.fallen);
            }
        };
        let changes = || outcomes.iter().map(|outcome| &outcome.cells[..]);
        if outcomes.len() > 1 {
            rayon::join(change_droplets, || neighbours.change(changes));
        } else {
            change_droplets();
            neighbours.change(changes);
        }
    }
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
        let Self { links, found, members, starts, .. } = self;
        links.extend((links.len() as u32..num_slots as u32).map(|slot| Link { into: slot, group: NOBODY }));
        for &(a, b) in pairs {
            let (a, b) = (root(links, a), root(links, b));
            links[a.max(b) as usize].into = a.min(b);
        }
        found.clear();
        starts.clear();
        for slot in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            let root = root(links, slot);
            if links[root as usize].group == NOBODY {
                links[root as usize].group = starts.len() as u32;
                found.push((starts.len() as u32, root));
                starts.push(1);
            }
            if links[slot as usize].group == NOBODY {
                let group = links[root as usize].group;
                links[slot as usize].group = group;
                found.push((group, slot));
                starts[group as usize] += 1;
            }
        }
        let mut begins = 0;
        for start in &mut *starts {
            begins += std::mem::replace(start, begins);
        }
        members.clear();
        members.resize(found.len(), 0);
        for &(group, slot) in &*found {
            let start = &mut starts[group as usize];
            members[*start as usize] = slot;
            *start += 1;
            links[slot as usize] = Link { into: slot, group: NOBODY };
        }
        // Each start has become the next one's.
        starts.insert(0, 0);
        // Who is added up first must not hang on who was met first.
        for group in 0..starts.len() - 1 {
            members[starts[group] as usize..starts[group + 1] as usize].sort_unstable();
        }
    }
}

fn root(links: &mut [Link], mut slot: u32) -> u32 {
    while links[slot as usize].into != slot {
        // Halves the way for the next.
        links[slot as usize].into = links[links[slot as usize].into as usize].into;
        slot = links[slot as usize].into;
    }
    slot
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
