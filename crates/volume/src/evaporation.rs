//! Evaporation of drops, and condensation on them.
//!
//! ```text
//! dV/dt = −π k R f(θ),    R = √(wetted area/π)    (sessile_wetting::evaporation)
//! ```
//!
//! The wetted area of a drop is the integral of a one-sided delta function of the distance s to the
//! solids (in cells) over its liquid, A = h² Σ 2(1 − s) over cells with 0 ≤ s < 1, exact for a
//! plane between the centers of two layers of cells; k is that of the solids, weighted by area.
//! Drops in flight and spray keep their volume. The drops' target volumes change, and the
//! divergence source that restores volumes ([`crate::drops`]) moves the interface. Explicit; a step
//! removes at most [`MAX_LOSS`] of a drop.

use std::f64::consts::PI;

use sessile_wetting::evaporation::sessile_rate;

use crate::drops::Label;
use crate::state::State;

/// Largest part of a drop that evaporates in one step.
const MAX_LOSS: f64 = 0.1;

/// Evaporation of the drops of a run.
#[derive(Clone, Debug)]
pub struct Evaporation {
    /// k of each solid, in m²/s.
    coefficients: Vec<f64>,
    /// Wetted area (in cells) of each drop and its sum weighted by k, in the order of ids.
    wetted: Vec<(f64, f64)>,
}

impl Evaporation {
    /// With the coefficient k of each solid, in m²/s.
    pub fn new(coefficients: Vec<f64>) -> Self {
        Self { coefficients, wetted: Vec::new() }
    }

    /// Changes the target volumes by what evaporates in `dt` seconds and returns that volume, in
    /// cells; negative where more condenses.
    pub fn evaporate(&mut self, state: &mut State, dt: f64) -> f64 {
        self.measure(state);
        let h = state.grid.h;
        let mut evaporated = 0.0;
        for (target, &(area, weighted)) in state.drops.targets.iter_mut().zip(&self.wetted) {
            if area == 0.0 {
                continue;
            }
            let (volume, radius) = (target.volume * h * h * h, (area / PI).sqrt() * h);
            let loss = dt * sessile_rate(weighted / area, volume, radius) / (h * h * h);
            let loss = loss.min(MAX_LOSS * target.volume);
            target.volume -= loss;
            evaporated += loss;
        }
        evaporated
    }

    /// Measures the area that each drop wets.
    fn measure(&mut self, state: &State) {
        let State { grid, solids, phi, drops, .. } = state;
        self.wetted.clear();
        self.wetted.resize(drops.targets.len(), (0.0, 0.0));
        let near = grid.tiles.indices().filter(|index| solids.near[index.slot()]);
        for index in near {
            let distance = solids.distance.values()[index];
            let label: Label = drops.labels.values()[index];
            if !(0.0..1.0).contains(&distance) || phi.values()[index] >= 0.0 {
                continue;
            }
            let known = label.id().and_then(|id| drops.targets.binary_search_by_key(&id, |target| target.id).ok());
            // The sides of the domain follow the solids; nothing evaporates there.
            let wall = solids.wall.values()[index].solid as usize;
            if let (Some(drop), Some(&coefficient)) = (known, self.coefficients.get(wall)) {
                let area = 2.0 * (1.0 - distance);
                let (sum, weighted) = &mut self.wetted[drop];
                *sum += area;
                *weighted += area * coefficient;
            }
        }
    }
}
