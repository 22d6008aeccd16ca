//! Polygons of a mesh, and their triangles.

use std::ops::Range;

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_numerics::OptionalIndex;

/// Polygons between points that are kept apart, as they may move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polygons {
    /// Number of corners of each polygon.
    pub counts: Vec<usize>,
    /// Points of all corners, polygon after polygon.
    pub indices: Vec<usize>,
    /// Texture coordinates of all corners; empty where the mesh has none.
    pub uvs: Vec<DVec2>,
}

/// Triangles of some of the polygons.
#[derive(Clone, Debug)]
pub struct Triangulation {
    /// Point of each vertex.
    used: Vec<usize>,
    triangles: Vec<[u32; 3]>,
    corner_uvs: Vec<[DVec2; 3]>,
}

impl Polygons {
    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Reverses the order of the corners of every polygon.
    pub fn reverse_winding(&mut self) {
        let mut start = 0_usize;
        for count in &self.counts {
            let Some(end) = start.checked_add(*count).filter(|end| *end <= self.indices.len()) else { break };
            self.indices[start..end].reverse();
            if self.uvs.len() >= end {
                self.uvs[start..end].reverse();
            }
            start = end;
        }
    }

    /// Ranges of the corners of all polygons; `None` if there are fewer corners.
    pub fn ranges(&self) -> Option<Vec<Range<usize>>> {
        let mut end = 0_usize;
        let mut ranges = Vec::with_capacity(self.counts.len());
        for count in &self.counts {
            let start = end;
            end = end.checked_add(*count)?;
            ranges.push(start..end);
        }
        (end <= self.indices.len()).then_some(ranges)
    }

    /// Splits some of the polygons between `num_points` points into triangle fans, with only the
    /// points that they use. The error says what is wrong with the mesh.
    pub fn triangulate(&self, faces: &[usize], num_points: usize) -> Result<Triangulation, &'static str> {
        let ranges = self.ranges().ok_or("its faces have more corners than it has indices")?;
        let mut new_index = vec![OptionalIndex::NONE; num_points];
        let (mut used, mut triangles, mut corner_uvs) = (Vec::new(), Vec::new(), Vec::new());
        let has_uvs = self.uvs.len() == self.indices.len() && !self.uvs.is_empty();
        for range in faces.iter().filter_map(|face| ranges.get(*face)) {
            let mut own = Vec::with_capacity(range.len());
            for &point in &self.indices[range.clone()] {
                let index = new_index.get_mut(point).ok_or("an index is out of range")?;
                own.push(index.get_or_insert_with(|| {
                    used.push(point);
                    used.len() as u32 - 1
                }));
            }
            for k in 1..own.len().saturating_sub(1) {
                triangles.push([own[0], own[k], own[k + 1]]);
                if has_uvs {
                    corner_uvs.push([0, k, k + 1].map(|corner| self.uvs[range.start + corner]));
                }
            }
        }
        if !corner_uvs.as_flattened().iter().all(|uv: &DVec2| uv.is_finite()) {
            return Err("a texture coordinate is not finite");
        }
        Ok(Triangulation { used, triangles, corner_uvs })
    }
}

impl Triangulation {
    /// The vertices, if they are finite.
    pub fn positions(&self, points: &[DVec3]) -> Option<Vec<DVec3>> {
        self.used.iter().map(|point| points.get(*point).copied().filter(|p| p.is_finite())).collect()
    }

    /// The mesh, if its vertices are finite.
    pub fn mesh(&self, points: &[DVec3]) -> Option<TriMesh> {
        let positions = self.positions(points)?;
        Some(TriMesh { positions, triangles: self.triangles.clone(), corner_uvs: self.corner_uvs.clone() })
    }
}
