//! Removal of duplicate vertices, degenerate and duplicate triangles, and unused vertices.

use glam::DVec3;
use sessile_numerics::UnionFind;

use super::weld;
use crate::TriMesh;

/// Merges vertices within `tolerance` and removes the triangles that collapse; returns the number
/// of each.
pub(super) fn weld_vertices(mesh: &mut TriMesh, tolerance: f64) -> (usize, usize) {
    let representative = weld::representatives(&mesh.positions, tolerance);
    let merged = (0..mesh.positions.len()).filter(|&v| representative[v] as usize != v).count();
    for triangle in &mut mesh.triangles {
        *triangle = triangle.map(|v| representative[v as usize]);
    }
    let before = mesh.triangles.len();
    keep_triangles(mesh, |_, [a, b, c]| a != b && b != c && c != a);
    (merged, before - mesh.triangles.len())
}

/// Removes duplicate triangles; returns their number.
///
/// Of copies with the same orientation, one remains. Copies with opposite orientation cancel: they
/// are the two sides of an inner wall, such as the one between two boxes that share a face. Only
/// where everything connected would vanish, they are a two-sided sheet, and one side remains.
pub(super) fn drop_duplicates(mesh: &mut TriMesh) -> usize {
    let mut order: Vec<([u32; 3], u32)> = (0_u32..)
        .zip(&mesh.triangles)
        .map(|(t, &triangle)| {
            let mut corners = triangle;
            corners.sort_unstable();
            (corners, t)
        })
        .collect();
    order.sort_unstable();
    let mut keep = vec![true; mesh.triangles.len()];
    let mut canceled = Vec::new();
    for copies in order.chunk_by(|a, b| a.0 == b.0).filter(|copies| copies.len() > 1) {
        copies.iter().for_each(|&(_, t)| keep[t as usize] = false);
        let winding = |t: u32| if is_even(mesh.triangles[t as usize]) { 1 } else { -1 };
        let net: i64 = copies.iter().map(|&(_, t)| winding(t)).sum();
        match copies.iter().find(|&&(_, t)| winding(t) == net.signum()) {
            Some(&(_, first)) => keep[first as usize] = true,
            None => canceled.push(copies[0].1),
        }
    }
    keep_two_sided_sheets(mesh, &mut keep, &canceled);
    let before = mesh.triangles.len();
    keep_triangles(mesh, |t, _| keep[t]);
    before - mesh.triangles.len()
}

/// Whether a triangle's vertices ascend, up to a rotation.
fn is_even([a, b, c]: [u32; 3]) -> bool {
    [a < b, b < c, c < a].into_iter().filter(|&ascends| ascends).count() == 2
}

/// Keeps one copy of canceled triangles that are not connected to any remaining triangle.
fn keep_two_sided_sheets(mesh: &TriMesh, keep: &mut [bool], canceled: &[u32]) {
    if canceled.is_empty() {
        return;
    }
    let mut components = UnionFind::new(mesh.positions.len());
    for &[a, b, c] in &mesh.triangles {
        components.union(a, b);
        components.union(a, c);
    }
    let mut remains = vec![false; mesh.positions.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        if keep[t] {
            remains[components.find(triangle[0]) as usize] = true;
        }
    }
    for &t in canceled {
        keep[t as usize] = !remains[components.find(mesh.triangles[t as usize][0]) as usize];
    }
}

/// Removes the triangles for which `keep` is false, with their texture coordinates.
pub(super) fn keep_triangles(mesh: &mut TriMesh, mut keep: impl FnMut(usize, [u32; 3]) -> bool) {
    let mut kept = 0;
    for t in 0..mesh.triangles.len() {
        if keep(t, mesh.triangles[t]) {
            mesh.triangles[kept] = mesh.triangles[t];
            if !mesh.corner_uvs.is_empty() {
                mesh.corner_uvs[kept] = mesh.corner_uvs[t];
            }
            kept += 1;
        }
    }
    mesh.triangles.truncate(kept);
    mesh.corner_uvs.truncate(kept);
}

/// Reverses the orientation of a triangle.
pub(super) fn flip(mesh: &mut TriMesh, triangle: usize) {
    mesh.triangles[triangle].swap(1, 2);
    if let Some(uvs) = mesh.corner_uvs.get_mut(triangle) {
        uvs.swap(1, 2);
    }
}

/// Removes the vertices that no triangle uses; the others keep their order.
pub(super) fn drop_unused_vertices(mesh: &mut TriMesh) {
    let mut used = vec![false; mesh.positions.len()];
    for &vertex in mesh.triangles.as_flattened() {
        used[vertex as usize] = true;
    }
    let mut new_index = vec![0_u32; used.len()];
    let mut positions: Vec<DVec3> = Vec::new();
    for (vertex, &position) in mesh.positions.iter().enumerate().filter(|&(vertex, _)| used[vertex]) {
        new_index[vertex] = positions.len() as u32;
        positions.push(position);
    }
    for triangle in &mut mesh.triangles {
        *triangle = triangle.map(|v| new_index[v as usize]);
    }
    mesh.positions = positions;
}
