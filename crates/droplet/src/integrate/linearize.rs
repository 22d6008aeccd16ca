//! Scalar linearization of the forces over the next interval.
//!
//! The arithmetic is that of [`crate::kernel`]. Beyond what the SIMD batch handles, the droplet may
//! come to a stop within the step, forces may depend on place and direction, and their validity may
//! be limited to a distance.

use glam::DVec2;

use super::{ForceModel, Forces, Integrator, Linearized, MotionState, Segment};
use crate::damped_motion::DampedMotion;
use crate::kernel::{ACCURACY, Midpoint, Start, drag_weight, is_last};
use crate::surface_mesh::Facet;

/// What the linearization of one interval starts from.
struct Prediction<'a, F: ForceModel> {
    model: &'a F,
    local: F::Local,
    start: Start,
    forces: Forces,
    /// Time until the droplet stops or the step ends, in s.
    duration: f64,
    /// Remaining time of the step, in s.
    remaining: f64,
    /// Velocity at the end of the step, if the droplet moves until then, and the share e^(−λt) that
    /// drag leaves.
    later: (DVec2, f64),
    /// Whether the droplet moves until the end of the step.
    keeps_moving: bool,
}

/// Length of an interval, in s, and how the next one is chosen.
struct Interval {
    length: f64,
    /// It ends with the step, or with the stop.
    is_last: bool,
    /// The next one has the same length.
    repeats: bool,
}

impl<F: ForceModel, L: FnMut(Segment)> Integrator<'_, F, L> {
    /// Linearizes the forces from here on; `None` if the droplet is at rest and retained.
    pub(super) fn linearize(&mut self, facet: &Facet) -> Option<Linearized> {
        let known_interval = self.now.next_interval.take();
        let prediction = match self.predict(facet) {
            Ok(prediction) => prediction,
            Err(linearized) => return linearized,
        };
        let interval = match known_interval {
            Some(length) => Interval { length, is_last: false, repeats: true },
            None => prediction.choose_interval(),
        };
        prediction.linearize(interval)
    }

    /// Predicts the motion over the rest of the step with the forces of its start.
    ///
    /// `Err` holds the result where nothing has to be linearized.
    #[inline]
    fn predict(&self, facet: &Facet) -> Result<Prediction<'_, F>, Option<Linearized>> {
        let MotionState { place, velocity } = self.now.motion;
        let remaining = self.now.remaining;
        let local = self.model.local(facet, place);
        let forces = self.model.forces_at(&local, velocity);
        let speed = velocity.length();
        if speed == 0.0 && forces.is_retained() {
            return Err(None);
        }
        if !F::VARIES && forces.retention == 0.0 {
            let (acceleration, rate) = (forces.acceleration, forces.drag_rate);
            return Err(Some(Linearized { acceleration, rate, heading: DVec2::ZERO, ends: 0.0, next_interval: None }));
        }
        let along = velocity.try_normalize().or_else(|| forces.acceleration.try_normalize()).unwrap_or(DVec2::X);
        let net = forces.acceleration - along * forces.retention;
        let motion = DampedMotion::new(place.at, velocity, net, forces.drag_rate);
        let (later, kept) = motion.velocity_estimate(remaining);
        let later = (DVec2::from(later), kept);
        let duration = if later.0.dot(along) > 0.0 { remaining } else { remaining.min(motion.stop_time(along)) };
        let start = Start { motion, speed, along: along.into() };
        let keeps_moving = duration == remaining;
        Ok(Prediction { model: self.model, local, start, forces, duration, remaining, later, keeps_moving })
    }
}

impl<F: ForceModel> Prediction<'_, F> {
    /// Chooses the length of the interval from how much the forces change over the step.
    #[inline]
    fn choose_interval(&self) -> Interval {
        let Self { start, duration, keeps_moving, .. } = *self;
        // A droplet that stops has no direction there: twice the change over half the time.
        let (factor, weight, later) = if keeps_moving {
            (1.0, drag_weight(self.later.1), self.later.0)
        } else {
            (2.0, ACCURACY.drag_weight, start.motion.velocity_estimate(0.5 * duration).0.into())
        };
        let last = self.model.forces_at(&self.local, later);
        let is_retained = self.forces.retention > 0.0 && later.dot(start.along.into()) > 0.0;
        let needed = factor * start.intervals_needed(later.into(), last.drag_rate, is_retained, weight);
        let distance = start.speed.max(later.length()) * duration;
        let needed = needed.max(distance / self.model.valid_distance());
        // The end of a path to a stop is short, whatever its curvature.
        let is_short_stop = !keeps_moving && duration < ACCURACY.shortest * self.remaining;
        let count = if needed > 1.0 && !is_short_stop { needed.ceil().min(ACCURACY.most) } else { 1.0 };
        Interval { length: duration / count, is_last: false, repeats: count <= ACCURACY.few }
    }

    /// Linearizes about the midpoint of the interval, which is halved until the forces change
    /// little over it.
    #[inline]
    fn linearize(self, mut interval: Interval) -> Option<Linearized> {
        let Self { model, local, start, duration, remaining, keeps_moving, .. } = self;
        // The last interval ends exactly with the step; a stop ends it by itself.
        if is_last(interval.length, duration) {
            (interval.length, interval.is_last) = (duration, true);
        }
        let (middle, kept, forces) = loop {
            let (middle, kept) = start.motion.velocity_estimate(0.5 * interval.length);
            let forces = model.forces_at(&local, middle.into());
            let weight = if keeps_moving { drag_weight(kept * kept) } else { ACCURACY.drag_weight };
            if start.accepts(forces.drag_rate, weight, interval.length, remaining) {
                break (middle, kept, forces);
            }
            interval = Interval { length: 0.5 * interval.length, is_last: false, repeats: false };
        };
        let heading = start.heading(middle);
        // A droplet at rest that retention holds in the direction in which it would start.
        if start.speed == 0.0 && forces.acceleration.dot(heading.into()) <= forces.retention {
            return None;
        }
        // At a stop a linear extrapolation of the drag would accelerate the droplet.
        let (acceleration, rate) = start.linearize(&Midpoint {
            velocity: middle,
            heading,
            acceleration: forces.acceleration.into(),
            retention: forces.retention,
            rate: forces.drag_rate,
            slope: if keeps_moving || !interval.is_last { forces.drag_slope } else { 0.0 },
            kept: if keeps_moving { kept } else { 0.0 },
        });
        Some(Linearized {
            acceleration: acceleration.into(),
            rate,
            heading: if forces.retention > 0.0 { heading.into() } else { DVec2::ZERO },
            ends: if interval.is_last { 0.0 } else { remaining - interval.length },
            next_interval: (!interval.is_last && interval.repeats).then_some(interval.length),
        })
    }
}
