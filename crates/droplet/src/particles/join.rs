//! Merging of touching droplets.
//!
//! Volume and momentum add up, the place is the center of mass, the largest keeps its slot and id.
//! Groups are independent, so their mergers are computed in parallel, then committed in order:
//! changes of the neighbor grids on other threads than those of the droplets. Groups are processed
//! in blocks that still fit the cache when they are committed.

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_sliding::{CoalescenceGroups, DropId, NeckPart, Necks, PlannedNeck, SlotIndex, merge_event, survivor};

use super::{Assessed, Detached, ParticleState, ParticleSystem, StepContext, detached, other_solids};
use crate::droplets::{CHUNK, Droplet, Droplets, PREFETCH, Size, Slot, State};
use crate::integrate::MotionState;
use crate::neighbors::{Changes, GridAddress, Move};
use crate::surface_mesh::SolidIndex;

/// Groups that one task computes.
const TOGETHER: usize = CHUNK / 2;
/// Tasks per thread that are computed before they are committed.
const AHEAD: usize = 8;

/// Groups of touching droplets and the results of their mergers; keeps its memory from step to
/// step.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: CoalescenceGroups,
    outcomes: Vec<Outcome>,
}

/// Results of some mergers.
#[derive(Debug, Default)]
struct Outcome {
    /// Slots that become empty.
    gone: Vec<SlotIndex>,
    /// Changes of the grid cells of absorbed and of surviving droplets.
    cells: Changes,
    stays: Vec<(Assessed, Move)>,
    necks: Vec<(SlotIndex, PlannedNeck)>,
    detached: Vec<Detached>,
    events: Vec<Event>,
}

impl ParticleSystem {
    /// Merges every group of touching droplets into one.
    pub(super) fn join_pairs(&mut self, context: &StepContext<'_>, events: &mut Vec<Event>) {
        let Groups { mut groups, mut outcomes } = std::mem::take(&mut self.scratch.groups);
        groups.gather(&self.scratch.pairs, self.state.droplets.num_slots());
        self.scratch.pairs.clear();
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
                this.join_groups(&groups, piece * TOGETHER..end, context, outcome);
            };
            if let [outcome] = outcomes {
                work(first, outcome);
            } else {
                outcomes.par_iter_mut().enumerate().for_each(|(piece, outcome)| work(first + piece, outcome));
            }
            self.commit_mergers(outcomes, events);
        }
        self.scratch.groups = Groups { groups, outcomes };
    }

    /// Computes the mergers of a range of groups.
    fn join_groups(
        &self,
        groups: &CoalescenceGroups,
        range: std::ops::Range<usize>,
        context: &StepContext<'_>,
        outcome: &mut Outcome,
    ) {
        outcome.clear();
        for first in range.clone().step_by(PREFETCH) {
            let end = range.end.min(first + PREFETCH);
            self.state.droplets.prefetch(
                groups.range(first, end).iter().copied(),
                context.surface,
                Some(&self.state.substrate),
            );
            for group in first..end {
                self.join(groups.get(group), context, outcome);
            }
        }
    }

    /// Computes the merger of one group.
    fn join(&self, members: &[SlotIndex], context: &StepContext<'_>, outcome: &mut Outcome) {
        let all = &self.state.droplets;
        let id = |&slot: &SlotIndex| all[slot].id.expect("droplets in contact exist");
        let kept = members[survivor(members.iter().map(|slot| (all[*slot].size.volume, id(slot))))];
        let Merged { droplet, center, solid } = self.merged(kept, members, context);
        for &slot in members.iter().filter(|&&slot| slot != kept) {
            outcome.gone.push(slot);
            outcome.cells.remove(slot, &all[slot].location);
        }
        let mut assessed = self.assess(droplet, context);
        assessed.starts |= droplet.state.is_sliding && !all[kept].state.is_sliding;
        outcome.events.push(merge_event(members.iter().map(id), droplet.id));
        let location = &all[kept].location;
        if assessed.detaches {
            outcome.gone.push(kept);
            outcome.cells.remove(kept, location);
            outcome.detached.push(detached(&assessed, context.surface));
            return;
        }
        let volume = droplet.size.volume;
        let parts = members.iter().map(|&slot| {
            let Slot { location, size, .. } = &all[slot];
            let offset = other_solids::seen_from(context, solid, location).point - center;
            (slot, NeckPart { offset, share: size.volume / volume })
        });
        outcome.necks.extend(self.state.necks.plan(volume, parts, context.liquid()).map(|planned| (kept, planned)));
        let solid = context.surface.facet(assessed.droplet.motion.place.triangle).solid;
        let (point, merge_radius) = (assessed.point, assessed.droplet.size.merge_radius);
        let moved = self.neighbors.plan_move(kept, location, solid, point, merge_radius, &mut outcome.cells);
        outcome.stays.push((assessed, moved));
    }

    /// The droplet that a group becomes: volume and momentum add up about the center of mass.
    fn merged(&self, kept: SlotIndex, members: &[SlotIndex], context: &StepContext<'_>) -> Merged {
        let all = &self.state.droplets;
        let large = self.state.droplets.get(kept);
        let volume: f64 = members.iter().map(|&slot| all[slot].size.volume).sum();
        let facet = context.surface.facet(large.motion.place.triangle);
        let origin = all[kept].location.point;
        let mut velocity = facet.lift(large.motion.velocity) * (large.size.volume / volume);
        let (mut path, mut center) = (DVec2::ZERO, DVec3::ZERO);
        let mut square = large.size.radius * large.size.radius;
        for &slot in members.iter().filter(|&&slot| slot != kept) {
            let Slot { location, motion, size, .. } = &all[slot];
            let share = size.volume / volume;
            let offset = other_solids::seen_from(context, facet.solid, location).point - origin;
            let own = context.surface.facet(motion.place.triangle).lift(motion.velocity);
            velocity += other_solids::velocity(context, facet.solid, location, own) * share;
            // Along the surface by the distance of the two in space.
            path += facet.project(offset).normalize_or_zero() * (offset.length() * share);
            center += offset * share;
            square += size.radius * size.radius;
        }
        let (place, velocity) = context.surface.trace_geodesic(large.motion.place, path, facet.project(velocity));
        let droplet = Droplet {
            id: large.id,
            motion: MotionState { place, velocity },
            size: Size { volume, radius: square.sqrt(), ..large.size },
            state: State { is_sliding: velocity != DVec2::ZERO, ..large.state },
        };
        Merged { droplet, center: origin + center, solid: facet.solid }
    }

    fn commit_mergers(&mut self, outcomes: &mut [Outcome], events: &mut Vec<Event>) {
        for outcome in &mut *outcomes {
            events.append(&mut outcome.events);
        }
        let Self { state, neighbors, starting, detached, .. } = self;
        let ParticleState { droplets, trails, necks, spreads, pending, .. } = state;
        let outcomes = &*outcomes;
        let mut change_droplets = || {
            for outcome in outcomes {
                for some in outcome.gone.chunks(PREFETCH) {
                    fetch(droplets, necks, some.iter().copied());
                    for &slot in some {
                        trails.end(slot);
                        necks.remove(slot);
                        spreads.remove(slot);
                        droplets.remove(slot);
                        droplets[slot].location.address = GridAddress::NONE;
                    }
                }
                for some in outcome.stays.chunks(PREFETCH) {
                    fetch(droplets, necks, some.iter().map(|(_, moved)| moved.slot));
                    for (assessed, moved) in some {
                        let Assessed { droplet, point, starts, .. } = assessed;
                        necks.remove(moved.slot);
                        if droplet.state.is_spreading {
                            spreads.refit(moved.slot, droplet.size.volume, droplet.size.radius);
                        }
                        droplets.set(moved.slot, droplet);
                        moved.apply(&mut droplets[moved.slot].location, *point);
                        if *starts {
                            starting.push(moved.slot);
                        }
                        // A sliding droplet searches for contacts after its next step.
                        if !droplet.state.is_sliding {
                            pending.push(moved.slot);
                        }
                    }
                }
                outcome.necks.iter().for_each(|(slot, planned)| necks.insert(*slot, planned));
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

/// Reads all that is about to be changed, so that cache misses overlap.
fn fetch(droplets: &Droplets, necks: &Necks, slots: impl Iterator<Item = SlotIndex>) {
    let read = |sum, slot: SlotIndex| sum ^ droplets[slot].id.map_or(0, DropId::get) ^ necks.prefetch(slot);
    std::hint::black_box(slots.fold(0, read));
}

/// A droplet made of a group.
struct Merged {
    droplet: Droplet,
    /// Center of mass in the rest pose of its solid, in m.
    center: DVec3,
    /// The solid of the surviving droplet.
    solid: SolidIndex,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model_of;

    fn cap(volume: f64, x: f64, speed: f64) -> String {
        format!(
            "[[drops]]\nshape = \"cap\"\non = \"table\"\ncenter = \"{x} 0 0 mm\"\nvolume = \"{volume} uL\"\n\
             velocity = \"{speed} 0 0 m/s\"\n"
        )
    }

    #[test]
    fn a_merger_conserves_volume_momentum_and_center_of_mass() {
        let mut model = model_of(&(cap(8.0, 0.0, 0.3) + &cap(2.0, 2.0, -0.1) + &cap(3.0, 20.0, 0.0)));
        let (particles, context) = model.particles_and_context();
        particles.state.pending = SlotIndex::first(3).collect();
        let mut events = Vec::new();
        particles.coalesce_contacts(&context, &mut events);
        assert_eq!(
            events,
            [merge_event(
                [1, 2].into_iter().filter_map(DropId::new).collect::<Vec<_>>().into_iter(),
                DropId::new(1).expect("positive")
            )]
        );
        let droplets = &particles.state.droplets;
        assert_eq!(droplets.used().collect::<Vec<_>>(), [SlotIndex::new(0), SlotIndex::new(2)]);
        let merged = droplets.get(SlotIndex::new(0));
        assert!((merged.size.volume / 10e-9 - 1.0).abs() < 1e-9, "{}", merged.size.volume);
        let facet = context.surface.facet(merged.motion.place.triangle);
        let (point, velocity) = (merged.motion.place.point(context.surface), facet.lift(merged.motion.velocity));
        assert!((point.x - 0.2 * 2e-3).abs() < 1e-9, "{point}: the center of mass");
        assert!((velocity.x - (0.8 * 0.3 - 0.2 * 0.1)).abs() < 1e-9, "{velocity}");
    }
}
