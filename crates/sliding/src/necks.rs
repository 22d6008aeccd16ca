//! The neck between drops that have just coalesced.
//!
//! A merged drop keeps, for a short time, the positions of the drops that it was made of, so that
//! frames show a neck that closes. This affects display only: volume, place and momentum merge at
//! once.
//!
//! # Time constant
//!
//! The bridge between two drops of radii r ≤ R grows inertially as b² ~ √(γa/ρ) t, with 1/a = 1/r +
//! 1/R the curvature of the gap: a ≈ r where one drop is much smaller. The neck has closed when b ~
//! r, after t ~ √(ρr³/γ): the capillary time of the *absorbed* drop, whose Laplace pressure 2γ/r
//! drives the flow, not that of the merged one. In a viscous liquid the bridge grows at the speed
//! γ/η and closes after t ~ ηr/γ. With v the volume absorbed by the largest drop,
//!
//! ```text
//! τ = max(2 √(ρv/γ), 12 η v^⅓/γ)
//! ```
//!
//! Meanwhile the largest part absorbs the others: with s = (e^(−t/τ) − e^(−5))/(1 − e^(−5)) each of
//! them has s times its share, so the shape ends as that of the whole drop when the neck is removed
//! after 5τ. The factors are chosen: about three oscillation periods of the mode n = 2 damp out in
//! the first; the second is the cut-off logarithm of the wedge. Offsets decay as exp(−t/τ) and are
//! evaluated when a frame asks for them, so a neck costs nothing between frames.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_numerics::{OptionalIndex, math};
use sessile_wetting::Liquid;
use sessile_wetting::cube_root::cube_root;

use crate::slots::SlotIndex;

/// Largest number of parts that a merged drop is shown with.
const MAX_PARTS: usize = 6;
/// Time constant in capillary times √(ρv/γ).
const CAPILLARY_TIMES: f64 = 2.0;
/// Time constant in viscous times ηr/γ.
const VISCOUS_TIMES: f64 = 12.0;
/// Time constants after which a neck is removed.
const LIFETIME: f64 = 5.0;
/// Number of necks below which closed ones are not swept.
const SWEEP_THRESHOLD: usize = 1024;

sessile_numerics::typed_index! {
    /// A neck in the list of all.
    struct NeckIndex;
}

/// One of the drops that a merged drop was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeckPart {
    /// Offset from the merged drop's center, in m.
    pub offset: DVec3,
    /// Share of the merged drop's volume.
    pub share: f64,
}

/// The parts of a merged drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeckParts {
    parts: [NeckPart; MAX_PARTS],
    count: usize,
}

impl NeckParts {
    /// All parts.
    pub fn as_slice(&self) -> &[NeckPart] {
        &self.parts[..self.count]
    }

    /// Contracts the parts to `decay` of their offsets from the center of mass; the largest absorbs
    /// the others, and has all of the volume when the neck is removed.
    fn contract(&mut self, decay: f64) {
        let last = math::exp(-LIFETIME);
        let open = ((decay - last) / (1.0 - last)).clamp(0.0, 1.0);
        let parts = &mut self.parts[..self.count];
        let largest = (0..parts.len()).fold(0, |l, k| if parts[k].share > parts[l].share { k } else { l });
        for (k, part) in parts.iter_mut().enumerate() {
            part.offset *= decay;
            part.share = if k == largest { 1.0 - (1.0 - part.share) * open } else { part.share * open };
        }
        let center: DVec3 = parts.iter().map(|part| part.offset * part.share).sum();
        parts.iter_mut().for_each(|part| part.offset -= center);
    }

    /// Adds a part; beyond [`MAX_PARTS`] the smallest is merged with its nearest neighbor, about
    /// their center of mass.
    fn push(&mut self, part: NeckPart) {
        if self.count < MAX_PARTS {
            self.parts[self.count] = part;
            self.count += 1;
            return;
        }
        let mut part = part;
        let smallest = (0..MAX_PARTS).fold(0, |s, k| if self.parts[k].share < self.parts[s].share { k } else { s });
        if self.parts[smallest].share < part.share {
            std::mem::swap(&mut self.parts[smallest], &mut part);
        }
        let distance = |other: &NeckPart| other.offset.distance_squared(part.offset);
        if let Some(near) = self.parts.iter_mut().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
            let share = near.share + part.share;
            near.offset = (near.offset * near.share + part.offset * part.share) / share;
            near.share = share;
        }
    }
}

/// A neck of a merger that has not been committed yet.
#[derive(Clone, Copy, Debug)]
pub struct PlannedNeck {
    parts: NeckParts,
    time_constant: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Neck {
    slot: SlotIndex,
    parts: NeckParts,
    time_constant: f64,
    formed_at: f64,
}

impl Neck {
    fn is_closed(&self, now: f64) -> bool {
        now - self.formed_at >= LIFETIME * self.time_constant
    }
}

/// Necks, by the slot of their drop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Necks {
    necks: Vec<Neck>,
    /// Index of each slot's neck; shorter than the slots where the last ones have none.
    #[serde(with = "optional_indices")]
    of_slot: Vec<OptionalIndex<NeckIndex>>,
    now: f64,
    /// Earliest time of the next frame, in s.
    next_frame: f64,
    /// Number of necks after the last sweep.
    num_swept: usize,
}

impl Necks {
    /// The parts of a drop that has merged recently, at their current offsets.
    pub fn get(&self, slot: SlotIndex) -> Option<NeckParts> {
        let neck = &self.necks[self.of_slot.get(slot.to_usize())?.get()?];
        if neck.is_closed(self.now) {
            return None;
        }
        let mut parts = neck.parts;
        parts.contract(math::exp(-(self.now - neck.formed_at) / neck.time_constant));
        Some(parts)
    }

    /// The neck of drops that merge into one of `volume` (in m³): each with its slot, share and
    /// offset from the new center.
    ///
    /// `None` if the neck closes before the next frame. Existing necks of the slots must be
    /// [removed](Necks::remove).
    pub fn plan(
        &self,
        volume: f64,
        merged: impl Iterator<Item = (SlotIndex, NeckPart)> + Clone,
        liquid: &Liquid,
    ) -> Option<PlannedNeck> {
        let largest = merged.clone().map(|(_, part)| part.share).fold(0.0, f64::max);
        let time_constant = time_constant(liquid, volume * (1.0 - largest).max(0.0));
        if self.now + LIFETIME * time_constant <= self.next_frame {
            return None;
        }
        let mut parts = NeckParts::default();
        for (slot, part) in merged {
            match self.get(slot) {
                Some(before) => {
                    let within =
                        |p: &NeckPart| NeckPart { offset: p.offset + part.offset, share: p.share * part.share };
                    before.as_slice().iter().for_each(|p| parts.push(within(p)));
                }
                None => parts.push(part),
            }
        }
        Some(PlannedNeck { parts, time_constant })
    }

    /// Gives a drop without a neck a planned one.
    pub fn insert(&mut self, slot: SlotIndex, planned: &PlannedNeck) {
        let PlannedNeck { parts, time_constant } = *planned;
        if self.of_slot.len() <= slot.to_usize() {
            self.of_slot.resize(slot.to_usize() + 1, OptionalIndex::NONE);
        }
        self.of_slot[slot] = OptionalIndex::some(NeckIndex::new(self.necks.len()));
        self.necks.push(Neck { slot, parts, time_constant, formed_at: self.now });
    }

    /// Reads a slot's index ahead of its use; the value is meaningless.
    #[inline]
    pub fn prefetch(&self, slot: SlotIndex) -> u32 {
        self.of_slot.get(slot.to_usize()).copied().unwrap_or_default().to_bits()
    }

    /// Removes the neck of a drop that merges again or is gone.
    pub fn remove(&mut self, slot: SlotIndex) {
        let Some(index) = self.of_slot.get_mut(slot.to_usize()) else { return };
        let Some(index) = std::mem::take(index).get() else { return };
        self.necks.swap_remove(index.to_usize());
        if let Some(moved) = self.necks.get(index.to_usize()) {
            self.of_slot[moved.slot] = OptionalIndex::some(index);
        }
    }

    /// Advances to `now`; no frame is written before `next_frame` (both in s). Closed necks are
    /// swept from time to time.
    pub fn advance_to(&mut self, now: f64, next_frame: f64) {
        (self.now, self.next_frame) = (now, next_frame);
        if self.necks.len() <= SWEEP_THRESHOLD.max(2 * self.num_swept) {
            return;
        }
        let mut index = 0;
        while let Some(neck) = self.necks.get(index) {
            if neck.is_closed(now) {
                self.remove(neck.slot);
            } else {
                index += 1;
            }
        }
        self.num_swept = self.necks.len();
    }

    /// Whether slots and necks refer to one another, as in any valid saved state.
    pub fn is_consistent(&self) -> bool {
        let is_known =
            |neck: &OptionalIndex<NeckIndex>| neck.get().is_none_or(|index| index.to_usize() < self.necks.len());
        let refers_back = |(index, neck): (NeckIndex, &Neck)| {
            self.of_slot.get(neck.slot.to_usize()) == Some(&OptionalIndex::some(index)) && neck.parts.count <= MAX_PARTS
        };
        self.of_slot.iter().all(is_known) && NeckIndex::first(self.necks.len()).zip(&self.necks).all(refers_back)
    }
}

/// Reads and writes optional indices by their four bytes.
mod optional_indices {
    use super::{Deserialize, NeckIndex, OptionalIndex};

    pub fn serialize<S: serde::Serializer>(
        indices: &[OptionalIndex<NeckIndex>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(indices.iter().map(|index| index.to_bits()))
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OptionalIndex<NeckIndex>>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(OptionalIndex::from_bits).collect())
    }
}

/// Time constant of the neck of a drop that has absorbed `volume` (in m³), in s.
fn time_constant(liquid: &Liquid, volume: f64) -> f64 {
    let capillary = (liquid.density * volume / liquid.surface_tension).sqrt();
    let viscous = liquid.dynamic_viscosity() * cube_root(volume) / liquid.surface_tension;
    (CAPILLARY_TIMES * capillary).max(VISCOUS_TIMES * viscous)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();

    fn merge(necks: &mut Necks, slots: [usize; 2], volumes: [f64; 2], offset: DVec3) {
        let slots = slots.map(SlotIndex::new);
        let volume = volumes[0] + volumes[1];
        let shares = volumes.map(|part| part / volume);
        let parts = [
            (slots[0], NeckPart { offset: -offset * shares[1], share: shares[0] }),
            (slots[1], NeckPart { offset: offset * shares[0], share: shares[1] }),
        ];
        let planned = necks.plan(volume, parts.into_iter(), &WATER);
        slots.iter().for_each(|&slot| necks.remove(slot));
        planned.iter().for_each(|planned| necks.insert(slots[0], planned));
    }

    #[test]
    fn a_neck_keeps_its_center_of_mass_and_closes_within_the_capillary_time() {
        let mut necks = Necks::default();
        merge(&mut necks, [3, 5], [3e-9, 1e-9], DVec3::X * 2e-3);
        merge(&mut necks, [3, 8], [4e-9, 1e-9], DVec3::Y * 3e-3);
        let parts = necks.get(SlotIndex::new(3)).expect("a neck");
        let parts = parts.as_slice();
        let (center, sum) = parts.iter().fold((DVec3::ZERO, 0.0), |(c, s), p| (c + p.offset * p.share, s + p.share));
        assert!(parts.len() == 3 && center.length() < 1e-18 && (sum - 1.0).abs() < 1e-12, "{parts:?}");
        let first = parts[0].offset.length();
        necks.advance_to(3e-3, 3e-3);
        let later = necks.get(SlotIndex::new(3)).expect("still open").as_slice()[0].offset.length() / first;
        assert!((0.3..0.9).contains(&later), "{later}");
        necks.advance_to(0.2, 0.2);
        assert!(necks.get(SlotIndex::new(3)).is_none());
    }

    #[test]
    fn the_largest_part_of_a_neck_becomes_the_whole_drop() {
        let mut necks = Necks::default();
        merge(&mut necks, [0, 1], [3e-9, 2e-9], DVec3::X * 2e-3);
        let mut last = 0.6;
        let closes_at = LIFETIME * time_constant(&WATER, 2e-9);
        for step in 0..100 {
            let now = closes_at * f64::from(step) / 100.0;
            necks.advance_to(now, now);
            let parts = necks.get(SlotIndex::new(0)).expect("open");
            let share = parts.as_slice()[0].share;
            assert!((last - 1e-12..last + 0.03).contains(&share), "{share} after {last} at {now} s");
            last = share;
        }
        assert!(last > 0.999, "{last}");
    }

    /// 1 µL and 1 nL of water: 7.4 ms and 0.23 ms.
    #[test]
    fn the_absorbed_volume_sets_the_time_constant() {
        let open_after = |absorbed: f64, time: f64| {
            let mut necks = Necks::default();
            merge(&mut necks, [0, 1], [20e-9, absorbed], DVec3::X * 2e-3);
            necks.advance_to(time, time);
            necks.get(SlotIndex::new(0)).is_some()
        };
        assert!(open_after(1e-9, 0.03) && !open_after(1e-9, 0.04));
        assert!(open_after(1e-12, 1.1e-3) && !open_after(1e-12, 1.2e-3));
        let honey = Liquid { viscosity: 1.2e-2, ..WATER };
        assert!(time_constant(&honey, 1e-9) > 20.0 * time_constant(&WATER, 1e-9), "viscous in honey");
    }

    #[test]
    fn many_parts_are_reduced_about_their_center_of_mass() {
        let mut parts = NeckParts::default();
        let all: Vec<NeckPart> = (1..=9)
            .map(|i| NeckPart {
                offset: DVec3::new(f64::from(i), f64::from(i * i % 7), 0.0),
                share: f64::from(i) / 45.0,
            })
            .collect();
        all.iter().for_each(|&part| parts.push(part));
        let sums = |parts: &[NeckPart]| {
            parts.iter().fold((DVec3::ZERO, 0.0), |(c, s), p| (c + p.offset * p.share, s + p.share))
        };
        let (before, after) = (sums(&all), sums(parts.as_slice()));
        assert_eq!(parts.as_slice().len(), MAX_PARTS);
        assert!((before.0 - after.0).length() < 1e-12 && (before.1 - after.1).abs() < 1e-12, "{before:?} {after:?}");
    }

    #[test]
    fn closed_necks_are_swept_and_open_ones_stay() {
        let mut necks = Necks::default();
        for round in 0..20 {
            necks.advance_to(round as f64 * 0.1, round as f64 * 0.1);
            for k in 0..200 {
                merge(&mut necks, [400 * round + 2 * k, 400 * round + 2 * k + 1], [1e-9, 1e-9], DVec3::X * 1e-3);
            }
            assert!(necks.is_consistent());
        }
        assert!(necks.necks.len() <= 2 * SWEEP_THRESHOLD, "{} necks", necks.necks.len());
        assert!((0..200).all(|k| necks.get(SlotIndex::new(400 * 19 + 2 * k)).is_some()));
        assert!(necks.get(SlotIndex::new(0)).is_none());
    }
}
