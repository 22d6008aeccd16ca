//! Drops that have landed and still spread or retract, by slot.
//!
//! The law is [`sessile_wetting::spreading`]. While a drop is in this list its base radius is that
//! of the law; afterwards its contact line is pinned and follows the contact angles again.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_wetting::spreading::{Spreading, SpreadingDrop, SpreadingPhase};
use sessile_wetting::{Liquid, Wetting};

use crate::slots::SlotIndex;

/// Least number of drops of a thread: a step of one takes some microseconds.
const MIN_DROPS: usize = 16;

/// A drop that spreads or retracts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Spread {
    slot: SlotIndex,
    state: Spreading,
    /// Part of the current step before the drop landed, in s.
    delay: f64,
    /// Largest base radius since it landed, or others joined it, in m.
    widest: f64,
}

/// Result of a step of one drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadOutcome {
    /// Its slot.
    pub slot: SlotIndex,
    /// What follows.
    pub phase: SpreadingPhase,
    /// Base radius, in m.
    pub base_radius: f64,
    /// Largest radius at any height, in m.
    pub outer_radius: f64,
    /// The base radius to which it has grown beyond all earlier ones, in m: what it wets anew.
    pub wetted: Option<f64>,
}

/// All drops that spread or retract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spreads {
    /// By slot.
    spreads: Vec<Spread>,
}

impl Spreads {
    /// Whether no drop spreads.
    pub fn is_empty(&self) -> bool {
        self.spreads.is_empty()
    }

    /// The state of the drop in a slot, if it spreads.
    pub fn get(&self, slot: SlotIndex) -> Option<&Spreading> {
        self.position(slot).ok().map(|index| &self.spreads[index].state)
    }

    /// Adds a drop that has landed `delay` seconds after the beginning of the current step.
    pub fn insert(&mut self, slot: SlotIndex, state: Spreading, delay: f64) {
        let spread = Spread { slot, state, delay, widest: 0.0 };
        match self.position(slot) {
            Ok(index) => self.spreads[index] = spread,
            Err(index) => self.spreads.insert(index, spread),
        }
    }

    /// Continues with the volume (in m³) and base radius (in m) of a drop that others have joined.
    pub fn refit(&mut self, slot: SlotIndex, volume: f64, radius: f64) {
        if let Ok(index) = self.position(slot) {
            let spread = &mut self.spreads[index];
            spread.state.refit(volume, radius);
            // It has another center.
            spread.widest = 0.0;
        }
    }

    /// Removes a drop that is gone or no longer spreads.
    pub fn remove(&mut self, slot: SlotIndex) {
        if let Ok(index) = self.position(slot) {
            self.spreads.remove(index);
        }
    }

    /// Advances all drops by `dt` seconds; `find` returns the drop in a slot and its wetting.
    ///
    /// Those that no longer move stay in the list until they are [removed](Spreads::remove).
    pub fn advance(
        &mut self,
        liquid: &Liquid,
        dt: f64,
        find: impl Fn(SlotIndex) -> (SpreadingDrop, Wetting) + Sync,
        outcomes: &mut Vec<SpreadOutcome>,
    ) {
        let advance = |spread: &mut Spread| {
            let (drop, wetting) = find(spread.slot);
            let time = (dt - std::mem::take(&mut spread.delay)).max(0.0);
            let (phase, widest) = spread.state.advance(liquid, &wetting, &drop, time);
            let (base_radius, outer_radius) = spread.state.radii(drop.volume);
            let wetted = (widest > spread.widest).then_some(widest);
            spread.widest = widest.max(spread.widest);
            SpreadOutcome { slot: spread.slot, phase, base_radius, outer_radius, wetted }
        };
        // Each drop spreads by itself; the outcomes are in the order of slots.
        self.spreads.par_iter_mut().with_min_len(MIN_DROPS).map(advance).collect_into_vec(outcomes);
    }

    /// Whether all slots are below `num_slots` and in order, as in any valid saved state.
    pub fn is_consistent(&self, num_slots: usize) -> bool {
        self.spreads.windows(2).all(|pair| pair[0].slot < pair[1].slot)
            && self.spreads.last().is_none_or(|last| last.slot.to_usize() < num_slots)
    }

    fn position(&self, slot: SlotIndex) -> Result<usize, usize> {
        self.spreads.binary_search_by_key(&slot, |spread| spread.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_that_others_join_keeps_its_base_radius() {
        let (mut spreads, slot) = (Spreads::default(), SlotIndex::new(3));
        spreads.insert(slot, Spreading::new(&Liquid::water(), 4e-9, 0.5), 0.0);
        spreads.refit(slot, 9e-9, 2.5e-3);
        let (base, _) = spreads.get(slot).unwrap().radii(9e-9);
        assert!((base / 2.5e-3 - 1.0).abs() < 1e-12, "{base}");
    }

    #[test]
    fn a_drop_wets_the_solid_while_it_grows_and_not_while_it_shrinks() {
        let (mut spreads, mut outcomes, slot) = (Spreads::default(), Vec::new(), SlotIndex::new(0));
        let liquid = Liquid::water();
        let drop = SpreadingDrop { volume: 4e-9, normal_acceleration: 9.8 };
        let wetting = Wetting::smooth(1.6, 1.0);
        spreads.insert(slot, Spreading::new(&liquid, drop.volume, 1.0), 0.0);
        let (mut largest, mut shrank) = (0.0, false);
        for _ in 0..200 {
            spreads.advance(&liquid, 1e-4, |_| (drop, wetting), &mut outcomes);
            let outcome = outcomes[0];
            // It may grow and shrink within a step.
            match outcome.wetted {
                Some(radius) => assert!(radius > largest && radius >= outcome.base_radius, "{radius}"),
                None => assert!(outcome.base_radius <= largest, "{}", outcome.base_radius),
            }
            shrank |= outcome.wetted.is_none() && outcome.base_radius < 0.95 * largest;
            largest = outcome.wetted.unwrap_or(largest);
        }
        assert!(shrank && largest > 2e-3, "{largest}");
    }
}
