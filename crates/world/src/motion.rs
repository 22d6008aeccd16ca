//! Pose and velocity of a solid at a time: keyframes of the scene, or a kinematic override.
//!
//! A solid's *rest pose* is its shape with the scene's static placement applied. Motion is relative
//! to it, about the shape's origin o (at rest): x ↦ o + R(t)(x − o) + s(t). Between two keys s and
//! the three angles of R are linear in time, so s' and the angles' rates are constant and jump at
//! the keys; at a key the rates of the later segment apply. With `interpolation = "smooth"` they
//! are cubic ([`PathWeights`]), so s' and the rates are continuous. Outside the keys the solid is
//! at rest.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sessile_numerics::{PathWeights, math};
use sessile_scene::types::{Interpolation, MotionKey};

use crate::pose::{Pose, RigidVelocity, angular_velocity_xyz, rotation_xyz};

/// Pose and velocity of the keyframed motion `keys` about `origin` at `time`.
pub(crate) fn keyed_motion(
    keys: &[MotionKey],
    interpolation: Interpolation,
    origin: DVec3,
    time: f64,
) -> (Pose, RigidVelocity) {
    let Some((first, last)) = keys.first().zip(keys.last()) else {
        return (Pose::IDENTITY, RigidVelocity::ZERO);
    };
    let at_rest = |key: &MotionKey| {
        (
            Pose::about(origin, rotation_xyz(key.rotate), key.shift),
            RigidVelocity { pivot: origin, ..RigidVelocity::ZERO },
        )
    };
    if time < first.at {
        return at_rest(first);
    }
    let next = keys.partition_point(|key| key.at <= time);
    if next >= keys.len() {
        return at_rest(last);
    }
    let (a, b) = (&keys[next - 1], &keys[next]);
    let span = b.at - a.at;
    let along = (time - a.at) / span;
    let weights = match interpolation {
        Interpolation::Smooth => PathWeights::at(keys, |key| key.at, time),
        Interpolation::Linear => None,
    };
    let at = |value: fn(&MotionKey) -> DVec3| match &weights {
        None => (value(a).lerp(value(b), along), (value(b) - value(a)) / span),
        Some(weights) => weights.iter().fold((DVec3::ZERO, DVec3::ZERO), |(x, v), (key, weight, rate)| {
            (x + value(&keys[key]) * weight, v + value(&keys[key]) * rate)
        }),
    };
    let ((shift, linear), (angles, turn)) = (at(|key| key.shift), at(|key| key.rotate));
    let velocity = RigidVelocity { linear, angular: angular_velocity_xyz(angles, turn), pivot: origin + shift };
    (Pose::about(origin, rotation_xyz(angles), shift), velocity)
}

/// Motion that replaces a solid's keyframes: from one pose to another, then at rest.
///
/// The shape's origin moves at constant velocity; the rotation about it has constant angular
/// velocity and takes the shorter way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KinematicOverride {
    /// Start time, in s.
    pub start: f64,
    /// Duration, in s; 0 for a jump.
    pub duration: f64,
    /// Initial pose.
    pub from: Pose,
    /// Final pose.
    pub to: Pose,
}

impl KinematicOverride {
    /// Pose and velocity at `time` of a solid whose shape's origin rests at `origin`.
    pub fn motion(&self, origin: DVec3, time: f64) -> (Pose, RigidVelocity) {
        let elapsed = time - self.start;
        if elapsed >= self.duration {
            return (self.to, RigidVelocity { pivot: self.to.apply(origin), ..RigidVelocity::ZERO });
        }
        // Before the start the solid is at its initial pose.
        let along = (elapsed / self.duration).max(0.0);
        let (a, b) = (self.from.apply(origin), self.to.apply(origin));
        let turn = DQuat::from_mat3(&(self.to.rotation * self.from.rotation.transpose())).normalize();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let total = math::quat_to_scaled_axis(turn);
        let rotation = DMat3::from_quat(math::quat_from_scaled_axis(total * along)) * self.from.rotation;
        let center = a.lerp(b, along);
        let pose = Pose { rotation, translation: center - rotation * origin };
        let velocity = RigidVelocity { linear: (b - a) / self.duration, angular: total / self.duration, pivot: center };
        (pose, velocity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<MotionKey> {
        vec![
            MotionKey { at: 1.0, shift: DVec3::ZERO, rotate: DVec3::ZERO },
            MotionKey { at: 3.0, shift: DVec3::new(0.0, 4.0, 0.0), rotate: DVec3::new(0.4, 0.0, 1.0) },
            MotionKey { at: 4.0, shift: DVec3::new(1.0, 4.0, 0.0), rotate: DVec3::new(0.4, 2.0, 1.0) },
        ]
    }

    /// The derivative of a material point's path is the velocity reported there.
    #[test]
    fn velocity_is_the_derivative_of_the_path() {
        let origin = DVec3::new(0.5, -0.2, 0.1);
        let body = DVec3::new(0.9, 0.3, -0.4);
        let motion = KinematicOverride {
            start: 1.0,
            duration: 2.0,
            from: Pose::IDENTITY,
            to: Pose::new(DQuat::from_rotation_x(1.2) * DQuat::from_rotation_y(-0.4), DVec3::new(1.0, 0.0, 2.0)),
        };
        let h = 1e-6;
        for time in [1.3, 2.9, 3.5] {
            for way in [None, Some(Interpolation::Linear), Some(Interpolation::Smooth)] {
                let at = |t: f64| match way {
                    None => motion.motion(origin, t),
                    Some(way) => keyed_motion(&keys(), way, origin, t),
                };
                let numeric = (at(time + h).0.apply(body) - at(time - h).0.apply(body)) / (2.0 * h);
                let (pose, velocity) = at(time);
                let error = (velocity.at(pose.apply(body)) - numeric).length();
                assert!(error < 1e-8, "t = {time}, {way:?}: off by {error:.1e} m/s");
            }
        }
    }

    #[test]
    fn a_solid_is_at_rest_before_its_first_and_after_its_last_key() {
        let (before, v0) = keyed_motion(&keys(), Interpolation::Linear, DVec3::ONE, 0.5);
        let (after, v1) = keyed_motion(&keys(), Interpolation::Linear, DVec3::ONE, 4.0);
        assert_eq!(before, Pose::IDENTITY);
        assert_eq!(
            (v0.linear, v1.linear, v0.angular, v1.angular),
            (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO)
        );
        let origin_went_to = after.apply(DVec3::ONE);
        assert!((origin_went_to - DVec3::new(2.0, 5.0, 1.0)).length() < 1e-14, "{origin_went_to}");
    }

    #[test]
    fn at_a_key_the_later_segment_applies() {
        let (_, velocity) = keyed_motion(&keys(), Interpolation::Linear, DVec3::ZERO, 3.0);
        assert_eq!(velocity.linear, DVec3::X);
    }

    #[test]
    fn an_override_of_zero_duration_jumps_and_rests() {
        let to = Pose::new(DQuat::IDENTITY, DVec3::X);
        let motion = KinematicOverride { start: 2.0, duration: 0.0, from: Pose::IDENTITY, to };
        let (pose, velocity) = motion.motion(DVec3::ZERO, 2.0);
        assert_eq!((pose, velocity.linear, velocity.angular), (to, DVec3::ZERO, DVec3::ZERO));
    }

    /// A sine sampled at 24 frames a period: its acceleration is that of the sine, where linear
    /// interpolation has jumps of the velocity.
    #[test]
    fn smooth_motion_has_the_acceleration_of_what_was_sampled() {
        let omega = std::f64::consts::TAU;
        let keys: Vec<MotionKey> = (0..=48)
            .map(|k| f64::from(k) / 24.0)
            .map(|at| MotionKey { at, shift: DVec3::X * (omega * at).sin(), rotate: DVec3::ZERO })
            .collect();
        let speed = |t: f64| keyed_motion(&keys, Interpolation::Smooth, DVec3::ZERO, t).1.linear.x;
        let h = 1e-5;
        let worst = (100..900).map(|i| f64::from(i) * 2e-3 + 1.3e-4).fold(0.0, |worst: f64, t| {
            let acceleration = (speed(t + h) - speed(t - h)) / (2.0 * h);
            worst.max((acceleration + omega * omega * (omega * t).sin()).abs())
        });
        assert!(worst < 0.1 * omega * omega, "off by {:.3} of the largest", worst / (omega * omega));
    }
}
