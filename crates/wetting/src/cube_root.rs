//! Fast cube roots, which convert volumes to lengths millions of times per step.
//!
//! A third of the exponent, read off the bits, is the root to 3.5 %; Halley's iteration y ← y (y³ +
//! 2x)/(2y³ + x) leaves two thirds of the cube of an error, so two rounds leave 10⁻¹³ and a step of
//! Newton's rounding alone. That takes a tenth of the time of a correctly rounded root, and is
//! bit-identical on every platform.

use sessile_numerics::math;

/// Bits of the root of 1 less a third of the bits of 1, shifted so that the largest error above is
/// the largest below.
const OFFSET: u64 = 0x2A9F_7893_782D_A1CE;

/// ∛x, within two roundings.
#[inline]
pub fn cube_root(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return math::cbrt(x);
    }
    let mut y = f64::from_bits(x.to_bits() / 3 + OFFSET);
    for _ in 0..2 {
        let cube = y * y * y;
        y *= (cube + 2.0 * x) / (2.0 * cube + x);
    }
    let square = y * y;
    y - (y * square - x) / (3.0 * square)
}

#[cfg(test)]
mod tests {
    use super::cube_root;

    #[test]
    fn the_root_is_accurate_to_two_roundings_at_any_size() {
        let mut x = 3e-300_f64;
        while x < 1e300 {
            let off = (cube_root(x) / x.cbrt() - 1.0).abs();
            assert!(off <= 2.0 * f64::EPSILON, "∛{x:e} is off by {off:e}");
            x *= 1.0173;
        }
        for x in [0.0, -8.0, 1e-310, f64::INFINITY] {
            assert_eq!(cube_root(x), x.cbrt());
        }
        assert!(cube_root(f64::NAN).is_nan());
    }
}
