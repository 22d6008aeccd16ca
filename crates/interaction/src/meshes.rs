//! The mesh of a solid as a binary message.

use sessile_world::Solid;

/// Kind of the message.
const MESH: u32 = 2;
/// Largest number of triangles of a solid that is shown as it is.
pub const MAX_TRIANGLES: usize = 400_000;
/// Edges with a smaller cosine between their faces stay sharp.
const SMOOTH: f64 = 0.7;

/// The mesh of a solid of a run (0 for a session) in its rest pose: position, normal and texture
/// coordinates of each corner.
pub fn mesh_message(solid: &Solid, run: usize) -> Vec<u8> {
    let mesh = solid.mesh();
    let is_shown = mesh.triangles.len() <= MAX_TRIANGLES;
    let count = if is_shown { mesh.triangles.len() } else { 0 };
    let mut out = Vec::with_capacity(16 + count * 96);
    extend_u32(&mut out, [MESH, solid.index() as u32, count as u32, run as u32]);
    let smooth = vertex_normals(mesh);
    for t in 0..count {
        let corners = mesh.triangles[t];
        let [a, b, c] = mesh.corners(t);
        let flat = (b - a).cross(c - a).normalize_or_zero();
        for (k, &vertex) in corners.iter().enumerate() {
            let smoothed = smooth[vertex as usize];
            // Sharp edges stay sharp.
            let normal = if smoothed.dot(flat) > SMOOTH { smoothed } else { flat };
            let uv = mesh.corner_uvs.get(t).map_or([0.0; 2], |uvs| uvs[k].as_vec2().to_array());
            extend_f32(&mut out, mesh.positions[vertex as usize].as_vec3().to_array());
            extend_f32(&mut out, normal.as_vec3().to_array());
            extend_f32(&mut out, uv);
        }
    }
    out
}

fn vertex_normals(mesh: &sessile_geometry::TriMesh) -> Vec<glam::DVec3> {
    let mut sums = vec![glam::DVec3::ZERO; mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        corners.iter().for_each(|&v| sums[v as usize] += (b - a).cross(c - a));
    }
    sums.into_iter().map(glam::DVec3::normalize_or_zero).collect()
}

pub(crate) fn extend_f32(into: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| into.extend(value.to_le_bytes()));
}

pub(crate) fn extend_u32(into: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| into.extend(value.to_le_bytes()));
}
