//! Step kernel: linearizes the forces over one interval, generic over the lane type.
//!
//! Contact-line retention opposes the velocity and the drag rate λ grows with the speed, so the
//! equation of motion is solved in closed form ([`DampedMotion`]) over intervals on which both are
//! linearized about the midpoint velocity vₘ:
//!
//! ```text
//! λ v ≈ λₘ vₘ + (λₘ + k vₘ)(v − vₘ) + ¾ k (v − vₘ)²        k = dλ/d|v| at vₘ
//! ```
//!
//! (the quadratic term as for λ ∝ √|v|; its mean is a third of its value at the ends). An interval
//! is accepted when direction and drag change by no more than [`IntervalAccuracy::change`] over it.
//! The scalar integrator ([`crate::integrate`]) and the SIMD batch ([`crate::batch`]) call the same
//! functions, so both give the same bits.

use crate::damped_motion::DampedMotion;
use crate::parameters::{IntervalAccuracy, Parameters};
use crate::simd::{Lane, Vec2};

/// Accuracy of the intervals, as constants.
pub const ACCURACY: IntervalAccuracy = Parameters::DEFAULT.intervals;
/// Intervals per unit of change.
const INTERVALS_PER_CHANGE: f64 = 1.0 / ACCURACY.change;
/// Change over half an interval beyond which the interval is halved.
const MAX_HALF_CHANGE: f64 = ACCURACY.half_change * ACCURACY.change;
/// Speed below which a velocity has no direction, in m/s: its square underflows.
const LEAST_SPEED: f64 = 1e-150;

/// Motion at the start of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Start<L = f64> {
    /// Closed-form motion with the forces of the start.
    pub motion: DampedMotion<L>,
    /// Speed, in m/s.
    pub speed: L,
    /// Unit direction of the motion that retention opposes.
    pub along: Vec2<L>,
}

/// Weight of a change of the drag where `kept` ≈ e^(−λt) of the speed remains.
#[inline(always)]
pub fn drag_weight<L: Lane>(kept: L) -> L {
    L::splat(ACCURACY.drag_weight) - L::splat(ACCURACY.curvature_weight) * (kept * (L::splat(2.0) - kept))
}

impl<L: Lane> Start<L> {
    /// Number of intervals (not rounded) needed until the velocity is `later` and the drag rate
    /// `later_rate`.
    ///
    /// The direction counts where `is_retained`; `weight` is that of the drag.
    #[inline(always)]
    pub fn intervals_needed(&self, later: Vec2<L>, later_rate: L, is_retained: L::Mask, weight: L) -> L {
        let rate = self.motion.rate;
        let turn = L::select(is_retained, later.perp_dot(self.along).abs() / later.length(), L::splat(0.0));
        let change = (later_rate - rate).abs() / rate.max(L::splat(f64::MIN_POSITIVE));
        (weight * change + turn) * L::splat(INTERVALS_PER_CHANGE)
    }

    /// Whether an interval with the drag rate `middle_rate` at its midpoint is short enough.
    #[inline(always)]
    pub fn accepts(&self, middle_rate: L, weight: L, interval: L, remaining: L) -> L::Mask {
        let rate = self.motion.rate;
        let changed = weight * (middle_rate - rate).abs();
        changed.le(L::splat(MAX_HALF_CHANGE) * middle_rate.min(rate))
            | interval.lt(L::splat(ACCURACY.shortest) * remaining)
    }

    /// Direction of motion at the midpoint velocity `middle`: that of the start where it points
    /// backwards.
    #[inline(always)]
    pub fn heading(&self, middle: Vec2<L>) -> Vec2<L> {
        let per_length = L::splat(1.0) / middle.length();
        Vec2::select(L::splat(LEAST_SPEED).lt(middle.dot(self.along)), middle * per_length, self.along)
    }

    /// Acceleration and drag rate of the interval, linearized about its midpoint.
    #[inline(always)]
    pub fn linearize(&self, middle: &Midpoint<L>) -> (Vec2<L>, L) {
        let &Midpoint { velocity, heading, acceleration, retention, rate, slope, kept } = middle;
        let speed = velocity.length();
        let faster = speed - self.speed;
        let stiffer = (slope * speed).max(L::splat(0.0)).min(rate);
        let curvature = L::splat(0.25) * kept * slope * (faster * faster);
        (acceleration - heading * (retention + curvature) + velocity * stiffer, rate + stiffer)
    }
}

/// Forces per mass at the midpoint of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Midpoint<L = f64> {
    /// Velocity, in m/s.
    pub velocity: Vec2<L>,
    /// Unit direction that retention opposes.
    pub heading: Vec2<L>,
    /// Driving acceleration, in m/s².
    pub acceleration: Vec2<L>,
    /// Retention per mass, in m/s².
    pub retention: L,
    /// Drag rate, in 1/s.
    pub rate: L,
    /// Its derivative with respect to the speed, in 1/m; 0 leaves the slope out.
    pub slope: L,
    /// Weight of the quadratic term: e^(−λt/2), or 0 to leave it out.
    pub kept: L,
}

/// Whether an interval ends with the remaining time, up to rounding.
#[inline(always)]
pub fn is_last<L: Lane>(interval: L, remaining: L) -> L::Mask {
    (remaining * L::splat(1.0 - 1e-9)).le(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;

    /// A droplet that comes to a stop at the end of a step had a velocity
    /// of 1e-162 m/s left, whose direction was infinite and made the next velocity not a number.
    #[test]
    fn a_velocity_whose_square_underflows_has_the_heading_of_the_start() {
        let motion = DampedMotion::new(DVec2::ZERO, DVec2::new(-1.6e-162, 1.3e-162), DVec2::Y, 700.0);
        let along = Vec2 { x: -0.77, y: 0.64 };
        let start = Start { motion, speed: 0.0, along };
        assert_eq!(start.heading(motion.velocity), along);
        let slow = Vec2 { x: -3e-120, y: 4e-120 };
        assert!((start.heading(slow).length() - 1.0).abs() < 1e-15, "{:?}", start.heading(slow));
    }
}
