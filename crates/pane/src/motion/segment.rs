//! Motion along a straight segment, in closed form.
//!
//! ```text
//! dU/dt = λ (U∞ − U):    U = U∞ + (U₀ − U∞) e^(−λt),    s = U∞ t + (U₀ − U∞)(1 − e^(−λt))/λ
//! ```

use sessile_numerics::math;
use sessile_wetting::SlidingLaw;

use super::{Motion, StepContext};
use crate::substrate::Substrate;

/// Largest number of Newton steps to the end of a segment.
const MAX_NEWTON_STEPS: usize = 30;

/// Relaxation of the speed towards its terminal value.
pub(super) struct SegmentMotion {
    start: f64,
    terminal: f64,
    rate: f64,
}

impl SegmentMotion {
    /// The motion of a drop from its present state, with the resistance at the segment's mean
    /// speed.
    #[inline]
    pub(super) fn new(
        context: &StepContext,
        substrate: &Substrate,
        law: &SlidingLaw,
        motion: &Motion,
        radius: f64,
    ) -> Self {
        let liquid = &context.liquid;
        let (mass, width) = (liquid.density * motion.volume, 2.0 * radius);
        let force = context.force((motion.position, motion.velocity()), motion.volume, radius, law);
        let cos_advancing = substrate.cos_front(motion.position, motion.heading, radius);
        let easing = context.easing(substrate, motion, radius, force);
        let retention = easing * context.retention(force, motion.volume, radius, law, cos_advancing);
        let net = force.dot(motion.heading) - retention;
        let with_resistance_at = |speed: f64| {
            let rate = law.resistance(liquid, speed, width) / mass + context.damping;
            Self { start: motion.speed, terminal: net / (mass * rate), rate }
        };
        // The mean over the segment, or over the relaxation if that is shorter.
        let first = with_resistance_at(motion.speed);
        let time = (motion.to_next_choice / (motion.speed + first.terminal.abs()).max(1e-9)).min(1.0 / first.rate);
        with_resistance_at(0.5 * (motion.speed + first.speed(time).max(0.0)))
    }

    /// Speed after `time` seconds, in m/s.
    #[inline]
    pub(super) fn speed(&self, time: f64) -> f64 {
        self.terminal + (self.start - self.terminal) * math::exp(-self.rate * time)
    }

    #[inline]
    fn distance(&self, time: f64) -> f64 {
        self.terminal * time - (self.start - self.terminal) * math::exp_m1(-self.rate * time) / self.rate
    }

    /// Time at which the drop stops, in s; infinite if it does not.
    #[inline]
    pub(super) fn time_to_rest(&self) -> f64 {
        if self.terminal < 0.0 || self.start + self.terminal <= 0.0 {
            math::ln(1.0 - self.start / self.terminal.min(-f64::MIN_POSITIVE)) / self.rate
        } else {
            f64::INFINITY
        }
    }

    /// Time (in s) and path length (in m) until `time` has passed, `length` is covered, or the drop
    /// stops.
    #[inline]
    pub(super) fn until(&self, time: f64, length: f64) -> (f64, f64) {
        let time = time.min(self.time_to_rest());
        let whole = self.distance(time);
        if whole <= length {
            return (time, whole);
        }
        // The distance increases with time: a bracketed Newton iteration.
        let (mut early, mut late) = (0.0, time);
        let mut t = time * length / whole;
        for _ in 0..MAX_NEWTON_STEPS {
            let off = self.distance(t) - length;
            if off > 0.0 {
                late = t;
            } else {
                early = t;
            }
            let newton = t - off / self.speed(t);
            let next = if newton > early && newton < late { newton } else { 0.5 * (early + late) };
            if (next - t).abs() <= 1e-12 * time {
                break;
            }
            t = next;
        }
        (t, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_ends_when_its_length_is_covered_or_the_drop_stops() {
        let fast = SegmentMotion { start: 0.0, terminal: 0.5, rate: 8.0 };
        let (time, length) = fast.until(1.0, 0.1);
        assert!(length == 0.1 && (fast.distance(time) - 0.1).abs() < 1e-11, "{time} s");
        let braking = SegmentMotion { start: 0.2, terminal: -0.3, rate: 8.0 };
        let (time, length) = braking.until(1.0, 1.0);
        assert!((time - braking.time_to_rest()).abs() < 1e-15 && braking.speed(time).abs() < 1e-12, "{time} s");
        assert!(length < 0.2 * time && length > 0.0, "{length} m");
    }
}
