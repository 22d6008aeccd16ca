//! Evaporation of drops and films into still air.
//!
//! Vapor diffuses away from a cap at −dm/dt = π R D c_s (1 − H) f(θ), R its base radius, D the diffusivity of vapor, c_s its
//! saturation density, H the relative humidity. f is Picknett and Bexon's series (picknett1977), within 0.1 % of the exact
//! integral; f(0) = 4/π, f(90°) = 2. While θ > θ_r the line is pinned and R stays; then θ = θ_r and V^⅔ falls linearly.
//!
//! Wind shortens all times (a film's air layer as U^−½); crowded drops shield each other, by a factor 0.3–1 (unverified).

use std::f64::consts::{FRAC_2_PI, PI};

use crate::cap::volume_over_radius_cubed;
use crate::liquid::Liquid;

/// The air over a drop, as far as it dries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DryingAir {
    /// Diffusivity D of vapor, in m²/s.
    pub diffusivity: f64,
    /// Saturation density c_s of vapor at the drop's temperature, in kg/m³.
    pub saturation: f64,
    /// Relative humidity H, 0 to 1.
    pub humidity: f64,
    /// Thickness δ of the still layer over a wide film, in m.
    pub layer: f64,
}

impl Default for DryingAir {
    /// Still room air over water: 20 °C, half saturated, 5 mm layer (constants unverified).
    fn default() -> Self {
        Self { diffusivity: 2.45e-5, saturation: 0.0173, humidity: 0.5, layer: 5e-3 }
    }
}

/// f(θ) of an evaporating cap (picknett1977): one series below 10°, another above.
pub fn evaporation_factor(theta: f64) -> f64 {
    // The papers' f multiplies 4πD·(sphere radius); ours multiplies πD·(base radius): 2·series/sin θ.
    let t = theta;
    if theta < 10.0 / 180.0 * PI {
        // Small caps: (2/π)θ + 0.09591θ² − 0.06144θ³; with θ/sin θ → 1, so that f(0) = 4/π.
        let over_theta = FRAC_2_PI + t * (0.09591 - 0.06144 * t);
        let theta_over_sin = if theta.abs() < 1e-6 { 1.0 } else { t / t.sin() };
        2.0 * over_theta * theta_over_sin
    } else {
        2.0 / t.sin() * (8.957e-5 + t * (0.6333 + t * (0.1160 + t * (-0.08878 + 0.01033 * t))))
    }
}

impl DryingAir {
    /// D c_s (1 − H), in kg/(m s).
    fn drive(&self) -> f64 {
        self.diffusivity * self.saturation * (1.0 - self.humidity)
    }

    /// Volume lost per time by a cap of base radius `radius` (in m) at `theta`, in m³/s.
    pub fn cap_rate(&self, liquid: &Liquid, radius: f64, theta: f64) -> f64 {
        PI * radius * self.drive() * evaporation_factor(theta) / liquid.density
    }

    /// Life of a cap of a volume (in m³) that keeps its angle while its base shrinks, in s.
    pub fn free_lifetime(&self, liquid: &Liquid, volume: f64, theta: f64) -> f64 {
        let radius = (volume / volume_over_radius_cubed(theta)).cbrt();
        1.5 * volume / self.cap_rate(liquid, radius, theta)
    }

    /// Life of a flat drop of a volume (in m³) pinned on a radius (in m), at the rate of θ → 0, in s.
    pub fn pinned_lifetime(&self, liquid: &Liquid, volume: f64, radius: f64) -> f64 {
        volume / self.cap_rate(liquid, radius, 0.0)
    }

    /// Thickness that a wide film loses per time, D c_s (1 − H)/(ρδ), in m/s.
    pub fn film_rate(&self, liquid: &Liquid) -> f64 {
        self.drive() / (liquid.density * self.layer)
    }

    /// Section that a strip of a width (in m) loses per time, π D c_s (1 − H)/(ρ ln(4δ/w)), in m²/s; no less than the wide
    /// film's rate over its width, which takes over when the strip is as wide as the layer is thick.
    pub fn strip_rate(&self, liquid: &Liquid, width: f64) -> f64 {
        let wide = self.film_rate(liquid) * width;
        let logarithm = (4.0 * self.layer / width).ln();
        if logarithm <= 1.0 { wide } else { (PI * self.drive() / (liquid.density * logarithm)).max(wide) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };

    #[test]
    fn factor_has_its_known_values() {
        let at = |degrees: f64| evaporation_factor(degrees.to_radians());
        for (degrees, expected, tolerance) in
            [(0.0, 4.0 / PI, 1e-3), (90.0, 2.0, 2e-3), (120.0, 2.81, 5e-3), (150.0, 5.38, 1e-2)]
        {
            assert!((at(degrees) - expected).abs() < tolerance, "{degrees}°: {}", at(degrees));
        }
        let (below, above) = (at(9.999), at(10.001));
        assert!((below / above - 1.0).abs() < 2e-3, "the two series meet: {below} and {above}");
        // Hu and Larson's fit (hu2002) holds to 2.5 % up to 90°.
        for degrees in [5.0_f64, 30.0, 60.0, 90.0] {
            let fit = 0.27 * degrees.to_radians().powi(2) + 1.30;
            assert!((at(degrees) / fit - 1.0).abs() < 0.026, "{degrees}°: {} against {fit}", at(degrees));
        }
    }

    /// Published lives in minutes at 20 °C and half humidity: flat and pinned, and free at 90°.
    #[test]
    fn lifetimes_match_the_published_ones() {
        let air = DryingAir::default();
        for (microliters, free) in [(0.1, 5.0), (1.0, 24.0), (5.0, 70.0), (20.0, 177.0)] {
            let got = air.free_lifetime(&WATER, microliters * 1e-9, 0.5 * PI) / 60.0;
            assert!((got / free - 1.0).abs() < 0.05, "{microliters} µL: {got} min, expected {free}");
        }
        let radius = crate::cap::base_radius(1e-9, f64::to_radians(40.0));
        let pinned = air.pinned_lifetime(&WATER, 1e-9, radius) / 60.0;
        assert!((12.0..24.0).contains(&pinned), "1 µL pinned at 40°: {pinned} min");
    }

    #[test]
    fn films_and_strips_dry_at_the_published_rates() {
        let air = DryingAir::default();
        let wide = 1e6 * air.film_rate(&WATER);
        assert!((wide - 0.042).abs() < 5e-4, "{wide} µm/s");
        let trail = 30e-6 * 1e-3 / air.strip_rate(&WATER, 1e-3) / 60.0;
        assert!((2.0..3.0).contains(&trail), "30 µm × 1 mm lasts {trail} min");
        assert!((air.strip_rate(&WATER, 0.05) / (0.05 * air.film_rate(&WATER)) - 1.0).abs() < 1e-12, "wide strips");
    }
}
