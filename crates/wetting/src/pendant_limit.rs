//! Tabulated volume of the largest pendant drop at a contact angle.
//!
//! V_max/l_c³ falls from 18.96 at θ = 0 to (4π/3)(3/8)^1.5 (π − θ)³ near 180°, so V_max/(π − θ)³ is
//! smooth and is tabulated at every fifth degree, with cubic interpolation.
//! [`pendant_max_volume`](crate::pendant::pendant_max_volume) computes the same from the equation
//! of the surface, and a test compares the two.

use std::f64::consts::PI;

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
    let (a, b, c, d) = (t, t - 1.0, t - 2.0, t - 3.0);
    let near = &LIMITS[first..first + 4];
    let ratio = 0.5 * (a * c * d * near[1] - a * b * d * near[2]) + (a * b * c * near[3] - b * c * d * near[0]) / 6.0;
    ratio * (PI - theta.clamp(0.0, PI)).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pendant::pendant_max_volume;

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
