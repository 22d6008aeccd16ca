//! Droplets in the air: they fall freely until they touch a solid, or have missed all of them.
//!
//! A ball touches a mesh when its center comes within its radius. That rigid is approached by safe steps: as long as the gap is d
//! and nothing moves faster than s, nothing can happen for d/s. So a ball does not pass through however fast it is. A solid's
//! motion within a step is taken as that of its end.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_wetting::cube_root::cube_root;

use crate::acceleration::RigidState;

/// A gap below this share of the radius is touching.
const TOUCH: f64 = 1e-5;
/// Least safe step while a ball grazes, as a share of its radius.
const GRAZE: f64 = 0.02;
/// Most safe steps in one flight.
const MOST_STEPS: usize = 400;

/// A ball of liquid in the air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Never reused.
    pub id: u32,
    /// Center, in m.
    pub center: DVec3,
    /// Velocity, in m/s.
    pub velocity: DVec3,
    /// Volume, in m³.
    pub volume: f64,
    /// Time that it still has to fly in this step, in s.
    pub owed: f64,
}

/// Radius of a ball of this volume, in m.
pub fn ball_radius(volume: f64) -> f64 {
    cube_root(3.0 * volume / (4.0 * std::f64::consts::PI))
}

/// Where and how a ball touches a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// When, in s from the start.
    pub time: f64,
    /// Triangle of the solid's mesh.
    pub triangle: usize,
    /// Nearest point of it, in the rest pose, in m.
    pub point: DVec3,
    /// Velocity past the solid, in the rest pose, in m/s.
    pub velocity: DVec3,
}

impl Ball {
    /// Falls for `time` seconds: exact under constant gravity.
    pub fn fall(&mut self, gravity: DVec3, time: f64) {
        self.center += self.velocity * time + 0.5 * gravity * time * time;
        self.velocity += gravity * time;
    }

    /// When it first touches a solid's outer side on its way towards it, within `time` seconds.
    pub fn touches(&self, mesh: &MeshDistance, solid: &RigidState, gravity: DVec3, time: f64) -> Option<Touch> {
        let radius = ball_radius(self.volume);
        let back = |v: DVec3| solid.pose.rotation.transpose() * v;
        let (start, pull) = (solid.pose.apply_inverse(self.center), back(gravity));
        let velocity = back(self.velocity - solid.velocity.at(self.center));
        let fastest = velocity.length() + pull.length() * time;
        if fastest == 0.0 {
            return None;
        }
        let mut t = 0.0;
        for _ in 0..MOST_STEPS {
            let center = start + velocity * t + 0.5 * pull * t * t;
            let now = velocity + pull * t;
            let near = mesh.nearest_within(center, radius * (1.0 + TOUCH) + fastest * (time - t))?;
            let gap = near.distance - radius;
            // Far behind the surface is the back of a sheet, or a place where liquid has no business.
            let behind = near.distance < -radius;
            if gap <= TOUCH * radius && !behind {
                let outward = (center - near.point).try_normalize().unwrap_or(near.normal) * near.distance.signum();
                // Past the rim of a sheet it touches nothing but the rim's edge.
                if now.dot(outward) < 0.0 && outward.dot(near.normal) > 0.1 {
                    return Some(Touch { time: t, triangle: near.triangle, point: near.point, velocity: now });
                }
            }
            if t >= time {
                return None;
            }
            // Towards the surface the gap itself is safe; while it grazes or leaves, a small step is.
            let towards = now.dot(center - near.point) * near.distance < 0.0;
            let safe = if behind { -near.distance } else { gap };
            let least = if towards && !behind { 0.5 * TOUCH } else { GRAZE };
            t = (t + safe.max(least * radius) / fastest).min(time);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::tests::sheet;
    use sessile_world::{Pose, RigidVelocity};

    fn floor() -> (MeshDistance, RigidState) {
        let mut mesh = sheet(0.2, 0.2, 3, 3);
        // Its normal up.
        mesh.positions.iter_mut().for_each(|p| *p = DVec3::new(p.x, 0.0, -p.y));
        (MeshDistance::new(mesh), RigidState { pose: Pose::IDENTITY, velocity: RigidVelocity::ZERO })
    }

    fn ball(center: DVec3, velocity: DVec3) -> Ball {
        Ball { id: 1, center, velocity, volume: 4.0 / 3.0 * std::f64::consts::PI * 1e-9, owed: 0.0 }
    }

    const DOWN: DVec3 = DVec3::new(0.0, -9.8, 0.0);

    /// The reference case `fall-20mm`: √(2·20 mm/g).
    #[test]
    fn a_ball_lands_when_its_lowest_point_does() {
        let (mesh, still) = floor();
        let touch =
            ball(DVec3::Y * 0.021, DVec3::ZERO).touches(&mesh, &still, DOWN, 1.0).expect("it falls on the floor");
        assert!((touch.time - 0.063_887_7).abs() < 1e-6, "{}", touch.time);
        assert!((touch.velocity.y + 0.626_099).abs() < 1e-5, "{}", touch.velocity.y);
    }

    #[test]
    fn the_fastest_ball_does_not_pass_through_and_one_beside_the_floor_does() {
        let (mesh, still) = floor();
        let fast = ball(DVec3::new(0.031, 0.5, 0.027), DVec3::new(0.0, -900.0, 0.0));
        assert!(fast.touches(&mesh, &still, DOWN, 0.03).is_some());
        assert_eq!(
            ball(DVec3::new(0.102, 0.5, 0.0), DVec3::new(0.0, -9.0, 0.0)).touches(&mesh, &still, DOWN, 0.2),
            None
        );
        // From below it meets the back of the sheet, which is no surface to land on.
        assert_eq!(
            ball(DVec3::new(0.0, -0.05, 0.0), DVec3::new(0.0, 4.0, 0.0)).touches(&mesh, &still, DOWN, 0.05),
            None
        );
    }

    #[test]
    fn a_rising_floor_meets_the_ball_halfway() {
        let (mesh, _) = floor();
        let rising = RigidState {
            pose: Pose::IDENTITY,
            velocity: RigidVelocity { linear: DVec3::Y * 0.5, angular: DVec3::ZERO, pivot: DVec3::ZERO },
        };
        let touch =
            ball(DVec3::Y * 0.011, DVec3::NEG_Y * 0.5).touches(&mesh, &rising, DVec3::ZERO, 1.0).expect("they meet");
        assert!((touch.time - 0.01).abs() < 1e-7 && (touch.velocity.y + 1.0).abs() < 1e-12, "{touch:?}");
    }
}
