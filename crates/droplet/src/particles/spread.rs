//! Droplets that land: they spread and retract by [`sessile_wetting::spreading`], shared with the
//! pane model by [`sessile_sliding::Spreads`].

use glam::DVec2;
use sessile_sliding::{Ball, SlotIndex, SpreadOutcome};
use sessile_wetting::Wetting;
use sessile_wetting::spreading::{Spreading, SpreadingDrop, SpreadingPhase, is_followed};

use super::{Assessed, Fidelity, ParticleSystem, StepContext, detached};
use crate::droplets::{Droplet, Size, State};
use crate::integrate::MotionState;

impl ParticleSystem {
    /// Puts a ball that touches a solid with `normal_speed` (in m/s) on it, `delay` seconds after
    /// the beginning of the step.
    pub fn land(&mut self, ball: &Ball, motion: MotionState, normal_speed: f64, delay: f64, context: &StepContext<'_>) {
        let (volume, liquid) = (ball.body.volume, context.liquid());
        if matches!(self.fidelity, Fidelity::Paper(_)) || !is_followed(volume) {
            let law = self.state.substrate.law(context.surface, motion.place);
            let radius = law.spread_radius(liquid, volume, normal_speed);
            self.arrive(ball.id, motion, volume, radius, context);
            return;
        }
        let spreading = Spreading::new(liquid, volume, normal_speed);
        let (radius, outer) = spreading.radii(volume);
        let size = Size { volume, radius, merge_radius: outer as f32, normal_acceleration: 0.0 };
        let is_sliding = motion.velocity != DVec2::ZERO;
        let state = State { is_sliding, is_spreading: true, ..State::default() };
        let slot = self.place(Droplet { id: ball.id, motion, size, state }, context);
        self.state.spreads.insert(slot, spreading, delay);
    }

    /// Spreads and retracts droplets for `dt` seconds.
    pub(super) fn spread(&mut self, context: &StepContext<'_>, dt: f64) {
        if self.state.spreads.is_empty() {
            return;
        }
        let mut spreads = std::mem::take(&mut self.state.spreads);
        let mut outcomes = std::mem::take(&mut self.scratch.spread_outcomes);
        spreads.advance(context.liquid(), dt, |slot| self.spreading_drop(slot, context), &mut outcomes);
        self.state.spreads = spreads;
        for outcome in &outcomes {
            self.apply_spread(outcome, context);
        }
        self.scratch.spread_outcomes = outcomes;
    }

    /// A droplet as the law of spreading sees it, and its wetting.
    fn spreading_drop(&self, slot: SlotIndex, context: &StepContext<'_>) -> (SpreadingDrop, Wetting) {
        let Droplet { motion, size, .. } = self.state.droplets.get(slot);
        let facet = context.surface.facet(motion.place.triangle);
        let pull = context.acceleration(motion.place.triangle).at(facet.point(motion.place.at), glam::DVec3::ZERO);
        let law = self.state.substrate.law(context.surface, motion.place);
        (SpreadingDrop { volume: size.volume, normal_acceleration: -pull.dot(facet.normal()) }, law.wetting)
    }

    /// Gives a droplet the base radius of its spread; at the end it is pinned or takes off.
    fn apply_spread(&mut self, outcome: &SpreadOutcome, context: &StepContext<'_>) {
        let SpreadOutcome { slot, phase, base_radius, outer_radius, wetted } = *outcome;
        let mut droplet = self.state.droplets.get(slot);
        let place = droplet.motion.place;
        (droplet.size.radius, droplet.size.merge_radius) = (base_radius, outer_radius as f32);
        if let Some(radius) = wetted {
            self.state.substrate.wet(context.surface, place.triangle, place.at, place.at, radius);
        }
        match phase {
            SpreadingPhase::Moves => {}
            SpreadingPhase::Rests => {
                droplet.state.is_spreading = false;
                self.state.spreads.remove(slot);
            }
            SpreadingPhase::TakesOff(speed) => {
                let point = place.point(context.surface);
                let assessed = Assessed { droplet, point, detaches: true, starts: false };
                let mut detached = detached(&assessed, context.surface);
                detached.velocity += detached.outward * speed;
                self.remove(slot);
                self.detached.push(detached);
                return;
            }
        }
        self.update(slot, droplet, context);
    }
}
