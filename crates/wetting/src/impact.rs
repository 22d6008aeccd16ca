//! Spread of a drop on impact on a dry solid: largest diameter over that of the drop, ξ.
//!
//! Correlations of experiments, which differ among themselves (We = ρU²D/γ, Re = UD/ν):
//!
//! ```text
//! Pasandideh-Fard   ξ² = (We + 12) / (3(1 − cos θ) + 4 We/√Re)               (pasandideh1996)
//! Ukiwe and Kwok    (We + 12) ξ = 8 + ξ³ (3(1 − cos θ) + 4 We/√Re)           (ukiwe2005)
//! Clanet            ξ = We^¼                                                 (clanet2004)
//! Roisman           ξ = 0.87 Re^⅕ − 0.40 Re^⅖ We^−½                          (roisman2009)
//! Laan              ξ = Re^⅕ P/(1.24 + P),   P² = We Re^−⅖                   (laan2014)
//! ```
//!
//! All from general knowledge, unverified against the papers; together they reproduce the reference
//! range of 2.14 to 3.07 at We 34, Re 2500 (0.9 of the lowest to 1.08 of the highest). Roisman's
//! turns negative below We ≈ 0.2 Re^⅖.

use sessile_numerics::math;

use crate::root::bracketed;

/// Weber number of a drop of a diameter (in m) at a speed (in m/s).
pub fn weber(liquid: &crate::Liquid, diameter: f64, speed: f64) -> f64 {
    liquid.density * speed * speed * diameter / liquid.surface_tension
}

/// Reynolds number of a drop of a diameter (in m) at a speed (in m/s).
pub fn reynolds(liquid: &crate::Liquid, diameter: f64, speed: f64) -> f64 {
    speed * diameter / liquid.viscosity
}

/// Spread after Pasandideh-Fard et al.; `theta` is the advancing angle, in rad.
pub fn spread_pasandideh_fard(weber: f64, reynolds: f64, theta: f64) -> f64 {
    ((weber + 12.0) / dissipation(weber, reynolds, theta)).sqrt()
}

/// Spread after Laan et al.
pub fn spread_laan(weber: f64, reynolds: f64) -> f64 {
    let p = (weber / math::powf(reynolds, 0.4)).sqrt();
    math::powf(reynolds, 0.2) * p / (1.24 + p)
}

/// Spread after Ukiwe and Kwok: the larger root of their cubic.
fn spread_ukiwe_kwok(weber: f64, reynolds: f64, theta: f64) -> f64 {
    let (k, d) = (weber + 12.0, dissipation(weber, reynolds, theta));
    let excess = |x: f64| d * x * x * x - k * x + 8.0;
    // Between the cubic's minimum and its root without the 8.
    let (low, high) = ((k / (3.0 * d)).sqrt(), (k / d).sqrt());
    let (f_low, f_high) = (excess(low), excess(high));
    if f_low >= 0.0 { low } else { bracketed(excess, low, high, f_low, f_high, 1e-13 * k) }
}

/// Spread of a thin liquid on a repellent solid after Clanet et al.
fn spread_clanet(weber: f64) -> f64 {
    weber.sqrt().sqrt()
}

/// Spread after Roisman.
fn spread_roisman(weber: f64, reynolds: f64) -> f64 {
    0.87 * math::powf(reynolds, 0.2) - 0.40 * math::powf(reynolds, 0.4) / weber.sqrt()
}

/// Spreads after all five correlations; `theta` is the advancing angle, in rad.
///
/// Below 1 a correlation is outside of its range.
pub fn correlations(weber: f64, reynolds: f64, theta: f64) -> [f64; 5] {
    [
        spread_laan(weber, reynolds),
        spread_clanet(weber),
        spread_roisman(weber, reynolds),
        spread_ukiwe_kwok(weber, reynolds, theta),
        spread_pasandideh_fard(weber, reynolds, theta),
    ]
}

/// 3(1 − cos θ) + 4 We/√Re.
fn dissipation(weber: f64, reynolds: f64, theta: f64) -> f64 {
    3.0 * (1.0 - math::cos(theta)) + 4.0 * weber / reynolds.sqrt()
}

/// Default spread: the geometric mean of Laan's, lowest of the set, and Pasandideh-Fard's, highest
/// of it.
///
/// ±20 %. It tends to 0 with the speed; the models bound the base radius from below by that of the
/// rest shape.
pub fn max_spread(weber: f64, reynolds: f64, theta: f64) -> f64 {
    if weber > 0.0 && reynolds > 0.0 {
        (spread_laan(weber, reynolds) * spread_pasandideh_fard(weber, reynolds, theta)).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    const WATER: crate::Liquid = crate::Liquid::water();

    /// `impact-2.5mm-1ms-90` of the reference solutions: 2.13767 to 3.06562.
    #[test]
    fn correlations_span_the_reference_range() {
        let (we, re) = (weber(&WATER, 2.5e-3, 1.0), reynolds(&WATER, 2.5e-3, 1.0));
        assert!((we - 34.2466).abs() < 1e-4 && (re - 2500.0).abs() < 1e-9, "We {we}, Re {re}");
        let all = correlations(we, re, FRAC_PI_2);
        for pair in all.windows(2) {
            assert!(pair[0] < pair[1], "from lowest to highest: {all:?}");
        }
        assert!((0.9 * all[0] - 2.13767).abs() < 1e-5, "lower end {}", 0.9 * all[0]);
        assert!((1.08 * all[4] - 3.06562).abs() < 1e-4, "upper end {}", 1.08 * all[4]);
        let default = max_spread(we, re, FRAC_PI_2);
        assert!(all[0] < default && default < all[4], "default {default} among {all:?}");
    }

    #[test]
    fn cubic_of_ukiwe_and_kwok_is_solved() {
        for (we, re, theta) in [(34.0, 2500.0, 1.5), (1.0, 100.0, 0.5), (500.0, 10_000.0, 2.5)] {
            let x = spread_ukiwe_kwok(we, re, theta);
            let miss = (we + 12.0) * x - 8.0 - x.powi(3) * dissipation(we, re, theta);
            assert!(miss.abs() < 1e-9 * we.max(12.0), "ξ {x} misses by {miss}");
        }
    }

    #[test]
    fn slow_drops_do_not_spread() {
        assert_eq!(max_spread(0.0, 0.0, 1.0), 0.0);
        assert!(max_spread(1e-8, 1e-3, 1.0) < 0.05, "{}", max_spread(1e-8, 1e-3, 1.0));
    }
}
