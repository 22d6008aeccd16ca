//! Acceleration field of a moving solid in its rest pose: gravity and inertial forces.
//!
//! Droplets are carried along by their solid and feel its acceleration. The velocity of a point of
//! the solid is affine in the point, so the acceleration over a step is too:
//!
//! ```text
//! V(t, x) = l + ω × (R x + T − c)        a(x) = Rᵀ [V(t₁, x) − V(t₀, x)]/Δt = b + A x
//! ```
//!
//! This includes the centrifugal term, angular acceleration and velocity jumps at keyframes. The
//! Coriolis acceleration −2 ω × v of a moving droplet is added.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};
use sessile_world::{Pose, RigidVelocity, Solid};

/// Pose and velocity of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidState {
    /// Transform from the rest pose to the world.
    pub pose: Pose,
    /// Rigid velocity.
    pub velocity: RigidVelocity,
}

impl RigidState {
    /// State of a solid at the world's time.
    pub fn of(solid: &Solid) -> Self {
        Self { pose: *solid.world_from_rest(), velocity: *solid.velocity() }
    }

    /// Matrix and vector of V(x) = v + M x for x in the rest pose.
    fn velocity_map(&self) -> (DMat3, DVec3) {
        let spin = self.velocity.angular;
        let cross = DMat3::from_cols(spin.cross(DVec3::X), spin.cross(DVec3::Y), spin.cross(DVec3::Z));
        let constant = self.velocity.linear + spin.cross(self.pose.translation - self.velocity.pivot);
        (cross * self.pose.rotation, constant)
    }
}

/// Acceleration field of one solid over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccelerationField {
    /// Gravity less the solid's acceleration at the origin of the rest pose, in m/s².
    pub gravity: DVec3,
    /// Gradient of that acceleration, in 1/s²; zero for a solid that does not rotate.
    pub gradient: DMat3,
    /// Angular velocity, in rad/s.
    pub spin: DVec3,
    /// Wind relative to the solid, in m/s.
    pub wind: DVec3,
    /// Whether the acceleration depends on position or velocity.
    pub is_rotating: bool,
}

impl AccelerationField {
    /// Field over a step of `dt` seconds from `before` to `now`, under the world's gravity and
    /// wind.
    pub fn over(before: &RigidState, now: &RigidState, middle: DVec3, gravity: DVec3, wind: DVec3, dt: f64) -> Self {
        let back = now.pose.rotation.transpose();
        let still = before.velocity == now.velocity && now.velocity.angular == DVec3::ZERO;
        let (mut gradient, mut pull) = (DMat3::ZERO, gravity);
        if !still && dt > 0.0 {
            let ((m0, v0), (m1, v1)) = (before.velocity_map(), now.velocity_map());
            gradient = (back * (m1 - m0)) * (-1.0 / dt);
            pull -= (v1 - v0) / dt;
        }
        let past = wind - now.velocity.at(now.pose.apply(middle));
        let spin = back * now.velocity.angular;
        Self {
            gravity: back * pull,
            gradient,
            spin,
            wind: back * past,
            is_rotating: gradient != DMat3::ZERO || spin != DVec3::ZERO,
        }
    }

    /// Acceleration of a droplet at a point (in m) and velocity (in m/s) of the rest pose, in m/s².
    #[inline]
    pub fn at(&self, at: DVec3, velocity: DVec3) -> DVec3 {
        if self.is_rotating {
            self.gravity + self.gradient * at - 2.0 * self.spin.cross(velocity)
        } else {
            self.gravity
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// On a turntable the acceleration is ω² r outward.
    #[test]
    fn a_turntable_accelerates_outward() {
        let (spin, dt) = (7.0, 1e-4);
        let at = |time: f64| RigidState {
            pose: Pose::new(DQuat::from_rotation_y(spin * time), DVec3::ZERO),
            velocity: RigidVelocity { linear: DVec3::ZERO, angular: DVec3::Y * spin, pivot: DVec3::ZERO },
        };
        let field = AccelerationField::over(&at(0.4), &at(0.4 + dt), DVec3::ZERO, DVec3::NEG_Y * 9.8, DVec3::ZERO, dt);
        let place = DVec3::new(0.03, 0.0, 0.04);
        let pull = field.at(place, DVec3::ZERO);
        let expected = place * spin * spin + DVec3::NEG_Y * 9.8;
        // First order in the step: ω Δt = 7e-4 of the centrifugal part.
        assert!((pull - expected).length() < 1e-3 * 49.0 * 0.05, "{pull}, expected {expected}");
        // A droplet at rest in space while the table turns under it needs no force.
        let stays = -DVec3::Y.cross(place) * spin;
        let sum = field.at(place, stays) - DVec3::NEG_Y * 9.8 + place * spin * spin;
        assert!(sum.length() < 1e-3 * 49.0 * 0.05, "{sum}");
    }

    #[test]
    fn a_velocity_jump_accelerates_and_steady_motion_does_not() {
        let moving = |speed: f64| RigidState {
            pose: Pose::IDENTITY,
            velocity: RigidVelocity { linear: DVec3::X * speed, angular: DVec3::ZERO, pivot: DVec3::ZERO },
        };
        let field = |from: f64, to: f64| {
            AccelerationField::over(&moving(from), &moving(to), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, 0.01)
        };
        assert_eq!(field(0.3, 0.3).at(DVec3::ONE, DVec3::ZERO), DVec3::ZERO);
        assert!((field(0.0, 0.3).at(DVec3::ONE, DVec3::ZERO) - DVec3::NEG_X * 30.0).length() < 1e-12);
    }
}
