//! What the liquid and the material say about a cell, worked out once.

use std::f64::consts::{FRAC_PI_2, PI};

use sessile_wetting::retention::PinnedDrop;
use sessile_wetting::sliding::friction_coefficient;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, cap};

use crate::motion::Slope;

/// Greatest raggedness of a front, as a share of the drop's radius.
const MOST_RAGGED: f64 = 0.2;
/// Raggedness per unit of hysteresis cos θ_r − cos θ_a: impurities are what hysteresis comes from. Chosen.
const RAGGED_PER_HYSTERESIS: f64 = 0.25;
/// Receding angle below which a film never draws together, in rad (docs/wetting.md, film and trail).
const FILM_STAYS_BELOW: f64 = 5.0 * PI / 180.0;

/// A cell's wetting, ready for the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellLaw {
    /// Dry advancing angle, in rad.
    pub advancing: f64,
    /// Receding angle, in rad.
    pub receding: f64,
    /// Its cosine.
    pub cos_advancing: f64,
    /// Its cosine.
    pub cos_receding: f64,
    /// Cosine of the advancing angle on wetted ground, where the material remembers.
    pub cos_wet_advancing: Option<f64>,
    /// Speed above which a drop sheds a trail, in m/s.
    pub pearl_speed: f64,
    /// Whether a film stays a film.
    pub film_stays: bool,
    /// How ragged a front is, as a share of the drop's radius.
    pub raggedness: f64,
    /// Waist over base radius: above 1 where the drop overhangs.
    pub overhang: f64,
    /// Side area over base radius squared.
    pub side_area: f64,
    /// Downhill shift of a drop's centroid, in base radii, per Bond number of the force along the pane.
    pub sag_per_bond: f64,
    /// The paper's affinity.
    pub affinity: f64,
    /// As the material has it.
    wetting: Wetting,
}

impl CellLaw {
    /// Works out a cell's law.
    pub fn new(liquid: &Liquid, wetting: &Wetting) -> Self {
        let (advancing, receding) = (wetting.advancing, wetting.receding);
        let hysteresis = receding.cos() - advancing.cos();
        Self {
            advancing,
            receding,
            cos_advancing: advancing.cos(),
            cos_receding: receding.cos(),
            cos_wet_advancing: wetting.wet_advancing.map(f64::cos),
            pearl_speed: film::pearling_speed(liquid, receding),
            film_stays: receding < FILM_STAYS_BELOW,
            raggedness: (RAGGED_PER_HYSTERESIS * hysteresis).min(MOST_RAGGED),
            overhang: if advancing > FRAC_PI_2 { 1.0 / advancing.sin() } else { 1.0 },
            side_area: cap::side_area(1.0, advancing),
            // Of a unit drop whose Bond number is 1.
            sag_per_bond: PinnedDrop {
                volume: 1.0,
                radius: 1.0,
                angle: advancing,
                pull: liquid.surface_tension / liquid.density,
            }
            .centroid_shift(liquid),
            affinity: wetting.affinity,
            wetting: *wetting,
        }
    }

    /// Base radii at the advancing and at the receding angle, in m; `None` for a drop too heavy to hang.
    pub fn radii(&self, volume: f64, slope: &Slope) -> Option<[f64; 2]> {
        let radius = |angle| {
            let shape = ShapeTable::shared().rest_shape(volume, angle, slope.pressing, &slope.liquid)?;
            Some(shape.base_radius)
        };
        let least = radius(self.advancing)?;
        Some([least, radius(self.receding).unwrap_or(least).max(least)])
    }

    /// The angle at which a drop stands on a line of this radius, between the receding and the advancing one, in rad.
    pub fn angle_at(&self, volume: f64, radius: f64, slope: &Slope) -> f64 {
        let (mut low, mut high) = (self.receding, self.advancing);
        let table = ShapeTable::shared();
        let wider = |angle| {
            let shape = table.rest_shape(volume, angle, slope.pressing, &slope.liquid);
            shape.is_some_and(|shape| shape.base_radius > radius)
        };
        // A drop at (or by rounding below) the advancing radius stands at that angle.
        if wider(high) {
            return high;
        }
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if wider(middle) { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// Resistance β of a drop of this width (in m) at this speed (in m/s).
    pub fn resistance(&self, liquid: &Liquid, speed: f64, width: f64) -> f64 {
        friction_coefficient(liquid, &self.wetting, width, speed, None)
    }

    /// Cross-section of the film that a drop leaves, in m²: thickness times width.
    ///
    /// `gravity` along the pane, in m/s², bounds the thickness by drainage.
    pub fn trail_section(&self, liquid: &Liquid, gravity: f64, speed: f64, width: f64) -> f64 {
        if speed <= self.pearl_speed {
            return 0.0;
        }
        film::trail_width(width, speed, self.pearl_speed) * film::trail_thickness(liquid, gravity, speed)
    }

    /// Distance of the beads into which a ridge of this section (in m²) breaks, in m.
    pub fn bead_spacing(&self, section: f64) -> f64 {
        film::bead_spacing(section, self.receding)
    }

    /// How long a film takes to draw together, in s.
    pub fn dewetting_time(&self, liquid: &Liquid, section: f64) -> f64 {
        0.5 * film::ridge_width(section, self.receding) / film::dewetting_speed(liquid, self.receding)
    }

    /// Largest drop that stays on a slope, in m³.
    pub fn critical_volume(&self, slope: &Slope) -> f64 {
        let held = |volume: f64| {
            let width = self.radii(volume, slope).map_or(0.0, |[radius, _]| 2.0 * radius);
            let hold = slope.liquid.surface_tension * width * (self.cos_receding - self.cos_advancing);
            hold >= slope.liquid.density * volume * slope.gravity.length()
        };
        let (mut holds, mut runs) = (1e-18_f64, 1e-3_f64);
        if !held(holds) {
            return 0.0;
        }
        while runs / holds > 1.0 + 1e-9 {
            let middle = (holds * runs).sqrt();
            if held(middle) { holds = middle } else { runs = middle }
        }
        holds
    }
}

/// Base radius of a ball that has spread on impact.
pub fn spread_radius(_liquid: &Liquid, volume: f64, _speed: f64, _angle: f64) -> f64 {
    volume.cbrt()
}
mod film {
    // TEMP
    use sessile_wetting::Liquid;
    pub fn pearling_speed(l: &Liquid, r: f64) -> f64 {
        1.5 * l.surface_tension / l.dynamic_viscosity() * r.powi(3) / 108.0
    }
    pub fn trail_width(w: f64, u: f64, up: f64) -> f64 {
        w * (1.0 - (up / u).powi(2)).max(0.0).sqrt()
    }
    pub fn trail_thickness(l: &Liquid, g: f64, u: f64) -> f64 {
        let ca = l.dynamic_viscosity() * u / l.surface_tension;
        (0.946 * l.capillary_length(g) * ca.powf(2.0 / 3.0)).min((l.viscosity * u / g).sqrt())
    }
    pub fn ridge_width(a: f64, r: f64) -> f64 {
        2.0 * (a / (r - r.sin() * r.cos())).sqrt() * r.sin()
    }
    pub fn bead_spacing(a: f64, r: f64) -> f64 {
        5.0 * ridge_width(a, r)
    }
    pub fn dewetting_speed(l: &Liquid, r: f64) -> f64 {
        l.surface_tension * r.powi(3) / (17.0 * 12.0 * l.dynamic_viscosity())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Water as the contract has it.
    pub fn water() -> Liquid {
        Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 }
    }

    /// 90°/60°, and 70° where it is wet.
    pub fn plastic_with_memory() -> Wetting {
        Wetting {
            advancing: 90f64.to_radians(),
            receding: 60f64.to_radians(),
            wet_advancing: Some(70f64.to_radians()),
            receding_limit: None,
            roughness: [0.0; 2],
            adhesion: 0.0,
            affinity: 0.5,
        }
    }
}
