//! Distances to four triangles at once, in single precision, with a bound on the error.
//!
//! Each triangle has a local frame: corner a at the origin, b on the x axis, c in the xy plane. In
//! it, a point at height `h` lies `s` outside an edge (measured across it) and `t` beyond its ends
//! (measured along it), and
//!
//! ```text
//! distance² = h² + min over the edges of (s² + t²),    or h² if it is outside none of them.
//! ```
//!
//! Nothing is divided by the size of the triangle, so degenerate shapes do no harm: the error is a
//! few roundings of the coordinates ([`ROUNDING`]), and the caller measures candidates that close
//! in double precision.

use glam::{DVec3, Vec4};

use super::normals::face_normal;
use crate::TriMesh;
use crate::bvh::{Bvh, LEAF};

/// Error of a distance, relative to the coordinates. A rotation into a frame rounds three products,
/// three sums and seven factors, at 6e-8 each; an edge doubles that; three components add up. The
/// result is doubled for safety.
const ROUNDING: f64 = 4e-6;

/// Four triangles, each in its local frame.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    /// Rows of the rotation into the frame, and its origin.
    axes: [[Vec4; 4]; 3],
    /// Lengths of the edges ab, bc and ac.
    lengths: [Vec4; 3],
    /// Directions of the edges bc and ac.
    bc: [Vec4; 2],
    ac: [Vec4; 2],
}

/// A query point prepared for packets.
pub(super) struct Probe {
    point: [Vec4; 3],
    /// Error of every distance from this point, in m.
    pub error: f64,
}

impl Probe {
    pub fn new(point: DVec3, bvh: &Bvh) -> Self {
        let local = point - bvh.center();
        let scale = local.abs().element_sum() + bvh.bounds().extent().element_sum();
        Self { point: [local.x, local.y, local.z].map(|x| Vec4::splat(x as f32)), error: ROUNDING * scale }
    }
}

impl Packet {
    pub fn new(mesh: &TriMesh, triangles: &[u32; LEAF], center: DVec3) -> Self {
        let zero = Vec4::ZERO;
        let mut packet = Self { axes: [[zero; 4]; 3], lengths: [zero; 3], bc: [zero; 2], ac: [zero; 2] };
        for (i, &triangle) in triangles.iter().enumerate() {
            if triangles[..i].contains(&triangle) {
                // A leaf that is not full repeats its first triangle, which need not be measured
                // twice.
                packet.axes[2][3][i] = f32::INFINITY;
                continue;
            }
            let corners = mesh.corners(triangle as usize);
            let [a, b, c] = corners;
            let x = (b - a).normalize_or_zero();
            let y = face_normal(corners).unwrap_or(DVec3::ZERO).cross(x).normalize_or_zero();
            for (row, axis) in [x, y, x.cross(y)].into_iter().enumerate() {
                let shift = -axis.dot(a - center);
                for (k, value) in [axis.x, axis.y, axis.z, shift].into_iter().enumerate() {
                    packet.axes[row][k][i] = value as f32;
                }
            }
            for (side, edge) in [b - a, c - b, c - a].into_iter().enumerate() {
                packet.lengths[side][i] = edge.length() as f32;
                let direction = edge.normalize_or_zero();
                for (k, axis) in [x, y].into_iter().enumerate() {
                    match side {
                        1 => packet.bc[k][i] = direction.dot(axis) as f32,
                        2 => packet.ac[k][i] = direction.dot(axis) as f32,
                        _ => {}
                    }
                }
            }
        }
        packet
    }

    /// Squared distances, in m²; infinite or NaN if they are too large for single precision.
    #[inline(always)]
    pub fn squared_distances(&self, probe: &Probe) -> Vec4 {
        let [px, py, pz] = probe.point;
        let [x, y, height] = self.axes.each_ref().map(|[ax, ay, az, shift]| *ax * px + *ay * py + *az * pz + *shift);
        let [ab_length, bc_length, ac_length] = self.lengths;
        let from_b = x - ab_length;
        // Distance across each edge, positive outside the triangle, and along it from its first
        // corner.
        let sides = [
            (-y, x, ab_length),
            (from_b * self.bc[1] - y * self.bc[0], from_b * self.bc[0] + y * self.bc[1], bc_length),
            (y * self.ac[0] - x * self.ac[1], x * self.ac[0] + y * self.ac[1], ac_length),
        ];
        let [ab, bc, ac] = sides.map(|(across, along, length)| {
            let beyond = (along - length).max(-along).max(Vec4::ZERO);
            across * across + beyond * beyond
        });
        let outside = sides[0].0.max(sides[1].0).max(sides[2].0).cmpgt(Vec4::ZERO);
        height * height + Vec4::select(outside, ab.min(bc).min(ac), Vec4::ZERO)
    }
}
