//! Wind drags on the free surface.
//!
//! The air is not simulated. Its drag is the one that the other models use (docs/wetting.md: F = ½ρ_air C_D A_f u² with the frontal area A_f), spread as a traction over the windward surface,
//!
//! ```text
//! t = ½ ρ_air C_D |w| w max(0, −n·w/|w|),      w the wind relative to the liquid at the surface, n its normal;     ∫ max(0, −n·w/|w|) dA = A_f
//! ```
//!
//! so that the whole force on a drop is that law's, whatever its shape. It enters as an acceleration t δ(φ)/ρ of the liquid just below the surface.

use glam::DVec3;
use rayon::prelude::*;
use sessile_wetting::wind::AIR_DENSITY;
use sessile_wetting::wind::DRAG_COEFFICIENT;

use crate::faces::{Kinds, WET};
use crate::grid::{gradient, laplacian};
use crate::tiles::{CELLS, Field, Tiles};

/// What blows.
#[derive(Clone, Copy, Debug)]
pub struct Wind {
    /// Velocity of the air, in m/s.
    pub velocity: DVec3,
    /// Δt/(ρh), in m²s/kg.
    pub per_traction: f64,
}

impl Wind {
    /// Accelerates the wet faces below the surface.
    pub fn blow(&self, tiles: &Tiles, phi: &Field<f64>, kinds: &Kinds, velocity: &mut [Field<f64>; 3]) {
        for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
            component.par_tiles_mut().enumerate().for_each(|(slot, component)| {
                let kinds = kinds[axis].tile(slot);
                for local in 0..tiles.cells_in_use() {
                    if kinds[local] & WET == 0 {
                        continue;
                    }
                    let index = slot * CELLS + local;
                    let Some(low) = tiles.next(index, axis, -1) else { continue };
                    let height = 0.5 * (phi.values()[index] + phi.values()[low]);
                    // δ of φ, all of it on the liquid's side: a hat from 0 to 2 cells deep, which adds up to 1 over cells in a row. A layer below a round surface
                    // is smaller than the surface itself.
                    let hat = 1.0 - (height + 1.0).abs();
                    if hat <= 0.0 {
                        continue;
                    }
                    let share = hat * (1.0 - height * laplacian(tiles, phi, index)).clamp(0.5, 2.0);
                    let normal = (gradient(tiles, phi, index) + gradient(tiles, phi, low)).normalize_or_zero();
                    // Drops are slow against the wind: along this axis the liquid's own velocity is what counts.
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
