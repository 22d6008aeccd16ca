//! Low-discrepancy sampler: the first two Sobol dimensions, Owen-scrambled and shuffled by hashes
//! (burley2020).
//!
//! A path draws numbers in pairs. Each pair is the (0, 2)-sequence of Sobol with its own shuffling
//! and scrambling, seeded by the pixel and the index of the pair: stratified in itself, independent
//! of the others. A number depends only on pixel, sample and pair, so the number of threads does
//! not matter.

use glam::Vec2;

/// The random numbers of one path.
#[derive(Clone, Debug)]
pub struct Sampler {
    seed: u32,
    index: u32,
    pair: u32,
}

impl Sampler {
    /// The numbers of sample `index` of a pixel, for a seed.
    pub fn new(pixel: u32, image: u32, index: u32) -> Self {
        Self { seed: hash(pixel ^ hash(image.wrapping_add(0x9e37_79b9))), index: index.reverse_bits(), pair: 0 }
    }

    /// The next pair, each in [0, 1).
    pub fn next_2d(&mut self) -> Vec2 {
        self.pair = self.pair.wrapping_add(1);
        let seed = hash(self.seed ^ self.pair.wrapping_mul(0x9e37_79b9));
        // Scrambling the reversed index shuffles the sequence in whole powers of two, which keeps
        // prefixes stratified.
        let index = scramble_reversed(self.index, seed).reverse_bits();
        let x = scramble_reversed(index, hash(seed ^ 0x5163_3e2d));
        let y = scramble_reversed(pascal(index), hash(seed ^ 0x68bc_21eb));
        Vec2::new(to_unit(x.reverse_bits()), to_unit(y.reverse_bits()))
    }

    /// The next number in [0, 1).
    pub fn next_1d(&mut self) -> f32 {
        self.next_2d().x
    }
}

/// 24 bits as a number in [0, 1), never rounded up to 1.
fn to_unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// An integer hash with good avalanche (wellons2018).
fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Owen scrambling of a bit-reversed number: each bit is flipped by a hash of the bits below it
/// (burley2020, §3; laine2011).
fn scramble_reversed(mut x: u32, seed: u32) -> u32 {
    x = x.wrapping_add(seed);
    x ^= x.wrapping_mul(0x6c50_b47c);
    x ^= x.wrapping_mul(0xb82f_1e52);
    x ^= x.wrapping_mul(0xc7af_e638);
    x ^ x.wrapping_mul(0x8d22_f6e6)
}

/// Sobol's second dimension, bit-reversed: its matrix is Pascal's triangle modulo 2, in five XORs.
fn pascal(mut x: u32) -> u32 {
    x ^= x >> 16;
    x ^= (x & 0xff00_ff00) >> 8;
    x ^= (x & 0xf0f0_f0f0) >> 4;
    x ^= (x & 0xcccc_cccc) >> 2;
    x ^ ((x & 0xaaaa_aaaa) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_of_two_of_samples_is_stratified_in_all_elementary_intervals() {
        for pair in 0..6 {
            for log in 1..=8_u32 {
                let points: Vec<Vec2> = (0..1 << log)
                    .map(|index| {
                        let mut sampler = Sampler::new(4711, 3, index);
                        (0..pair).for_each(|_| _ = sampler.next_2d());
                        sampler.next_2d()
                    })
                    .collect();
                for columns in 0..=log {
                    let mut boxes = vec![0; 1 << log];
                    for p in &points {
                        let x = (p.x * (1_u32 << columns) as f32) as usize;
                        let y = (p.y * (1_u32 << (log - columns)) as f32) as usize;
                        boxes[(x << (log - columns)) + y] += 1;
                    }
                    assert!(boxes.iter().all(|&n| n == 1), "pair {pair}, 2^{log} samples, 2^{columns} columns");
                }
            }
        }
    }

    #[test]
    fn pixels_and_pairs_are_uncorrelated() {
        let first = |pixel: u32, skip: usize| {
            let mut sampler = Sampler::new(pixel, 0, 0);
            (0..skip).for_each(|_| _ = sampler.next_2d());
            sampler.next_2d()
        };
        let mean: Vec2 = (0..4096).map(|pixel| first(pixel, 2)).sum::<Vec2>() / 4096.0;
        // The mean of n uniform numbers has a standard deviation of 1/√(12 n) = 0.0045.
        assert!((mean - 0.5).abs().max_element() < 0.0135, "mean {mean}");
        let product: f32 =
            (0..4096).map(|pixel| (first(pixel, 0).x - 0.5) * (first(pixel, 1).x - 0.5)).sum::<f32>() / 4096.0;
        assert!(product.abs() < 3.0 / 12.0 / 64.0, "correlation {product}");
    }
}
