//! Smooth interpolation of keys in time.
//!
//! Between two keys the path is the cubic Hermite curve of their values and rates,
//!
//! ```text
//! x = h₀₀ x₀ + h₁₀ Δ v₀ + h₀₁ x₁ + h₁₁ Δ v₁,  s = (t − t₀)/Δ
//! h₀₀ = 2s³ − 3s² + 1,  h₁₀ = s³ − 2s² + s,  h₀₁ = 3s² − 2s³,  h₁₁ = s³ − s²
//! ```
//!
//! with rates by differences. Among evenly spaced keys, as of sampled motion, they are of fourth
//! order, v = (x₋₂ − 8x₋₁ + 8x₁ − x₂)/12Δ, so that the acceleration is that of the sampled motion
//! to second order in Δ; with central differences it would be of first order. Near the ends the
//! differences are one-sided. Among other keys v = (x₁ − x₋₁)/(t₁ − t₋₁).
//!
//! Both x and its rate are linear in the keys' values: [`PathWeights`] has their weights.

/// Deviation of the spacing of keys, relative to it, up to which they are evenly spaced.
const EVEN: f64 = 1e-3;

/// Most keys that a time depends on.
const WINDOW: usize = 6;

/// Weights of the keys around a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathWeights {
    first: usize,
    len: usize,
    value: [f64; WINDOW],
    rate: [f64; WINDOW],
}

impl PathWeights {
    /// The weights at `time` of keys at increasing times; `None` where no key is before, or none
    /// after it.
    pub fn at<K>(keys: &[K], time_of: impl Fn(&K) -> f64, time: f64) -> Option<Self> {
        let t = |k: usize| time_of(&keys[k]);
        let next = keys.partition_point(|key| time_of(key) <= time);
        if next == 0 || next == keys.len() {
            return None;
        }
        let last = keys.len() - 1;
        let (a, b) = (next - 1, next);
        let first = a.saturating_sub(2);
        let mut weights = Self { first, len: (b + 2).min(last) + 1 - first, value: [0.0; 6], rate: [0.0; 6] };
        let span = t(b) - t(a);
        let s = (time - t(a)) / span;
        let rise = s * s * (3.0 - 2.0 * s);
        let slope = 6.0 * s * (1.0 - s) / span;
        weights.add(a, 1.0 - rise, -slope);
        weights.add(b, rise, slope);
        let ends = [
            (a, s * (1.0 - s) * (1.0 - s) * span, (1.0 - s) * (1.0 - 3.0 * s)),
            (b, s * s * (s - 1.0) * span, s * (3.0 * s - 2.0)),
        ];
        for (key, value, rate) in ends {
            for (other, weight) in rate_weights(&t, key, last).into_iter().filter(|(_, weight)| *weight != 0.0) {
                weights.add(other, value * weight, rate * weight);
            }
        }
        Some(weights)
    }

    fn add(&mut self, key: usize, value: f64, rate: f64) {
        self.value[key - self.first] += value;
        self.rate[key - self.first] += rate;
    }

    /// The keys that count, with the weights of their values in the value and in its rate.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        (0..self.len).map(|k| (self.first + k, self.value[k], self.rate[k]))
    }
}

/// Weights of keys in the rate at key `k` of keys 0 to `last`; padded with zeros.
fn rate_weights(t: &impl Fn(usize) -> f64, k: usize, last: usize) -> [(usize, f64); 5] {
    // The keys around k that a difference of high order needs, and its weights times the spacing.
    let (from, weights): (usize, &[f64]) = match (k, last - k) {
        (2.., 2..) => (k - 2, &[1.0 / 12.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, -1.0 / 12.0]),
        (1, 2..) => (0, &[-1.0 / 3.0, -0.5, 1.0, -1.0 / 6.0]),
        (2.., 1) => (k - 2, &[1.0 / 6.0, -1.0, 0.5, 1.0 / 3.0]),
        (0, 2..) => (0, &[-1.5, 2.0, -0.5]),
        (2.., 0) => (k - 2, &[0.5, -2.0, 1.5]),
        _ => (k, &[]),
    };
    let mut found = [(k, 0.0); 5];
    let Some(intervals) = weights.len().checked_sub(1).filter(|intervals| is_even(t, from, *intervals)) else {
        let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
        let rate = 1.0 / (t(after) - t(before));
        (found[0], found[1]) = ((before, -rate), (after, rate));
        return found;
    };
    let spacing = (t(from + intervals) - t(from)) / intervals as f64;
    for (slot, (offset, weight)) in found.iter_mut().zip(weights.iter().enumerate()) {
        *slot = (from + offset, weight / spacing);
    }
    found
}

/// Whether a number of intervals from key `from` on have the same length.
fn is_even(t: &impl Fn(usize) -> f64, from: usize, intervals: usize) -> bool {
    let spacing = (t(from + intervals) - t(from)) / intervals as f64;
    (from..from + intervals).all(|key| (t(key + 1) - t(key) - spacing).abs() < EVEN * spacing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(times: &[f64], values: &[f64], time: f64) -> Option<(f64, f64)> {
        let weights = PathWeights::at(times, |t| *t, time)?;
        Some(weights.iter().fold((0.0, 0.0), |(x, v), (k, value, rate)| (x + value * values[k], v + rate * values[k])))
    }

    /// Straight paths are exact for any keys, parabolas for evenly spaced ones.
    #[test]
    fn polynomials_are_reproduced() {
        for count in 2..9 {
            let even: Vec<f64> = (0..count).map(|k| 0.5 + 0.25 * f64::from(k)).collect();
            let uneven: Vec<f64> = (0..count).map(|k| f64::from(k) + 0.3 * f64::from(k % 3)).collect();
            for (times, degree) in [(&even, if count > 2 { 2 } else { 1 }), (&uneven, 1)] {
                let f = |t: f64| 3.0 - 2.0 * t + if degree == 2 { 0.7 * t * t } else { 0.0 };
                let values: Vec<f64> = times.iter().map(|t| f(*t)).collect();
                for part in 0..20 {
                    let time = times[0] + f64::from(part) / 20.0 * (times[times.len() - 1] - times[0]);
                    let (x, v) = path(times, &values, time).unwrap();
                    let rate = -2.0 + if degree == 2 { 1.4 * time } else { 0.0 };
                    assert!(
                        (x - f(time)).abs() < 1e-12 && (v - rate).abs() < 1e-11,
                        "{count} keys at {time}: {x}, {v}"
                    );
                }
            }
        }
        assert_eq!(path(&[1.0, 2.0], &[0.0, 1.0], 0.9), None);
        assert_eq!(path(&[1.0, 2.0], &[0.0, 1.0], 2.0), None);
    }

    #[test]
    fn keys_are_met_and_the_rate_is_the_derivative() {
        let times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 6.0];
        let values = [0.0, 0.0, 1.0, -2.0, 3.0, 3.5, 1.0];
        for (t, x) in times.iter().zip(values).take(6) {
            assert!((path(&times, &values, *t).unwrap().0 - x).abs() < 1e-12);
        }
        let h = 1e-6;
        for time in [0.3, 1.6, 2.5, 4.4, 5.7] {
            let at = |t: f64| path(&times, &values, t).unwrap();
            let numeric = (at(time + h).0 - at(time - h).0) / (2.0 * h);
            assert!((at(time).1 - numeric).abs() < 1e-8, "{time}");
        }
    }
}
