//! SDF primitives: exact signed distance, closest point and a mesh with texture coordinates.
//!
//! A primitive is centered on its shape's origin and has local axes (documented in each file);
//! `solid` transforms it to the world. Texture coordinates of a query and of the mesh agree. They
//! are in [0, 1]², except on planes and leaves beyond the meshed part, where they continue
//! linearly. On every flat face (u, v, normal) is right-handed, so that images are not mirrored.

pub(crate) mod block;
pub(crate) mod cylinder;
pub(crate) mod leaf;
pub(crate) mod plane;
pub(crate) mod sphere;

use glam::{DMat3, DVec2, DVec3};
use sessile_geometry::TriMesh;

/// Axes whose second column is the unit vector `along` and whose third is as close to +y as
/// possible.
///
/// If `along` is vertical, the third column is as close to +z as possible.
pub(crate) fn axes_along(along: DVec3) -> DMat3 {
    let up = DVec3::Y - along * along.y;
    let up = if up.length() < 1e-6 { DVec3::Z - along * along.z } else { up }.normalize();
    DMat3::from_cols(along.cross(up), along, up)
}

/// The rectangle of one face in texture space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chart {
    /// Lower left corner.
    pub min: DVec2,
    /// Width and height.
    pub size: DVec2,
}

impl Chart {
    /// Texture coordinates of a point with coordinates `part` ∈ [0, 1]² on the face.
    pub fn at(&self, part: DVec2) -> DVec2 {
        self.min + self.size * part
    }
}

/// Gap between two charts and at the border, as a fraction of the unit square: 2 texels of a
/// 512-texel map.
pub(crate) const GAP: f64 = 1.0 / 256.0;

/// Packs rows of charts, bottom row first, into the unit square, the charts of a row side by side.
///
/// Widths within a row and heights of the rows are proportional to the faces' sizes in m; both
/// directions are scaled to fill the square.
pub(crate) fn pack_rows(rows: &[&[[f64; 2]]]) -> Vec<Chart> {
    let heights: Vec<f64> = rows.iter().map(|row| row.iter().fold(0.0, |h: f64, face| h.max(face[1]))).collect();
    let room = 1.0 - GAP * (rows.len() + 1) as f64;
    let per_height = room / heights.iter().sum::<f64>();
    let mut charts = Vec::new();
    let mut bottom = GAP;
    for (row, height) in rows.iter().zip(&heights) {
        let room = 1.0 - GAP * (row.len() + 1) as f64;
        let per_width = room / row.iter().map(|face| face[0]).sum::<f64>();
        let mut left = GAP;
        for face in *row {
            charts.push(Chart {
                min: DVec2::new(left, bottom),
                size: DVec2::new(face[0] * per_width, face[1] * per_height),
            });
            left += face[0] * per_width + GAP;
        }
        bottom += height * per_height + GAP;
    }
    charts
}

/// A mesh that grows by builder.
#[derive(Default)]
pub(crate) struct MeshBuilder {
    pub mesh: TriMesh,
}

impl MeshBuilder {
    /// Adds a vertex.
    pub fn vertex(&mut self, position: DVec3) -> u32 {
        self.mesh.positions.push(position);
        (self.mesh.positions.len() - 1) as u32
    }

    /// Adds a triangle with its corners' texture coordinates.
    pub fn triangle(&mut self, corners: [(u32, DVec2); 3]) {
        self.mesh.triangles.push(corners.map(|c| c.0));
        self.mesh.corner_uvs.push(corners.map(|c| c.1));
    }

    /// Adds a quadrilateral, corners counter-clockwise seen from outside.
    pub fn quad(&mut self, [a, b, c, d]: [(u32, DVec2); 4]) {
        self.triangle([a, b, c]);
        self.triangle([a, c, d]);
    }
}

#[cfg(test)]
pub(crate) mod checks;
