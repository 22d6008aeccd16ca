//! A photo studio for drops: a dark room and a few soft boxes.
//!
//! A drop shows its surroundings twice: as reflections, which look best with lights of clear
//! outline on black, and upside down in refraction, which looks best in a dark room with bright
//! lights just outside the image: they make the drop's far edge bright and its silhouette dark. So,
//! seen from +z: a backdrop with a pool of light that fades into dark corners; a wide soft box
//! above it, out of the frame of a pane that is seen frontally; a small hard light high at the back
//! right, for highlights, shadows and caustics; a tall window-like box at the front left; strip
//! lights at the sides for edges; a dim round reflector at the front right.
//!
//! A light is a rounded rectangle on the plane tangent to the unit sphere at the light's center.
//! Scaled so that a horizontal white surface has radiance 1.

use std::f32::consts::PI;

use glam::{Vec2, Vec3};

use super::{LatLong, luminance};

const SIZE: [usize; 2] = [1024, 512];

struct SoftBox {
    /// Direction of its center.
    towards: Vec3,
    /// Half its width and height at a distance of 1.
    half: Vec2,
    /// Radius of its corners, likewise.
    corner: f32,
    /// Width of its soft edge.
    fade: f32,
    /// Radiance at its center.
    radiance: Vec3,
    /// Half-width of the bars that divide it like a window; zero for none.
    bars: f32,
}

const SOFT_BOXES: [SoftBox; 6] = [
    // The soft box above the backdrop, to the right, so that a table seen from the right does not
    // reflect it.
    SoftBox {
        towards: Vec3::new(0.30, 0.76, -1.0),
        half: Vec2::new(0.60, 0.26),
        corner: 0.05,
        fade: 0.03,
        radiance: Vec3::new(4.2, 4.4, 4.8),
        bars: 0.0,
    },
    // The hard light.
    SoftBox {
        towards: Vec3::new(0.75, 1.35, -0.55),
        half: Vec2::new(0.085, 0.085),
        corner: 0.085,
        fade: 0.02,
        radiance: Vec3::new(64.0, 60.0, 53.0),
        bars: 0.0,
    },
    // The key light: a tall window at the front left.
    SoftBox {
        towards: Vec3::new(-0.90, 0.85, 0.60),
        half: Vec2::new(0.30, 0.42),
        corner: 0.03,
        fade: 0.02,
        radiance: Vec3::new(5.4, 5.2, 4.8),
        bars: 0.022,
    },
    // Strip lights at the sides, which outline the drop.
    SoftBox {
        towards: Vec3::new(1.0, 0.16, -0.42),
        half: Vec2::new(0.10, 0.52),
        corner: 0.05,
        fade: 0.03,
        radiance: Vec3::new(3.6, 4.0, 4.6),
        bars: 0.0,
    },
    SoftBox {
        towards: Vec3::new(-1.0, 0.16, -0.30),
        half: Vec2::new(0.08, 0.46),
        corner: 0.05,
        fade: 0.03,
        radiance: Vec3::new(3.4, 3.0, 2.5),
        bars: 0.0,
    },
    // A dim reflector at the right of the camera fills the shadows. It is round and fades from its
    // center on: a small drop would show an outline as a gray square.
    SoftBox {
        towards: Vec3::new(0.85, 0.30, 0.90),
        half: Vec2::new(0.60, 0.60),
        corner: 0.60,
        fade: 0.60,
        radiance: Vec3::new(0.82, 0.78, 0.72),
        bars: 0.0,
    },
];

/// Generates the room.
pub(super) fn paint() -> LatLong {
    let [width, height] = SIZE;
    let mut image = LatLong::filled(width, height, |dir| {
        let boxes: Vec3 = SOFT_BOXES.iter().map(|soft_box| soft_box.radiance(dir)).sum();
        walls(dir) + boxes
    });
    image.sanitize(PI / luminance(image.irradiance(Vec3::Y)));
    image
}

/// A dark room, and the backdrop with its pool of light: warm at its center, cool farther out.
fn walls(dir: Vec3) -> Vec3 {
    let behind = (-dir.z).max(0.0);
    let pool = |wide: f32, high: f32| {
        let (across, up) = (dir.x / wide, (dir.y + 0.05) / high);
        behind.min(1.0) * (-0.5 * (across * across + up * up)).exp()
    };
    // The backdrop ends above the floor's dark edge, which gives drops their dark tops.
    let sweep = fade((dir.y + 0.36) / 0.16);
    Vec3::new(0.022, 0.025, 0.031)
        + (Vec3::new(0.13, 0.20, 0.29) * pool(0.62, 0.26) + Vec3::new(0.55, 0.53, 0.48) * pool(0.30, 0.13)) * sweep
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
        // The cloth is brighter in front of the tube than at its border.
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
