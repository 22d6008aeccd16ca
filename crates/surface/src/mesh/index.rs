//! Typed indices of a mesh.

use serde::{Deserialize, Serialize};
use sessile_numerics::typed_index;

typed_index! {
    /// A vertex of a mesh.
    #[derive(Serialize, Deserialize)]
    pub struct VertexIndex;
}

typed_index! {
    /// A triangle of a mesh.
    #[derive(Serialize, Deserialize)]
    pub struct TriangleIndex;
}

typed_index! {
    /// A half-edge of a mesh: 3t + k runs from corner k of triangle t to the next corner.
    #[derive(Serialize, Deserialize)]
    pub struct HalfEdgeIndex;
}

/// Corners of triangles as plain numbers, as the geometry crate stores them.
pub fn plain_triangles(triangles: &[[VertexIndex; 3]]) -> Vec<[u32; 3]> {
    triangles.iter().map(|corners| corners.map(VertexIndex::to_u32)).collect()
}

/// Typed corners of the triangles of a plain mesh.
pub fn typed_triangles(triangles: &[[u32; 3]]) -> Vec<[VertexIndex; 3]> {
    triangles.iter().map(|corners| corners.map(|v| VertexIndex::new(v as usize))).collect()
}

impl TriangleIndex {
    /// The half-edge that starts at corner `k`, 0 to 2.
    #[inline]
    pub fn half_edge(self, k: usize) -> HalfEdgeIndex {
        HalfEdgeIndex::new(3 * self.to_usize() + k)
    }

    /// Its half-edges.
    #[inline]
    pub fn half_edges(self) -> [HalfEdgeIndex; 3] {
        [0, 1, 2].map(|k| self.half_edge(k))
    }
}

impl HalfEdgeIndex {
    /// The triangle that it belongs to.
    #[inline]
    pub fn triangle(self) -> TriangleIndex {
        TriangleIndex::new(self.to_usize() / 3)
    }

    /// The corner of its triangle at which it starts, 0 to 2.
    #[inline]
    pub fn corner(self) -> usize {
        self.to_usize() % 3
    }

    /// The half-edge after it in its triangle.
    #[inline]
    pub fn next(self) -> Self {
        Self::new(if self.corner() == 2 { self.to_usize() - 2 } else { self.to_usize() + 1 })
    }

    /// The half-edge before it in its triangle.
    #[inline]
    pub fn previous(self) -> Self {
        Self::new(if self.corner() == 0 { self.to_usize() + 2 } else { self.to_usize() - 1 })
    }
}
