//! When an arriving drop splashes.
//!
//! Three thresholds on the normal speed U, by what it hits (We = ρU²D/γ, Re = UD/ν, D the diameter):
//!
//! - **rough solid** (bumps above 1 % of D): K = We^½ Re^¼ > 57.7 (mundo1995, unverified);
//! - **thin film of the same liquid**: √We > 20 (vanderwal2006);
//! - **smooth and dry**: the air's lift on the ejected sheet, β_s = √(lift/2γ) > 0.14 (riboux2014):
//!
//! ```text
//! (√3/2) t^−½ /Re_R + 1/We_R = 1.1 t^3/2      ejection time t in R/U, with the radius in Re_R and We_R
//! V = (√3/2) U t^−½,    H = (√12/π) R t^3/2    speed and thickness of the sheet
//! lift = K_l η_a V + 0.3 ρ_a V² H,   K_l = (6/tan²60°) [ln(1 + 19.2λ/H) − ln(19.2λ/H)]
//! ```
//!
//! with λ the mean free path of the air. An oblique drop is judged by its normal speed (unverified).

use crate::liquid::Liquid;
use crate::root::bracketed;

/// Density of air at 20 °C, in kg/m³.
pub const AIR_DENSITY: f64 = 1.2;
/// Dynamic viscosity of air at 20 °C, in Pa·s.
pub const AIR_VISCOSITY: f64 = 1.81e-5;
/// Mean free path of air at 20 °C, in m.
pub const AIR_FREE_PATH: f64 = 68e-9;
/// Roughness over diameter above which a solid is rough.
pub const ROUGH: f64 = 0.01;
/// K of Mundo, Sommerfeld and Tropea's threshold.
const MUNDO: f64 = 57.7;
/// √We on a thin film.
const FILM_ROOT_WEBER: f64 = 20.0;
/// β_s of Riboux and Gordillo's threshold (unverified).
const LIFT_RATIO: f64 = 0.14;

/// What a drop lands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A dry solid with bumps of a height, in m.
    Dry {
        /// Bump height, in m.
        roughness: f64,
    },
    /// A solid that is already wet.
    Wet,
}

/// Whether a drop of a diameter (in m) splashes at a normal speed (in m/s).
pub fn splashes(liquid: &Liquid, diameter: f64, speed: f64, target: Target) -> bool {
    match target {
        Target::Wet => speed > film_splash_speed(liquid, diameter),
        Target::Dry { roughness } if roughness > ROUGH * diameter => speed > rough_splash_speed(liquid, diameter),
        Target::Dry { .. } => lift_ratio(liquid, diameter, speed) > LIFT_RATIO,
    }
}

/// Normal speed above which a drop splashes on a rough solid, in m/s.
pub fn rough_splash_speed(liquid: &Liquid, diameter: f64) -> f64 {
    let per_speed =
        (liquid.density * diameter / liquid.surface_tension).sqrt() * (diameter / liquid.viscosity).powf(0.25);
    // K grows as U^(5/4).
    (MUNDO / per_speed).powf(0.8)
}

/// Normal speed above which a drop splashes on a thin film, in m/s.
pub fn film_splash_speed(liquid: &Liquid, diameter: f64) -> f64 {
    FILM_ROOT_WEBER * (liquid.surface_tension / (liquid.density * diameter)).sqrt()
}

/// Normal speed above which a drop splashes on a smooth dry solid, in m/s; infinite where 1 km/s would not do.
pub fn smooth_splash_speed(liquid: &Liquid, diameter: f64) -> f64 {
    let miss = |ln_speed: f64| lift_ratio(liquid, diameter, ln_speed.exp()) / LIFT_RATIO - 1.0;
    let (low, high) = (1e-3_f64.ln(), 1e3_f64.ln());
    let (f_low, f_high) = (miss(low), miss(high));
    if f_high <= 0.0 {
        return f64::INFINITY;
    }
    if f_low >= 0.0 { low.exp() } else { bracketed(miss, low, high, f_low, f_high, 1e-10).exp() }
}

/// β_s: root of the air's lift on the sheet over twice the surface tension.
fn lift_ratio(liquid: &Liquid, diameter: f64, speed: f64) -> f64 {
    let radius = 0.5 * diameter;
    let reynolds = speed * radius / liquid.viscosity;
    let weber = liquid.density * speed * speed * radius / liquid.surface_tension;
    // In x = √t: a/x + 1/We = 1.1 x³, with one positive root; both sides are monotone.
    let a = 0.75_f64.sqrt() / reynolds;
    let miss = |ln_x: f64| {
        let x = ln_x.exp();
        1.1 * x.powi(4) - x / weber - a
    };
    // At x⁴ = 2a + (2/We)^(4/3) the first term exceeds the others; below x⁴ = a/2 it cannot.
    let high = 0.25 * (2.0 * a + (2.0 / weber).powf(4.0 / 3.0)).ln();
    let low = 0.25 * (0.5 * a).ln();
    let x = bracketed(miss, low, high, miss(low), miss(high), 1e-14 * a).exp();
    let sheet_speed = 0.75_f64.sqrt() * speed / x;
    let thickness = 12.0_f64.sqrt() / std::f64::consts::PI * radius * x.powi(3);
    let slip = 19.2 * AIR_FREE_PATH / thickness;
    // tan²60° = 3.
    let viscous = 2.0 * ((1.0 + slip).ln() - slip.ln());
    let lift = viscous * AIR_VISCOSITY * sheet_speed + 0.3 * AIR_DENSITY * sheet_speed * sheet_speed * thickness;
    (lift / (2.0 * liquid.surface_tension)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };

    /// Thresholds of water in m/s at 1, 2, 3 and 5 mm.
    #[test]
    fn thresholds_of_water_match_the_published_ones() {
        let mm = [1e-3, 2e-3, 3e-3, 5e-3];
        for (d, film, smooth) in [(mm[0], 5.4, 8.0), (mm[1], 3.8, 5.6), (mm[2], 3.1, 4.6), (mm[3], 2.4, 3.6)] {
            let got = film_splash_speed(&WATER, d);
            assert!((got - film).abs() < 0.06, "{d}: on a film {got}, expected {film}");
            let got = smooth_splash_speed(&WATER, d);
            assert!((got / smooth - 1.0).abs() < 0.025, "{d}: smooth {got}, expected {smooth}");
        }
        for (d, expected) in [(mm[0], 2.3), (mm[1], 1.5), (mm[2], 1.2), (mm[3], 0.9)] {
            let got = rough_splash_speed(&WATER, d);
            assert!((got - expected).abs() < 0.06, "{d}: rough {got}, expected {expected}");
            let (we, re) = (1000.0 * got * got * d / 0.073, got * d / 1e-6);
            assert!((we.sqrt() * re.powf(0.25) - MUNDO).abs() < 1e-9);
        }
    }

    #[test]
    fn what_it_hits_decides() {
        let smooth = Target::Dry { roughness: 1e-8 };
        let rough = Target::Dry { roughness: 1e-4 };
        let d = 2e-3;
        assert!(!splashes(&WATER, d, 3.0, smooth) && !splashes(&WATER, d, 3.0, Target::Wet));
        assert!(splashes(&WATER, d, 3.0, rough));
        assert!(splashes(&WATER, d, 4.5, Target::Wet) && !splashes(&WATER, d, 4.5, smooth));
        assert!(splashes(&WATER, d, 7.0, smooth));
    }

    #[test]
    fn thresholds_stay_finite_for_thick_liquids() {
        let honey = Liquid { density: 1420.0, viscosity: 1.2e-2, surface_tension: 0.055, refractive_index: 1.494 };
        let speed = smooth_splash_speed(&honey, 3e-3);
        assert!(speed > 0.0 && !speed.is_nan(), "{speed}");
    }
}
