//! Motion on one triangle in closed form: constant acceleration and linear drag.
//!
//! ```text
//! dv/dt = a − λ v
//! v(t) = v₀ e^(−λt) + a t φ₁(λt)              φ₁(x) = (1 − e^(−x))/x
//! p(t) = p₀ + v₀ t φ₁(λt) + a t² φ₂(λt)       φ₂(x) = (1 − φ₁(x))/x
//! ```
//!
//! This is the solution of fournier1998, §2.2, with a = F/m and λ = −k_f/m, in a form that stays
//! exact as λ → 0. F excludes friction; the paper's "resulting force" counts friction twice.
//!
//! The distance from an edge, d(t) = d₀ + u t φ₁ + b t² φ₂, has a derivative with at most one zero.
//! Its roots are therefore bracketed before Newton's iteration starts: no exit is missed and no
//! spurious one is found.

use glam::DVec2;
use sessile_numerics::math;

use crate::simd::{Lane, Vec2};
use crate::surface_mesh::Facet;

/// φ₁(x) and φ₂(x) for x ≥ 0, to a few units in the last place and without branches.
///
/// With x = n ln 2 + r and |r| ≤ ½ ln 2, φ₂(r) is a series, and
/// 1 − e^(−x) = (1 − 2⁻ⁿ) + 2⁻ⁿ r φ₁(r) adds nothing that cancels. For n = 0, r is x itself.
#[inline(always)]
pub fn phi<L: Lane>(x: L) -> (L, L) {
    // ln 2 in two parts; the first times an integer below 2¹⁵ is exact.
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    // Adding 3·2⁵¹ rounds to an integer, whose bits are then the lowest of the sum.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let one = L::splat(1.0);
    // e⁻⁷⁰⁰ is negligible beside 1.
    let bounded = x.min(L::splat(700.0));
    let shifted = bounded * L::splat(std::f64::consts::LOG2_E) + L::splat(SHIFT);
    let n = shifted - L::splat(SHIFT);
    let r = (bounded - n * L::splat(LN_2.0)) - n * L::splat(LN_2.1);
    let power = L::exp2_neg(shifted);
    // φ₂(r) = 1/2! − r/3! + r²/4! − …: twelve terms leave 0.35¹²/14! < 10⁻¹⁶. Even and odd terms
    // are summed independently.
    let square = r * r;
    let sum = |terms: [usize; 6]| {
        let [first, others @ ..] = terms.map(|k| L::splat(INVERSE_FACTORIALS[k]));
        others.into_iter().fold(first, |sum, term| term + square * sum)
    };
    let second = sum([12, 10, 8, 6, 4, 2]) - r * sum([13, 11, 9, 7, 5, 3]);
    let first = one - r * second;
    let per_x = one / x;
    let large_first = ((one - power) + power * (r * first)) * per_x;
    let large_second = (one - large_first) * per_x;
    let is_small = n.eq(L::splat(0.0));
    (L::select(is_small, first, large_first), L::select(is_small, second, large_second))
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

/// Motion in a plane under constant acceleration and linear drag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedMotion<L = f64> {
    /// Initial position p₀, in m.
    pub position: Vec2<L>,
    /// Initial velocity v₀, in m/s.
    pub velocity: Vec2<L>,
    /// Acceleration a, in m/s².
    pub acceleration: Vec2<L>,
    /// Drag rate λ ≥ 0, in 1/s.
    pub rate: L,
}

impl<L: Lane> DampedMotion<L> {
    /// Position (in m) and velocity (in m/s) after `time` seconds.
    #[inline(always)]
    pub fn after(&self, time: L) -> (Vec2<L>, Vec2<L>) {
        self.after_with(time, phi(self.rate * time))
    }

    /// Position and velocity after `time` seconds, given φ₁(λt) and φ₂(λt).
    #[inline(always)]
    pub fn after_with(&self, time: L, (one, two): (L, L)) -> (Vec2<L>, Vec2<L>) {
        (
            self.position + self.velocity * (time * one) + self.acceleration * (time * time * two),
            self.velocity * (L::splat(1.0) - self.rate * time * one) + self.acceleration * (time * one),
        )
    }

    /// Estimates the velocity after `time` seconds (in m/s) and e^(−λt), without an exponential.
    ///
    /// The error of e^(−x) is 0.0014 at x = 1 and 0.011 at x = 3.
    #[inline(always)]
    pub fn velocity_estimate(&self, time: L) -> (Vec2<L>, L) {
        let (kept, rise) = decay_estimate(self.rate * time);
        (self.velocity * kept + self.acceleration * (time * rise), kept)
    }
}

impl DampedMotion {
    /// Motion of a particle at `position` (in m) with `velocity` (in m/s).
    #[inline]
    pub fn new(position: DVec2, velocity: DVec2, acceleration: DVec2, rate: f64) -> Self {
        Self { position: position.into(), velocity: velocity.into(), acceleration: acceleration.into(), rate }
    }

    /// Time at which the velocity component along `heading` vanishes, in s; infinite if it never
    /// does.
    ///
    /// The component is positive at the start.
    #[inline]
    pub fn stop_time(&self, heading: DVec2) -> f64 {
        let heading = heading.into();
        let (speed, pull) = (self.velocity.dot(heading), self.acceleration.dot(heading));
        if pull < 0.0 { turning_time(speed, pull, self.rate) } else { f64::INFINITY }
    }

    /// The first edge through which the particle leaves the triangle before `until` (in s), and
    /// when.
    ///
    /// It starts inside, on the edge `entered` if it has just crossed one; `end` is its position at
    /// `until`.
    #[inline]
    pub fn exit(&self, facet: &Facet, until: f64, end: Vec2, entered: Option<usize>) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        let mut limit = until;
        let displacement = end - self.position;
        for k in 0..3 {
            let inward = Vec2::from(facet.inward(k));
            let distance = if entered == Some(k) { 0.0 } else { facet.edge_distance(self.position.into(), k).max(0.0) };
            let edge =
                EdgeMotion { distance, speed: inward.dot(self.velocity), acceleration: inward.dot(self.acceleration) };
            if edge.stays_inside(inward.dot(displacement), until) {
                continue;
            }
            if let Some(time) = first_zero(distance, edge.speed, edge.acceleration, self.rate, limit) {
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

/// Motion relative to one edge of a triangle, along its inward normal.
#[derive(Clone, Copy, Debug)]
pub struct EdgeMotion<L = f64> {
    /// Initial distance from the edge, in m.
    pub distance: L,
    /// Initial inward velocity, in m/s.
    pub speed: L,
    /// Inward acceleration, in m/s².
    pub acceleration: L,
}

impl<L: Lane> EdgeMotion<L> {
    /// Whether the particle surely stays inside for `time` seconds, in which it moves inward by
    /// `change` (in m).
    ///
    /// A particle that is inside at the end has left in between only if it turned back, and only if
    /// it would have left without the acceleration.
    #[inline(always)]
    pub fn stays_inside(&self, change: L, time: L) -> L::Mask {
        let Self { distance, speed, acceleration } = *self;
        let zero = L::splat(0.0);
        let returns = speed.lt(zero) & zero.lt(acceleration) & (distance + speed * time).le(zero);
        zero.lt(distance) & zero.le(distance + change) & !returns
    }
}

/// Estimates e^(−x) and φ₁(x) for x ≥ 0 by rational functions.
#[inline(always)]
fn decay_estimate<L: Lane>(x: L) -> (L, L) {
    let one = L::splat(1.0);
    let rise = one + x * (L::splat(0.5) + x * (L::splat(1.0 / 6.0) + x * L::splat(1.0 / 24.0)));
    let kept = one / (one + x * rise);
    (kept, rise * kept)
}

/// Time at which u e^(−λt) + b t φ₁(λt) vanishes, for u and b of opposite sign, in s.
#[inline]
fn turning_time(u: f64, b: f64, rate: f64) -> f64 {
    let free = -u / b;
    let x = rate * free;
    // ln(1 + x)/λ, which is `free` without drag.
    if x < 1e-8 { free * (1.0 - 0.5 * x) } else { math::ln_1p(x) / rate }
}

/// The first t in [0, until) at which d(t) = d + u t φ₁(λt) + b t² φ₂(λt) becomes negative; d ≥ 0.
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
    // Where d decreases: after its maximum for b < 0, before its minimum for b > 0.
    let (mut early, mut late) = match (u > 0.0, b > 0.0) {
        (true, _) => (turning_time(u, b, rate), until),
        (false, true) => (0.0, turning_time(u, b, rate).min(until)),
        (false, false) => (0.0, until),
    };
    if late <= early || value(late).0 >= 0.0 {
        return None;
    }
    // The root without drag, of a quadratic, is the initial guess.
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
    use crate::surface_mesh::TriangleIndex;
    use crate::surface_mesh::tests::{sheet, surface_of};

    /// The formulas of the paper as printed.
    fn printed(force: DVec2, mass: f64, k_f: f64, p: DVec2, v: DVec2, t: f64) -> (DVec2, DVec2) {
        let growth = (k_f * t / mass).exp();
        let velocity = -force / k_f + (v + force / k_f) * growth;
        let place = p - force * t / k_f + (v + force / k_f) * mass * (growth - 1.0) / k_f;
        (place, velocity)
    }

    #[test]
    fn motion_is_the_printed_closed_form_to_1e_12() {
        for (mass, k_f, time) in [(5e-6, -2e-4, 0.03), (1e-5, -1e-3, 0.2), (2e-6, -1e-5, 0.5)] {
            let (force, p, v) = (DVec2::new(2e-5, -4e-5), DVec2::new(1e-3, 2e-3), DVec2::new(-0.02, 0.05));
            let motion = DampedMotion::new(p, v, force / mass, -k_f / mass);
            let (at, then) = motion.after(time);
            let (place, velocity) = printed(force, mass, k_f, p, v, time);
            let off = (DVec2::from(at) - place).length() / place.length();
            assert!(off < 1e-12, "place off by {off:.1e}");
            let off = (DVec2::from(then) - velocity).length() / velocity.length();
            assert!(off < 1e-12, "velocity off by {off:.1e}");
        }
    }

    #[test]
    fn motion_without_drag_is_a_parabola_and_phi_matches_its_definition() {
        let motion = DampedMotion::new(DVec2::ZERO, DVec2::X, DVec2::NEG_Y, 0.0);
        assert_eq!(motion.after(2.0).0, Vec2 { x: 2.0, y: -2.0 });
        // Includes the ends of the ranges of the series, odd multiples of ½ ln 2.
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
        // φ₂ of a small x, for which the direct form cancels.
        assert_eq!(phi(0.0), (1.0, 0.5));
        assert!((phi(1e-3).1 - (0.5 - 1e-3 / 6.0 + 1e-6 / 24.0 - 1e-9 / 120.0)).abs() < 1e-14);
        assert!(phi(f64::NAN).0.is_nan() && phi(f64::INFINITY) == (0.0, 0.0));
    }

    #[test]
    fn the_velocity_estimate_is_close_and_exact_in_both_limits() {
        let motion = |rate| DampedMotion::new(DVec2::ZERO, DVec2::X, DVec2::Y * rate, rate);
        for (rate, bound) in [(0.0, 0.0), (0.3, 2e-5), (1.0, 2e-3), (3.0, 0.02), (1e6, 1e-5)] {
            let off = (motion(rate).velocity_estimate(1.0).0 - motion(rate).after(1.0).1).length();
            assert!(off <= bound, "off by {off:.1e} at λt = {rate}");
        }
    }

    /// Compares with fine time stepping: an exit is found just before the first step outside.
    #[test]
    fn no_exit_is_missed_and_none_is_spurious() {
        let surface = surface_of(&sheet(1.0, 1.0, 1, 1));
        let facet = *surface.facet(TriangleIndex::new(0));
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
            let acceleration = 12.0 * random(&mut uniform);
            let motion = DampedMotion::new(place, velocity, acceleration, 6.0 * (uniform() - 0.3).max(0.0));
            let place_at = |time: f64| motion.after(time).0;
            let until = 1.0;
            let steps = 2000;
            let march = (1..=steps)
                .map(|i| until * f64::from(i) / f64::from(steps))
                .find(|&t| facet.depth(place_at(t).into()) < -1e-12);
            match (motion.exit(&facet, until, place_at(until), None), march) {
                (Some((k, time)), march) => {
                    exits += 1;
                    let off = facet.edge_distance(place_at(time).into(), k).abs();
                    assert!(off < 1e-14, "exit {off:.1e} m from the edge");
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
