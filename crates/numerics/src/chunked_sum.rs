//! Sums over long arrays in chunks of fixed size, so that the result does not depend on the number
//! of threads.

use rayon::prelude::*;

/// Elements in a chunk.
pub const CHUNK: usize = 4096;

/// Σ of `sum(first, end)` over the chunks of `0..n`, added in order.
///
/// `partial` is scratch memory. Several sums of one pass over the data are taken at once.
pub fn sum_in_chunks<const SUMS: usize>(
    n: usize,
    partial: &mut Vec<[f64; SUMS]>,
    sum: impl Fn(usize, usize) -> [f64; SUMS] + Sync,
) -> [f64; SUMS] {
    let chunks = n.div_ceil(CHUNK);
    partial.clear();
    partial.resize(chunks, [0.0; SUMS]);
    let one = |(k, slot): (usize, &mut [f64; SUMS])| *slot = sum(k * CHUNK, n.min((k + 1) * CHUNK));
    if chunks > 1 {
        partial.par_iter_mut().enumerate().for_each(one);
    } else {
        partial.iter_mut().enumerate().for_each(one);
    }
    partial.iter().fold([0.0; SUMS], |total, chunk| std::array::from_fn(|k| total[k] + chunk[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_bit_identical_for_any_number_of_threads() {
        let values: Vec<f64> = (0..50_000).map(|i| 1.0 / f64::from(i + 1)).collect();
        let total = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| {
                sum_in_chunks(values.len(), &mut Vec::new(), |from, to| {
                    [values[from..to].iter().sum(), values[from..to].iter().map(|v| v * v).sum()]
                })
            })
        };
        let one = total(1);
        assert!((one[0] - values.iter().sum::<f64>()).abs() < 1e-10, "{one:?}");
        for threads in [2, 5] {
            assert_eq!(total(threads).map(f64::to_bits), one.map(f64::to_bits), "{threads} threads");
        }
    }
}
