//! The triangle mesh that files, distances and isosurfaces share.

use glam::{DVec2, DVec3};

/// A triangle mesh in meters. Triangles wind counterclockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners; empty when the mesh has none. They belong to
    /// corners, so that seams need no duplicate vertices.
    pub corner_uvs: Vec<[DVec2; 3]>,
}

impl TriMesh {
    /// The corners of triangle `t`.
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Enclosed volume of a closed mesh by the divergence theorem, in m³; positive when its normals
    /// point outwards.
    pub fn volume(&self) -> f64 {
        let corner = |v: u32| self.positions[v as usize];
        let sum: f64 = self.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c)))).sum();
        sum / 6.0
    }

    /// Surface area, in m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| self.corners(t)).map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum()
    }
}
