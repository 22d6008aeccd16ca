//! Contact of airborne droplets with solids.
//!
//! A sphere touches a mesh when its center comes within its radius. The time of contact is found by
//! conservative advancement: with a gap d and a relative speed of at most s, no contact is possible
//! before d/s. So no sphere passes through a solid, however fast it is. A solid moves within a step
//! with its velocity at the end of the step. A sphere that overlaps a solid already (it was emitted
//! there, has grown there, or a solid has come to it) wets it at once, whatever its velocity.

use glam::DVec3;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_sliding::Projectile;

use crate::acceleration::RigidState;

/// Gap that counts as contact, in radii.
const TOUCH: f64 = 1e-5;
/// Overlap that counts as contact at any velocity, in radii; a detached droplet starts farther
/// away.
const OVERLAP: f64 = 1e-2;
/// Smallest advance of a sphere that grazes the surface or moves away, in radii.
const GRAZE: f64 = 0.02;
/// Advances after which a sphere touches what it comes nearer to within [`GRAZE`] radii.
///
/// Where it flies along a surface the gap shrinks by a small share per advance: after any fixed
/// number of them it may still be above [`TOUCH`].
const FINE_ADVANCES: usize = 400;
/// Largest number of advances in one flight; a sphere that is near a surface then touches it.
const MAX_ADVANCES: usize = 20_000;

/// First contact of a sphere with a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Time from the start of the flight, in s.
    pub time: f64,
    /// Triangle of the solid's mesh.
    pub triangle: usize,
    /// Point of contact, in the rest pose, in m.
    pub point: DVec3,
    /// Velocity relative to the solid, in the rest pose, in m/s.
    pub velocity: DVec3,
}

/// First contact of a sphere with a solid's outer side, within `time` seconds. The solid has its
/// pose `pose_after` seconds after the start of the flight, and moves at `moving` (in m/s) there.
///
/// A sphere that begins with its center in a closed solid touches the nearest surface at once.
pub fn first_contact(
    ball: &Projectile,
    mesh: &MeshDistance,
    is_closed: bool,
    (solid, moving): (&RigidState, DVec3),
    gravity: DVec3,
    (time, pose_after): (f64, f64),
) -> Option<Contact> {
    let radius = ball.radius();
    let back = |v: DVec3| solid.pose.rotation.transpose() * v;
    // Where the sphere starts, seen from the solid as it is later.
    let carried = ball.center + moving * pose_after;
    let (start, pull) = (solid.pose.apply_inverse(carried), back(gravity));
    let velocity = back(ball.velocity - moving);
    let fastest = velocity.length() + pull.length() * time;
    // In a closed solid the surface may be far away.
    let bounds = mesh.bounds();
    let may_be_inside = is_closed && (start - bounds.center()).abs().cmple(0.5 * bounds.extent()).all();
    let mut t = 0.0;
    for advance in 0.. {
        let touch = if advance < FINE_ADVANCES { TOUCH } else { GRAZE };
        let center = start + velocity * t + 0.5 * pull * t * t;
        let now = velocity + pull * t;
        let reach = radius * (1.0 + TOUCH) + fastest * (time - t);
        let near = mesh.nearest_within(center, if may_be_inside && t == 0.0 { f64::INFINITY } else { reach })?;
        if is_closed && t == 0.0 && near.distance < 0.0 {
            return Some(Contact { time: 0.0, triangle: near.triangle, point: near.point, velocity: now });
        }
        let gap = near.distance - radius;
        // More than a radius behind the surface: the back of an open mesh, or inside a solid.
        let behind = near.distance < -radius;
        if gap <= touch * radius && !behind {
            let outward = (center - near.point).try_normalize().unwrap_or(near.normal) * near.distance.signum();
            // Beside the border of an open mesh the nearest point is on the border edge: no
            // contact.
            let overlaps = t == 0.0 && gap < -OVERLAP * radius;
            let is_beside = !is_closed && outward.dot(near.normal) <= 0.1;
            let is_stuck = advance >= MAX_ADVANCES;
            if (overlaps || is_stuck || now.dot(outward) < 0.0) && !is_beside {
                return Some(Contact { time: t, triangle: near.triangle, point: near.point, velocity: now });
            }
        }
        if t >= time || advance >= MAX_ADVANCES {
            return None;
        }
        // Towards the surface the gap bounds the advance; otherwise a small advance is enough.
        let towards = now.dot(center - near.point) * near.distance < 0.0;
        let safe = if behind { -near.distance } else { gap };
        let least = if towards && !behind { 0.5 * touch } else { GRAZE };
        t = (t + safe.max(least * radius) / fastest).min(time);
    }
    None
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

    fn ball(center: DVec3, velocity: DVec3) -> Projectile {
        Projectile { center, velocity, volume: 4.0 / 3.0 * std::f64::consts::PI * 1e-9 }
    }

    const DOWN: DVec3 = DVec3::new(0.0, -9.8, 0.0);

    /// The reference case `fall-20mm`: √(2·20 mm/g).
    #[test]
    fn a_ball_lands_when_its_lowest_point_touches() {
        let (mesh, still) = floor();
        let touch =
            first_contact(&ball(DVec3::Y * 0.021, DVec3::ZERO), &mesh, false, (&still, DVec3::ZERO), DOWN, (1.0, 0.0))
                .expect("it falls on the floor");
        assert!((touch.time - 0.063_887_7).abs() < 1e-6, "{}", touch.time);
        assert!((touch.velocity.y + 0.626_099).abs() < 1e-5, "{}", touch.velocity.y);
    }

    #[test]
    fn the_fastest_ball_does_not_pass_through_and_one_beside_the_floor_misses() {
        let (mesh, still) = floor();
        let fast = ball(DVec3::new(0.031, 0.5, 0.027), DVec3::new(0.0, -900.0, 0.0));
        assert!(first_contact(&fast, &mesh, false, (&still, DVec3::ZERO), DOWN, (0.03, 0.0)).is_some());
        assert_eq!(
            first_contact(
                &ball(DVec3::new(0.102, 0.5, 0.0), DVec3::new(0.0, -9.0, 0.0)),
                &mesh,
                false,
                (&still, DVec3::ZERO),
                DOWN,
                (0.2, 0.0)
            ),
            None
        );
        // From below it reaches the back of the open mesh, which is not a surface to land on.
        assert_eq!(
            first_contact(
                &ball(DVec3::new(0.0, -0.05, 0.0), DVec3::new(0.0, 4.0, 0.0)),
                &mesh,
                false,
                (&still, DVec3::ZERO),
                DOWN,
                (0.05, 0.0)
            ),
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
        let touch = first_contact(
            &ball(DVec3::Y * 0.011, DVec3::NEG_Y * 0.5),
            &mesh,
            false,
            (&rising, rising.velocity.linear),
            DVec3::ZERO,
            (1.0, 0.0),
        )
        .expect("they meet");
        assert!((touch.time - 0.01).abs() < 1e-7 && (touch.velocity.y + 1.0).abs() < 1e-12, "{touch:?}");
    }

    /// A floor that sinks 5 mm within the step, seen as it is at the end, has not been there at the
    /// start: a ball 3 mm above its first place catches up with it.
    #[test]
    fn a_solid_moves_to_its_pose_within_the_step() {
        let (mesh, still) = floor();
        let step = 0.01;
        let mut sunk = RigidState { velocity: RigidVelocity { linear: DVec3::NEG_Y * 0.5, ..still.velocity }, ..still };
        sunk.pose.translation = DVec3::NEG_Y * (0.5 * step);
        let falling = ball(DVec3::Y * 0.004, DVec3::NEG_Y);
        let touch = first_contact(&falling, &mesh, false, (&sunk, sunk.velocity.linear), DVec3::ZERO, (step, step))
            .expect("it catches up");
        // 3 mm at 1 − 0.5 m/s.
        assert!((touch.time - 0.006).abs() < 1e-6, "{touch:?}");
    }

    /// The inner side of a sphere, without its poles on z.
    fn hollow_sphere(radius: f64) -> MeshDistance {
        let mut mesh = sheet(std::f64::consts::TAU, 3.0, 256, 128);
        for p in &mut mesh.positions {
            let ((sin, cos), (high, level)) = (p.x.sin_cos(), p.y.sin_cos());
            *p = radius * DVec3::new(level * cos, level * sin, high);
        }
        mesh.triangles.iter_mut().for_each(|triangle| triangle.reverse());
        MeshDistance::new(mesh)
    }

    /// In a hollow sphere a ball that falls along the wall comes nearer to it by a small share of
    /// the gap per advance. If it counted as free once a number of advances is used up, it would
    /// end outside of the sphere.
    #[test]
    fn a_ball_that_grazes_the_wall_around_it_lands_on_it() {
        let (hollow, radius) = (7.086e-3, 1e-3);
        let (mesh, still) = (hollow_sphere(hollow), RigidState { pose: Pose::IDENTITY, velocity: RigidVelocity::ZERO });
        for clearance in [1e-4, 1e-3, 1e-2] {
            for speed in [0.0, 0.02, 0.5, 3.0] {
                let start = DVec3::X * (hollow - radius * (1.0 + clearance));
                let falling = ball(start, DVec3::new(0.0, -speed, 1e-3 * speed));
                let contact = first_contact(&falling, &mesh, true, (&still, DVec3::ZERO), DOWN, (0.2, 0.0));
                let t = contact.unwrap_or_else(|| panic!("{speed} m/s, gap of {clearance}: it passes the wall")).time;
                let center = falling.center + falling.velocity * t + 0.5 * DOWN * t * t;
                let out = (center.length() + radius) / hollow;
                assert!((0.995..1.001).contains(&out), "{speed} m/s, gap of {clearance}: it lands at {out:.4}");
            }
        }
    }

    #[test]
    fn a_ball_that_overlaps_a_solid_wets_it_even_if_it_moves_away() {
        let (mesh, still) = floor();
        let contact = |height: f64| {
            first_contact(
                &ball(DVec3::Y * height, DVec3::Y),
                &mesh,
                false,
                (&still, DVec3::ZERO),
                DVec3::ZERO,
                (0.01, 0.0),
            )
        };
        assert_eq!(contact(0.5e-3).map(|contact| contact.time), Some(0.0));
        assert_eq!(contact(1.001e-3), None, "a detached droplet flies away");
        let at_rest = ball(DVec3::Y * 0.5e-3, DVec3::ZERO);
        assert!(
            first_contact(&at_rest, &mesh, false, (&still, DVec3::ZERO), DVec3::ZERO, (0.01, 0.0)).is_some(),
            "at rest too"
        );
    }
}
