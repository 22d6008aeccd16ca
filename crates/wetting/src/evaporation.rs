//! Evaporation and condensation of drops of water by diffusion through still air.
//!
//! Vapor diffuses from the drop's surface, where the air is saturated at the temperature of the
//! solid, to the air far away (hu2002, popov2005). A drop of base radius R loses the volume
//!
//! ```text
//! dV/dt = −π k R f(θ),        k = D (p_s(T_solid) − H p_s(T_air)) / (ρ R_v T)
//! f(θ)  = t + 4 ∫₀^∞ (1 + cosh 2θτ)/sinh 2πτ · tanh((π − θ)τ) dτ,        t = tan(θ/2)
//! ```
//!
//! where D is the diffusivity of vapor in air, p_s its saturation pressure, R_v its gas constant, H
//! the relative humidity and T the mean temperature. A solid that is colder than the dew point
//! makes k negative: the drop grows. f is 4/π for a disc, 2 for a hemisphere, and f R = 4 ln 2 of
//! the radius of a sphere that touches the solid; hu2002 fit it by 1.30 + 0.27 θ² up to 90°. The
//! drop is taken for a spherical cap of its volume and base radius, t³ + 3t = 6V/(πR³); evaporative
//! cooling and the neighbors' vapor are neglected. A film dries through a boundary layer of still
//! air of thickness δ:
//!
//! ```text
//! de/dt = −k/δ
//! ```
//!
//! Diffusivity and saturation pressure: monteith2013, bolton1980.

use std::f64::consts::{FRAC_2_PI, LN_2, PI};
use std::sync::LazyLock;

use sessile_numerics::math;

use crate::cap;

/// Thickness of the layer of still air over a film, in m (unverified: millimeters in a room).
pub const BOUNDARY_LAYER: f64 = 5e-3;

/// Zero of the Celsius scale, in K.
const ZERO_CELSIUS: f64 = 273.15;
/// Specific gas constant of water vapor, in J/(kg K).
const VAPOR_CONSTANT: f64 = 461.5;
/// Number of intervals of the table over 0 ≤ θ ≤ π.
const INTERVALS: usize = 90;
/// Number of Simpson's intervals, and the upper limit of the integral in units of 1/(π − θ).
const SIMPSON: (usize, f64) = (2000, 20.0);

/// f(θ)/(1 + t) at equal steps of θ: from 4/π at 0 to 2 ln 2 at π.
static SHAPE_FACTORS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=INTERVALS)
        .map(|node| match node {
            0 => 2.0 * FRAC_2_PI,
            INTERVALS => 2.0 * LN_2,
            _ => {
                let theta = PI * node as f64 / INTERVALS as f64;
                let t = math::tan(0.5 * theta);
                (t + 4.0 * integral(theta)) / (1.0 + t)
            }
        })
        .collect()
});

/// The integral in f(θ), by Simpson's rule over s = (π − θ)τ.
fn integral(theta: f64) -> f64 {
    let rest = PI - theta;
    let (count, end) = SIMPSON;
    let step = end / count as f64;
    let integrand = |s: f64| {
        if s == 0.0 {
            return 1.0 / PI;
        }
        // (1 + cosh a)/sinh b by decaying exponentials; a − b = −2s.
        let (a, b) = (2.0 * theta * s / rest, 2.0 * PI * s / rest);
        let numerator = 2.0 * math::exp(-b) + math::exp(-2.0 * s) + math::exp(-a - b);
        numerator / (1.0 - math::exp(-2.0 * b)) * math::tanh(s) / rest
    };
    let inner: f64 = (1..count).map(|k| integrand(step * k as f64) * if k % 2 == 1 { 4.0 } else { 2.0 }).sum();
    step / 3.0 * (integrand(0.0) + inner + integrand(end))
}

/// Saturation pressure of water vapor, in Pa (bolton1980); `temperature` in K.
pub fn saturation_pressure(temperature: f64) -> f64 {
    let celsius = temperature - ZERO_CELSIUS;
    611.2 * math::exp(17.67 * celsius / (celsius + 243.5))
}

/// Diffusivity of water vapor in air at 101.3 kPa, in m²/s (monteith2013); `temperature` in K.
pub fn vapor_diffusivity(temperature: f64) -> f64 {
    2.12e-5 * math::powf(temperature / ZERO_CELSIUS, 1.75)
}

/// Still air around drops of water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Relative humidity, 0 to 1.
    pub humidity: f64,
    /// Temperature, in K.
    pub temperature: f64,
}

impl Air {
    /// k of a solid at `solid_temperature` (in K) for a liquid of `density` (in kg/m³), in m²/s.
    pub fn evaporation_coefficient(&self, solid_temperature: f64, density: f64) -> f64 {
        let mean = 0.5 * (solid_temperature + self.temperature);
        let excess = saturation_pressure(solid_temperature) - self.humidity * saturation_pressure(self.temperature);
        vapor_diffusivity(mean) * excess / (VAPOR_CONSTANT * mean * density)
    }

    /// Temperature of a surface on which vapor begins to condense, in K.
    ///
    /// Inverts [`saturation_pressure`] by bisection.
    pub fn dew_point(&self) -> f64 {
        let target = self.humidity * saturation_pressure(self.temperature);
        let (mut low, mut high) = (ZERO_CELSIUS - 100.0, self.temperature);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if saturation_pressure(middle) < target { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// Volume that a sessile drop loses per time, in m³/s; negative where vapor condenses.
///
/// `coefficient` is k (in m²/s), `volume` in m³, `base_radius` in m.
pub fn sessile_rate(coefficient: f64, volume: f64, base_radius: f64) -> f64 {
    coefficient * conductance(volume, base_radius)
}

/// πRf(θ) of a drop, in m: what it loses per time over k.
pub fn conductance(volume: f64, base_radius: f64) -> f64 {
    if base_radius <= 0.0 {
        return sphere_rate(1.0, volume);
    }
    let t = cap::slope(volume, base_radius);
    let at = 2.0 * math::atan(t) / PI * INTERVALS as f64;
    let node = (at as usize).min(INTERVALS - 1);
    let fraction = at - node as f64;
    let factor = (1.0 - fraction) * SHAPE_FACTORS[node] + fraction * SHAPE_FACTORS[node + 1];
    PI * base_radius * (1.0 + t) * factor
}

/// Volume that a free sphere loses per time, 4π k r, in m³/s.
pub fn sphere_rate(coefficient: f64, volume: f64) -> f64 {
    4.0 * PI * coefficient * sessile_numerics::sphere_radius(volume)
}

/// The coefficient k that is left for each of many drops on an area (in m²) whose conductances add
/// up to `sum` (in m).
///
/// The vapor comes through the boundary layer first: the flux (c_∞ − c)/δ per area is what the
/// drops take up from air of the mean concentration c above them, so k falls by 1 + δ Σ/A. Drops
/// that cover their solid grow by what passes the layer, whatever their sizes, as breath figures do
/// (fritter1991: single drops with the exponent 1/3).
pub fn shared_coefficient(coefficient: f64, sum: f64, area: f64) -> f64 {
    coefficient / (1.0 + BOUNDARY_LAYER * sum / area)
}

/// Thickness that a film loses per time, in m/s.
pub fn film_rate(coefficient: f64) -> f64 {
    coefficient / BOUNDARY_LAYER
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIR: Air = Air { humidity: 0.4, temperature: 298.15 };

    /// f(θ) of a cap.
    fn factor(theta: f64) -> f64 {
        let radius = 1e-3;
        sessile_rate(1.0, cap::volume(radius, theta), radius) / (PI * radius)
    }

    #[test]
    fn exact_factors_of_the_disc_the_hemisphere_and_the_sphere_are_met() {
        assert!((factor(1e-6) - 4.0 / PI).abs() < 1e-5, "disc {}", factor(1e-6));
        assert!((factor(0.5 * PI) - 2.0).abs() < 1e-6, "hemisphere {}", factor(0.5 * PI));
        // A hemisphere evaporates as half a sphere does.
        let volume = 1e-9;
        let half = 0.5 * sphere_rate(1.0, 2.0 * volume);
        let rate = sessile_rate(1.0, volume, cap::base_radius(volume, 0.5 * PI));
        assert!((rate / half - 1.0).abs() < 1e-6, "{rate:e} and {half:e}");
        // A sphere that touches a plane: 4 ln 2 instead of 4.
        let rate = sessile_rate(1.0, volume, 1e-4 * cap::base_radius(volume, 0.5 * PI));
        assert!((rate / sphere_rate(1.0, volume) / LN_2 - 1.0).abs() < 1e-3, "{rate:e}");
    }

    #[test]
    fn the_fit_of_hu_and_larson_agrees_up_to_90_degrees() {
        for degrees in [5.0f64, 20.0, 40.0, 60.0, 80.0, 90.0] {
            let theta = degrees.to_radians();
            let fit = 1.30 + 0.27 * theta * theta;
            // The fit itself is 2 % above the disc and 2 % below the hemisphere.
            assert!((factor(theta) / fit - 1.0).abs() < 0.025, "{degrees}°: {} and {fit}", factor(theta));
        }
    }

    #[test]
    fn the_table_is_smooth_beyond_90_degrees() {
        for degrees in 91..=178 {
            let at = |degrees: f64| {
                let theta = degrees.to_radians();
                factor(theta) / (1.0 + math::tan(0.5 * theta))
            };
            let degrees = f64::from(degrees);
            let bend = at(degrees + 1.0) - 2.0 * at(degrees) + at(degrees - 1.0);
            assert!(bend.abs() < 2e-3, "{degrees}°: {bend:e}");
        }
    }

    #[test]
    fn vapor_properties_agree_with_tables_at_25_degrees() {
        // 3169 Pa at 25 °C; D as monteith2013 gives it there.
        assert!((saturation_pressure(298.15) / 3169.0 - 1.0).abs() < 0.002, "{}", saturation_pressure(298.15));
        assert!((vapor_diffusivity(298.15) / 2.47e-5 - 1.0).abs() < 0.005, "{}", vapor_diffusivity(298.15));
    }

    #[test]
    fn a_drop_of_a_microliter_dries_in_minutes_and_a_cold_solid_makes_it_grow() {
        let k = AIR.evaporation_coefficient(AIR.temperature, 997.0);
        let volume = 1e-9;
        let minutes = volume / sessile_rate(k, volume, cap::base_radius(volume, 0.5 * PI)) / 60.0;
        assert!((4.0..12.0).contains(&minutes), "{minutes} min");
        let dew_point = AIR.dew_point();
        assert!((dew_point - 283.6).abs() < 0.5, "{dew_point} K");
        assert!(AIR.evaporation_coefficient(dew_point - 1.0, 997.0) < 0.0);
        assert!(AIR.evaporation_coefficient(dew_point + 1.0, 997.0) > 0.0);
    }
}
