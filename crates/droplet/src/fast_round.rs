//! Whole numbers near others, faster than casts and `floor`, which are calls or guarded on common processors.

/// The whole number nearest to one below 2³¹ in size; the even one of two.
///
/// Added to 3·2⁵¹ a number is rounded to a whole one, whose lower bits are those of the integer.
#[inline]
pub fn nearest(x: f64) -> i32 {
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    (x + WHOLE).to_bits() as i32
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn it_rounds_as_rounding_does() {
        for x in [0.0, 0.49, 0.5, 0.51, 1.5, 2.5, -0.3, -0.5, -0.7, -1.5, 123_456.4, -2e9, 2e9] {
            assert_eq!(f64::from(nearest(x)), f64::round_ties_even(x), "{x}");
        }
    }
}
