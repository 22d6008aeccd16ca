//! Roots and maxima of functions of one variable.

/// Root of a function that changes sign between `lo` and `hi`, given its values there.
///
/// Regula falsi with Anderson and Björck's weights (anderson1973): the interval always brackets the
/// root, and shrinks faster than linearly. Ends when |f| ≤ `tolerance`, or when the interval or the
/// last move is at rounding.
pub(crate) fn bracketed(
    mut f: impl FnMut(f64) -> f64,
    mut lo: f64,
    mut hi: f64,
    mut f_lo: f64,
    mut f_hi: f64,
    tolerance: f64,
) -> f64 {
    let mut previous = f64::NAN;
    for iteration in 0..200 {
        if f_lo == 0.0 {
            return lo;
        }
        if f_hi == 0.0 {
            return hi;
        }
        let secant = hi - f_hi * (hi - lo) / (f_hi - f_lo);
        // Every fourth point is the midpoint, so that a flat side cannot stall the iteration.
        let inside = secant > lo.min(hi) && secant < lo.max(hi);
        let x = if iteration % 4 == 3 || !inside { 0.5 * (lo + hi) } else { secant };
        let y = f(x);
        let rounding = 4.0 * f64::EPSILON * x.abs().max(f64::MIN_POSITIVE);
        if y.abs() <= tolerance || (hi - lo).abs() <= rounding || (x - previous).abs() <= rounding {
            return x;
        }
        previous = x;
        // `hi` is always the latest point; where it stays on its side, the other end's value is
        // damped.
        if (y > 0.0) == (f_hi > 0.0) {
            let m = 1.0 - y / f_hi;
            f_lo *= if m > 0.0 { m } else { 0.5 };
        } else {
            (lo, f_lo) = (hi, f_hi);
        }
        (hi, f_hi) = (x, y);
    }
    0.5 * (lo + hi)
}

/// Position of the maximum of a unimodal function between `lo` and `hi`, by golden section, to
/// `tolerance` in x.
pub(crate) fn maximum(mut f: impl FnMut(f64) -> f64, mut lo: f64, mut hi: f64, tolerance: f64) -> f64 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut a, mut b) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut f_a, mut f_b) = (f(a), f(b));
    while hi - lo > tolerance {
        if f_a > f_b {
            (hi, b, f_b) = (b, a, f_a);
            a = hi - golden * (hi - lo);
            f_a = f(a);
        } else {
            (lo, a, f_a) = (a, b, f_b);
            b = lo + golden * (hi - lo);
            f_b = f(b);
        }
    }
    0.5 * (lo + hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_steep_and_flat_functions_are_found() {
        for (power, expected) in [(1, 2.0_f64), (3, 2.0), (9, 2.0)] {
            let f = |x: f64| x.powi(power) - expected.powi(power);
            let mut calls = 0;
            let counted = |x| {
                calls += 1;
                f(x)
            };
            let x = bracketed(counted, 0.0, 10.0, f(0.0), f(10.0), 1e-13 * expected.powi(power));
            assert!((x - expected).abs() < 1e-12, "power {power}: {x} after {calls} calls");
            assert!(calls < 60, "power {power}: {calls} calls");
        }
    }

    #[test]
    fn maximum_of_a_hump_is_found() {
        let x = maximum(f64::sin, 0.5, 3.0, 1e-7);
        assert!((x - std::f64::consts::FRAC_PI_2).abs() < 1e-6, "{x}");
    }
}
