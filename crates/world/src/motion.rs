//! Where a solid is at a time: keyframes of the scene, or a hand that moves it.
//!
//! A solid's *rest pose* is its shape with the scene's static placement applied. Motion takes it from there, about the shape's
//! origin o (at rest): x ↦ o + R(t)(x − o) + s(t). Between two keys s and the three angles of R change linearly, so s' and the
//! angles' rates are constant and jump at the keys; at a key the later segment's rates hold. Outside the keys the solid stands.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sessile_scene::types::MotionKey;

use crate::pose::{Pose, RigidVelocity, angular_velocity_xyz, rotation_xyz};

/// Pose and velocity of the keyframed motion `keys` about `origin` at `time`.
pub(crate) fn keyed_motion(keys: &[MotionKey], origin: DVec3, time: f64) -> (Pose, RigidVelocity) {
    let Some((first, last)) = keys.first().zip(keys.last()) else {
        return (Pose::IDENTITY, RigidVelocity::ZERO);
    };
    let hold = |key: &MotionKey| {
        (
            Pose::about(origin, rotation_xyz(key.rotate), key.shift),
            RigidVelocity { pivot: origin, ..RigidVelocity::ZERO },
        )
    };
    if time < first.at {
        return hold(first);
    }
    let next = keys.partition_point(|key| key.at <= time);
    if next >= keys.len() {
        return hold(last);
    }
    let (a, b) = (&keys[next - 1], &keys[next]);
    let span = b.at - a.at;
    let along = (time - a.at) / span;
    let shift = a.shift.lerp(b.shift, along);
    let angles = a.rotate.lerp(b.rotate, along);
    let velocity = RigidVelocity {
        linear: (b.shift - a.shift) / span,
        angular: angular_velocity_xyz(angles, (b.rotate - a.rotate) / span),
        pivot: origin + shift,
    };
    (Pose::about(origin, rotation_xyz(angles), shift), velocity)
}

/// A solid moved by hand: from one pose to another at constant linear and angular velocity, then at rest.
///
/// Linear is the motion of the shape's origin; the rotation turns about it, the short way round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KinematicOverride {
    /// When it sets out, in s.
    pub start: f64,
    /// How long it takes, in s; 0 jumps.
    pub duration: f64,
    /// Where it sets out.
    pub from: Pose,
    /// Where it arrives.
    pub to: Pose,
}

impl KinematicOverride {
    /// Pose and velocity at `time` of a solid whose shape's origin rests at `origin`.
    pub fn motion(&self, origin: DVec3, time: f64) -> (Pose, RigidVelocity) {
        let elapsed = time - self.start;
        if elapsed >= self.duration {
            return (self.to, RigidVelocity { pivot: self.to.apply(origin), ..RigidVelocity::ZERO });
        }
        // A query before the start (a restored state never makes one) sees the solid where it set out.
        let along = (elapsed / self.duration).max(0.0);
        let (a, b) = (self.from.apply(origin), self.to.apply(origin));
        let turn = DQuat::from_mat3(&(self.to.rotation * self.from.rotation.transpose())).normalize();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let whole = turn.to_scaled_axis();
        let rotation = DMat3::from_quat(DQuat::from_scaled_axis(whole * along)) * self.from.rotation;
        let center = a.lerp(b, along);
        let pose = Pose { rotation, translation: center - rotation * origin };
        let velocity = RigidVelocity { linear: (b - a) / self.duration, angular: whole / self.duration, pivot: center };
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

    /// A body point's path, differentiated, is the velocity that the solid reports there.
    #[test]
    fn velocity_is_the_derivative_of_the_path() {
        let origin = DVec3::new(0.5, -0.2, 0.1);
        let body = DVec3::new(0.9, 0.3, -0.4);
        let drive = KinematicOverride {
            start: 1.0,
            duration: 2.0,
            from: Pose::IDENTITY,
            to: Pose::new(DQuat::from_rotation_x(1.2) * DQuat::from_rotation_y(-0.4), DVec3::new(1.0, 0.0, 2.0)),
        };
        let h = 1e-6;
        for time in [1.3, 2.9, 3.5] {
            for driven in [false, true] {
                let at = |t: f64| if driven { drive.motion(origin, t) } else { keyed_motion(&keys(), origin, t) };
                let numeric = (at(time + h).0.apply(body) - at(time - h).0.apply(body)) / (2.0 * h);
                let (pose, velocity) = at(time);
                let error = (velocity.at(pose.apply(body)) - numeric).length();
                assert!(error < 1e-8, "t = {time}, driven {driven}: off by {error:.1e} m/s");
            }
        }
    }

    #[test]
    fn a_solid_stands_before_its_first_and_after_its_last_key() {
        let (before, v0) = keyed_motion(&keys(), DVec3::ONE, 0.5);
        let (after, v1) = keyed_motion(&keys(), DVec3::ONE, 4.0);
        assert_eq!(before, Pose::IDENTITY);
        assert_eq!(
            (v0.linear, v1.linear, v0.angular, v1.angular),
            (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO)
        );
        let origin_went_to = after.apply(DVec3::ONE);
        assert!((origin_went_to - DVec3::new(2.0, 5.0, 1.0)).length() < 1e-14, "{origin_went_to}");
    }

    #[test]
    fn at_a_key_the_later_segment_counts() {
        let (_, velocity) = keyed_motion(&keys(), DVec3::ZERO, 3.0);
        assert_eq!(velocity.linear, DVec3::X);
    }

    #[test]
    fn a_drive_of_no_duration_jumps_and_rests() {
        let to = Pose::new(DQuat::IDENTITY, DVec3::X);
        let drive = KinematicOverride { start: 2.0, duration: 0.0, from: Pose::IDENTITY, to };
        let (pose, velocity) = drive.motion(DVec3::ZERO, 2.0);
        assert_eq!((pose, velocity.linear, velocity.angular), (to, DVec3::ZERO, DVec3::ZERO));
    }
}
