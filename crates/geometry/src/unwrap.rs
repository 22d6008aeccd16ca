//! Texture coordinates for a surface that has none, so that what happens on it can be kept in an image.
//!
//! The surface is divided into charts that can be seen from one side, each is laid flat and, where it would cover itself,
//! divided again; then all are packed in the unit square at one scale. So
//! - no two triangles share a point of the square, except along edges;
//! - every chart has the area in the square that it has in space, times one constant; within a chart, the area of a
//!   triangle follows its tilt: between 0.65 and 1.5 times its share;
//! - every triangle keeps its orientation and, if it has area in space, has area in the square.
//!
//! Charts keep two texels of a 1024² image between them, so that filtering does not bleed from one to the next.

mod charts;
mod flatten;
mod pack;

use rayon::prelude::*;

use crate::TriMesh;

/// What [`unwrap`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnwrapReport {
    /// Number of charts.
    pub num_charts: usize,
    /// Charts that had to be divided because they would have covered themselves.
    pub num_divided: usize,
    /// Fraction of the unit square that triangles cover.
    pub coverage: f64,
    /// Length in the unit square of a meter of surface, in 1/m.
    pub scale: f64,
}

/// Gives every corner of a mesh texture coordinates in the unit square, in place of any that it had.
///
/// The same mesh always gets the same ones.
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
            || vec![flatten::OUTSIDE; surface.triangles.len()],
            |places, chart| flatten::flatten(surface, &across, chart, places),
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
