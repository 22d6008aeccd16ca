//! Dropping triangles and vertices that add nothing.

use glam::DVec3;

use super::weld;
use crate::TriMesh;

/// Merges vertices within `tolerance` and drops the triangles that collapse. Returns how many of each.
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

/// Drops triangles that others repeat, and returns how many.
///
/// Copies that wind alike leave one. Copies that wind against each other cancel: they are the two sides of an inner wall, such as
/// the one between two boxes that share a face. Only where everything connected would vanish is it a sheet with two sides instead,
/// of which one remains.
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

/// Whether a triangle's vertices ascend, but for a rotation.
fn is_even([a, b, c]: [u32; 3]) -> bool {
    [a < b, b < c, c < a].into_iter().filter(|&ascends| ascends).count() == 2
}

/// Keeps one copy of canceled triangles that share no vertex, however far along, with a triangle that stays.
fn keep_two_sided_sheets(mesh: &TriMesh, keep: &mut [bool], canceled: &[u32]) {
    if canceled.is_empty() {
        return;
    }
    let mut root: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for &[a, b, c] in &mesh.triangles {
        for other in [b, c] {
            let (a, b) = (find(&mut root, a), find(&mut root, other));
            root[a.max(b) as usize] = a.min(b);
        }
    }
    let mut stays = vec![false; mesh.positions.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        if keep[t] {
            stays[find(&mut root, triangle[0]) as usize] = true;
        }
    }
    for &t in canceled {
        keep[t as usize] = !stays[find(&mut root, mesh.triangles[t as usize][0]) as usize];
    }
}

fn find(root: &mut [u32], mut vertex: u32) -> u32 {
    while root[vertex as usize] != vertex {
        root[vertex as usize] = root[root[vertex as usize] as usize];
        vertex = root[vertex as usize];
    }
    vertex
}

/// Drops the triangles for which `keep` says no, and their texture coordinates.
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

/// Turns a triangle round, and its texture coordinates with it.
pub(super) fn turn(mesh: &mut TriMesh, triangle: usize) {
    mesh.triangles[triangle].swap(1, 2);
    if let Some(uvs) = mesh.corner_uvs.get_mut(triangle) {
        uvs.swap(1, 2);
    }
}

/// Drops the vertices that no triangle uses; the others keep their order.
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
