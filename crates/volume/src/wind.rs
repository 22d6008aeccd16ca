//! Wind drag on the interface.
//!
//! The air is not simulated. Its drag is that of the other models (docs/wetting.md: F = ½ρ_air C_D
//! A_f u² with the frontal area A_f), distributed as a traction over the windward interface,
//!
//! ```text
//! t = ½ ρ_air C_D |w| w max(0, −n·w/|w|),
//!     w the wind relative to the liquid at the interface, n its normal;
//!     ∫ max(0, −n·w/|w|) dA = A_f
//! ```
//!
//! so that the total force on a drop follows that law for any shape. It acts as an acceleration t
//! δ(φ)/ρ of the liquid just below the interface. No time-step limit.

use glam::DVec3;
use rayon::prelude::*;
use sessile_wetting::wind::AIR_DENSITY;
use sessile_wetting::wind::DRAG_COEFFICIENT;

use crate::faces::{FaceFlags, WET};
use crate::fluid::StepContext;
use crate::grid::{gradient, laplacian};
use crate::parameters::Parameters;
use crate::scratch::Scratch;
use crate::state::State;
use crate::tiles::{CellIndex, Field, Tiles};

/// Accelerates the liquid at the interface by the drag of the wind, if there is any.
pub fn apply_wind<L>(state: &mut State, scratch: &Scratch, params: &Parameters, step: &StepContext<'_, L>) {
    let State { grid, phi, velocity, .. } = state;
    let wind = step.world.wind();
    if wind != DVec3::ZERO {
        let per_traction = step.dt / (params.liquid.density * grid.h);
        Wind { velocity: wind, per_traction }.accelerate(&grid.tiles, phi, &scratch.face_flags, velocity);
    }
}

/// The wind during a step.
#[derive(Clone, Copy, Debug)]
struct Wind {
    /// Velocity of the air, in m/s.
    velocity: DVec3,
    /// Δt/(ρh), in m²s/kg.
    per_traction: f64,
}

impl Wind {
    /// Accelerates the liquid faces below the interface.
    fn accelerate(&self, tiles: &Tiles, phi: &Field<f64>, flags: &FaceFlags, velocity: &mut [Field<f64>; 3]) {
        for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
            component.par_tiles_mut().enumerate().for_each(|(slot, component)| {
                let flags = flags[axis].tile(slot);
                for local in 0..tiles.cells_in_use() {
                    if flags[local] & WET == 0 {
                        continue;
                    }
                    let index = CellIndex::new(slot, local);
                    let Some(low) = tiles.next(index, axis, -1) else { continue };
                    let height = 0.5 * (phi.values()[index] + phi.values()[low]);
                    // δ of φ on the liquid's side only: a hat function from 0 to 2 cells deep,
                    // which adds up to 1 over cells in a row. A layer below a curved interface is
                    // smaller than the interface itself.
                    let hat = 1.0 - (height + 1.0).abs();
                    if hat <= 0.0 {
                        continue;
                    }
                    let share = hat * (1.0 - height * laplacian(tiles, phi, index)).clamp(0.5, 2.0);
                    let normal = (gradient(tiles, phi, index) + gradient(tiles, phi, low)).normalize_or_zero();
                    // Drops are slow against the wind: along this axis only the liquid's own
                    // velocity counts.
                    let mut past = self.velocity;
                    past[axis] -= component[local];
                    let facing = (-normal.dot(past)).max(0.0);
                    let traction = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT * facing * past[axis];
                    component[local] += traction * share * self.per_traction;
                }
            });
        }
    }
}
