//! Ballistic flight of airborne drops.
//!
//! An airborne drop is a sphere that falls freely: x(t) = x₀ + v₀ t + ½ g t², exact under constant
//! gravity. Air drag, oscillation and break-up are not modeled. When it touches a solid is for the
//! models to find.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::DropId;
use sessile_wetting::cube_root::cube_root;

/// Clearance of a detached drop from the surface that it left, in radii: it must not touch it again
/// at once.
const DETACHED_CLEARANCE: f64 = 1.001;

/// Radius of the sphere of this volume (in m³), in m.
///
/// By [`cube_root`], which is bit-identical on every platform.
pub fn ball_radius(volume: f64) -> f64 {
    cube_root(3.0 * volume / (4.0 * PI))
}

/// A sphere of liquid in free fall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Projectile {
    /// Center, in m.
    pub center: DVec3,
    /// Velocity, in m/s.
    pub velocity: DVec3,
    /// Volume, in m³.
    pub volume: f64,
}

impl Projectile {
    /// Radius, in m.
    pub fn radius(&self) -> f64 {
        ball_radius(self.volume)
    }

    /// Falls for `time` seconds.
    pub fn fall(&mut self, gravity: DVec3, time: f64) {
        self.center += self.velocity * time + 0.5 * gravity * time * time;
        self.velocity += gravity * time;
    }

    /// A drop of `volume` (in m³) that has just detached at `point` of a surface with this outward
    /// unit normal.
    pub fn detached(point: DVec3, normal: DVec3, velocity: DVec3, volume: f64) -> Self {
        Self { center: point + normal * (DETACHED_CLEARANCE * ball_radius(volume)), velocity, volume }
    }

    /// Both together: volume and momentum add up, the center is that of mass.
    pub fn merged_with(&self, other: &Self) -> Self {
        let volume = self.volume + other.volume;
        let share = other.volume / volume;
        Self {
            center: self.center.lerp(other.center, share),
            velocity: self.velocity.lerp(other.velocity, share),
            volume,
        }
    }
}

/// An airborne drop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Its id.
    pub id: DropId,
    /// Its motion and volume.
    pub body: Projectile,
    /// Time that it still has to fly in the current step, in s.
    pub remaining: f64,
}

impl Ball {
    /// Flies for the rest of the step.
    pub fn finish_step(&mut self, gravity: DVec3) {
        self.body.fall(gravity, self.remaining);
        self.remaining = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_of_20_mm_has_the_reference_time_and_speed() {
        let mut body = Projectile { center: DVec3::ZERO, velocity: DVec3::ZERO, volume: 4e-9 };
        // √(2·20 mm/g), the reference case `fall-20mm`.
        body.fall(DVec3::NEG_Y * 9.8, 0.063_887_7);
        assert!((body.center.y + 0.02).abs() < 1e-7 && (body.velocity.y + 0.626_099).abs() < 1e-6, "{body:?}");
    }

    #[test]
    fn a_merger_conserves_volume_momentum_and_center_of_mass() {
        let a = Projectile { center: DVec3::ZERO, velocity: DVec3::X, volume: 3e-9 };
        let b = Projectile { center: DVec3::Y, velocity: DVec3::Z, volume: 1e-9 };
        let merged = a.merged_with(&b);
        assert!((merged.volume - 4e-9).abs() < 1e-20);
        assert!((merged.center * 4.0 - DVec3::Y).length() < 1e-12);
        assert!((merged.velocity * 4.0 - (3.0 * DVec3::X + DVec3::Z)).length() < 1e-12);
    }
}
