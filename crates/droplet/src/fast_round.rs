//! Rounding to integers without function calls or range checks.

/// The integer nearest to a number below 2³¹ in magnitude; ties go to the even one.
///
/// Adding 3·2⁵¹ rounds to an integer, whose bits are then the lowest of the sum.
#[inline]
pub fn nearest(x: f64) -> i32 {
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    (x + WHOLE).to_bits() as i32
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_rounds_ties_to_even() {
        for x in [0.0, 0.49, 0.5, 0.51, 1.5, 2.5, -0.3, -0.5, -0.7, -1.5, 123_456.4, -2e9, 2e9] {
            assert_eq!(f64::from(nearest(x)), f64::round_ties_even(x), "{x}");
        }
    }
}
