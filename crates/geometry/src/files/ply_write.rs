//! Writer of PLY files, such as `solids/NAME.ply` of a run folder.

use std::collections::HashMap;

use glam::DVec2;

use crate::TriMesh;

/// The mesh as a binary little-endian PLY file: `float x y z` in m, `float s t` if it has texture
/// coordinates, triangles.
///
/// PLY has texture coordinates per vertex. A vertex on a seam is therefore duplicated for each of
/// its coordinates: the first keeps its index, the others follow the last vertex. [`crate::repair`]
/// merges them again.
pub fn write_ply(mesh: &TriMesh) -> Vec<u8> {
    let has_uvs = !mesh.corner_uvs.is_empty();
    let Seams { triangles, uvs, doubled } = if has_uvs { double_at_seams(mesh) } else { Seams::none(mesh) };
    let num_vertices = mesh.positions.len() + doubled.len();
    let texture = if has_uvs { "property float s\nproperty float t\n" } else { "" };
    let header = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {num_vertices}\nproperty float x\nproperty float y\nproperty float \
         z\n{texture}element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        triangles.len()
    );
    let mut bytes = header.into_bytes();
    bytes.reserve(20 * num_vertices + 13 * triangles.len());
    let originals = 0..mesh.positions.len();
    for (row, vertex) in originals.chain(doubled.iter().map(|&v| v as usize)).enumerate() {
        let position = mesh.positions[vertex].as_vec3().to_array();
        bytes.extend(position.iter().flat_map(|x| x.to_le_bytes()));
        if has_uvs {
            bytes.extend(uvs[row].as_vec2().to_array().iter().flat_map(|x| x.to_le_bytes()));
        }
    }
    for triangle in &triangles {
        bytes.push(3);
        bytes.extend(triangle.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes
}

/// A mesh whose vertices have one texture coordinate each.
struct Seams {
    triangles: Vec<[u32; 3]>,
    uvs: Vec<DVec2>,
    /// The vertices that are duplicated after the last one.
    doubled: Vec<u32>,
}

impl Seams {
    fn none(mesh: &TriMesh) -> Self {
        Self { triangles: mesh.triangles.clone(), uvs: Vec::new(), doubled: Vec::new() }
    }
}

fn double_at_seams(mesh: &TriMesh) -> Seams {
    let mut uvs: Vec<Option<DVec2>> = vec![None; mesh.positions.len()];
    let mut doubled = Vec::new();
    let mut row_of: HashMap<(u32, [u64; 2]), u32> = HashMap::new();
    let mut row = |vertex: u32, uv: DVec2| {
        let first = uvs[vertex as usize].get_or_insert(uv);
        if *first == uv {
            return vertex;
        }
        *row_of.entry((vertex, uv.to_array().map(f64::to_bits))).or_insert_with(|| {
            doubled.push(vertex);
            uvs.push(Some(uv));
            uvs.len() as u32 - 1
        })
    };
    let triangles = mesh
        .triangles
        .iter()
        .zip(&mesh.corner_uvs)
        .map(|(triangle, corners)| std::array::from_fn(|k| row(triangle[k], corners[k])))
        .collect();
    Seams { triangles, uvs: uvs.into_iter().map(Option::unwrap_or_default).collect(), doubled }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::files::{MeshFormat, no_resources, parse_mesh};

    fn square(corner_uvs: Vec<[DVec2; 3]>) -> TriMesh {
        let positions = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| DVec3::new(x, y, 0.25)).to_vec();
        TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]], corner_uvs }
    }

    fn round_trip(mesh: &TriMesh) -> TriMesh {
        parse_mesh(&write_ply(mesh), MeshFormat::Ply, &no_resources).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn mesh_without_texture_coordinates_is_read_back_unchanged() {
        let mesh = square(Vec::new());
        assert_eq!(round_trip(&mesh), mesh);
    }

    #[test]
    fn mesh_without_a_seam_is_read_back_unchanged() {
        let [a, b, c, d] = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
        let mesh = square(vec![[a, b, c], [a, c, d]]);
        assert_eq!(round_trip(&mesh), mesh);
    }

    #[test]
    fn seam_doubles_vertices_and_keeps_every_corner() {
        let [a, b, c, d] = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
        let mesh = square(vec![[a, b, c], [b, c, d]]);
        let back = round_trip(&mesh);
        assert_eq!(back.corner_uvs, mesh.corner_uvs);
        assert_eq!(back.triangles, [[0, 1, 2], [4, 2, 3]]);
        for t in 0..2 {
            assert_eq!(back.corners(t), mesh.corners(t));
        }
    }
}
