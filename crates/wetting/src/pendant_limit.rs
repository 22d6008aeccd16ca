//! Tabulated volume of the largest pendant drop at a contact angle.
//!
//! V_max/l_c³ falls from 18.96 at θ = 0 to (4π/3)(3/8)^1.5 (π − θ)³ near 180°, so V_max/(π − θ)³ is
//! smooth and is tabulated at every fifth degree, with cubic interpolation.
//! [`pendant_max_volume`](crate::pendant::pendant_max_volume) computes the same from the equation
//! of the surface, and a test compares the two.
//!
//! A contact line pinned at a radius R holds more: the largest volume at fixed R, Tate's 2πR l_c²
//! times a factor that is smooth in R^⅓, is tabulated with the contact angle there.

use std::f64::consts::{FRAC_PI_2, PI};

use sessile_numerics::math;

/// Degrees between two entries.
const SPACING: f64 = 5.0;

/// V_max/(l_c (π − θ))³ at 0°, 5°, … 180°.
const LIMITS: [f64; 37] = [
    0.61162847, 0.65875360, 0.69894840, 0.73319361, 0.76230150, 0.78693109, 0.80762268, 0.82483018, 0.83894694,
    0.85032509, 0.85928982, 0.86614966, 0.87120384, 0.87474738, 0.87707422, 0.87847869, 0.87925523, 0.87969616,
    0.88008722, 0.88070057, 0.88178513, 0.88355447, 0.88617339, 0.88974504, 0.89430122, 0.89979864, 0.90612209,
    0.91309436, 0.92049009, 0.92805068, 0.93549749, 0.94254230, 0.94889498, 0.95426966, 0.95839158, 0.96100820,
    0.96191237,
];

/// Largest stable volume that hangs at `theta`, in l_c³; angles are taken inside [0, π].
pub(crate) fn pendant_limit(theta: f64) -> f64 {
    let x = (theta.to_degrees() / SPACING).clamp(0.0, (LIMITS.len() - 1) as f64);
    let first = (x as usize).saturating_sub(1).min(LIMITS.len() - 4);
    let t = x - first as f64;
    cubic(&LIMITS[first..first + 4], t) * (PI - theta.clamp(0.0, PI)).powi(3)
}

/// First zero of J₁: largest radius of a pinned contact line, in l_c.
const WIDEST: f64 = 3.83;
/// Nodes over (R/3.83 l_c)^⅓, from 0 to 1.
const NUM_RADII: usize = 31;

/// V_max/(2πR l_c²) at a pinned radius R.
const PINNED_VOLUMES: [f64; NUM_RADII] = [
    1.0, 0.997628, 0.990559, 0.978950, 0.963092, 0.943437, 0.920630, 0.895515, 0.869146, 0.842758, 0.817721, 0.795454,
    0.777321, 0.764519, 0.757994, 0.758398, 0.766084, 0.781105, 0.803216, 0.831841, 0.866008, 0.904247, 0.944438,
    0.983611, 1.017699, 1.041225, 1.046959, 1.025635, 0.965981, 0.855774, 0.685538,
];
/// 90° less the contact angle of that drop, in rad.
const PINNED_ANGLE_DEFICITS: [f64; NUM_RADII] = [
    0.00000, 0.00000, 0.00000, 0.00001, 0.00005, 0.00018, 0.00054, 0.00142, 0.00331, 0.00699, 0.01363, 0.02473,
    0.04201, 0.06716, 0.10157, 0.14617, 0.20141, 0.26733, 0.34368, 0.43005, 0.52592, 0.63073, 0.74385, 0.86456,
    0.99195, 1.12476, 1.26116, 1.39823, 1.53123, 1.65249, 1.74984,
];

/// Largest stable volume that hangs from a contact line pinned at `radius`, in l_c³, and its
/// contact angle, in rad; `None` from 3.83 l_c on.
pub(crate) fn pinned_limit(radius: f64) -> Option<(f64, f64)> {
    if !(radius > 0.0 && radius < WIDEST) {
        return None;
    }
    let x = math::cbrt(radius / WIDEST) * (NUM_RADII - 1) as f64;
    let first = (x as usize).saturating_sub(1).min(NUM_RADII - 4);
    let volume = cubic(&PINNED_VOLUMES[first..first + 4], x - first as f64);
    let angle = FRAC_PI_2 - cubic(&PINNED_ANGLE_DEFICITS[first..first + 4], x - first as f64);
    Some((2.0 * PI * radius * volume, angle))
}

/// Cubic through four values at 0, 1, 2 and 3.
fn cubic(near: &[f64], t: f64) -> f64 {
    let (a, b, c, d) = (t, t - 1.0, t - 2.0, t - 3.0);
    0.5 * (a * c * d * near[1] - a * b * d * near[2]) + (a * b * c * near[3] - b * c * d * near[0]) / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pendant::{pendant_max_volume, pendant_max_volume_pinned};

    #[test]
    fn the_pinned_table_agrees_with_the_exact_solution() {
        for radius in [0.02, 0.3, 0.77, 0.93, 1.5, 2.6, 3.5] {
            let exact = pendant_max_volume_pinned(radius, 1.0).expect("below 3.83");
            let (volume, _) = pinned_limit(radius).expect("below 3.83");
            assert!((volume / exact - 1.0).abs() < 1e-3, "{radius}: {volume} against {exact}");
        }
        assert_eq!((pinned_limit(3.9), pinned_limit(0.0)), (None, None));
    }

    #[test]
    fn the_table_agrees_with_the_exact_solution_at_and_between_its_entries() {
        for half_step in 1..72 {
            let theta = (0.5 * SPACING * f64::from(half_step)).to_radians();
            let (got, exact) = (pendant_limit(theta), pendant_max_volume(theta, 1.0));
            let off = got / exact - 1.0;
            assert!(off.abs() < 2e-5, "{:.1}°: {got} against {exact}, off by {off:.1e}", theta.to_degrees());
        }
    }
}
