//! What the liquid and the material say about a cell, worked out once.

use std::f64::consts::{FRAC_PI_2, PI};

use sessile_wetting::film::{self, Ridge};
use sessile_wetting::retention::PinnedDrop;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, impact, sliding, wind};

use crate::flight::ball_radius;
use crate::motion::Slope;

/// Greatest raggedness of a front, as a share of the drop's radius.
const MOST_RAGGED: f64 = 0.2;
/// Raggedness per unit of hysteresis cos θ_r − cos θ_a: impurities are what hysteresis comes from. Chosen.
const RAGGED_PER_HYSTERESIS: f64 = 0.25;
/// Receding angle below which a film never draws together, in rad (docs/wetting.md, "Trails, beads, drying").
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
    pub shedding_speed: f64,
    /// Whether a film stays a film.
    pub film_stays: bool,
    /// How ragged a front is, as a share of the drop's radius.
    pub raggedness: f64,
    /// Waist over base radius: above 1 where the drop overhangs.
    pub overhang: f64,
    /// Wind's force over base radius squared and wind speed squared, in kg/m³.
    pub air_drag: f64,
    /// Downhill shift of a drop's centroid, in base radii, per Bond number of the force along the pane.
    pub sag_per_bond: f64,
    /// The paper's affinity.
    pub affinity: f64,
    /// As the material has it.
    pub wetting: Wetting,
    wedge_friction: f64,
    is_repellent: bool,
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
            shedding_speed: film::shedding_speed(liquid, receding),
            film_stays: receding < FILM_STAYS_BELOW,
            raggedness: (RAGGED_PER_HYSTERESIS * hysteresis).min(MOST_RAGGED),
            overhang: if advancing > FRAC_PI_2 { 1.0 / advancing.sin() } else { 1.0 },
            air_drag: wind::air_drag(1.0, advancing),
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
            wedge_friction: sliding::wedge_friction(wetting),
            is_repellent: sliding::is_repellent(wetting),
        }
    }

    /// Base radius at the advancing angle, in m; `None` for a drop too heavy to hang.
    pub fn advancing_radius(&self, volume: f64, slope: &Slope) -> Option<f64> {
        rest_radius(volume, self.advancing, slope)
    }

    /// Base radius at the receding angle, in m; `None` for a drop too heavy to hang at that.
    pub fn receding_radius(&self, volume: f64, slope: &Slope) -> Option<f64> {
        rest_radius(volume, self.receding, slope)
    }

    /// Both radii, the smaller first, in m; `None` for a drop too heavy to hang.
    pub fn radii(&self, volume: f64, slope: &Slope) -> Option<[f64; 2]> {
        let least = self.advancing_radius(volume, slope)?;
        Some([least, self.receding_radius(volume, slope).unwrap_or(least).max(least)])
    }

    /// The angle at which a drop stands on a line of this radius, between the receding and the advancing one, in rad.
    pub fn angle_at(&self, volume: f64, radius: f64, slope: &Slope) -> f64 {
        let (mut low, mut high) = (self.receding, self.advancing);
        let wider = |angle| rest_radius(volume, angle, slope).is_some_and(|at_rest| at_rest > radius);
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

    /// Resistance per speed of a drop of this width (in m) at this speed (in m/s), in kg/s.
    ///
    /// As `sliding::resistance`, with the wedge's part worked out beforehand: this runs once per drop and step.
    pub fn resistance(&self, liquid: &Liquid, speed: f64, width: f64) -> f64 {
        let (least, most) = sliding::FRICTION_BOUNDS;
        let beta = (self.wedge_friction + sliding::plate_friction(liquid, width, speed)).clamp(least, most);
        let air = if self.is_repellent { self.air_drag * (0.5 * width).powi(2) * speed } else { 0.0 };
        beta * width * liquid.dynamic_viscosity() + air
    }

    /// Width and cross-section of the film that a drop leaves, in m and m²; nothing below the shedding speed.
    pub fn trail(&self, slope: &Slope, speed: f64, drop_width: f64) -> (f64, f64) {
        let width = film::trail_width(drop_width, speed, self.shedding_speed);
        if width == 0.0 {
            return (0.0, 0.0);
        }
        let along = slope.gravity.length();
        let (gravity, tilt) = (along.hypot(slope.pressing), along.atan2(slope.pressing));
        (width, width * film::film_thickness(&slope.liquid, speed, gravity, tilt))
    }

    /// Distance of the beads into which a film of this width and section (in m and m²) breaks, in m.
    pub fn bead_spacing(&self, width: f64, section: f64) -> f64 {
        Ridge::of_film(section / width, width, self.receding).bead_spacing()
    }

    /// How long a film of this width (in m) takes to draw together from both sides, in s.
    pub fn dewetting_time(&self, liquid: &Liquid, width: f64) -> f64 {
        0.5 * width / film::dewetting_speed(liquid, self.receding)
    }
}

fn rest_radius(volume: f64, angle: f64, slope: &Slope) -> Option<f64> {
    ShapeTable::shared().rest_shape(volume, angle, slope.pressing, &slope.liquid).map(|shape| shape.base_radius)
}

/// Base radius to which a ball spreads on impact at this speed (in m/s), in m.
pub fn spread_radius(liquid: &Liquid, volume: f64, speed: f64, advancing: f64) -> f64 {
    let diameter = 2.0 * ball_radius(volume);
    let (weber, reynolds) = (impact::weber(liquid, diameter, speed), impact::reynolds(liquid, diameter, speed));
    0.5 * diameter * impact::max_spread(weber, reynolds, advancing)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Water as the contract has it.
    pub fn water() -> Liquid {
        Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 }
    }

    /// 90°/60°, and 70° where it is wet.
    pub fn plastic_with_memory() -> Wetting {
        Wetting { wet_advancing: Some(70f64.to_radians()), ..Wetting::smooth(90f64.to_radians(), 60f64.to_radians()) }
    }

    #[test]
    fn resistance_is_the_wetting_crates() {
        for (advancing, receding) in [(50.0_f64, 15.0_f64), (90.0, 60.0), (163.0, 157.0)] {
            let wetting =
                Wetting { advancing: advancing.to_radians(), receding: receding.to_radians(), ..plastic_with_memory() };
            let law = CellLaw::new(&water(), &wetting);
            for speed in [1e-3, 0.1, 2.0] {
                let (width, radius) = (3e-3, 1.5e-3);
                let air_drag = wind::air_drag(radius, wetting.advancing);
                let expected = sliding::resistance(&water(), &wetting, width, speed, air_drag, None);
                let got = law.resistance(&water(), speed, width) * speed;
                assert!(
                    (got / expected - 1.0).abs() < 1e-12,
                    "{advancing}/{receding} at {speed} m/s: {got:e}, {expected:e}"
                );
            }
        }
    }
}
