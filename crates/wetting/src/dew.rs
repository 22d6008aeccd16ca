//! Dew: how condensed drops grow.
//!
//! Drops grow in isolation from n nuclei per area until they touch, then coalesce in a self-similar
//! pattern (knobler1988, stricker2022). With e the condensed depth of water and g = V/R³ of the
//! cap:
//!
//! ```text
//! isolated    R = (e / (n g))^⅓
//! coalescing  R = π e / (s g),    s the covered share of the solid, about 0.55 at 90° (unverified)
//! ```
//!
//! The regimes meet where nπR² = s. Rates (unverified): dew 5–40, a bathroom mirror 10–100 µL/m²/s;
//! a night's dew is no more than 0.5 mm.

use std::f64::consts::PI;

use sessile_numerics::math;

use crate::cap::volume_over_radius_cubed;

/// Share of the solid that coalescing drops cover (90°; unverified).
pub const COVERAGE: f64 = 0.55;
/// Nuclei per area on an ordinary surface, in 1/m²; 1e8 when clean to 1e10 when dusty (unverified).
pub const NUCLEI: f64 = 1e9;

/// Mean base radius of dew drops at a contact angle after a condensed depth (in m), in m.
pub fn dew_radius(depth: f64, nuclei: f64, theta: f64) -> f64 {
    let shape = volume_over_radius_cubed(theta);
    let alone = math::cbrt(depth / (nuclei * shape));
    if nuclei * PI * alone * alone < COVERAGE { alone } else { PI * depth / (COVERAGE * shape) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_a_millimeter_makes_drops_of_a_quarter() {
        let radius = dew_radius(1e-4, NUCLEI, 0.5 * PI);
        assert!((radius / 2.7e-4 - 1.0).abs() < 0.02, "{radius}");
    }

    #[test]
    fn growth_is_a_cube_root_and_then_linear_without_a_jump() {
        let theta = 0.5 * PI;
        let order = |depth: f64| (dew_radius(2.0 * depth, NUCLEI, theta) / dew_radius(depth, NUCLEI, theta)).log2();
        assert!((order(1e-9) - 1.0 / 3.0).abs() < 1e-9, "alone: order {}", order(1e-9));
        assert!((order(1e-4) - 1.0).abs() < 1e-9, "coalescing: order {}", order(1e-4));
        let touching = (COVERAGE / (PI * NUCLEI)).sqrt();
        let depth = NUCLEI * volume_over_radius_cubed(theta) * touching.powi(3);
        let (before, after) =
            (dew_radius(0.999_999 * depth, NUCLEI, theta), dew_radius(1.000_001 * depth, NUCLEI, theta));
        assert!((after / before - 1.0).abs() < 1e-5, "{before} and {after} where they touch");
    }
}
