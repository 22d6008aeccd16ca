//! Evaporation of drops and films, and condensation on drops.
//!
//! ```text
//! dV/dt = −π k R f(θ)        of a drop of base radius R (sessile_wetting::evaporation)
//! de/dt = −k/δ               of a film; films do not grow
//! ```
//!
//! Drops that grow on a pane below the dew point share the vapor that passes the boundary layer
//! ([`shared_coefficient`](sessile_wetting::evaporation::shared_coefficient)).
//!
//! The contact line stays pinned until the angle has fallen to θ_r, then recedes; on a growing drop
//! it advances at θ_a. Explicit: a drop that would lose more than it holds vanishes.

use sessile_sliding::SlotIndex;
use sessile_wetting::evaporation::{conductance, film_rate, sessile_rate, shared_coefficient};

use super::{Physical, StepContext};

impl Physical {
    /// Removes what evaporates in `dt` seconds and returns it, in m³; negative where more
    /// condenses. `coefficient` is k, in m²/s.
    pub fn evaporate(&mut self, coefficient: f64, dt: f64, context: &StepContext) -> f64 {
        let mut evaporated = self.substrate.dry_film(dt * film_rate(coefficient));
        let coefficient = if coefficient < 0.0 {
            let sum = self.drops.iter().map(|(_, drop)| conductance(drop.volume, drop.radius)).sum();
            shared_coefficient(coefficient, sum, self.size.element_product())
        } else {
            coefficient
        };
        for slot in (0..self.drops.slots().len()).map(SlotIndex::new) {
            let mut drop = *self.drops.get(slot);
            if drop.id.is_none() {
                continue;
            }
            let loss = (dt * sessile_rate(coefficient, drop.volume, drop.radius)).min(drop.volume);
            if loss != 0.0 {
                drop.volume -= loss;
                evaporated += loss;
                self.update(slot, drop, context);
            }
        }
        evaporated
    }
}
