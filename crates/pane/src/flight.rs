//! Drops in the air: they fall freely until they touch the pane or have missed it.

use glam::DVec3;
use serde::{Deserialize, Serialize};

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
}

/// Radius of a ball of this volume, in m.
pub fn ball_radius(volume: f64) -> f64 {
    (3.0 * volume / (4.0 * std::f64::consts::PI)).cbrt()
}

impl Ball {
    /// Falls for `time` seconds: exact under constant gravity.
    pub fn fall(&mut self, gravity: DVec3, time: f64) {
        self.center += self.velocity * time + 0.5 * gravity * time * time;
        self.velocity += gravity * time;
    }

    /// When it first touches the plane through `origin` from the side that `normal` points to, within `time` seconds.
    ///
    /// Its distance from touching is d(t) = d₀ + ḋ₀ t + ½ g_n t²; a ball that touches already and is not moving off lands now.
    pub fn touches(&self, origin: DVec3, normal: DVec3, gravity: DVec3, time: f64) -> Option<f64> {
        let gap = (self.center - origin).dot(normal) - ball_radius(self.volume);
        let (speed, half) = (self.velocity.dot(normal), 0.5 * gravity.dot(normal));
        if gap <= 0.0 {
            // Behind the pane it has missed it.
            let in_reach = gap > -2.0 * ball_radius(self.volume);
            return (in_reach && (speed < 0.0 || (speed == 0.0 && half < 0.0))).then_some(0.0);
        }
        // The first root, in the form that loses no digits when the quadratic term is small.
        let discriminant = speed * speed - 4.0 * half * gap;
        let root = 2.0 * gap / (-speed + discriminant.max(0.0).sqrt());
        (discriminant >= 0.0 && root >= 0.0 && root <= time).then_some(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_lands_when_its_lowest_point_does() {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-9;
        let mut ball = Ball { id: 1, center: DVec3::new(0.0, 0.021, 0.0), velocity: DVec3::ZERO, volume };
        let gravity = DVec3::new(0.0, -9.8, 0.0);
        let time = ball.touches(DVec3::ZERO, DVec3::Y, gravity, 1.0).expect("it falls on the floor");
        // √(2·20 mm/g), the reference case `fall-20mm`.
        assert!((time - 0.063_887_7).abs() < 1e-7, "{time}");
        ball.fall(gravity, time);
        assert!((ball.velocity.y + 0.626_099).abs() < 1e-6, "{}", ball.velocity.y);
        assert_eq!(ball.touches(DVec3::ZERO, DVec3::NEG_Y, gravity, 1.0), None, "from behind it is no landing");
    }

    #[test]
    fn a_ball_thrown_up_lands_on_its_way_down() {
        let ball = Ball { id: 1, center: DVec3::new(0.0, 0.01, 0.0), velocity: DVec3::Y, volume: 1e-12 };
        let time = ball.touches(DVec3::ZERO, DVec3::Y, DVec3::new(0.0, -9.8, 0.0), 1.0).expect("it comes back");
        assert!((time - 2.0 / 9.8).abs() < 0.011, "{time}");
        assert_eq!(ball.touches(DVec3::ZERO, DVec3::Y, DVec3::ZERO, 10.0), None, "without gravity it does not");
    }
}
