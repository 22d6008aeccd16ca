//! Evaporation of droplets and films, and condensation on droplets.
//!
//! ```text
//! dV/dt = −π k R f(θ)        of a droplet of base radius R (sessile_wetting::evaporation)
//! de/dt = −k/δ               of a film; films do not grow
//! ```
//!
//! The contact line stays pinned until the angle has fallen to θ_r, then recedes; on a growing
//! droplet it advances at θ_a. Explicit: a droplet that would lose more than it holds vanishes.

use sessile_sliding::SlotIndex;
use sessile_wetting::evaporation::{film_rate, sessile_rate};

use super::{ParticleSystem, StepContext};

impl ParticleSystem {
    /// Removes what evaporates in `dt` seconds and returns it, in m³; negative where more
    /// condenses.
    ///
    /// `coefficients` holds k of each solid, in m²/s.
    pub fn evaporate(&mut self, coefficients: &[f64], dt: f64, context: &StepContext<'_>) -> f64 {
        let mut evaporated = self.state.substrate.dry_films(|solid| dt * film_rate(coefficients[solid]));
        for slot in (0..self.state.droplets.num_slots()).map(SlotIndex::new) {
            let Some(mut droplet) = self.state.droplets.find(slot) else { continue };
            let solid = context.surface.facet(droplet.motion.place.triangle).solid;
            let size = &mut droplet.size;
            let loss = (dt * sessile_rate(coefficients[solid], size.volume, size.radius)).min(size.volume);
            if loss == 0.0 {
                continue;
            }
            size.volume -= loss;
            evaporated += loss;
            self.update(slot, droplet, context);
        }
        evaporated
    }
}
