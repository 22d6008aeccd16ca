//! Evaporation of droplets and films, and condensation on droplets.
//!
//! ```text
//! dV/dt = −π k R f(θ)        of a droplet of base radius R (sessile_wetting::evaporation)
//! de/dt = −k/δ               of a film; films do not grow
//! ```
//!
//! Droplets that grow on a solid below the dew point share the vapor that passes the boundary layer
//! ([`shared_coefficient`](sessile_wetting::evaporation::shared_coefficient)).
//!
//! The contact line stays pinned until the angle has fallen to θ_r, then recedes; on a growing
//! droplet it advances at θ_a. Explicit: a droplet that would lose more than it holds vanishes.

use sessile_sliding::SlotIndex;
use sessile_wetting::evaporation::{conductance, film_rate, sessile_rate, shared_coefficient};

use super::{ParticleSystem, StepContext};
use crate::surface_mesh::SolidIndex;

impl ParticleSystem {
    /// Removes what evaporates in `dt` seconds and returns it, in m³; negative where more
    /// condenses.
    ///
    /// `coefficients` holds k of each solid, in m²/s.
    pub fn evaporate(&mut self, coefficients: &[f64], dt: f64, context: &StepContext<'_>) -> f64 {
        let mut shared = std::mem::take(&mut self.scratch.coefficients);
        self.share_vapor(coefficients, &mut shared, context);
        let mut evaporated = self.state.substrate.dry_films(|solid| dt * film_rate(coefficients[solid]));
        for slot in (0..self.state.droplets.num_slots()).map(SlotIndex::new) {
            let Some(mut droplet) = self.state.droplets.find(slot) else { continue };
            let solid = context.surface.facet(droplet.motion.place.triangle).solid;
            let size = &mut droplet.size;
            let loss = (dt * sessile_rate(shared[solid], size.volume, size.radius)).min(size.volume);
            if loss == 0.0 {
                continue;
            }
            size.volume -= loss;
            evaporated += loss;
            self.update(slot, droplet, context);
        }
        self.scratch.coefficients = shared;
        evaporated
    }

    /// Coefficients of single droplets where many share the vapor that condenses.
    fn share_vapor(&self, coefficients: &[f64], shared: &mut Vec<f64>, context: &StepContext<'_>) {
        shared.clear();
        shared.extend_from_slice(coefficients);
        if coefficients.iter().all(|coefficient| *coefficient >= 0.0) {
            return;
        }
        shared.fill(0.0);
        for slot in self.state.droplets.used() {
            let own = &self.state.droplets[slot];
            let solid = context.surface.facet(own.motion.place.triangle).solid;
            if coefficients[solid] < 0.0 {
                shared[solid] += conductance(own.size.volume, own.size.radius);
            }
        }
        for (solid, (shared, coefficient)) in shared.iter_mut().zip(coefficients).enumerate() {
            // Only solids below the dew point surely have triangles.
            *shared = if *coefficient < 0.0 {
                let range = context.surface.range_of(SolidIndex::new(solid));
                shared_coefficient(*coefficient, *shared, context.setup.cumulative_areas[range.end - 1])
            } else {
                *coefficient
            };
        }
    }
}
