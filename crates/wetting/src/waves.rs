//! Oscillation of free drops and break-up of ligaments: linear theory.
//!
//! A drop of radius R oscillates in mode n at ω² = n(n−1)(n+2) γ/(ρR³) (lamb1932, art. 275) and
//! loses its amplitude at the rate (n−1)(2n+1) ν/R² (lamb1932, art. 355); in a plane ω² = n(n²−1)
//! γ/(ρR³) and 2n(n−1) ν/R². A ligament of radius R is unstable to perturbations longer than its
//! circumference, and those of kR = 0.697 grow fastest (rayleigh1878):
//!
//! ```text
//! s² = γ/(ρR³) · x (1 − x²) I₁(x)/I₀(x),    x = kR
//! ```
//!
//! Amplitudes are small, the density of the air is neglected, and the liquid's viscosity does not
//! change the frequency.

use std::f64::consts::PI;

use sessile_numerics::math;

use crate::liquid::Liquid;

/// kR of the fastest perturbation of a ligament.
pub const FASTEST_GROWING: f64 = 0.697_019;

/// Frequency of mode `n` ≥ 2 of a free drop, in Hz.
pub fn drop_frequency(liquid: &Liquid, radius: f64, n: u32) -> f64 {
    let n = f64::from(n);
    frequency(liquid, radius, n * (n - 1.0) * (n + 2.0))
}

/// Frequency of mode `n` ≥ 2 of a free planar drop, in Hz.
pub fn planar_drop_frequency(liquid: &Liquid, radius: f64, n: u32) -> f64 {
    let n = f64::from(n);
    frequency(liquid, radius, n * (n * n - 1.0))
}

fn frequency(liquid: &Liquid, radius: f64, factor: f64) -> f64 {
    (factor * liquid.surface_tension / (liquid.density * radius.powi(3))).sqrt() / (2.0 * PI)
}

/// Growth rate of a perturbation of a wavelength (in m) on a ligament of a radius (in m), in 1/s; 0
/// where it does not grow.
pub fn ligament_growth_rate(liquid: &Liquid, radius: f64, wavelength: f64) -> f64 {
    let x = 2.0 * PI * radius / wavelength;
    let square = x * (1.0 - x * x) * bessel_ratio(x);
    (square.max(0.0) * liquid.surface_tension / (liquid.density * radius.powi(3))).sqrt()
}

/// Wavelength of the fastest-growing perturbation, 9.01 R, in m.
pub fn fastest_wavelength(radius: f64) -> f64 {
    2.0 * PI * radius / FASTEST_GROWING
}

/// Time in which the fastest-growing perturbation grows from the relative amplitude `epsilon` to 1,
/// in s.
pub fn breakup_time(liquid: &Liquid, radius: f64, epsilon: f64) -> f64 {
    -math::ln(epsilon) / ligament_growth_rate(liquid, radius, fastest_wavelength(radius))
}

/// I₁(x)/I₀(x), by the quotient of their power series; for x of order 1.
fn bessel_ratio(x: f64) -> f64 {
    let quarter = 0.25 * x * x;
    let (mut i0, mut i1, mut term) = (0.0, 0.0, 1.0);
    for k in 0..40 {
        i0 += term;
        i1 += term / f64::from(k + 1);
        term *= quarter / f64::from((k + 1) * (k + 1));
    }
    0.5 * x * i1 / i0
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();

    fn close(got: f64, expected: f64, relative: f64, what: &str) {
        assert!((got / expected - 1.0).abs() <= relative, "{what}: got {got}, expected {expected}");
    }

    /// `lamb-n2-1mm` and `lamb2d-n2-1mm` of the reference solutions.
    #[test]
    fn second_modes_match_the_reference_solutions() {
        close(drop_frequency(&WATER, 1e-3, 2), 121.626, 1e-5, "drop");
        close(planar_drop_frequency(&WATER, 1e-3, 2), 105.331, 1e-5, "planar drop");
        assert_eq!(drop_frequency(&WATER, 1e-3, 1), 0.0, "moving as a whole is not ringing");
    }

    /// `thread-1mm` of the reference solutions; their ranges are 0.8–1.25 of the time and 0.94–1.02
    /// of the radius.
    #[test]
    fn ligament_break_up_matches_the_reference_solutions() {
        close(ligament_growth_rate(&WATER, 1e-3, fastest_wavelength(1e-3)), 92.765, 1e-5, "growth rate");
        close(0.8 * breakup_time(&WATER, 1e-3, 0.05), 0.025835, 1e-4, "earliest break-up");
        close(1.25 * breakup_time(&WATER, 1e-3, 0.05), 0.0403672, 1e-4, "latest break-up");
    }

    #[test]
    fn the_fastest_wavelength_grows_fastest_and_short_ones_do_not_grow() {
        let best = ligament_growth_rate(&WATER, 1e-3, fastest_wavelength(1e-3));
        for factor in [0.99, 1.01] {
            assert!(ligament_growth_rate(&WATER, 1e-3, factor * fastest_wavelength(1e-3)) < best, "{factor}");
        }
        assert_eq!(ligament_growth_rate(&WATER, 1e-3, 2.0 * PI * 0.999e-3), 0.0);
        assert!((bessel_ratio(1.0) - 0.565_159_1 / 1.266_065_9).abs() < 1e-7, "{}", bessel_ratio(1.0));
    }
}
