//! Uniform subdivision, for solids whose triangles are coarser than per-triangle roughness needs.

use std::collections::HashMap;

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;

/// Divides each edge into `n` parts and each triangle into n²; texture coordinates are
/// interpolated.
pub fn subdivide(mesh: &TriMesh, n: usize) -> TriMesh {
    if n <= 1 {
        return mesh.clone();
    }
    let mut fine = TriMesh { positions: mesh.positions.clone(), ..TriMesh::default() };
    // Vertices on edges, by the edge's lesser and greater vertex and the number of parts from the
    // lesser.
    let mut on_edges: HashMap<(u32, u32, usize), u32> = HashMap::new();
    for (t, &corners) in mesh.triangles.iter().enumerate() {
        let points = mesh.corners(t);
        let mix = |i: usize, j: usize| {
            let [u, v] = [i, j].map(|part| part as f64 / n as f64);
            points[0] * (1.0 - u - v) + points[1] * u + points[2] * v
        };
        // i parts towards the second corner, j towards the third.
        let mut vertex = |positions: &mut Vec<DVec3>, i: usize, j: usize| {
            let edge = match (i, j) {
                (0, 0) => return corners[0],
                (i, 0) if i == n => return corners[1],
                (0, j) if j == n => return corners[2],
                (i, 0) => Some((corners[0], corners[1], i)),
                (0, j) => Some((corners[0], corners[2], j)),
                (i, j) if i + j == n => Some((corners[1], corners[2], j)),
                _ => None,
            };
            let mut add = || {
                positions.push(mix(i, j));
                (positions.len() - 1) as u32
            };
            match edge {
                Some((from, to, part)) => {
                    let key = if from < to { (from, to, part) } else { (to, from, n - part) };
                    *on_edges.entry(key).or_insert_with(add)
                }
                None => add(),
            }
        };
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(n + 1);
        for j in 0..=n {
            rows.push((0..=n - j).map(|i| vertex(&mut fine.positions, i, j)).collect());
        }
        let uv = |i: usize, j: usize| {
            let [a, b, c] = mesh.corner_uvs[t];
            let [u, v] = [i, j].map(|part| part as f64 / n as f64);
            a * (1.0 - u - v) + b * u + c * v
        };
        let mut push = |corners: [(usize, usize); 3]| {
            fine.triangles.push(corners.map(|(i, j)| rows[j][i]));
            if !mesh.corner_uvs.is_empty() {
                fine.corner_uvs.push(corners.map(|(i, j)| -> DVec2 { uv(i, j) }));
            }
        };
        for j in 0..n {
            for i in 0..n - j {
                push([(i, j), (i + 1, j), (i, j + 1)]);
                if i + j + 1 < n {
                    push([(i + 1, j), (i + 1, j + 1), (i, j + 1)]);
                }
            }
        }
    }
    fine
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sheet, surface_of};
    use super::*;

    #[test]
    fn a_subdivided_mesh_is_one_surface_with_the_same_area_and_coordinates() {
        let coarse = sheet(2.0, 1.0, 3, 2);
        let fine = subdivide(&coarse, 4);
        assert_eq!(fine.triangles.len(), 16 * coarse.triangles.len());
        assert!((fine.area() - 2.0).abs() < 1e-12, "{}", fine.area());
        let borders = |mesh: &TriMesh| {
            surface_of(mesh)
                .facets()
                .iter()
                .flat_map(|f| f.opposite)
                .filter(|opposite| opposite.get().is_none())
                .count()
        };
        assert_eq!(borders(&fine), 4 * borders(&coarse));
        for (t, uvs) in fine.corner_uvs.iter().enumerate() {
            for (p, uv) in fine.corners(t).iter().zip(uvs) {
                let expected = DVec2::new(p.x / 2.0 + 0.5, p.y + 0.5);
                assert!((*uv - expected).length() < 1e-12, "{uv} at {p}");
            }
        }
    }
}
