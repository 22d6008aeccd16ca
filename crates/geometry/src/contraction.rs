//! What contracting the edges of a triangle surface needs: the triangles round a vertex, the short edges, and whether a triangle keeps facing where it did.

use glam::DVec3;

/// Cosine of the largest angle by which a contraction may turn a triangle: 60° admits slivers, whose own normals
/// mean little, and still excludes every fold.
const MAX_TURN_COSINE: f64 = 0.5;

/// The triangles round each vertex, in one array.
pub struct Fans {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Fans {
    /// Of a mesh.
    pub fn new(num_vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0_u32; num_vertices + 1];
        for &v in triangles.iter().flatten() {
            starts[v as usize + 1] += 1;
        }
        for v in 0..num_vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut fans = vec![0; 3 * triangles.len()];
        for (t, corners) in triangles.iter().enumerate() {
            for &v in corners {
                fans[next[v as usize] as usize] = t as u32;
                next[v as usize] += 1;
            }
        }
        Self { starts, triangles: fans }
    }

    /// Of a vertex.
    pub fn of(&self, vertex: u32) -> &[u32] {
        &self.triangles[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

/// Edges of a closed surface shorter than `shortest` (in m), shortest first, by their vertices.
pub fn short_edges(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    shortest: f64,
) -> impl Iterator<Item = [u32; 2]> + use<> {
    let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut found: Vec<(f64, [u32; 2])> = edges
        // Every edge is met twice, once in each direction.
        .filter(|[a, b]| a < b)
        .map(|[a, b]| (positions[a as usize].distance_squared(positions[b as usize]), [a, b]))
        .filter(|&(squared, _)| squared < shortest * shortest)
        .collect();
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, edge)| edge)
}

/// Whether a triangle turns by less than 60° as its corners move.
pub fn keeps_facing(before: [DVec3; 3], after: [DVec3; 3]) -> bool {
    // Twice its area long.
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
    let (before, after) = (normal(before), normal(after));
    before.dot(after) > MAX_TURN_COSINE * before.length() * after.length()
}
