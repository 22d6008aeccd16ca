//! Texture coordinates for a surface that has none (UV unwrapping).
//!
//! The surface is divided into charts of similar normals. Each is projected to a plane and, where
//! it would overlap itself, divided again; then all are packed into the unit square at one scale.
//! Therefore
//! - no two triangles share a point of the square, except along edges;
//! - the area of a chart in the square is its area in space times a constant; within a chart, that
//!   of a triangle varies with its tilt, between 0.65 and 1.5 times its share;
//! - every triangle keeps its orientation and, if it has area in space, has area in the square.
//!
//! Charts are at least two texels of a 1024² image apart, so that filtering does not bleed between
//! them.

mod charts;
mod flatten;
mod pack;

use rayon::prelude::*;
use sessile_numerics::OptionalIndex;

use crate::TriMesh;

/// The result of [`unwrap`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnwrapReport {
    /// Number of charts.
    pub num_charts: usize,
    /// Number of charts that were divided because they would overlap themselves.
    pub num_divided: usize,
    /// Fraction of the unit square that triangles cover.
    pub coverage: f64,
    /// Texture coordinates per meter of surface, in 1/m.
    pub scale: f64,
}

/// Replaces the texture coordinates of a mesh by ones in the unit square. The result is
/// deterministic.
pub fn unwrap(mesh: &mut TriMesh) -> UnwrapReport {
    if mesh.triangles.is_empty() {
        mesh.corner_uvs.clear();
        return UnwrapReport::default();
    }
    let across = charts::neighbors(mesh);
    let charts = charts::grow(mesh, &across);
    let surface = &*mesh;
    let parts: Vec<Vec<flatten::FlatChart>> = charts
        .par_iter()
        .map_init(
            || vec![OptionalIndex::NONE; surface.triangles.len()],
            |index_in_chart, chart| flatten::flatten(surface, &across, chart, index_in_chart),
        )
        .collect();
    let num_divided = parts.iter().filter(|parts| parts.len() > 1).count();
    let flat: Vec<flatten::FlatChart> = parts.into_iter().flatten().collect();
    let packing = pack::pack(&flat, mesh.area());
    mesh.corner_uvs.clear();
    mesh.corner_uvs.resize(mesh.triangles.len(), Default::default());
    for (index, chart) in flat.iter().enumerate() {
        for (&t, corners) in chart.triangles.iter().zip(&chart.corners) {
            mesh.corner_uvs[t as usize] = corners.map(|corner| packing.uv(index, corner));
        }
    }
    let coverage = mesh.corner_uvs.iter().map(|&[a, b, c]| 0.5 * (b - a).perp_dot(c - a)).sum();
    UnwrapReport { num_charts: flat.len(), num_divided, coverage, scale: packing.scale }
}

#[cfg(test)]
mod tests;
