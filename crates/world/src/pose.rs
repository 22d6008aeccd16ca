//! Rigid transformations and velocities.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sessile_numerics::math;

/// A rigid transformation: x ↦ R x + t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// R, a rotation matrix.
    pub rotation: DMat3,
    /// t, in m.
    pub translation: DVec3,
}

impl Pose {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// A rotation about the world's origin, then a translation in m.
    pub fn new(rotation: DQuat, translation: DVec3) -> Self {
        Self { rotation: DMat3::from_quat(rotation.normalize()), translation }
    }

    /// A rotation about `pivot`, then a translation by `shift`, both in m.
    pub fn about(pivot: DVec3, rotation: DMat3, shift: DVec3) -> Self {
        if rotation == DMat3::IDENTITY {
            return Self { rotation, translation: shift };
        }
        Self { rotation, translation: pivot + shift - rotation * pivot }
    }

    /// The image of a point.
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// The preimage of a point.
    pub fn apply_inverse(&self, point: DVec3) -> DVec3 {
        self.rotation.transpose() * (point - self.translation)
    }

    /// The image of a direction.
    pub fn turn(&self, direction: DVec3) -> DVec3 {
        self.rotation * direction
    }

    /// The composition: `first`, then this.
    pub fn after(&self, first: &Self) -> Self {
        Self {
            rotation: self.rotation * first.rotation,
            translation: self.rotation * first.translation + self.translation,
        }
    }

    /// Whether it is finite and its matrix is a rotation to 1e-6.
    pub fn is_rigid(&self) -> bool {
        let r = self.rotation;
        let error = r.transpose() * r - DMat3::IDENTITY;
        let worst = error.to_cols_array().into_iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
        // NaN fails the comparison, too.
        self.translation.is_finite() && r.is_finite() && worst < 1e-6 && r.determinant() > 0.0
    }
}

/// The rotation about the world's x, then y, then z axis by `angles` in rad: R = R_z R_y R_x.
pub fn rotation_xyz(angles: DVec3) -> DMat3 {
    if angles == DVec3::ZERO {
        return DMat3::IDENTITY;
    }
    math::rotation_z(angles.z) * math::rotation_y(angles.y) * math::rotation_x(angles.x)
}

/// The angular velocity of [`rotation_xyz`] when its angles change at `rates` in rad/s.
///
/// ```text
/// ω = ż e_z + R_z (ẏ e_y) + R_z R_y (ẋ e_x)
/// ```
pub fn angular_velocity_xyz(angles: DVec3, rates: DVec3) -> DVec3 {
    let z = math::rotation_z(angles.z);
    let zy = z * math::rotation_y(angles.y);
    DVec3::Z * rates.z + z * (DVec3::Y * rates.y) + zy * (DVec3::X * rates.x)
}

/// The mean velocity of a body's points between two poses: v(x) = A x + b, by which each point gets
/// to where it will be exactly. The velocity at the start misses that by a Δt²/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanVelocity {
    /// A, in 1/s.
    rate: DMat3,
    /// b, in m/s.
    offset: DVec3,
}

impl MeanVelocity {
    /// Of a body that moves from one pose to another in `duration` seconds.
    pub fn between(from: &Pose, to: &Pose, duration: f64) -> Self {
        let turn = to.rotation * from.rotation.transpose();
        let rate = (turn - DMat3::IDENTITY) * (1.0 / duration);
        Self { rate, offset: (to.translation - turn * from.translation) / duration }
    }

    /// Velocity of the point that is at `point` at the start, in m/s.
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.rate * point + self.offset
    }
}

/// A rigid body's velocity: v(x) = linear + angular × (x − pivot).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidVelocity {
    /// Velocity of the pivot, in m/s.
    pub linear: DVec3,
    /// Angular velocity, in rad/s.
    pub angular: DVec3,
    /// The point that moves at `linear`, in m.
    pub pivot: DVec3,
}

impl RigidVelocity {
    /// At rest.
    pub const ZERO: Self = Self { linear: DVec3::ZERO, angular: DVec3::ZERO, pivot: DVec3::ZERO };

    /// Velocity of the body's point at `point`, in m/s.
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.linear + self.angular.cross(point - self.pivot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_velocity_takes_every_point_to_its_place() {
        let from = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.1, -0.2, 0.5));
        let to = Pose::new(DQuat::from_rotation_x(1.2) * DQuat::from_rotation_z(-0.7), DVec3::new(1.0, 0.4, 0.0));
        let body = DVec3::new(0.9, 0.3, -0.4);
        let arrived = from.apply(body) + MeanVelocity::between(&from, &to, 0.25).at(from.apply(body)) * 0.25;
        assert!(arrived.distance(to.apply(body)) < 1e-14, "{arrived}");
    }

    /// The rotation's derivative is ω × R, for any angles.
    #[test]
    fn angular_velocity_is_the_derivative_of_the_rotation() {
        let (angles, rates) = (DVec3::new(0.3, -0.8, 2.0), DVec3::new(1.1, -0.7, 0.4));
        let h = 1e-5;
        let p = DVec3::new(0.2, 0.5, -0.9);
        let numeric = (rotation_xyz(angles + rates * h) * p - rotation_xyz(angles - rates * h) * p) / (2.0 * h);
        let exact = angular_velocity_xyz(angles, rates).cross(rotation_xyz(angles) * p);
        let error = (numeric - exact).length();
        // Central differences: h² times a third derivative of order 1, plus rounding over h.
        assert!(error < 1e-9, "off by {error:.1e}");
    }

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let pose =
            Pose::about(DVec3::new(1.0, 2.0, 3.0), rotation_xyz(DVec3::new(0.1, 0.2, 0.3)), DVec3::new(0.0, -1.0, 0.5));
        let p = DVec3::new(0.3, -0.4, 0.5);
        let back = pose.apply_inverse(pose.apply(p));
        assert!((back - p).length() < 1e-14, "{back}");
        let pivot_goes_to = pose.apply(DVec3::new(1.0, 2.0, 3.0));
        assert!((pivot_goes_to - DVec3::new(1.0, 1.0, 3.5)).length() < 1e-14, "{pivot_goes_to}");
    }

    #[test]
    fn a_scaled_or_mirrored_matrix_is_not_rigid() {
        let rigid = Pose::new(DQuat::from_rotation_y(0.4), DVec3::ONE);
        assert!(rigid.is_rigid());
        assert!(!Pose { rotation: rigid.rotation * 1.01, ..rigid }.is_rigid());
        assert!(!Pose { rotation: DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)), ..rigid }.is_rigid());
        assert!(!Pose { translation: DVec3::new(f64::NAN, 0.0, 0.0), ..rigid }.is_rigid());
    }
}
