//! Filling of small holes.
//!
//! A hole is a loop of edges with only one triangle each. It is filled with the triangulation of
//! least area over its vertices (after barequet1995), found by dynamic programming over the chords
//! of the loop:
//!
//! ```text
//! W(i, k) = min over i < j < k of  W(i, j) + W(j, k) + area(i, j, k)
//! ```
//!
//! which evaluates n³/6 areas for n edges, hence the limit on n. Chords that are edges of the mesh
//! already are not used. A crack along a T-junction is a hole without area, and is filled like the
//! others.

use std::collections::HashSet;

use glam::{DVec2, DVec3};
use sessile_numerics::OptionalIndex;

use super::report::{FilledHole, MeshDefect};
use super::{MAX_FILLED_SHARE, MAX_HOLE_EDGES};
use crate::TriMesh;
use crate::connectivity::{Connectivity, HalfEdge};

/// The rim of a hole, in the direction of the filling, which is opposite to that of the triangles
/// around it.
struct Rim {
    /// Half-edges of the triangles around the hole; each ends at a vertex of the rim.
    half_edges: Vec<HalfEdge>,
}

impl Rim {
    fn vertices(&self, mesh: &TriMesh) -> Vec<u32> {
        self.half_edges.iter().map(|half_edge| half_edge.ends(&mesh.triangles)[1]).collect()
    }

    fn center(&self, mesh: &TriMesh) -> DVec3 {
        let sum: DVec3 = self.vertices(mesh).iter().map(|&v| mesh.positions[v as usize]).sum();
        sum / self.half_edges.len() as f64
    }
}

/// Fills all holes; holes that are too large are errors.
pub(super) fn fill(mesh: &mut TriMesh, connectivity: &Connectivity) -> Result<Vec<FilledHole>, MeshDefect> {
    let rims = rims(mesh, connectivity);
    if rims.is_empty() {
        return Ok(Vec::new());
    }
    let mut edges: HashSet<[u32; 2]> =
        mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).map(sorted).collect();
    let area_limit = MAX_FILLED_SHARE * mesh.area();
    let mut area = 0.0;
    let mut filled = Vec::new();
    let mut too_large: Vec<&Rim> = Vec::new();
    for rim in &rims {
        let vertices = rim.vertices(mesh);
        let patch = if vertices.len() <= MAX_HOLE_EDGES { least_area(mesh, &vertices, &edges) } else { None };
        match patch {
            Some((patch, patch_area)) if area + patch_area <= area_limit => {
                area += patch_area;
                let uvs = rim_uvs(mesh, rim);
                for corners in patch {
                    let triangle = corners.map(|k| vertices[k]);
                    let [a, b, c] = triangle;
                    edges.extend([[a, b], [b, c], [c, a]].map(sorted));
                    mesh.triangles.push(triangle);
                    if let Some(uvs) = &uvs {
                        mesh.corner_uvs.push(corners.map(|k| uvs[k]));
                    }
                }
                filled.push(FilledHole { edges: vertices.len(), near: rim.center(mesh) });
            }
            _ => too_large.push(rim),
        }
    }
    // The first of the longest.
    match too_large.iter().rev().max_by_key(|rim| rim.half_edges.len()) {
        None => Ok(filled),
        Some(longest) => Err(MeshDefect::Open {
            loops: too_large.len(),
            edges: longest.half_edges.len(),
            near: longest.center(mesh),
        }),
    }
}

/// The boundary as simple loops. Where holes share a vertex, a loop is closed as soon as it returns
/// there.
fn rims(mesh: &TriMesh, connectivity: &Connectivity) -> Vec<Rim> {
    // The rim leaves a vertex against the half-edge that ends there.
    let mut leaving: Vec<(u32, HalfEdge)> =
        connectivity.boundary().map(|half_edge| (half_edge.ends(&mesh.triangles)[1], half_edge)).collect();
    leaving.sort_unstable();
    let mut used = vec![false; leaving.len()];
    let mut index_on_path = vec![OptionalIndex::NONE; if leaving.is_empty() { 0 } else { mesh.positions.len() }];
    let mut rims = Vec::new();
    let mut path: Vec<HalfEdge> = Vec::new();
    for first in 0..leaving.len() {
        let mut next = (!used[first]).then_some(first);
        while let Some(at) = next {
            used[at] = true;
            let (vertex, half_edge) = leaving[at];
            index_on_path[vertex as usize] = OptionalIndex::some(path.len() as u32);
            path.push(half_edge);
            let [to, _] = half_edge.ends(&mesh.triangles);
            if let Some(start) = index_on_path[to as usize].get() {
                let half_edges = path.split_off(start as usize);
                for half_edge in &half_edges {
                    index_on_path[half_edge.ends(&mesh.triangles)[1] as usize] = OptionalIndex::NONE;
                }
                rims.push(Rim { half_edges });
            }
            // After a loop the path continues from where it was closed, which is `to` in either
            // case.
            let start = leaving.partition_point(|&(from, _)| from < to);
            next = (start..leaving.len()).take_while(|&k| leaving[k].0 == to).find(|&k| !used[k] && !path.is_empty());
        }
        path.clear();
    }
    rims
}

/// The texture coordinates of the triangles around the hole at its vertices.
fn rim_uvs(mesh: &TriMesh, rim: &Rim) -> Option<Vec<DVec2>> {
    (!mesh.corner_uvs.is_empty()).then(|| {
        rim.half_edges.iter().map(|half_edge| mesh.corner_uvs[half_edge.triangle()][half_edge.next().side()]).collect()
    })
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The triangulation of least area of a loop, as indices into the loop, and its area; none if all
/// would repeat an edge.
fn least_area(mesh: &TriMesh, rim: &[u32], edges: &HashSet<[u32; 2]>) -> Option<(Vec<[usize; 3]>, f64)> {
    let n = rim.len();
    if n < 3 {
        return None;
    }
    let position = |k: usize| mesh.positions[rim[k] as usize];
    let area =
        |i: usize, j: usize, k: usize| 0.5 * (position(j) - position(i)).cross(position(k) - position(i)).length();
    let mut weight = vec![0.0_f64; n * n];
    let mut apex = vec![0_usize; n * n];
    for span in 2..n {
        for i in 0..n - span {
            let k = i + span;
            let is_rim = span == n - 1;
            let mut best = (f64::INFINITY, 0);
            if is_rim || !edges.contains(&sorted([rim[i], rim[k]])) {
                for j in i + 1..k {
                    let sum = weight[i * n + j] + weight[j * n + k] + area(i, j, k);
                    if sum < best.0 {
                        best = (sum, j);
                    }
                }
            }
            (weight[i * n + k], apex[i * n + k]) = best;
        }
    }
    let total = weight[n - 1];
    if !total.is_finite() {
        return None;
    }
    let mut patch = Vec::with_capacity(n - 2);
    let mut stack = vec![(0, n - 1)];
    while let Some((i, k)) = stack.pop() {
        if k - i >= 2 {
            let j = apex[i * n + k];
            patch.push([i, j, k]);
            stack.extend([(i, j), (j, k)]);
        }
    }
    Some((patch, total))
}
