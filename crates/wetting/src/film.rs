//! Films, trails, ridges and beads behind a sliding drop.
//!
//! A receding line cannot go faster than Ca* = θ_r³/(9Λ), where its apparent angle reaches zero
//! (eggers2004; coefficient after Cox and Voinov, unverified, small angles). A faster drop first
//! makes a corner and then sheds (podgorski2001): at U_p between U* and 2U* (a corner of 60°
//! recedes at half the drop's speed), by default 1.5 U*. Above U_p the part of a round rear that
//! cannot recede leaves a film of Landau and Levich's thickness (landau1942), which dewets into a
//! ridge and beads.
//!
//! So clean glass trails always, ordinary glass above 1–2 cm/s, plastics practically never.
//! Uncertainty: a factor 2 in U_p and in the thickness (thicker films exist under partial wetting,
//! snoeijer2008).

use std::f64::consts::{PI, SQRT_2};

use sessile_numerics::math;

use crate::cap::angle_minus_sin_cos;
use crate::liquid::Liquid;

/// Λ = ln(w/λ) of a receding line whatever the drop's width, that of 1.6 mm; 8 to 15 in practice.
const CUTOFF_LOGARITHM: f64 = 12.0;
/// Shedding starts at this multiple of the fastest receding speed.
pub const SHEDDING_FACTOR: f64 = 1.5;
/// Receding angle below which a moving drop always leaves a film, in rad.
pub const ALWAYS_TRAILS: f64 = 5.0 / 180.0 * PI;
/// Bead spacing over the ridge's width (unverified).
pub const BEAD_SPACING: f64 = 5.0;
/// Landau and Levich's coefficient, h = 1.34 Ca^⅔/κ.
const LANDAU_LEVICH: f64 = 1.34;

/// Capillary number Ca = ηU/γ.
pub fn capillary_number(liquid: &Liquid, speed: f64) -> f64 {
    liquid.dynamic_viscosity() * speed / liquid.surface_tension
}

/// Fastest speed U* of a receding line, γθ_r³/(9Λη), in m/s.
pub fn fastest_receding_speed(liquid: &Liquid, receding: f64) -> f64 {
    liquid.surface_tension * receding.powi(3) / (9.0 * CUTOFF_LOGARITHM * liquid.dynamic_viscosity())
}

/// Speed U_p above which a drop sheds liquid, in m/s; 0 below 5°, where it always does.
pub fn shedding_speed(liquid: &Liquid, receding: f64) -> f64 {
    if receding < ALWAYS_TRAILS { 0.0 } else { SHEDDING_FACTOR * fastest_receding_speed(liquid, receding) }
}

/// Width of the trail behind a drop of full width `width`, w √(1 − (U_p/U)²), in m; 0 below U_p.
pub fn trail_width(width: f64, speed: f64, shedding_speed: f64) -> f64 {
    if speed > shedding_speed { width * (1.0 - (shedding_speed / speed).powi(2)).sqrt() } else { 0.0 }
}

/// Landau and Levich's film thickness where the rear's static curvature is `curvature` (in 1/m),
/// 1.34 Ca^⅔/κ, in m.
pub fn landau_levich_thickness(liquid: &Liquid, speed: f64, curvature: f64) -> f64 {
    LANDAU_LEVICH * math::powf(capillary_number(liquid, speed), 2.0 / 3.0) / curvature
}

/// Thickest film that does not run off by itself, √(ηU/ρ g sin α), in m; infinite on the level.
pub fn drainage_thickness(liquid: &Liquid, speed: f64, gravity_along: f64) -> f64 {
    if gravity_along > 0.0 { (liquid.viscosity * speed / gravity_along).sqrt() } else { f64::INFINITY }
}

/// Thickness of the film that a drop leaves, in m: Landau and Levich's for a rear curved as on a
/// vertical plate (√2/l_c, so 0.946 l_c Ca^⅔), no more than drains.
pub fn film_thickness(liquid: &Liquid, speed: f64, gravity: f64, tilt: f64) -> f64 {
    let curvature = SQRT_2 / liquid.capillary_length(gravity);
    landau_levich_thickness(liquid, speed, curvature).min(drainage_thickness(liquid, speed, gravity * math::sin(tilt)))
}

/// Speed at which a film on a solid of receding angle `receding` retracts, γθ_r³/(17Λη), in m/s
/// (coefficient unverified).
pub fn dewetting_speed(liquid: &Liquid, receding: f64) -> f64 {
    liquid.surface_tension * receding.powi(3) / (17.0 * CUTOFF_LOGARITHM * liquid.dynamic_viscosity())
}

/// The ridge into which a film retracts: a circular segment at the receding angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ridge {
    /// Cross-section, in m².
    pub section: f64,
    /// Full width on the solid, in m.
    pub width: f64,
}

impl Ridge {
    /// The ridge of a film of a thickness and width (in m) at a receding angle (in rad, above 0):
    /// it keeps the section.
    pub fn of_film(thickness: f64, film_width: f64, receding: f64) -> Self {
        let section = thickness * film_width;
        let arc_radius = (section / angle_minus_sin_cos(receding)).sqrt();
        Self { section, width: 2.0 * arc_radius * math::sin(receding) }
    }

    /// Spacing of the beads into which it ruptures, in m.
    pub fn bead_spacing(&self) -> f64 {
        BEAD_SPACING * self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();

    #[test]
    fn receding_speeds_of_water_match_the_published_ones() {
        for (degrees, expected) in [(5.0, 0.45), (10.0, 3.6), (15.0, 12.0), (20.0, 29.0), (30.0, 97.0), (45.0, 330.0)] {
            let got = 1e3 * fastest_receding_speed(&WATER, f64::to_radians(degrees));
            assert!((got / expected - 1.0).abs() < 0.02, "{degrees}°: {got} mm/s, expected {expected}");
        }
        assert_eq!(shedding_speed(&WATER, f64::to_radians(4.9)), 0.0);
        let ratio = shedding_speed(&WATER, 0.3) / fastest_receding_speed(&WATER, 0.3);
        assert!((ratio - 1.5).abs() < 1e-12, "{ratio}");
    }

    /// Water at 10 and 100 mm/s: films of 7 and 32 µm, drainage limits of 32 and 101 µm.
    #[test]
    fn films_of_water_have_the_published_thickness() {
        for (speed, film, drained) in [(0.01, 7.0, 32.0), (0.1, 32.0, 101.0)] {
            let got = 1e6 * film_thickness(&WATER, speed, 9.8, 0.5 * PI);
            let limit = 1e6 * drainage_thickness(&WATER, speed, 9.8);
            assert!((got - film).abs() < 0.5, "{speed} m/s: {got} µm");
            assert!((limit - drained).abs() < 0.5, "{speed} m/s: limit {limit} µm");
        }
        let vertical = film_thickness(&WATER, 0.01, 9.8, 0.5 * PI);
        let law = 0.946 * WATER.capillary_length(9.8) * capillary_number(&WATER, 0.01).powf(2.0 / 3.0);
        assert!((vertical / law - 1.0).abs() < 2e-3, "{vertical} against {law}");
        let honey = Liquid { viscosity: 1.2e-2, density: 1420.0, surface_tension: 0.055, refractive_index: 1.494 };
        let (thick, cap) = (film_thickness(&honey, 0.1, 9.8, 0.5 * PI), drainage_thickness(&honey, 0.1, 9.8));
        assert_eq!(thick, cap, "a fast thick liquid is limited by drainage");
    }

    #[test]
    fn trails_start_at_the_shedding_speed_and_widen_to_the_drop() {
        assert_eq!(trail_width(2e-3, 0.01, 0.018), 0.0);
        assert_eq!(trail_width(2e-3, 0.018, 0.018), 0.0);
        let (slow, fast) = (trail_width(2e-3, 0.02, 0.018), trail_width(2e-3, 0.2, 0.018));
        assert!(0.0 < slow && slow < fast && fast < 2e-3, "{slow} {fast}");
        assert_eq!(trail_width(2e-3, 0.001, 0.0), 2e-3, "below 5° the whole width trails");
    }

    /// 30 µm × 2 mm at 15°: a ridge 1.2 mm wide in beads of 0.35 µL; the film withdraws at 6 mm/s.
    #[test]
    fn ridge_and_beads_of_a_trail_match_the_published_example() {
        let ridge = Ridge::of_film(30e-6, 2e-3, f64::to_radians(15.0));
        assert!((ridge.width * 1e3 - 1.17).abs() < 0.05, "width {} mm", ridge.width * 1e3);
        let bead = 1e9 * ridge.section * ridge.bead_spacing();
        assert!((bead - 0.35).abs() < 0.01, "bead {bead} µL");
        let speed = 1e3 * dewetting_speed(&WATER, f64::to_radians(15.0));
        assert!((speed - 6.0).abs() < 0.5, "{speed} mm/s");
    }
}
