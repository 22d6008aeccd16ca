//! Rain: drop sizes, fall speeds, and arrival rates.
//!
//! In the air N(D) = N₀ e^(−bD), N₀ = 8000 m⁻³ mm⁻¹, b = 4.1 I^−0.21 mm⁻¹ with the rate I in mm/h
//! (marshall1948); drops fall at v = 9.65 − 10.3 e^(−0.6 D) m/s, D in mm (atlas1973). What arrives
//! on the level is N·v: few small drops, for they are slow. Taken together the two laws carry
//! 1.09–1.18 I of water, so the number is scaled to carry exactly I.
//!
//! Diameters run from 0.3 mm (below which the fall speed does not hold) to 6 mm (where drops break
//! up).

use std::f64::consts::PI;

use sessile_numerics::math;

/// Smallest and largest diameter, in mm.
const DIAMETERS: (f64, f64) = (0.3, 6.0);
/// N₀, in 1/(m³ mm).
const NUMBER: f64 = 8000.0;
/// v = FAST − SLOW e^(−RATE D), in m/s with D in mm.
const FAST: f64 = 9.65;
const SLOW: f64 = 10.3;
const RATE: f64 = 0.6;
/// One mm/h, in m/s.
const MILLIMETER_PER_HOUR: f64 = 1e-3 / 3600.0;

/// Terminal speed of a raindrop of a diameter (in m), in m/s; 0 below 0.11 mm, where the fit turns
/// negative.
pub fn fall_speed(diameter: f64) -> f64 {
    (FAST - SLOW * math::exp(-RATE * 1e3 * diameter)).max(0.0)
}

/// The drops of a rain of a given rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RainLaw {
    /// b, in 1/mm.
    slope: f64,
    /// Factor on N₀ that makes the rain carry its rate.
    scale: f64,
}

impl RainLaw {
    /// Rain of a rate in m/s (depth of water on the level per time); `None` unless it is positive
    /// and finite.
    ///
    /// ```
    /// # use sessile_wetting::rain::RainLaw;
    /// let drizzle = RainLaw::new(1e-3 / 3600.0).expect("1 mm/h");
    /// let half = drizzle.diameter(0.5);
    /// assert!(0.4e-3 < half && half < 1.0e-3);
    /// ```
    pub fn new(rate: f64) -> Option<Self> {
        if !(rate > 0.0 && rate.is_finite()) {
            return None;
        }
        let slope = 4.1 * math::powf(rate / MILLIMETER_PER_HOUR, -0.21);
        // mm³/(m² s) are 1e-9 m/s.
        let carried = 1e-9 * NUMBER * PI / 6.0 * (FAST * cubic_moment(slope) - SLOW * cubic_moment(slope + RATE));
        // Reject rates so small that no drops of these sizes remain.
        (carried > 0.0).then_some(Self { slope, scale: rate / carried })
    }

    /// Drops that arrive on the level per area and time, in 1/(m² s).
    pub fn arrivals(&self) -> f64 {
        self.scale * NUMBER * self.beyond(DIAMETERS.0)
    }

    /// Drops larger than a diameter (in m) that arrive per area and time, in 1/(m² s).
    pub fn arrivals_above(&self, diameter: f64) -> f64 {
        self.scale * NUMBER * self.beyond((1e3 * diameter).clamp(DIAMETERS.0, DIAMETERS.1))
    }

    /// Diameter of an arriving drop for `u` in [0, 1), in m: the inverse of the arrivals'
    /// distribution.
    ///
    /// A pure function of `u`, so a seeded stream of numbers gives the same rain everywhere.
    pub fn diameter(&self, u: f64) -> f64 {
        let wanted = (1.0 - u.clamp(0.0, 1.0)) * self.beyond(DIAMETERS.0);
        let (mut low, mut high) = DIAMETERS;
        let mut d = low + (1.0 / self.slope).min(0.5 * (high - low));
        // Newton steps, halving where they leave the bracket; 60 halvings alone would do.
        for _ in 0..60 {
            let excess = self.beyond(d) - wanted;
            if excess > 0.0 {
                low = d;
            } else {
                high = d;
            }
            let density = math::exp(-self.slope * d) * (FAST - SLOW * math::exp(-RATE * d));
            let newton = d + excess / density;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - d).abs() < 1e-12 {
                break;
            }
            d = next;
        }
        1e-3 * d
    }

    /// ∫ e^(−bD) v(D) dD from `d` (in mm) to the largest diameter.
    fn beyond(&self, d: f64) -> f64 {
        let part = |k: f64| (math::exp(-k * d) - math::exp(-k * DIAMETERS.1)) / k;
        FAST * part(self.slope) - SLOW * part(self.slope + RATE)
    }
}

/// ∫ D³ e^(−kD) dD over the diameters, in mm⁴.
fn cubic_moment(k: f64) -> f64 {
    let tail = |d: f64| math::exp(-k * d) * (((d + 3.0 / k) * d + 6.0 / (k * k)) * d + 6.0 / k.powi(3)) / k;
    tail(DIAMETERS.0) - tail(DIAMETERS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rain(millimeters_per_hour: f64) -> RainLaw {
        RainLaw::new(millimeters_per_hour * MILLIMETER_PER_HOUR).unwrap()
    }

    /// Sum of the drops' volumes at equally likely `u`, times their number, is the rate.
    #[test]
    fn sampled_drops_carry_the_rate() {
        for rate in [0.5, 1.0, 10.0, 50.0, 150.0] {
            let (law, n) = (rain(rate), 200_000);
            let mut volume = 0.0;
            for i in 0..n {
                let d = law.diameter((f64::from(i) + 0.5) / f64::from(n));
                volume += PI / 6.0 * d.powi(3) / f64::from(n);
            }
            let carried = volume * law.arrivals() / MILLIMETER_PER_HOUR;
            assert!((carried / rate - 1.0).abs() < 1e-4, "{rate} mm/h: {carried}");
        }
    }

    /// Before scaling: 750, 3100 and 7100 drops per m² s above 0.5 mm; 1.09–1.18 of the rate.
    #[test]
    fn arrivals_match_the_published_numbers() {
        for (rate, expected) in [(1.0, 750.0), (10.0, 3100.0), (50.0, 7100.0)] {
            let law = rain(rate);
            let unscaled = law.arrivals_above(0.5e-3) / law.scale;
            assert!((unscaled / expected - 1.0).abs() < 0.01, "{rate} mm/h: {unscaled}");
            let excess = 1.0 / law.scale;
            assert!((1.08..1.19).contains(&excess), "{rate} mm/h: unscaled rain carries {excess} of the rate");
        }
    }

    /// Half of the volume falls in drops above 1.1, 1.7 and 2.3 mm.
    #[test]
    fn median_volume_diameters_match_the_published_ones() {
        for (rate, expected) in [(1.0, 1.1), (10.0, 1.7), (50.0, 2.3)] {
            let (law, n) = (rain(rate), 100_000);
            let sizes: Vec<f64> = (0..n).map(|i| law.diameter((f64::from(i) + 0.5) / f64::from(n))).collect();
            let total: f64 = sizes.iter().map(|d| d.powi(3)).sum();
            let mut sum = 0.0;
            let median = sizes.iter().find(|d| {
                sum += d.powi(3);
                sum > 0.5 * total
            });
            let median = 1e3 * median.copied().unwrap_or(0.0);
            assert!((median - expected).abs() < 0.05, "{rate} mm/h: {median} mm");
        }
    }

    #[test]
    fn sampling_inverts_the_distribution_and_rises_with_u() {
        let law = rain(20.0);
        let mut last = 0.0;
        for i in 0..1000 {
            let u = f64::from(i) / 1000.0;
            let d = law.diameter(u);
            let back = 1.0 - law.arrivals_above(d) / law.arrivals();
            assert!((back - u).abs() < 1e-9, "u {u}: diameter {d}, back {back}");
            assert!(d > last, "u {u}");
            last = d;
        }
        assert!((law.diameter(0.0) - 0.3e-3).abs() < 1e-12 && law.diameter(1.0) <= 6.0e-3 + 1e-12);
    }

    #[test]
    fn raindrops_fall_at_measured_speeds() {
        // Gunn and Kinzer's measurements, m/s at 1, 2 and 5 mm; the fit is within a few per cent.
        for (mm, measured) in [(1.0, 4.03), (2.0, 6.49), (5.0, 9.09)] {
            let got = fall_speed(mm * 1e-3);
            assert!((got / measured - 1.0).abs() < 0.03, "{mm} mm: {got} m/s, measured {measured}");
        }
        assert_eq!(fall_speed(0.05e-3), 0.0);
    }

    #[test]
    fn a_rate_that_is_not_positive_has_no_law() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert!(RainLaw::new(rate).is_none(), "{rate}");
        }
    }
}
