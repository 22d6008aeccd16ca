//! Signed distance and closest point, for solids given by a formula or a mesh.

use glam::{DVec2, DVec3};

/// The closest point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// The closest point on the surface, in m.
    pub point: DVec3,
    /// Unit normal there, out of the solid.
    pub normal: DVec3,
    /// Signed distance to it, in m: negative inside the solid.
    pub distance: f64,
    /// Texture coordinates there.
    pub uv: DVec2,
}

/// A closed body with a signed distance.
pub trait Distance: Send + Sync {
    /// Signed distance, in m: negative inside the solid.
    fn signed_distance(&self, point: DVec3) -> f64;

    /// The closest point of the surface, with its normal and texture coordinates.
    fn closest(&self, point: DVec3) -> Closest;
}
