//! Closes T-junctions of open meshes.
//!
//! A T-junction is a vertex inside another triangle's edge. Nothing is missing there, yet neither
//! edge has a neighbor, and a droplet would fall through the crack. Where a border vertex lies on a
//! border edge, the triangle at that edge is split there.

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::{Connectivity, NotManifold};
use sessile_geometry::repair::WELD_TOLERANCE;

/// Splits every triangle whose border edge has another border vertex on it; returns the number of
/// splits.
pub fn close_t_junctions(mesh: &mut TriMesh) -> Result<usize, NotManifold> {
    let (low, high) =
        mesh.positions.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
    let tolerance = WELD_TOLERANCE * (high - low).length();
    let mut num_splits = 0;
    loop {
        let connectivity = Connectivity::new(&mesh.triangles)?;
        let border: Vec<_> = connectivity.boundary().collect();
        let mut vertices: Vec<u32> = border.iter().flat_map(|h| h.ends(&mesh.triangles)).collect();
        vertices.sort_unstable();
        vertices.dedup();
        // Sorted by x, so that an edge is tested only against vertices in its range.
        vertices.sort_by(|&a, &b| mesh.positions[a as usize].x.total_cmp(&mesh.positions[b as usize].x));
        let xs: Vec<f64> = vertices.iter().map(|&v| mesh.positions[v as usize].x).collect();
        let mut split_triangles = vec![false; mesh.triangles.len()];
        let before = num_splits;
        for half_edge in border {
            let t = half_edge.triangle();
            if split_triangles[t] {
                continue;
            }
            let [from, to] = half_edge.ends(&mesh.triangles);
            let [a, b] = [from, to].map(|v| mesh.positions[v as usize]);
            let (first, last) = (a.x.min(b.x) - tolerance, a.x.max(b.x) + tolerance);
            let begin = xs.partition_point(|&x| x < first);
            let candidates = vertices[begin..].iter().zip(&xs[begin..]).take_while(|&(_, &x)| x <= last);
            let length = a.distance(b);
            let on_edge = candidates.map(|(&v, _)| v).filter(|v| !mesh.triangles[t].contains(v)).find_map(|v| {
                let offset = mesh.positions[v as usize] - a;
                let along = offset.dot(b - a) / length;
                let off = (offset - (b - a) * (along / length)).length();
                (along > tolerance && along < length - tolerance && off <= tolerance).then_some((v, along / length))
            });
            let Some((vertex, share)) = on_edge else { continue };
            split(mesh, t, half_edge.side(), vertex, share);
            split_triangles[t] = true;
            num_splits += 1;
        }
        if num_splits == before {
            break;
        }
    }
    if num_splits > 0 {
        weld_borders(mesh, tolerance);
    }
    Ok(num_splits)
}

/// Merges coincident border vertices, so that the two sides of a closed crack are neighbors; the
/// mesh stays as it is where that would put three triangles on an edge.
fn weld_borders(mesh: &mut TriMesh, tolerance: f64) {
    let Ok(connectivity) = Connectivity::new(&mesh.triangles) else { return };
    let mut vertices: Vec<u32> = connectivity.boundary().flat_map(|h| h.ends(&mesh.triangles)).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.sort_by(|&a, &b| mesh.positions[a as usize].x.total_cmp(&mesh.positions[b as usize].x));
    let mut same: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for (i, &v) in vertices.iter().enumerate() {
        let at = mesh.positions[v as usize];
        let near = vertices[i + 1..].iter().take_while(|&&w| mesh.positions[w as usize].x - at.x <= tolerance);
        for &w in near.filter(|&&w| mesh.positions[w as usize].distance(at) <= tolerance) {
            same[w as usize] = same[v as usize];
        }
    }
    let joined: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| same[v as usize])).collect();
    if Connectivity::new(&joined).is_ok() {
        mesh.triangles = joined;
    }
}

/// Splits triangle `t` at `vertex`, at the fraction `share` of its edge `side`.
fn split(mesh: &mut TriMesh, t: usize, side: usize, vertex: u32, share: f64) {
    let corners = mesh.triangles[t];
    let [k, next, last] = [side, (side + 1) % 3, (side + 2) % 3];
    mesh.triangles[t] = [corners[k], vertex, corners[last]];
    mesh.triangles.push([vertex, corners[next], corners[last]]);
    if let Some(&uvs) = mesh.corner_uvs.get(t) {
        let middle = uvs[k].lerp(uvs[next], share);
        mesh.corner_uvs[t] = [uvs[k], middle, uvs[last]];
        mesh.corner_uvs.push([middle, uvs[next], uvs[last]]);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use sessile_geometry::repair::{Closure, MeshDefect, RepairReport, repair_with};

    use super::super::SurfaceMesh;
    use super::super::tests::{sheet, surface_of};
    use super::*;

    /// A repaired mesh and what was done to it.
    #[derive(Clone, Debug)]
    pub struct Repaired {
        /// The mesh.
        pub mesh: TriMesh,
        /// Report of the geometry crate.
        pub report: RepairReport,
        /// Number of triangles split at a T-junction.
        pub t_junctions: usize,
    }

    /// Repairs a mesh that may be open: duplicates, flipped faces, slivers and T-junctions; holes
    /// stay.
    pub fn repair(mesh: TriMesh) -> Result<Repaired, MeshDefect> {
        let (mut mesh, report) = repair_with(mesh, Closure::Optional)?;
        // A repaired mesh is a manifold, and splitting a border edge keeps it one.
        let t_junctions = close_t_junctions(&mut mesh).unwrap_or(0);
        Ok(Repaired { mesh, report, t_junctions })
    }

    fn num_borders(surface: &SurfaceMesh) -> usize {
        surface.facets().iter().flat_map(|f| f.opposite).filter(|opposite| opposite.get().is_none()).count()
    }

    /// Two rectangles side by side, with 2 and 6 edges along the seam: a seam of T-junctions.
    fn cracked() -> TriMesh {
        let (mut left, mut right) = (sheet(1.0, 1.0, 3, 2), sheet(1.0, 1.0, 4, 6));
        right.positions.iter_mut().for_each(|p| p.x += 1.0);
        let base = left.positions.len() as u32;
        left.positions.extend(right.positions);
        left.triangles.extend(right.triangles.iter().map(|t| t.map(|v| v + base)));
        left.corner_uvs.extend(right.corner_uvs);
        left
    }

    #[test]
    fn a_seam_of_t_junctions_is_closed() {
        let repaired = repair(cracked()).expect("it can be repaired");
        assert_eq!(repaired.t_junctions, 4, "four vertices of the finer side lie within sides of the coarser");
        let surface = surface_of(&repaired.mesh);
        // The border of the two squares: 3 + 4 edges at the bottom and the top, 2 and 6 at the
        // ends.
        assert_eq!(num_borders(&surface), 2 * (3 + 4) + 2 + 6);
        assert!((repaired.mesh.area() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn duplicates_and_flipped_faces_are_repaired_and_a_hole_stays() {
        let mut mesh = sheet(1.0, 1.0, 8, 8);
        // A hole in the middle, a doubled vertex, a flipped face and a repeated face.
        let hole =
            (0..mesh.triangles.len()).find(|&t| mesh.corners(t).iter().all(|p| p.length() < 0.3)).expect("there");
        mesh.triangles.remove(hole);
        mesh.positions.push(mesh.positions[40]);
        let double = mesh.positions.len() as u32 - 1;
        let user = mesh.triangles.iter().position(|t| t.contains(&40)).expect("used");
        mesh.triangles[user] = mesh.triangles[user].map(|v| if v == 40 { double } else { v });
        mesh.triangles[3].swap(0, 1);
        let repeated = mesh.triangles[9];
        mesh.triangles.push(repeated);
        mesh.corner_uvs.clear();
        let repaired = repair(mesh).expect("it can be repaired");
        assert!(repaired.report.welded_vertices == 1 && repaired.report.flipped_triangles == 1, "{}", repaired.report);
        assert_eq!(repaired.report.duplicate_triangles, 1);
        assert_eq!(num_borders(&surface_of(&repaired.mesh)), 4 * 8 + 3, "the rim and the hole");
    }
}
