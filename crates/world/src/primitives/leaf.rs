//! Two half-planes that meet in a valley, and everything below them.
//!
//! Local frame: origin at the scene's `point`, y along the axis, z as close to +y as possible, x
//! across. In a cross-section the two planes leave the valley at half the spanned angle from z, one
//! towards +x and one towards −x:
//!
//! ```text
//!   air within ±angle/2 of z        e = (sin h, cos h), m = (−cos h, sin h), h = angle/2
//!   s = e·(|x|, z)  along a plane,  t = m·(|x|, z)  above it
//!   d = t where s ≥ 0;  otherwise the valley line is nearest: d = −√(x² + z²) (h < 90°) or + (h > 90°)
//! ```
//!
//! The body is a solid and not a sheet: like a plane it is unbounded below, so that the distance
//! has one sign on each side and no liquid leaks through a sheet thinner than a cell. An angle
//! above 180° makes a ridge. `size` bounds the mesh: the length along the axis, and the width
//! measured along the two planes together. u runs across from −x to +x (0.5 is the valley), v along
//! the axis.

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_numerics::math;

use super::MeshBuilder;

/// The body below two planes through the y axis.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Sine and cosine of half the spanned angle.
    half: (f64, f64),
    /// Length along the axis and width across, in m.
    size: [f64; 2],
}

impl Leaf {
    /// Two planes that span `angle` in rad; `size` is the length along the axis and the width along
    /// the planes, in m.
    pub fn new(angle: f64, size: [f64; 2]) -> Self {
        Self { half: math::sin_cos(angle / 2.0), size }
    }

    /// One quadrilateral per half-plane.
    pub fn mesh(&self) -> TriMesh {
        let (sin, cos) = self.half;
        let [length, width] = self.size;
        let mut builder = MeshBuilder::default();
        let mut corner = |side: f64, end: f64| {
            let along = width / 2.0;
            let position = DVec3::new(side * along * sin, end * length / 2.0, side.abs() * along * cos);
            (builder.vertex(position), DVec2::new(0.5 + side / 2.0, 0.5 + end / 2.0))
        };
        let [left, valley, right] = [-1.0, 0.0, 1.0].map(|side| (corner(side, -1.0), corner(side, 1.0)));
        builder.quad([left.0, valley.0, valley.1, left.1]);
        builder.quad([valley.0, right.0, right.1, valley.1]);
        builder.mesh
    }
}

impl Distance for Leaf {
    fn signed_distance(&self, point: DVec3) -> f64 {
        let (sin, cos) = self.half;
        let across = point.x.abs();
        if across * sin + point.z * cos >= 0.0 {
            point.z * sin - across * cos
        } else {
            math::hypot(point.x, point.z).copysign(-cos)
        }
    }

    fn closest(&self, point: DVec3) -> Closest {
        let (sin, cos) = self.half;
        let side = if point.x < 0.0 { -1.0 } else { 1.0 };
        let across = point.x.abs();
        let s = across * sin + point.z * cos;
        let (along, distance, normal) = if s >= 0.0 {
            (s, point.z * sin - across * cos, DVec3::new(-side * cos, 0.0, sin))
        } else {
            let distance = math::hypot(point.x, point.z).copysign(-cos);
            (0.0, distance, DVec3::new(point.x, 0.0, point.z) / distance)
        };
        Closest {
            point: DVec3::new(side * along * sin, point.y, along * cos),
            normal,
            distance,
            uv: DVec2::new(0.5 + side * along / self.size[1], 0.5 + point.y / self.size[0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::checks;

    #[test]
    fn valleys_and_ridges_agree_with_their_meshes() {
        for degrees in [60.0f64, 120.0, 180.0, 250.0] {
            let leaf = Leaf::new(degrees.to_radians(), [0.8, 0.9]);
            // Nearest points of these queries lie on the meshed part.
            checks::nearest_point_on_mesh_agrees(&leaf, &leaf.mesh(), |p| p.length() < 0.3, 0.3, 1e-14);
            checks::gradient_is_unit(&leaf, 0.3);
            checks::texture_coordinates_agree(&leaf, &leaf.mesh(), 1e-14);
        }
    }

    #[test]
    fn air_is_between_the_planes_and_the_body_below() {
        let leaf = Leaf::new(120f64.to_radians(), [1.0, 1.0]);
        let above = leaf.signed_distance(DVec3::Z);
        assert!(
            (above - 60f64.to_radians().sin()).abs() < 1e-15,
            "on the bisector: sin 60° of the height, got {above}"
        );
        let below = leaf.closest(DVec3::new(0.28, 0.1, -0.96));
        assert!((below.distance + 1.0).abs() < 1e-15, "under the valley the valley is nearest: {below:?}");
        assert!((below.normal - DVec3::new(-0.28, 0.0, 0.96)).length() < 1e-14, "{below:?}");
    }
}
