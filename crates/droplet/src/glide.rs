//! Motion on one triangle, in closed form: a constant pull and a drag in proportion to the speed.
//!
//! ```text
//! dv/dt = a − λ v
//! v(t) = v₀ e^(−λt) + a t φ₁(λt)              φ₁(x) = (1 − e^(−x))/x
//! p(t) = p₀ + v₀ t φ₁(λt) + a t² φ₂(λt)       φ₂(x) = (1 − φ₁(x))/x
//! ```
//!
//! This is the paper's solution (fournier1998, §2.2) with a = F/m and λ = −k_f/m, in a form that stays exact as λ → 0. F is what
//! pulls without friction; the paper's "resulting force" counts friction twice.
//!
//! The distance from a side, d(t) = d₀ + u t φ₁ + b t² φ₂, has a derivative with at most one zero, so what Newton's iteration has to find
//! is bracketed beforehand: no exit is missed, and none is found that is not there.

use glam::DVec2;

use crate::lanes::Number;
use crate::track::Facet;

/// φ₁(x) and φ₂(x) for x ≥ 0, within a few roundings and without a branch, so that many may be worked out side by side.
///
/// x = n ln 2 + r with |r| ≤ ½ ln 2: φ₂(r) is a series, and 1 − e^(−x) = (1 − 2⁻ⁿ) + 2⁻ⁿ r φ₁(r) adds nothing that cancels. For n = 0, r is x itself.
#[inline(always)]
pub fn phi<N: Number>(x: N) -> (N, N) {
    // ln 2 in two parts, of which the first times a whole number below 2¹⁵ is exact.
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    // Added to this a number is rounded to a whole one, whose lower bits are those of the integer.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let one = N::of(1.0);
    // e⁻⁷⁰⁰ is nothing beside 1.
    let bounded = x.or_less(N::of(700.0));
    let whole = bounded * N::of(std::f64::consts::LOG2_E) + N::of(WHOLE);
    let n = whole - N::of(WHOLE);
    let r = (bounded - n * N::of(LN_2.0)) - n * N::of(LN_2.1);
    let power = N::half_to_the(whole);
    // φ₂(r) = 1/2! − r/3! + r²/4! − …: twelve terms leave 0.35¹²/14! < 10⁻¹⁶; even and odd ones side by side.
    let square = r * r;
    let sum = |terms: [usize; 6]| {
        let [first, others @ ..] = terms.map(|k| N::of(INVERSE_FACTORIALS[k]));
        others.into_iter().fold(first, |sum, term| term + square * sum)
    };
    let second = sum([12, 10, 8, 6, 4, 2]) - r * sum([13, 11, 9, 7, 5, 3]);
    let first = one - r * second;
    let per_x = one / x;
    let large_first = ((one - power) + power * (r * first)) * per_x;
    let large_second = (one - large_first) * per_x;
    let is_small = n.is(N::of(0.0));
    (N::either(is_small, first, large_first), N::either(is_small, second, large_second))
}

const INVERSE_FACTORIALS: [f64; 14] = {
    let mut values = [1.0; 14];
    let mut k = 2;
    while k < values.len() {
        values[k] = values[k - 1] / k as f64;
        k += 1;
    }
    values
};

/// Motion in a plane from `place` at `velocity`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide {
    /// p₀, in m.
    pub place: DVec2,
    /// v₀, in m/s.
    pub velocity: DVec2,
    /// a, in m/s².
    pub acceleration: DVec2,
    /// λ ≥ 0, in 1/s.
    pub rate: f64,
}

impl Glide {
    /// Place and velocity after `time` seconds.
    #[inline]
    pub fn after(&self, time: f64) -> (DVec2, DVec2) {
        let (one, two) = phi(self.rate * time);
        (
            self.place + self.velocity * (time * one) + self.acceleration * (time * time * two),
            self.velocity * (1.0 - self.rate * time * one) + self.acceleration * (time * one),
        )
    }

    /// Place after `time` seconds.
    #[inline]
    pub fn place_at(&self, time: f64) -> DVec2 {
        self.after(time).0
    }

    /// Velocity after `time` seconds.
    #[inline]
    pub fn velocity_at(&self, time: f64) -> DVec2 {
        self.after(time).1
    }

    /// About its velocity after `time` seconds: e^(−x) as one over the first terms of e^x, off by 0.0014 at x = 1 and 0.011 at 3, without an
    /// exponential; and how much of it is kept, e^(−x).
    #[inline]
    pub fn velocity_about(&self, time: f64) -> (DVec2, f64) {
        let (kept, rise) = decay_about(self.rate * time);
        (self.velocity * kept + self.acceleration * (time * rise), kept)
    }

    /// When its component along `heading`, which is positive, comes to a stop; infinite if it does not.
    #[inline]
    pub fn stops_at(&self, heading: DVec2) -> f64 {
        let (speed, pull) = (self.velocity.dot(heading), self.acceleration.dot(heading));
        if pull < 0.0 { turning_time(speed, pull, self.rate) } else { f64::INFINITY }
    }

    /// The first side through which it leaves the triangle before `until`, where it would be at `end`, and when.
    ///
    /// It starts inside; `entered` is the side that it starts on, if it has just come through one.
    #[inline]
    pub fn exit(&self, facet: &Facet, until: f64, end: DVec2, entered: Option<usize>) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        let mut limit = until;
        let way = end - self.place;
        for k in 0..3 {
            let inward = facet.inward(k);
            let distance = if entered == Some(k) { 0.0 } else { facet.inside(self.place, k).max(0.0) };
            let (speed, pull) = (inward.dot(self.velocity), inward.dot(self.acceleration));
            // Only a way that turns back can leave and be inside again, and only one that would leave if it were not drawn back.
            let returns = speed < 0.0 && pull > 0.0 && distance + speed * until <= 0.0;
            if distance > 0.0 && distance + inward.dot(way) >= 0.0 && !returns {
                continue;
            }
            if let Some(time) = first_zero(distance, speed, pull, self.rate, limit) {
                if time == 0.0 {
                    return Some((k, 0.0));
                }
                first = Some((k, time));
                limit = time;
            }
        }
        first
    }
}

/// About e^(−x) and φ₁(x).
#[inline(always)]
pub fn decay_about<N: Number>(x: N) -> (N, N) {
    let one = N::of(1.0);
    let rise = one + x * (N::of(0.5) + x * (N::of(1.0 / 6.0) + x * N::of(1.0 / 24.0)));
    let kept = one / (one + x * rise);
    (kept, rise * kept)
}

/// When u e^(−λt) + b t φ₁(λt) vanishes, for u and b of different sign.
#[inline]
fn turning_time(u: f64, b: f64, rate: f64) -> f64 {
    let free = -u / b;
    let x = rate * free;
    // ln(1 + x)/λ, which is `free` without drag.
    if x < 1e-8 { free * (1.0 - 0.5 * x) } else { x.ln_1p() / rate }
}

/// The first t in [0, until) at which d(t) = d + u t φ₁(λt) + b t² φ₂(λt) falls below zero; d ≥ 0.
pub fn first_zero(d: f64, u: f64, b: f64, rate: f64, until: f64) -> Option<f64> {
    if d <= 0.0 && (u < 0.0 || (u == 0.0 && b < 0.0)) {
        return Some(0.0);
    }
    if u >= 0.0 && b >= 0.0 {
        return None;
    }
    let value = |t: f64| {
        let (one, two) = phi(rate * t);
        (d + t * (u * one + b * t * two), u * (1.0 - rate * t * one) + b * t * one)
    };
    // Where it falls: after the crest when it is pulled down, before the trough when it is pulled up.
    let (mut early, mut late) = match (u > 0.0, b > 0.0) {
        (true, _) => (turning_time(u, b, rate), until),
        (false, true) => (0.0, turning_time(u, b, rate).min(until)),
        (false, false) => (0.0, until),
    };
    if late <= early || value(late).0 >= 0.0 {
        return None;
    }
    // Without drag the answer is a quadratic's; with little drag it is near.
    let root = (u * u - 2.0 * b * d).max(0.0).sqrt();
    let guess = if u > 0.0 { (u + root) / -b } else { 2.0 * d / (root - u) };
    let mut t = if guess > early && guess < late { guess } else { 0.5 * (early + late) };
    for _ in 0..80 {
        let (at, slope) = value(t);
        if at > 0.0 {
            early = t;
        } else {
            late = t;
        }
        let newton = t - at / slope;
        let next = if newton > early && newton < late { newton } else { 0.5 * (early + late) };
        if (next - t).abs() <= 4.0 * f64::EPSILON * t || at == 0.0 {
            break;
        }
        t = next;
    }
    Some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::track::tests::{sheet, track_of};

    /// The paper's own formulas, in the form in which they are printed.
    fn printed(force: DVec2, mass: f64, k_f: f64, p: DVec2, v: DVec2, t: f64) -> (DVec2, DVec2) {
        let growth = (k_f * t / mass).exp();
        let velocity = -force / k_f + (v + force / k_f) * growth;
        let place = p - force * t / k_f + (v + force / k_f) * mass * (growth - 1.0) / k_f;
        (place, velocity)
    }

    #[test]
    fn motion_is_the_printed_closed_form_to_1e_9() {
        for (mass, k_f, time) in [(5e-6, -2e-4, 0.03), (1e-5, -1e-3, 0.2), (2e-6, -1e-5, 0.5)] {
            let (force, p, v) = (DVec2::new(2e-5, -4e-5), DVec2::new(1e-3, 2e-3), DVec2::new(-0.02, 0.05));
            let glide = Glide { place: p, velocity: v, acceleration: force / mass, rate: -k_f / mass };
            let (place, velocity) = printed(force, mass, k_f, p, v, time);
            let off = (glide.place_at(time) - place).length() / place.length();
            assert!(off < 1e-12, "place off by {off:.1e}");
            let off = (glide.velocity_at(time) - velocity).length() / velocity.length();
            assert!(off < 1e-12, "velocity off by {off:.1e}");
        }
    }

    #[test]
    fn without_drag_it_is_the_parabola_and_the_series_joins_the_closed_form() {
        let glide = Glide { place: DVec2::ZERO, velocity: DVec2::X, acceleration: DVec2::NEG_Y, rate: 0.0 };
        assert_eq!(glide.place_at(2.0), DVec2::new(2.0, -2.0));
        // Round the ends of the series' ranges too, odd multiples of ½ ln 2.
        for x in [1e-9, 1e-3, 0.1, 0.3465, 0.3466, 0.5, 1.0, 1.0397, 1.0398, 3.0, 30.0, 699.0, 701.0, 1e4, 1e100] {
            let (one, two) = phi(x);
            let expected = -f64::exp_m1(-x) / x;
            assert!((one / expected - 1.0).abs() < 1e-15, "φ₁({x})");
            if x < 0.05 {
                continue;
            }
            let direct = (x + f64::exp_m1(-x)) / (x * x);
            assert!((two / direct - 1.0).abs() < 4e-16 / x + 1e-15, "φ₂({x}): {two}, {direct}");
        }
        // φ₂ of a small x, which that form cannot give.
        assert_eq!(phi(0.0), (1.0, 0.5));
        assert!((phi(1e-3).1 - (0.5 - 1e-3 / 6.0 + 1e-6 / 24.0 - 1e-9 / 120.0)).abs() < 1e-14);
        assert!(phi(f64::NAN).0.is_nan() && phi(f64::INFINITY) == (0.0, 0.0));
    }

    #[test]
    fn the_velocity_without_an_exponential_is_near_it_and_right_at_both_ends() {
        let glide = |rate| Glide { place: DVec2::ZERO, velocity: DVec2::X, acceleration: DVec2::Y * rate, rate };
        for (rate, bound) in [(0.0, 0.0), (0.3, 2e-5), (1.0, 2e-3), (3.0, 0.02), (1e6, 1e-5)] {
            let off = (glide(rate).velocity_about(1.0).0 - glide(rate).velocity_at(1.0)).length();
            assert!(off <= bound, "off by {off:.1e} after {rate} times its own time");
        }
    }

    /// Against a fine march: wherever the march is first outside, an exit was found just before.
    #[test]
    fn no_exit_is_missed_and_none_is_invented() {
        let track = track_of(&sheet(1.0, 1.0, 1, 1));
        let facet = *track.facet(0);
        let mut seed = 1_u64;
        let mut uniform = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut exits = 0;
        for _ in 0..4000 {
            let (a, b) = (uniform(), uniform());
            let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
            let place = facet.corners[1] * a + facet.corners[2] * b;
            let random = |uniform: &mut dyn FnMut() -> f64| DVec2::new(uniform() - 0.5, uniform() - 0.5);
            let velocity = 4.0 * random(&mut uniform);
            let glide = Glide {
                place,
                velocity,
                acceleration: 12.0 * random(&mut uniform),
                rate: 6.0 * (uniform() - 0.3).max(0.0),
            };
            let until = 1.0;
            let steps = 2000;
            let march = (1..=steps)
                .map(|i| until * f64::from(i) / f64::from(steps))
                .find(|&t| facet.depth(glide.place_at(t)) < -1e-12);
            match (glide.exit(&facet, until, glide.place_at(until), None), march) {
                (Some((k, time)), march) => {
                    exits += 1;
                    let off = facet.inside(glide.place_at(time), k).abs();
                    assert!(off < 1e-14, "it exits {off:.1e} m from the side");
                    if let Some(march) = march {
                        assert!(
                            time <= march && march - time < 1.01 * until / f64::from(steps),
                            "{time}, march {march}"
                        );
                    }
                }
                (None, march) => assert_eq!(march, None),
            }
        }
        assert!(exits > 2000, "{exits}");
    }
}
