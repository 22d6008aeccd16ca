//! Contact of airborne drops with the pane.

use glam::DVec3;
use sessile_sliding::Projectile;

/// Overlap that counts as contact at any velocity, in radii; a detached drop starts farther away.
const OVERLAP: f64 = 1e-2;

/// Time of first contact of a sphere with a plane, from the side that `normal` points to, within
/// `time` seconds.
///
/// The gap is d(t) = d₀ + ḋ₀ t + ½ g_n t². A sphere that touches the plane already and does not
/// move away lands at once; one that overlaps it with its center in front lands at any velocity.
pub fn first_contact(ball: &Projectile, origin: DVec3, normal: DVec3, gravity: DVec3, time: f64) -> Option<f64> {
    let gap = (ball.center - origin).dot(normal) - ball.radius();
    let (speed, half) = (ball.velocity.dot(normal), 0.5 * gravity.dot(normal));
    if gap <= 0.0 {
        let overlaps = gap < -OVERLAP * ball.radius() && gap > -ball.radius();
        if overlaps {
            return Some(0.0);
        }
        // Completely behind the plane it has missed it.
        let in_contact = gap > -2.0 * ball.radius();
        return (in_contact && (speed < 0.0 || (speed == 0.0 && half < 0.0))).then_some(0.0);
    }
    // The first root, in the form that is accurate where the quadratic term is small.
    let discriminant = speed * speed - 4.0 * half * gap;
    let root = 2.0 * gap / (-speed + discriminant.max(0.0).sqrt());
    (discriminant >= 0.0 && root >= 0.0 && root <= time).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_lands_when_its_lowest_point_touches() {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-9;
        let mut ball = Projectile { center: DVec3::new(0.0, 0.021, 0.0), velocity: DVec3::ZERO, volume };
        let gravity = DVec3::new(0.0, -9.8, 0.0);
        let time = first_contact(&ball, DVec3::ZERO, DVec3::Y, gravity, 1.0).expect("it falls on the floor");
        // √(2·20 mm/g), the reference case `fall-20mm`.
        assert!((time - 0.063_887_7).abs() < 1e-7, "{time}");
        ball.fall(gravity, time);
        assert!((ball.velocity.y + 0.626_099).abs() < 1e-6, "{}", ball.velocity.y);
        assert_eq!(first_contact(&ball, DVec3::ZERO, DVec3::NEG_Y, gravity, 1.0), None, "no landing from behind");
    }

    #[test]
    fn a_ball_that_overlaps_the_pane_lands_even_if_it_moves_away() {
        let ball = |height: f64| Projectile {
            center: DVec3::Y * height,
            velocity: DVec3::Y * 0.1,
            volume: 4.0 / 3.0 * std::f64::consts::PI * 1e-9,
        };
        let contact = |height: f64| first_contact(&ball(height), DVec3::ZERO, DVec3::Y, DVec3::ZERO, 1.0);
        assert_eq!([contact(0.9e-3), contact(1.001e-3), contact(-0.5e-3)], [Some(0.0), None, None]);
    }

    #[test]
    fn a_ball_thrown_up_lands_on_its_way_down() {
        let ball = Projectile { center: DVec3::new(0.0, 0.01, 0.0), velocity: DVec3::Y, volume: 1e-12 };
        let contact = |gravity, time| first_contact(&ball, DVec3::ZERO, DVec3::Y, gravity, time);
        let time = contact(DVec3::new(0.0, -9.8, 0.0), 1.0).expect("it comes back");
        assert!((time - 2.0 / 9.8).abs() < 0.011, "{time}");
        assert_eq!(contact(DVec3::ZERO, 10.0), None, "without gravity it does not");
    }
}
