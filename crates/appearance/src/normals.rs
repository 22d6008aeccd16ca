//! Vertex normals of smooth and creased meshes.

use glam::{DVec3, Vec3};
use sessile_geometry::TriMesh;

/// Cosine of the crease angle, 40°: faces that meet at a smaller angle are smoothed.
const CREASE_COSINE: f64 = 0.766;

/// Angle-weighted vertex normals (thurmer1998); zero for vertices without triangles.
pub fn smooth_normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let corners = triangle.map(|v| positions[v as usize]);
        let normal = facet(corners);
        for (c, &v) in triangle.iter().enumerate() {
            sums[v as usize] += angle(corners, c) * normal;
        }
    }
    sums.into_iter().map(|sum| sum.normalize_or_zero().as_vec3()).collect()
}

/// Normals per triangle corner; faces that meet at a sharp edge are not smoothed across it.
pub fn creased_normals(mesh: &TriMesh) -> Vec<[Vec3; 3]> {
    let count = mesh.positions.len();
    // The faces at each vertex, in compressed rows.
    let mut starts = vec![0_usize; count + 1];
    for &v in mesh.triangles.iter().flatten() {
        starts[v as usize + 1] += 1;
    }
    for v in 0..count {
        starts[v + 1] += starts[v];
    }
    let mut fill = starts.clone();
    let mut faces = vec![(0_u32, 0.0_f64); 3 * mesh.triangles.len()];
    let facets: Vec<DVec3> = (0..mesh.triangles.len()).map(|t| facet(mesh.corners(t))).collect();
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        for (c, &v) in triangle.iter().enumerate() {
            faces[fill[v as usize]] = (t as u32, angle(mesh.corners(t), c));
            fill[v as usize] += 1;
        }
    }
    let corner_normal = |t: usize, v: u32| {
        let about = &faces[starts[v as usize]..starts[v as usize + 1]];
        let smooth = about.iter().filter(|(other, _)| facets[*other as usize].dot(facets[t]) > CREASE_COSINE);
        let sum: DVec3 = smooth.map(|&(other, weight)| weight * facets[other as usize]).sum();
        sum.try_normalize().unwrap_or(facets[t]).as_vec3()
    };
    mesh.triangles.iter().enumerate().map(|(t, triangle)| triangle.map(|v| corner_normal(t, v))).collect()
}

fn facet([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

fn angle(corners: [DVec3; 3], c: usize) -> f64 {
    let (to, fro) = (corners[(c + 1) % 3] - corners[c], corners[(c + 2) % 3] - corners[c]);
    to.cross(fro).length().atan2(to.dot(fro))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blunt_edges_are_smoothed_and_sharp_ones_are_not() {
        for (height, smooth) in [(0.1, true), (1.0, false)] {
            let ridge = DVec3::new(0.0, height, 0.0);
            let positions = vec![DVec3::X, -DVec3::X, ridge, ridge + DVec3::Z];
            let mesh = TriMesh { positions, triangles: vec![[2, 3, 0], [3, 2, 1]], corner_uvs: Vec::new() };
            let normals = creased_normals(&mesh);
            assert_eq!(normals[0][0] == normals[1][1], smooth, "height {height}: {normals:?}");
            assert!(normals[0][0].y > 0.0 && (normals[0][0].length() - 1.0).abs() < 1e-6);
        }
    }
}
