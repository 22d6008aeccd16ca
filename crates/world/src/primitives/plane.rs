//! A half-space: everything below z = 0 of its own frame, of which a rectangle is meshed.
//!
//! Local frame: origin at the scene's `point`, x = u, y = v, z = normal (see
//! [`sessile_scene::plane_axes`]). The body and its distance are unbounded; `size` bounds the mesh,
//! and the texture coordinates run from 0 to 1 across it.

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};

use super::MeshBuilder;

/// The half-space z < 0.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Extent of the meshed part along u and v, in m.
    pub size: [f64; 2],
}

impl Plane {
    /// The meshed rectangle, as two triangles.
    pub fn mesh(&self) -> TriMesh {
        let [w, h] = self.size.map(|s| s / 2.0);
        let mut builder = MeshBuilder::default();
        let corners = [(-w, -h), (w, -h), (w, h), (-w, h)].map(|(x, y)| {
            let uv = DVec2::new((x / w + 1.0) / 2.0, (y / h + 1.0) / 2.0);
            (builder.vertex(DVec3::new(x, y, 0.0)), uv)
        });
        builder.quad(corners);
        builder.mesh
    }
}

impl Distance for Plane {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.z
    }

    fn closest(&self, point: DVec3) -> Closest {
        let uv = DVec2::new(point.x / self.size[0] + 0.5, point.y / self.size[1] + 0.5);
        Closest { point: point.with_z(0.0), normal: DVec3::Z, distance: point.z, uv }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::checks;

    #[test]
    fn a_plane_agrees_with_its_mesh() {
        let plane = Plane { size: [0.3, 0.4] };
        checks::nearest_point_on_mesh_agrees(
            &plane,
            &plane.mesh(),
            |p| p.x.abs() < 0.15 && p.y.abs() < 0.2,
            0.3,
            1e-14,
        );
        checks::gradient_is_unit(&plane, 0.3);
        checks::texture_coordinates_agree(&plane, &plane.mesh(), 1e-14);
    }
}
