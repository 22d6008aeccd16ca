//! Reductions over long arrays in chunks of fixed size, so that results do not depend on the number
//! of threads.

use rayon::prelude::*;
use sessile_numerics::CHUNK;

/// Largest magnitude; NaN if any is.
pub fn max_abs(values: &[f64], partial: &mut Vec<f64>) -> f64 {
    partial.clear();
    partial.resize(values.len().div_ceil(CHUNK), 0.0);
    let one = |(slot, values): (&mut f64, &[f64])| *slot = largest(values);
    if partial.len() > 1 {
        partial.par_iter_mut().zip(values.par_chunks(CHUNK)).for_each(one);
    } else {
        partial.iter_mut().zip(values.chunks(CHUNK)).for_each(one);
    }
    partial.iter().fold(0.0, |max, &v| larger(max, v))
}

/// Largest magnitude of a chunk; NaN if any is.
pub fn largest(values: &[f64]) -> f64 {
    // Magnitudes are ordered as their bits, and NaN comes last; several running maxima, so that
    // comparisons need not wait for one another.
    let magnitude = |value: f64| value.abs().to_bits();
    let mut most = [0; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        for (most, &value) in most.iter_mut().zip(eight) {
            *most = magnitude(value).max(*most);
        }
    }
    let rest = rest.iter().map(|&value| magnitude(value));
    f64::from_bits(rest.chain(most).max().unwrap_or(0))
}

/// The larger of two numbers, NaN if one is.
pub fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// a·b and a·c with eight running sums, so that additions need not wait for one another.
pub fn dots(a: &[f64], b: &[f64], c: &[f64]) -> [f64; 2] {
    let mut sums = [[0.0; 8]; 2];
    let whole = a.len() / 8 * 8;
    for ((a, b), c) in a[..whole].chunks_exact(8).zip(b[..whole].chunks_exact(8)).zip(c[..whole].chunks_exact(8)) {
        for lane in 0..8 {
            sums[0][lane] += a[lane] * b[lane];
            sums[1][lane] += a[lane] * c[lane];
        }
    }
    let mut totals = sums.map(|lanes| lanes.iter().sum::<f64>());
    for k in whole..a.len() {
        totals[0] += a[k] * b[k];
        totals[1] += a[k] * c[k];
    }
    totals
}
