//! A photo studio for drops: a dark room and a few soft boxes.
//!
//! A drop shows its surroundings twice: as reflections, which want lamps with clear outlines on black, and upside down through
//! itself, which wants some light from behind and below the horizon to be seen against. So: a wide bank overhead, a tall
//! window-like box at the front left, two narrow strips behind that draw the drop's edge, and a faint wash on the walls that is
//! brighter at the horizon. Lamps differ a little in colour, as real ones do.
//!
//! A lamp is a rounded rectangle on the plane that touches the unit sphere at the lamp's middle. Scaled so that a level white
//! surface has radiance 1.

use std::f32::consts::PI;

use glam::{Vec2, Vec3};

use super::{LatLong, luminance};

const SIZE: [usize; 2] = [1024, 512];

struct SoftBox {
    /// Towards its middle.
    towards: Vec3,
    /// Half its width and height, seen from a distance of 1.
    half: Vec2,
    /// Radius of its corners, likewise.
    corner: f32,
    /// Width over which its edge fades.
    fade: f32,
    /// Radiance in its middle.
    radiance: Vec3,
    /// Bars that split it as a window, as a half-width; zero for none.
    bars: f32,
}

const LAMPS: [SoftBox; 5] = [
    // The bank overhead, slightly to the back, so that its light falls through the drop towards the eye.
    SoftBox {
        towards: Vec3::new(0.10, 1.0, -0.30),
        half: Vec2::new(0.62, 0.40),
        corner: 0.10,
        fade: 0.06,
        radiance: Vec3::new(5.0, 5.0, 5.1),
        bars: 0.0,
    },
    // The key: a tall window at the front left.
    SoftBox {
        towards: Vec3::new(-0.90, 0.75, 0.60),
        half: Vec2::new(0.34, 0.46),
        corner: 0.03,
        fade: 0.02,
        radiance: Vec3::new(10.5, 10.0, 9.2),
        bars: 0.022,
    },
    // Strips behind, which outline the drop.
    SoftBox {
        towards: Vec3::new(0.95, 0.30, -0.75),
        half: Vec2::new(0.10, 0.48),
        corner: 0.05,
        fade: 0.03,
        radiance: Vec3::new(7.2, 7.8, 8.8),
        bars: 0.0,
    },
    SoftBox {
        towards: Vec3::new(-0.70, 0.30, -1.0),
        half: Vec2::new(0.08, 0.42),
        corner: 0.05,
        fade: 0.03,
        radiance: Vec3::new(4.0, 4.3, 4.8),
        bars: 0.0,
    },
    // A dim reflector at the right of the camera fills the shadows.
    SoftBox {
        towards: Vec3::new(0.85, 0.30, 0.90),
        half: Vec2::new(0.45, 0.40),
        corner: 0.20,
        fade: 0.25,
        radiance: Vec3::new(0.55, 0.52, 0.48),
        bars: 0.0,
    },
];

/// Paints the room.
pub(super) fn paint() -> LatLong {
    let [width, height] = SIZE;
    let mut image = LatLong::filled(width, height, |dir| {
        let lamps: Vec3 = LAMPS.iter().map(|lamp| lamp.radiance(dir)).sum();
        walls(dir) + lamps
    });
    image.sanitize(PI / luminance(image.irradiance(Vec3::Y)));
    image
}

/// Grey walls that are brightest a little over the horizon, a darker ceiling and floor.
fn walls(dir: Vec3) -> Vec3 {
    let height = dir.y - 0.05;
    let glow = (-height * height / (2.0 * 0.30 * 0.30)).exp();
    Vec3::new(0.055, 0.060, 0.068) + Vec3::new(0.20, 0.215, 0.24) * glow
}

impl SoftBox {
    fn radiance(&self, dir: Vec3) -> Vec3 {
        let axis = self.towards.normalize();
        let depth = dir.dot(axis);
        if depth <= 0.05 {
            return Vec3::ZERO;
        }
        let right = Vec3::Y.cross(axis).normalize_or(Vec3::X);
        let up = axis.cross(right);
        let place = Vec2::new(dir.dot(right), dir.dot(up)) / depth;

        // Signed distance to a rounded rectangle, negative inside.
        let beyond = place.abs() - (self.half - self.corner);
        let distance = beyond.max(Vec2::ZERO).length() + beyond.max_element().min(0.0) - self.corner;
        let inside = fade((-distance) / self.fade);
        // The cloth is brighter before the lamp's tube than at its rim.
        let hot = 1.0 - 0.35 * (place / self.half).length_squared().min(2.0) / 2.0;
        let open = if self.bars > 0.0 {
            let thirds = (place.y.abs() - self.half.y / 3.0).abs();
            fade((place.x.abs() - self.bars) / self.fade + 0.5) * fade((thirds - self.bars) / self.fade + 0.5)
        } else {
            1.0
        };
        self.radiance * (inside * hot * open)
    }
}

/// A smooth step from 0 to 1 over `[0, 1]`.
fn fade(at: f32) -> f32 {
    let at = at.clamp(0.0, 1.0);
    at * at * (3.0 - 2.0 * at)
}
