//! Exact solutions: pressure jump, capillary rise, menisci, dripping, free fall, coalescence, and
//! the hysteresis cycle.

use std::f64::consts::PI;

use sessile_numerics::math;

use crate::liquid::Liquid;
use crate::material::Wetting;
use crate::root::bracketed;
use crate::young_laplace::{sessile, sessile_with_base_radius};

/// Excess pressure inside a free drop, 2γ/R, in Pa.
pub fn laplace_pressure(liquid: &Liquid, radius: f64) -> f64 {
    2.0 * liquid.surface_tension / radius
}

/// Mean height to which a liquid rises between two plates a gap apart, 2γ cos θ/(ρ g gap), in m.
pub fn rise_between_plates(liquid: &Liquid, theta: f64, gap: f64, gravity: f64) -> f64 {
    2.0 * liquid.surface_tension * math::cos(theta) / (liquid.density * gravity * gap)
}

/// Height of the contact line on a vertical wall above the level far from it, in m; negative above
/// 90°.
///
/// From the first integral of the planar meniscus: h² = 2 l_c² (1 − sin θ).
pub fn meniscus_height(liquid: &Liquid, theta: f64, gravity: f64) -> f64 {
    let height = liquid.capillary_length(gravity) * (2.0 * (1.0 - math::sin(theta))).sqrt();
    if theta > 0.5 * PI { -height } else { height }
}

/// Harkins and Brown's F at r/V^⅓ = 0.30, 0.35, … 1.20 (harkins1919, as tabulated since;
/// unverified, 2–3 %).
const HARKINS_BROWN: [f64; 19] = [
    0.7256, 0.7011, 0.6828, 0.6669, 0.6515, 0.6362, 0.6250, 0.6171, 0.6093, 0.6032, 0.6000, 0.5992, 0.5998, 0.6034,
    0.6098, 0.6179, 0.6280, 0.6407, 0.6535,
];

/// Volume of the drop that falls slowly from a tube or disc wetted out to `radius`, V = (2πrγ/ρg)
/// F(r/V^⅓), in m³.
///
/// F is linear between the table's entries and constant outside them; below r/V^⅓ = 0.3 (r < 0.9 mm
/// for water) it should rise towards 1, so that thinner needles drip up to a quarter more than said
/// here.
pub fn dripping_volume(liquid: &Liquid, radius: f64, gravity: f64) -> f64 {
    let whole = 2.0 * PI * radius * liquid.surface_tension / (liquid.density * gravity);
    let factor = |volume: f64| {
        let x = ((radius / math::cbrt(volume) - 0.30) / 0.05).clamp(0.0, (HARKINS_BROWN.len() - 1) as f64);
        let below = (x as usize).min(HARKINS_BROWN.len() - 2);
        let t = x - below as f64;
        (1.0 - t) * HARKINS_BROWN[below] + t * HARKINS_BROWN[below + 1]
    };
    let miss = |part: f64| part - factor(part * whole);
    bracketed(miss, 0.5, 1.0, miss(0.5), miss(1.0), 1e-12) * whole
}

/// Time (in s) and final speed (in m/s) of a fall through `height` (in m) without air.
pub fn free_fall(height: f64, gravity: f64) -> (f64, f64) {
    ((2.0 * height / gravity).sqrt(), (2.0 * gravity * height).sqrt())
}

/// Result of the coalescence of two free drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coalescence {
    /// Radius of the drop they make, in m.
    pub radius: f64,
    /// Surface energy set free, in J.
    pub energy: f64,
}

/// Merges two free drops of given radii (in m).
pub fn coalesce(liquid: &Liquid, first: f64, second: f64) -> Coalescence {
    let radius = math::cbrt(first.powi(3) + second.powi(3));
    let area = 4.0 * PI * (first * first + second * second - radius * radius);
    Coalescence { radius, energy: liquid.surface_tension * area }
}

/// A drop fed to a volume and drained again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HysteresisCycle {
    /// Base radius at the end of growth, in m.
    pub base_radius: f64,
    /// Volume at which the contact line depins while draining, in m³.
    pub depinning_volume: f64,
}

/// Grows a sessile drop slowly to `volume` (it advances at θ_a), then drains it on its pinned base
/// until θ_r is reached.
///
/// `None` where [`sessile`] has no drop.
pub fn hysteresis_cycle(liquid: &Liquid, wetting: &Wetting, volume: f64, gravity: f64) -> Option<HysteresisCycle> {
    let length = liquid.capillary_length(gravity);
    let base_radius = sessile(volume, wetting.advancing, length)?.base_radius;
    let depinning_volume = sessile_with_base_radius(base_radius, wetting.receding, length)?.volume;
    Some(HysteresisCycle { base_radius, depinning_volume })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();
    const G: f64 = 9.8;

    fn close(got: f64, expected: f64, relative: f64, what: &str) {
        assert!((got / expected - 1.0).abs() <= relative, "{what}: got {got}, expected {expected}");
    }

    /// `laplace-1mm`, `jurin-plates-1mm-30`, `wall-meniscus-30`, `fall-20mm` and `coalesce-1-1` of
    /// the reference solutions.
    #[test]
    fn closed_forms_match_the_reference_solutions() {
        close(laplace_pressure(&WATER, 1e-3), 146.0, 1e-12, "pressure");
        let theta = 30.0_f64.to_radians();
        close(rise_between_plates(&WATER, theta, 1e-3, G), 0.012902, 1e-4, "plates");
        close(meniscus_height(&WATER, theta, G), 0.00272928, 1e-5, "meniscus");
        close(meniscus_height(&WATER, PI - theta, G), -0.00272928, 1e-5, "depression");
        let (time, speed) = free_fall(0.02, G);
        close(time, 0.0638877, 1e-6, "time");
        close(speed, 0.626099, 1e-6, "speed");
        let merged = coalesce(&WATER, 1e-3, 1e-3);
        close(merged.radius, 0.00125992, 1e-5, "radius");
        close(merged.energy, 3.78496e-7, 1e-5, "energy");
        close(1.0 / crate::waves::drop_frequency(&WATER, merged.radius, 2), 0.0116276, 1e-5, "late period");
    }

    /// `drip-1mm`: its range is 0.88–1.1 of the fallen volume.
    #[test]
    fn dripping_matches_the_reference_solutions() {
        for (mm, microliters) in [(1.0, 33.7), (2.0, 61.0), (3.0, 86.0), (4.0, 112.0)] {
            let got = dripping_volume(&WATER, mm * 1e-3, G) * 1e9;
            println!("{mm} mm: {got} µL");
            close(got, microliters, 0.015, &format!("{mm} mm"));
        }
        let got = dripping_volume(&WATER, 1e-3, G);
        assert!((2.96605e-8..3.70756e-8).contains(&got), "{got:e}");
    }

    /// `hysteresis-20-90-40` of the reference solutions.
    #[test]
    fn hysteresis_cycle_matches_the_reference_solution() {
        let wetting = Wetting::smooth(0.5 * PI, 40.0_f64.to_radians());
        let cycle = hysteresis_cycle(&WATER, &wetting, 2e-8, G).unwrap();
        close(cycle.base_radius, 0.00221647, 1e-5, "base radius");
        close(cycle.depinning_volume, 6.26756e-9, 1e-5, "depinning volume");
        assert!(hysteresis_cycle(&WATER, &wetting, -1.0, G).is_none());
    }
}
