//! Drops that land: they spread and retract by [`sessile_wetting::spreading`], shared with the
//! droplet model by [`sessile_sliding::Spreads`].

use sessile_sliding::{SlotIndex, SpreadOutcome};
use sessile_wetting::Wetting;
use sessile_wetting::spreading::{Spreading, SpreadingDrop, SpreadingPhase};

use super::Physical;
use crate::drops::PaneDrop;
use crate::motion::StepContext;

impl Physical {
    /// Puts a ball that touches the pane with `normal_speed` (in m/s) on it, `delay` seconds after
    /// the beginning of the step.
    pub fn touch_down(&mut self, mut drop: PaneDrop, normal_speed: f64, delay: f64, context: &StepContext) {
        let spreading = Spreading::new(&context.liquid, drop.volume, normal_speed);
        let (radius, outer) = spreading.radii(drop.volume);
        (drop.radius, drop.merge_radius, drop.spreading) = (radius, outer as f32, true);
        let slot = self.drops.insert(drop);
        self.spreads.insert(slot, spreading, delay);
        self.update(slot, drop, context);
    }

    /// Spreads and retracts drops for `dt` seconds.
    pub(super) fn spread(&mut self, context: &StepContext, dt: f64) {
        if self.spreads.is_empty() {
            return;
        }
        let mut spreads = std::mem::take(&mut self.spreads);
        let mut outcomes = std::mem::take(&mut self.spread_outcomes);
        spreads.advance(&context.liquid, dt, |slot| self.spreading_drop(slot, context), &mut outcomes);
        self.spreads = spreads;
        for outcome in &outcomes {
            self.apply_spread(outcome, context);
        }
        self.spread_outcomes = outcomes;
    }

    /// A drop as the law of spreading sees it, and its wetting.
    fn spreading_drop(&self, slot: SlotIndex, context: &StepContext) -> (SpreadingDrop, Wetting) {
        let drop = self.drops.get(slot);
        let law = self.substrate.law_at(drop.position);
        let normal_acceleration = context.normal_acceleration;
        (SpreadingDrop { volume: drop.volume, normal_acceleration }, law.wetting)
    }

    /// Gives a drop the base radius of its spread; at the end it is pinned or takes off.
    fn apply_spread(&mut self, outcome: &SpreadOutcome, context: &StepContext) {
        let SpreadOutcome { slot, phase, base_radius, outer_radius, wetted } = *outcome;
        let mut drop = *self.drops.get(slot);
        (drop.radius, drop.merge_radius) = (base_radius, outer_radius as f32);
        if let Some(radius) = wetted {
            self.substrate.wet_footprint(drop.position, radius);
        }
        match phase {
            SpreadingPhase::Moves => {}
            SpreadingPhase::Rests => {
                drop.spreading = false;
                self.spreads.remove(slot);
            }
            SpreadingPhase::TakesOff(speed) => {
                drop.spreading = false;
                self.remove(slot);
                self.detached.push((drop, speed));
                return;
            }
        }
        self.update(slot, drop, context);
    }
}
