//! Size distributions of raindrops.
//!
//! Sizes are sampled as counted by a rain gauge on level ground in still air: with a drop
//! concentration N(D) and fall speeds v(D), arrivals have the density N v. A range of radii given
//! by the scene is uniform in this sense.

use std::f64::consts::PI;

use sessile_scene::types::RainSizes;
use sessile_wetting::rain::RainLaw;

use crate::random::Stream;

/// A distribution of drop sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SizeDistribution {
    /// Radius uniform between two bounds, in m.
    Uniform { min: f64, max: f64 },
    /// Marshall–Palmer distribution at the rain's rate in m/s.
    Natural { law: RainLaw, rate: f64 },
}

impl SizeDistribution {
    /// The distribution at `rate`, in m/s; `None` if the rate is too low for any drops.
    pub fn new(sizes: &RainSizes, rate: f64) -> Option<Self> {
        match *sizes {
            RainSizes::Uniform { min, max } => Some(Self::Uniform { min, max }),
            RainSizes::MarshallPalmer => RainLaw::new(rate).map(|law| Self::Natural { law, rate }),
        }
    }

    /// The radius below which a fraction `u` ∈ [0, 1] of arrivals lies, in m.
    fn quantile(&self, u: f64) -> f64 {
        match self {
            Self::Uniform { min, max } => min + (max - min) * u,
            Self::Natural { law, .. } => law.diameter(u) / 2.0,
        }
    }

    /// Smallest and largest radius, in m.
    pub fn bounds(&self) -> [f64; 2] {
        [0.0, 1.0].map(|u| self.quantile(u))
    }

    /// A random radius, in m.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.uniform())
    }

    /// Mean volume of an arriving drop, in m³.
    pub fn mean_volume(&self) -> f64 {
        match self {
            // The mean of (4π/3) r³ over radii from a to b is (π/3)(a + b)(a² + b²).
            Self::Uniform { min, max } => PI / 3.0 * (min + max) * (min * min + max * max),
            Self::Natural { law, rate } => rate / law.arrivals(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_volume() {
        let rate = 20e-3 / 3600.0;
        for sizes in [RainSizes::MarshallPalmer, RainSizes::Uniform { min: 0.2e-3, max: 1.1e-3 }] {
            let law = SizeDistribution::new(&sizes, rate).expect("a law");
            let n = 200_000;
            let mut stream = Stream::new(3, &[]);
            let volumes: Vec<f64> = (0..n).map(|_| sessile_numerics::sphere_volume(law.draw(&mut stream))).collect();
            let mean = volumes.iter().sum::<f64>() / f64::from(n);
            let error =
                (volumes.iter().map(|v| v * v).sum::<f64>() / f64::from(n) - mean * mean).sqrt() / f64::from(n).sqrt();
            let expected = law.mean_volume();
            assert!((mean - expected).abs() < 4.0 * error, "{sizes:?}: {mean:e}, expected {expected:e} ± {error:e}");
        }
    }
}
