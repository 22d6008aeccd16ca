//! Random numbers that depend on keys, not on history.
//!
//! A [`Stream`] is identified by the scene's seed and a list of keys (e.g. emitter 2, block 17).
//! The same keys give the same numbers on any machine, for any time steps, and independently of
//! other streams. No state needs to be saved to resume a run.
//!
//! The generator is SplitMix64 (steele2014): a counter that advances by the odd constant nearest
//! 2⁶⁴/golden ratio, followed by a bijective mixing function of 64-bit words. Keys are mixed into
//! the state one after another. It is not cryptographically secure.

use sessile_numerics::math;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output function: a bijection in which every input bit affects every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A sequence of random numbers identified by keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of `seed` and `keys`; the keys' order and number matter.
    pub fn new(seed: u64, keys: &[u64]) -> Self {
        let mut state = mix(seed.wrapping_add(GOLDEN));
        for &key in keys {
            state = mix(state.wrapping_add(GOLDEN) ^ mix(key.wrapping_add(GOLDEN)));
        }
        Self { state }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform among 0 … `count` − 1; 0 when `count` is 0. The bias is below `count`/2⁶⁴.
    pub fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }

    /// Exponential with mean 1: the gap between the events of a Poisson process of unit rate.
    pub fn exponential(&mut self) -> f64 {
        -math::ln(1.0 - self.uniform())
    }

    /// Normal with mean 0 and variance 1, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * math::cos(std::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of `n` draws.
    fn moments(n: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64)
    }

    #[test]
    fn equal_keys_give_equal_numbers_and_other_keys_others() {
        let draw = |seed, keys: &[u64]| {
            let mut s = Stream::new(seed, keys);
            [s.next_u64(), s.next_u64()]
        };
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        let others = [draw(1, &[2, 3]), draw(1, &[3, 2]), draw(2, &[2, 3]), draw(1, &[2]), draw(1, &[2, 3, 0])];
        for (i, a) in others.iter().enumerate() {
            for b in &others[i + 1..] {
                assert_ne!(a, b);
            }
        }
    }

    /// Five standard errors of the mean at a million draws; the variances likewise, from the fourth
    /// moments.
    #[test]
    fn samples_have_the_moments_of_their_distributions() {
        let n = 1_000_000;
        let mut s = Stream::new(7, &[1]);
        let (mean, var) = moments(n, || s.uniform());
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0f64 / n as f64).sqrt(), "uniform mean {mean}");
        assert!((var - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0f64 / n as f64).sqrt(), "uniform variance {var}");
        let (mean, var) = moments(n, || s.exponential());
        assert!((mean - 1.0).abs() < 5.0 / (n as f64).sqrt(), "exponential mean {mean}");
        assert!((var - 1.0).abs() < 5.0 * (8.0 / n as f64).sqrt(), "exponential variance {var}");
        let (mean, var) = moments(n, || s.normal());
        assert!(mean.abs() < 5.0 / (n as f64).sqrt(), "normal mean {mean}");
        assert!((var - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt(), "normal variance {var}");
    }

    /// First samples of neighboring keys are as independent as samples of one stream: chi-square
    /// over 16 × 16 cells.
    #[test]
    fn streams_of_neighboring_keys_are_independent() {
        let mut counts = [0f64; 256];
        let n = 65_536;
        for key in 0..n {
            let a = Stream::new(1, &[0, key]).index(16);
            let b = Stream::new(1, &[0, key + 1]).index(16);
            counts[16 * a + b] += 1.0;
        }
        let expected = n as f64 / 256.0;
        let chi2: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation √510 = 22.6.
        assert!((chi2 - 255.0).abs() < 5.0 * 22.6, "chi-square {chi2:.0}");
    }

    #[test]
    fn an_index_is_below_its_count() {
        let mut s = Stream::new(3, &[]);
        assert_eq!(s.index(0), 0);
        assert!((0..1000).all(|_| s.index(3) < 3));
    }
}
