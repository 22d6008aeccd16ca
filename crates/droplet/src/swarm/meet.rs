//! Droplets that touch become one.
//!
//! Who touched whom in a step is found along the way of both, taken as straight, so that fast ones do not pass each other by between two
//! steps. Pairs are sorted before they are joined: the order in which they were found means nothing.

use glam::DVec2;
use sessile_frames::Event;

use super::{Scenery, Swarm};
use crate::droplets::{Droplet, Droplets, Size, State};
use crate::neighbours::Neighbours;
use crate::ride::Rider;
use crate::track::Track;

impl Swarm {
    /// Joins all droplets that touch, until none do.
    pub(super) fn meet_touched(&mut self, scenery: &Scenery<'_>, events: &mut Vec<Event>) {
        loop {
            self.touched.sort_unstable();
            self.touched.dedup();
            for &slot in self.touched.iter().filter(|&&slot| self.droplets.is_used(slot)) {
                find_touched(slot, &self.droplets, &self.neighbours, scenery.track, &mut self.pairs);
            }
            self.touched.clear();
            if self.pairs.is_empty() {
                return;
            }
            let mut pairs = std::mem::take(&mut self.pairs);
            pairs.sort_unstable();
            pairs.dedup();
            // Everybody goes into himself, except who is joined below; that is undone afterwards.
            let known = self.into.len() as u32;
            self.into.extend(known..self.droplets.num_slots() as u32);
            for &(a, b) in &pairs {
                let [a, b] = [a, b].map(|mut slot| {
                    while self.into[slot as usize] != slot {
                        slot = self.into[slot as usize];
                    }
                    slot
                });
                if a != b && self.droplets.is_used(a) && self.droplets.is_used(b) {
                    let (stays, goes) = self.join(a, b, scenery, events);
                    self.into[goes as usize] = stays;
                }
            }
            for &(a, b) in &pairs {
                (self.into[a as usize], self.into[b as usize]) = (a, b);
            }
            pairs.clear();
            self.pairs = pairs;
        }
    }

    /// Makes one droplet of two: volume and momentum add up, the larger keeps its slot and id. Says which stays and which goes.
    fn join(&mut self, a: u32, b: u32, scenery: &Scenery<'_>, events: &mut Vec<Event>) -> (u32, u32) {
        let track = scenery.track;
        let [first, second] = [a, b].map(|slot| self.droplets.get(slot));
        let first_stays = (first.size.volume, second.id) >= (second.size.volume, first.id);
        let ((stays, large), (goes, small)) =
            if first_stays { ((a, first), (b, second)) } else { ((b, second), (a, first)) };
        let volume = large.size.volume + small.size.volume;
        let share = small.size.volume / volume;
        let facet = track.facet(large.rider.place.triangle);
        let other = track.facet(small.rider.place.triangle);
        let offset = self.droplets.spots[goes as usize].point - self.droplets.spots[stays as usize].point;
        let velocity = facet.lift(large.rider.velocity) * (1.0 - share) + other.lift(small.rider.velocity) * share;
        // Along the surface as far as the two are apart in space.
        let way = facet.along(offset).normalize_or_zero() * (offset.length() * share);
        let (place, velocity) = track.walk(large.rider.place, way, facet.along(velocity));
        self.necks.join(stays, goes, [large.size.volume, small.size.volume], offset, scenery.liquid);
        let mut ids = vec![large.id, small.id];
        ids.sort_unstable();
        events.push(Event::Merge { merge: ids, into: large.id });
        self.let_go(goes);
        let radius = large.size.radius.hypot(small.size.radius);
        let running = velocity != DVec2::ZERO;
        if running && !large.state.running {
            self.newcomers.push(stays);
        }
        let joined = Droplet {
            id: large.id,
            rider: Rider { place, velocity },
            size: Size { volume, radius, pressing: f64::NAN, ..large.size },
            state: State { running, ..large.state },
        };
        self.replace(stays, joined, scenery);
        (stays, goes)
    }
}

/// Pairs of a slot and those whose droplets its own has touched in the last step.
///
/// Both are taken to have moved straight. Who moved more finds the other: it looks as far again as it has come.
pub(super) fn find_touched(
    slot: u32,
    droplets: &Droplets,
    neighbours: &Neighbours,
    track: &Track,
    pairs: &mut Vec<(u32, u32)>,
) {
    let spot = &droplets.spots[slot as usize];
    let from = spot.point - spot.step;
    let reach = f64::from(spot.reach);
    neighbours.near(&droplets.spots, spot.solid, from, spot.point, reach + spot.step.length(), |other, theirs| {
        let within = reach + f64::from(theirs.reach);
        let (apart, drift) = (theirs.point - theirs.step - from, theirs.step - spot.step);
        let speed = drift.length_squared();
        let nearest = if speed > 0.0 { (-apart.dot(drift) / speed).clamp(0.0, 1.0) } else { 0.0 };
        let gap = apart + drift * nearest;
        if gap.length_squared() >= within * within || other == slot || theirs.solid != spot.solid {
            return;
        }
        // On the two sides of something thin they do not meet.
        let [mine, its] = [slot, other].map(|s| track.facet(droplets.riders[s as usize].place.triangle).normal());
        if mine.dot(its) < 0.0 && gap.dot(mine) < 0.0 {
            return;
        }
        pairs.push((slot.min(other), slot.max(other)));
    });
}
