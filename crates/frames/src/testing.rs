//! Test solids and drops of exactly known shape.

pub mod caps;

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance};

/// The half-space y < 0.
pub struct Floor;

impl Distance for Floor {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.y
    }

    fn closest(&self, point: DVec3) -> Closest {
        let on = DVec3::new(point.x, 0.0, point.z);
        Closest { point: on, normal: DVec3::Y, distance: point.y, uv: DVec2::ZERO }
    }
}

/// A ball about a point.
pub struct Ball {
    pub center: DVec3,
    pub radius: f64,
}

impl Distance for Ball {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.distance(self.center) - self.radius
    }

    fn closest(&self, point: DVec3) -> Closest {
        let normal = (point - self.center).normalize_or(DVec3::Y);
        let distance = self.signed_distance(point);
        Closest { point: self.center + self.radius * normal, normal, distance, uv: DVec2::ZERO }
    }
}

/// Pseudo-random numbers in [−1, 1), determined by the seed.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
