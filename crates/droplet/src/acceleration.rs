//! What acts on all droplets of one solid now, in the rest pose of that solid.
//!
//! A solid that moves carries its droplets along, and they feel its acceleration. The velocity of a point of the solid is affine in
//! the point, so the acceleration over a step is too:
//!
//! ```text
//! V(t, x) = l + ω × (R x + T − c)        a(x) = Rᵀ [V(t₁, x) − V(t₀, x)]/Δt = b + A x
//! ```
//!
//! which holds the centrifugal part, the change of rotation and the jerk at a keyframe all at once. What a droplet's own motion adds,
//! −2 ω × v (Coriolis), comes on top.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};
use sessile_world::{Pose, RigidVelocity, Solid};

/// Pose and velocity of a solid at a rigid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidState {
    /// Where its rest pose is.
    pub pose: Pose,
    /// How it moves.
    pub velocity: RigidVelocity,
}

impl RigidState {
    /// Of a solid now.
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

/// What acts on the droplets of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccelerationField {
    /// Gravity less the solid's acceleration at the rest pose's origin, in m/s².
    pub gravity: DVec3,
    /// Change of that per place, in 1/s²; zero for a solid that does not turn.
    pub gradient: DMat3,
    /// Angular velocity, in rad/s.
    pub spin: DVec3,
    /// Wind past the solid, in m/s.
    pub wind: DVec3,
    /// Whether the pull depends on place or velocity.
    pub is_rotating: bool,
}

impl AccelerationField {
    /// Over a step of `dt` seconds from `before` to `now`, under gravity and wind of the world.
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

    /// Pull per mass on a droplet at a place and velocity, both of the rest pose, in m/s².
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

    /// On a turntable: ω² r outwards, and nothing for its angular velocity alone.
    #[test]
    fn a_turntable_pulls_outwards() {
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
        // A droplet that stays in space while the table turns under it feels what keeps it there: nothing, in sum.
        let stays = -DVec3::Y.cross(place) * spin;
        let sum = field.at(place, stays) - DVec3::NEG_Y * 9.8 + place * spin * spin;
        assert!(sum.length() < 1e-3 * 49.0 * 0.05, "{sum}");
    }

    #[test]
    fn a_jerk_is_felt_and_steady_motion_is_not() {
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
