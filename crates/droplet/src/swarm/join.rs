//! Merging of touching droplets.
//!
//! Volume and momentum add up, the place is the center of mass, the largest keeps its slot and id. Groups are independent,
//! so their mergers are computed in parallel, then committed in order: changes of the neighbor grids on other threads than
//! those of the droplets. Groups are processed in blocks that still fit the cache when they are committed.

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_sliding::{CoalescenceGroups, NeckPart, Necks, PlannedNeck, merge_event, survivor};

use super::{AT_ONCE, Fallen, Scenery, Settled, Swarm, across, fallen};
use crate::droplets::{CHUNK, Droplet, Droplets, NOBODY, Size, Slot, State};
use crate::neighbors::{Changes, Move};
use crate::ride::Rider;

/// Groups that one task computes.
const TOGETHER: usize = CHUNK / 2;
/// Tasks per thread that are computed before they are committed.
const AHEAD: usize = 8;

/// Groups of touching droplets and the results of their mergers; keeps its memory from step to step.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: CoalescenceGroups,
    outcomes: Vec<Outcome>,
}

/// Results of some mergers.
#[derive(Debug, Default)]
struct Outcome {
    /// Slots that become empty.
    gone: Vec<u32>,
    /// Changes of the grid cells of absorbed and of surviving droplets.
    cells: Changes,
    stays: Vec<(Settled, Move)>,
    necks: Vec<(u32, PlannedNeck)>,
    fallen: Vec<Fallen>,
    events: Vec<Event>,
}

impl Swarm {
    /// Merges every group of touching droplets into one.
    pub(super) fn join_pairs(&mut self, scenery: &Scenery<'_>, events: &mut Vec<Event>) {
        let Groups { mut groups, mut outcomes } = std::mem::take(&mut self.groups);
        groups.gather(&self.pairs, self.droplets.num_slots());
        self.pairs.clear();
        let pieces = groups.len().div_ceil(TOGETHER);
        let threads = rayon::current_num_threads();
        // No more than is still in the cache when it is committed.
        let at_once = if threads == 1 { 1 } else { AHEAD * threads };
        outcomes.resize_with(at_once.min(pieces).max(outcomes.len()), Outcome::default);
        for first in (0..pieces).step_by(at_once) {
            let outcomes = &mut outcomes[..at_once.min(pieces - first)];
            let this = &*self;
            let work = |piece: usize, outcome: &mut Outcome| {
                let end = groups.len().min((piece + 1) * TOGETHER);
                this.join_groups(&groups, piece * TOGETHER..end, scenery, outcome);
            };
            if let [outcome] = outcomes {
                work(first, outcome);
            } else {
                outcomes.par_iter_mut().enumerate().for_each(|(piece, outcome)| work(first + piece, outcome));
            }
            self.commit_mergers(outcomes, events);
        }
        self.groups = Groups { groups, outcomes };
    }

    /// Computes the mergers of a range of groups.
    fn join_groups(
        &self,
        groups: &CoalescenceGroups,
        range: std::ops::Range<usize>,
        scenery: &Scenery<'_>,
        outcome: &mut Outcome,
    ) {
        outcome.clear();
        for first in range.clone().step_by(AT_ONCE) {
            let end = range.end.min(first + AT_ONCE);
            self.droplets.fetch(groups.range(first, end).iter().copied(), scenery.track, Some(&self.ground));
            for group in first..end {
                self.join(groups.get(group), scenery, outcome);
            }
        }
    }

    /// Computes the merger of one group.
    fn join(&self, members: &[u32], scenery: &Scenery<'_>, outcome: &mut Outcome) {
        let all = &self.droplets.all;
        let rank = |&slot: &u32| (all[slot as usize].size.volume, all[slot as usize].id);
        let kept = members[survivor(members.iter().map(rank))];
        let Merged { droplet, center, solid } = self.merged(kept, members, scenery);
        for &slot in members.iter().filter(|&&slot| slot != kept) {
            outcome.gone.push(slot);
            outcome.cells.remove(slot, &all[slot as usize].spot);
        }
        let mut settled = self.settled(droplet, scenery);
        settled.starts |= droplet.state.running && !all[kept as usize].state.running;
        outcome.events.push(merge_event(members.iter().map(|&slot| all[slot as usize].id), droplet.id));
        let spot = &all[kept as usize].spot;
        if settled.falls {
            outcome.gone.push(kept);
            outcome.cells.remove(kept, spot);
            outcome.fallen.push(fallen(&settled, scenery.track));
            return;
        }
        let volume = droplet.size.volume;
        let parts = members.iter().map(|&slot| {
            let Slot { spot, size, .. } = &all[slot as usize];
            let offset = across::seen_from(scenery, solid, spot).point - center;
            (slot, NeckPart { offset, share: size.volume / volume })
        });
        outcome.necks.extend(self.necks.plan(volume, parts, scenery.liquid).map(|planned| (kept, planned)));
        let solid = scenery.track.facet(settled.droplet.rider.place.triangle).solid;
        let (point, reach) = (settled.point, settled.droplet.size.reach);
        let moved = self.neighbors.moved(kept, spot, solid, point, reach, &mut outcome.cells);
        outcome.stays.push((settled, moved));
    }

    /// The droplet that a group becomes: volume and momentum add up about the center of mass.
    fn merged(&self, kept: u32, members: &[u32], scenery: &Scenery<'_>) -> Merged {
        let all = &self.droplets.all;
        let large = self.droplets.get(kept);
        let volume: f64 = members.iter().map(|&slot| all[slot as usize].size.volume).sum();
        let facet = scenery.track.facet(large.rider.place.triangle);
        let origin = all[kept as usize].spot.point;
        let mut velocity = facet.lift(large.rider.velocity) * (large.size.volume / volume);
        let (mut path, mut center) = (DVec2::ZERO, DVec3::ZERO);
        let mut square = large.size.radius * large.size.radius;
        for &slot in members.iter().filter(|&&slot| slot != kept) {
            let Slot { spot, rider, size, .. } = &all[slot as usize];
            let share = size.volume / volume;
            let offset = across::seen_from(scenery, facet.solid, spot).point - origin;
            let own = scenery.track.facet(rider.place.triangle).lift(rider.velocity);
            velocity += across::velocity(scenery, facet.solid, spot, own) * share;
            // Along the surface by the distance of the two in space.
            path += facet.along(offset).normalize_or_zero() * (offset.length() * share);
            center += offset * share;
            square += size.radius * size.radius;
        }
        let (place, velocity) = scenery.track.walk(large.rider.place, path, facet.along(velocity));
        let droplet = Droplet {
            id: large.id,
            rider: Rider { place, velocity },
            size: Size { volume, radius: square.sqrt(), pressing: f32::NAN, ..large.size },
            state: State { running: velocity != DVec2::ZERO, ..large.state },
        };
        Merged { droplet, center: origin + center, solid: facet.solid }
    }

    fn commit_mergers(&mut self, outcomes: &mut [Outcome], events: &mut Vec<Event>) {
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
                        trails.end(slot);
                        necks.remove(slot);
                        droplets.remove(slot);
                        droplets.all[slot as usize].spot.bucket = NOBODY;
                    }
                }
                for some in outcome.stays.chunks(AT_ONCE) {
                    fetch(droplets, necks, some.iter().map(|(_, moved)| moved.slot));
                    for (settled, moved) in some {
                        let Settled { droplet, point, starts, .. } = settled;
                        necks.remove(moved.slot);
                        droplets.set(moved.slot, droplet);
                        moved.note(&mut droplets.all[moved.slot as usize].spot, *point);
                        if *starts {
                            newcomers.push(moved.slot);
                        }
                        // A sliding droplet searches for contacts after its next step.
                        if !droplet.state.running {
                            touched.push(moved.slot);
                        }
                    }
                }
                outcome.necks.iter().for_each(|(slot, planned)| necks.insert(*slot, planned));
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

/// Reads all that is about to be changed, so that cache misses overlap.
fn fetch(droplets: &Droplets, necks: &Necks, slots: impl Iterator<Item = u32>) {
    let read = |sum, slot: u32| sum ^ droplets.all[slot as usize].id ^ necks.prefetch(slot);
    std::hint::black_box(slots.fold(0, read));
}

/// A droplet made of a group.
struct Merged {
    droplet: Droplet,
    /// Center of mass in the rest pose of its solid, in m.
    center: DVec3,
    /// The solid of the surviving droplet.
    solid: u32,
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
