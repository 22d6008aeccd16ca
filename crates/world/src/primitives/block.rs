//! An axis-aligned box.
//!
//! Local frame: origin at the center, axes as in the scene. Outside, the nearest point is the point
//! clamped to the box; inside, it lies on the nearest face. Where two faces are equally near, the
//! first of x, y, z wins. Past an edge or a corner the normal points from the nearest point to the
//! query. The six faces are charts in three rows: left and right, back and front, bottom and top; v
//! is up on the sides and −z on the two level faces.

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_scene::plane_axes;

use super::{Chart, MeshBuilder, pack_rows};

/// A box centered on the origin.
#[derive(Clone, Debug)]
pub struct Block {
    half: DVec3,
    /// Charts of −x, +x, −y, +y, −z, +z.
    charts: [Chart; 6],
}

impl Block {
    /// The box with half extents `half`, in m, all positive.
    pub fn new(half: DVec3) -> Self {
        let [w, h, d] = (half * 2.0).to_array();
        let packed = pack_rows(&[&[[w, d], [w, d]], &[[d, h], [d, h]], &[[w, h], [w, h]]]);
        let charts = [packed[2], packed[3], packed[0], packed[1], packed[4], packed[5]];
        Self { half, charts }
    }

    /// Texture coordinates of a point on the face that faces `sign` along `axis`.
    fn uv(&self, axis: usize, sign: f64, point: DVec3) -> DVec2 {
        let mut normal = DVec3::ZERO;
        normal[axis] = sign;
        let (u, v) = plane_axes(normal);
        let part = |direction: DVec3| (point / self.half).dot(direction) / 2.0 + 0.5;
        self.charts[2 * axis + usize::from(sign > 0.0)].at(DVec2::new(part(u), part(v)))
    }

    /// Two triangles per face.
    pub fn mesh(&self) -> TriMesh {
        let mut builder = MeshBuilder::default();
        for corner in 0..8u8 {
            let sign = |bit: u8| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            builder.vertex(self.half * DVec3::new(sign(0), sign(1), sign(2)));
        }
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = DVec3::ZERO;
                normal[axis] = sign;
                let (u, v) = plane_axes(normal);
                let corner = |a: f64, b: f64| {
                    let direction = normal + u * a + v * b;
                    let index = (0..3).map(|k| u32::from(direction[k] > 0.0) << k).sum();
                    (index, self.uv(axis, sign, self.half * direction))
                };
                builder.quad([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]);
            }
        }
        builder.mesh
    }
}

impl Distance for Block {
    fn signed_distance(&self, point: DVec3) -> f64 {
        let beyond = point.abs() - self.half;
        beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
    }

    fn closest(&self, point: DVec3) -> Closest {
        let beyond = point.abs() - self.half;
        // The face that the point is furthest beyond (outside), or nearest to (inside): the first
        // of equal ones.
        let axis = (1..3).fold(0, |best, k| if beyond[k] > beyond[best] { k } else { best });
        let sign = if point[axis] < 0.0 { -1.0 } else { 1.0 };
        let mut face_normal = DVec3::ZERO;
        face_normal[axis] = sign;
        let mut nearest = point.clamp(-self.half, self.half);
        let outside = beyond[axis] > 0.0;
        if !outside {
            nearest[axis] = sign * self.half[axis];
        }
        let offset = point - nearest;
        let corner = outside && beyond.cmpgt(DVec3::ZERO).bitmask().count_ones() > 1;
        Closest {
            point: nearest,
            normal: if corner { offset.normalize() } else { face_normal },
            distance: if outside { offset.length() } else { beyond[axis] },
            uv: self.uv(axis, sign, nearest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::checks;

    #[test]
    fn a_box_agrees_with_its_mesh() {
        let block = Block::new(DVec3::new(0.1, 0.2, 0.05));
        let mesh = block.mesh();
        checks::nearest_point_on_mesh_agrees(&block, &mesh, |_| true, 0.4, 1e-14);
        checks::gradient_is_unit(&block, 0.4);
        checks::texture_coordinates_agree(&block, &mesh, 1e-14);
        checks::mesh_is_closed(&mesh);
        checks::charts_do_not_overlap(&mesh);
        let volume = mesh.volume();
        assert!((volume - 0.2 * 0.4 * 0.1).abs() < 1e-16, "volume {volume}");
    }

    #[test]
    fn past_an_edge_the_distance_is_to_the_edge() {
        let block = Block::new(DVec3::ONE);
        let near = block.closest(DVec3::new(4.0, 5.0, 0.5));
        assert_eq!((near.distance, near.point), (5.0, DVec3::new(1.0, 1.0, 0.5)));
        assert!((near.normal - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15);
    }
}
