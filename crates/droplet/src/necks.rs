//! Droplets that have just merged keep, for a rigid, the places of those that they came from, so that a neck is seen.
//!
//! The parts draw together over about the capillary time √(ρv/γ) of what the largest has taken up, v, or in a thick liquid the time ηr/γ that viscosity
//! needs: a large droplet swallows a small one at once. Where they are is worked out from when they merged by whoever looks, so a neck costs nothing while nobody does.
//! This is for the eye: mass, place and momentum have merged at once.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_wetting::Liquid;
use sessile_wetting::cube_root::cube_root;

/// Most parts that a merged droplet is drawn with.
const MOST_PARTS: usize = 6;
/// Capillary times that the parts take to draw together.
const CAPILLARY_TIMES: f64 = 2.0;
/// Viscous times ηR/γ that they take at least: the wedge's logarithm.
const VISCOUS_TIMES: f64 = 12.0;
/// Time constants after which a neck is gone.
const LIFE: f64 = 5.0;
/// Necks below which nobody sweeps.
const FEW: usize = 1024;
/// A slot without a neck.
const NONE: u32 = u32::MAX;

/// One of the droplets that a droplet was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// From the droplet's center, in the rest pose, in m.
    pub offset: DVec3,
    /// Of the droplet's volume.
    pub share: f64,
}

/// The parts of a droplet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    parts: [Part; MOST_PARTS],
    count: usize,
}

impl Parts {
    /// All of them.
    pub fn as_slice(&self) -> &[Part] {
        &self.parts[..self.count]
    }

    /// Adds one; when there are too many, the smallest of all is joined with the one nearest to it, about their common center.
    fn push(&mut self, part: Part) {
        if self.count < MOST_PARTS {
            self.parts[self.count] = part;
            self.count += 1;
            return;
        }
        let mut part = part;
        let smallest = (0..MOST_PARTS).fold(0, |s, k| if self.parts[k].share < self.parts[s].share { k } else { s });
        if self.parts[smallest].share < part.share {
            std::mem::swap(&mut self.parts[smallest], &mut part);
        }
        let distance = |other: &Part| other.offset.distance_squared(part.offset);
        if let Some(near) = self.parts.iter_mut().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
            let share = near.share + part.share;
            near.offset = (near.offset * near.share + part.offset * part.share) / share;
            near.share = share;
        }
    }
}

/// A neck that will be.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    parts: Parts,
    time_constant: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Neck {
    slot: u32,
    parts: Parts,
    time_constant: f64,
    born: f64,
}

impl Neck {
    fn is_gone(&self, now: f64) -> bool {
        now - self.born >= LIFE * self.time_constant
    }
}

/// Necks, by slot of their droplet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Necks {
    necks: Vec<Neck>,
    /// Where each slot's neck is among them; shorter than the slots where the last ones have none.
    of_slot: Vec<u32>,
    now: f64,
    /// When they are looked at next, in s.
    seen_at: f64,
    /// Necks at the last sweep.
    swept: usize,
}

impl Necks {
    /// The parts, where they are now, of a droplet that has merged not long ago.
    pub fn get(&self, slot: u32) -> Option<Parts> {
        let neck = self.necks.get(*self.of_slot.get(slot as usize)? as usize)?;
        if neck.is_gone(self.now) {
            return None;
        }
        let mut parts = neck.parts;
        let drawn = (-(self.now - neck.born) / neck.time_constant).exp();
        parts.parts.iter_mut().for_each(|part| part.offset *= drawn);
        Some(parts)
    }

    /// What will be seen of droplets that become one, of this volume in all (in m³), if anybody sees it: each with its slot, its share of the volume and
    /// its offset from the new center, in m. The necks that they have must be [forgotten](Necks::forget).
    pub fn plan(
        &self,
        volume: f64,
        joined: impl Iterator<Item = (u32, Part)> + Clone,
        liquid: &Liquid,
    ) -> Option<Planned> {
        let largest = joined.clone().map(|(_, part)| part.share).fold(0.0, f64::max);
        let taken = volume * (1.0 - largest).max(0.0);
        let capillary = (liquid.density * taken / liquid.surface_tension).sqrt();
        let viscous = liquid.dynamic_viscosity() * cube_root(taken) / liquid.surface_tension;
        let time_constant = (CAPILLARY_TIMES * capillary).max(VISCOUS_TIMES * viscous);
        if self.now + LIFE * time_constant <= self.seen_at {
            return None;
        }
        let mut parts = Parts::default();
        for (slot, part) in joined {
            match self.get(slot) {
                Some(before) => {
                    let within = |p: &Part| Part { offset: p.offset + part.offset, share: p.share * part.share };
                    before.as_slice().iter().for_each(|p| parts.push(within(p)));
                }
                None => parts.push(part),
            }
        }
        Some(Planned { parts, time_constant })
    }

    /// A droplet that has none gets the neck that was planned.
    pub fn carry_out(&mut self, slot: u32, planned: &Planned) {
        let Planned { parts, time_constant } = *planned;
        if self.of_slot.len() <= slot as usize {
            self.of_slot.resize(slot as usize + 1, NONE);
        }
        self.of_slot[slot as usize] = self.necks.len() as u32;
        self.necks.push(Neck { slot, parts, time_constant, born: self.now });
    }

    /// Reads something of whether a slot has a neck, so that it need not be waited for later.
    #[inline]
    pub fn fetch(&self, slot: u32) -> u32 {
        self.of_slot.get(slot as usize).copied().unwrap_or(NONE)
    }

    /// A droplet is gone.
    pub fn forget(&mut self, slot: u32) {
        let Some(index) = self.of_slot.get_mut(slot as usize) else { return };
        let index = std::mem::replace(index, NONE) as usize;
        if index < self.necks.len() {
            self.necks.swap_remove(index);
            if let Some(moved) = self.necks.get(index) {
                self.of_slot[moved.slot as usize] = index as u32;
            }
        }
    }

    /// It is `now`, and nobody looks before `seen_at`; those that have closed are forgotten now and then.
    pub fn at(&mut self, now: f64, seen_at: f64) {
        (self.now, self.seen_at) = (now, seen_at);
        if self.necks.len() <= FEW.max(2 * self.swept) {
            return;
        }
        let mut index = 0;
        while let Some(neck) = self.necks.get(index) {
            if neck.is_gone(now) {
                self.forget(neck.slot);
            } else {
                index += 1;
            }
        }
        self.swept = self.necks.len();
    }

    /// Whether slots and necks point to one another, as those of a saved state must.
    pub fn is_sound(&self) -> bool {
        (0..)
            .zip(&self.necks)
            .all(|(index, neck)| self.of_slot.get(neck.slot as usize) == Some(&index) && neck.parts.count <= MOST_PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drag::tests::WATER;

    fn join(necks: &mut Necks, slots: [u32; 2], volumes: [f64; 2], offset: DVec3) {
        let volume = volumes[0] + volumes[1];
        let shares = volumes.map(|part| part / volume);
        let parts = [
            (slots[0], Part { offset: -offset * shares[1], share: shares[0] }),
            (slots[1], Part { offset: offset * shares[0], share: shares[1] }),
        ];
        let planned = necks.plan(volume, parts.into_iter(), &WATER);
        slots.iter().for_each(|&slot| necks.forget(slot));
        planned.iter().for_each(|planned| necks.carry_out(slots[0], planned));
    }

    #[test]
    fn a_neck_keeps_its_center_and_closes_within_the_droplets_own_time() {
        let mut necks = Necks::default();
        join(&mut necks, [3, 5], [3e-9, 1e-9], DVec3::X * 2e-3);
        join(&mut necks, [3, 8], [4e-9, 1e-9], DVec3::Y * 3e-3);
        let parts = necks.get(3).expect("there");
        let parts = parts.as_slice();
        let (center, sum) = parts.iter().fold((DVec3::ZERO, 0.0), |(c, s), p| (c + p.offset * p.share, s + p.share));
        assert!(parts.len() == 3 && center.length() < 1e-18 && (sum - 1.0).abs() < 1e-12, "{parts:?}");
        let first = parts[0].offset.length();
        necks.at(3e-3, 3e-3);
        let later = necks.get(3).expect("still there").as_slice()[0].offset.length() / first;
        assert!((0.4..0.9).contains(&later), "{later}");
        necks.at(0.2, 0.2);
        assert!(necks.get(3).is_none());
    }

    #[test]
    fn necks_that_have_closed_are_swept_away_and_the_others_stay() {
        let mut necks = Necks::default();
        for round in 0..20_u32 {
            necks.at(f64::from(round) * 0.1, f64::from(round) * 0.1);
            for k in 0..200 {
                join(&mut necks, [400 * round + 2 * k, 400 * round + 2 * k + 1], [1e-9, 1e-9], DVec3::X * 1e-3);
            }
            assert!(necks.is_sound());
        }
        assert!(necks.necks.len() <= 2 * FEW, "{} necks", necks.necks.len());
        assert!((0..200).all(|k| necks.get(400 * 19 + 2 * k).is_some()));
        assert!(necks.get(0).is_none());
    }
}
