//! The AgX view transform: a film-like tone scale (sobotka2022).
//!
//! Exposed light is mixed with some of the other channels (the inset), which makes saturated lights
//! desaturate as they get brighter; the logarithm of each channel, from 2⁻¹⁰ to 2^6.5 of middle
//! gray, then passes a sigmoid; and the inverse mixture (the outset) restores the saturation of
//! moderate colors.
//!
//! The sigmoid runs through middle gray with slope `s = 2.4`; towards both ends it is
//!
//! ```text
//! y = y₀ + d h(s (x − x₀)/d),    h(t) = t / (1 + |t|^p)^(1/p),    p = 1.5
//! ```
//!
//! with `d` such that it ends at 0 and at 1.

use glam::{Mat3, Vec3};

/// Middle gray, and the range around it in powers of two.
const GRAY: f32 = 0.18;
const STOPS: [f32; 2] = [-10.0, 6.5];

/// Slope at middle gray, and the power of the sigmoid's ends.
const SLOPE: f32 = 2.4;
const POWER: f32 = 1.5;

/// Exponent by which the sigmoid's values are encoded.
const GAMMA: f32 = 2.2;

/// The inset for sRGB primaries, by columns; rows add up to 1, so that gray stays gray.
const INSET: Mat3 = Mat3::from_cols_array(&[
    0.842_342, 0.042_328, 0.042_376, 0.078_434, 0.878_506, 0.078_434, 0.079_224, 0.079_166, 0.879_19,
]);

/// A linear display color in `[0, 1]` for exposed light that is finite and not negative.
pub(crate) fn agx(color: Vec3) -> Vec3 {
    let [low, high] = STOPS;
    let scale = |value: f32| {
        let stops = (value / GRAY).max(f32::MIN_POSITIVE).log2();
        sigmoid(((stops - low) / (high - low)).clamp(0.0, 1.0)).powf(GAMMA)
    };
    let toned = Vec3::from_array((INSET * color).to_array().map(scale));
    (INSET.inverse() * toned).clamp(Vec3::ZERO, Vec3::ONE)
}

/// The tone scale from `[0, 1]` to `[0, 1]`.
fn sigmoid(x: f32) -> f32 {
    let [low, high] = STOPS;
    let (x0, y0) = (-low / (high - low), GRAY.powf(1.0 / GAMMA));
    // Distances from middle gray to the end of the curve on this side.
    let (reach, rise) = if x < x0 { (x0, y0) } else { (1.0 - x0, 1.0 - y0) };
    let end = SLOPE * reach;
    // d h(end/d) = rise.
    let d = (rise.powf(-POWER) - end.powf(-POWER)).powf(-1.0 / POWER);
    let t = SLOPE * (x - x0) / d;
    (y0 + d * t / (1.0 + t.abs().powf(POWER)).powf(1.0 / POWER)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_monotonic_from_black_to_white_and_keeps_middle_gray() {
        assert!(agx(Vec3::ZERO).max_element() < 1e-5 && agx(Vec3::splat(1e6)).min_element() > 0.999);
        assert!((agx(Vec3::splat(GRAY)) - GRAY).abs().max_element() < 1e-4, "{}", agx(Vec3::splat(GRAY)));
        let shades: Vec<f32> = (-120..80).map(|k| agx(Vec3::splat(GRAY * 2f32.powf(0.1 * k as f32))).x).collect();
        assert!(shades.windows(2).all(|pair| pair[1] > pair[0] - 1e-6));
        // The slope at middle gray, in encoded values per stop.
        let [below, above] = [-0.1, 0.1].map(|stops: f32| agx(Vec3::splat(GRAY * stops.exp2())).x.powf(1.0 / GAMMA));
        let slope = (above - below) / 0.2 * (STOPS[1] - STOPS[0]);
        assert!((slope / SLOPE - 1.0).abs() < 0.01, "{slope}");
    }

    #[test]
    fn saturated_lights_turn_white_as_they_get_brighter() {
        let saturation = |exposure: f32| {
            let shown = agx(exposure * Vec3::new(1.0, 0.05, 0.05));
            1.0 - shown.min_element() / shown.max_element()
        };
        assert!(saturation(0.2) > 0.7 && saturation(10.0) < saturation(1.0) && saturation(100.0) < 0.3);
    }
}
