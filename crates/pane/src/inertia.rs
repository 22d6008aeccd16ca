//! Inertial accelerations on a pane that accelerates or rotates, in its axes.
//!
//! A drop is carried along by the pane and feels its acceleration. The velocity V of a point of the
//! pane is affine in its position x, so the acceleration over a step is too; a drop that moves at
//! the velocity u on the pane feels the Coriolis acceleration as well:
//!
//! ```text
//! a(x, u) = −[V(t₁, x) − V(t₀, x)]/Δt − 2 ω × u
//! ```
//!
//! This includes the centrifugal term, angular acceleration, and jumps of the velocity at keys. The
//! part normal to the pane is that at its middle.

use glam::{DMat2, DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_world::RigidVelocity;

use crate::frame::PaneFrame;

/// Inertial acceleration over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inertia {
    /// Acceleration along the pane at its lower left corner, in m/s².
    at_corner: DVec2,
    /// Its gradient, in 1/s².
    gradient: DMat2,
    /// Angular velocity about the pane's normal, in rad/s.
    spin: f64,
    /// Acceleration into the pane at its middle, in m/s².
    pub normal: f64,
    /// Largest acceleration along the pane of a drop at rest on it, in m/s².
    pub largest: f64,
}

impl Inertia {
    /// Over a step of `dt` seconds from one frame and velocity of the pane to another; `None` if it
    /// moves steadily without rotating.
    pub fn over(before: &(PaneFrame, RigidVelocity), now: &(PaneFrame, RigidVelocity), dt: f64) -> Option<Self> {
        let ((first, from), (frame, to)) = (before, now);
        if (from == to && to.angular == DVec3::ZERO) || dt <= 0.0 {
            return None;
        }
        let (size, back) = (frame.size, frame.axes.transpose());
        let at = |position: DVec2| back * (from.at(first.point_at(position)) - to.at(frame.point_at(position))) / dt;
        let corner = at(DVec2::ZERO).truncate();
        let across = at(DVec2::new(size.x, 0.0)).truncate();
        let up = at(DVec2::new(0.0, size.y)).truncate();
        let far = at(size).truncate();
        Some(Self {
            at_corner: corner,
            gradient: DMat2::from_cols((across - corner) / size.x, (up - corner) / size.y),
            spin: (back * to.angular).z,
            normal: -at(0.5 * size).z,
            largest: [corner, across, up, far].into_iter().map(DVec2::length).fold(0.0, f64::max),
        })
    }

    /// At a position (in m) and velocity (in m/s) on the pane, in m/s².
    #[inline]
    pub fn at(&self, (position, velocity): (DVec2, DVec2)) -> DVec2 {
        self.at_corner + self.gradient * position - 2.0 * self.spin * velocity.perp()
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat};

    use super::*;

    /// On a turntable the acceleration is ω² r outward, and nothing acts on what stays in space.
    #[test]
    fn a_turntable_accelerates_outward() {
        let (spin, dt, size) = (7.0, 1e-5, DVec2::new(0.1, 0.06));
        let at = |time: f64| {
            let axes = DMat3::from_quat(DQuat::from_rotation_z(spin * time));
            let corner = axes * (-0.5 * size).extend(0.0);
            let velocity = RigidVelocity { linear: DVec3::ZERO, angular: DVec3::Z * spin, pivot: DVec3::ZERO };
            (PaneFrame { corner, axes, size }, velocity)
        };
        let inertia = Inertia::over(&at(0.3), &at(0.3 + dt), dt).expect("a turntable rotates");
        let radius = DVec2::new(0.03, -0.02);
        let position = 0.5 * size + radius;
        let outward = inertia.at((position, DVec2::ZERO));
        assert!((outward - spin * spin * radius).length() < 1e-3 * outward.length(), "{outward}");
        let stays = -spin * radius.perp();
        let pull = inertia.at((position, stays)) + spin * spin * radius;
        assert!(pull.length() < 1e-3 * outward.length(), "{pull}");
        assert!((inertia.largest - spin * spin * 0.5 * size.length()).abs() < 1e-3 * inertia.largest);
    }
}
