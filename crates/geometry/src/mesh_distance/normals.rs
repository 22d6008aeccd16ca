//! Angle-weighted pseudonormals of faces, edges and vertices, which distinguish inside from
//! outside.
//!
//! If `c` is the point of a closed surface nearest to `p`, and `n` the sum of the unit normals of
//! the faces that meet at `c`, each weighted by the angle it spans there, then `n · (p − c)` is
//! positive outside and negative inside (baerentzen2005). On an edge both faces span π; inside a
//! face the pseudonormal is the normal itself.

use glam::DVec3;
use sessile_numerics::math;

use crate::TriMesh;
use crate::connectivity::{EdgeUse, edge_uses};

/// A triangle whose height is below this fraction of its longest edge has no normal: rounding would
/// dominate it.
const SLIVER: f64 = 1e-10;

/// Rounds in which slivers copy normals from neighbors that are slivers themselves.
const SLIVER_ROUNDS: usize = 8;

/// Pseudonormals of a mesh, of unit length (or zero where opposite faces cancel).
#[derive(Clone, Debug)]
pub(super) struct Pseudonormals {
    pub faces: Vec<DVec3>,
    /// Of the edges of each triangle; edge `i` joins corners `i` and `i + 1`.
    pub edges: Vec<[DVec3; 3]>,
    pub vertices: Vec<DVec3>,
}

/// The normal of a triangle; none for a sliver.
pub(super) fn face_normal([a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    let normal = (b - a).cross(c - a);
    (normal.length() > SLIVER * longest).then(|| normal.normalize_or_zero())
}

impl Pseudonormals {
    pub fn new(mesh: &TriMesh) -> Self {
        Self::with_edges(mesh, &edge_uses(&mesh.triangles))
    }

    /// The same for a mesh whose edges are known.
    fn with_edges(mesh: &TriMesh, uses: &[EdgeUse]) -> Self {
        let (faces, edges) = (vec![DVec3::ZERO; mesh.triangles.len()], vec![[DVec3::ZERO; 3]; mesh.triangles.len()]);
        let mut normals = Self { faces, edges, vertices: vec![DVec3::ZERO; mesh.positions.len()] };
        normals.update(mesh, uses);
        normals
    }

    /// The normals of the same mesh with other vertices.
    pub fn update(&mut self, mesh: &TriMesh, uses: &[EdgeUse]) {
        let Self { faces, edges, vertices } = self;
        update_face_normals(faces, mesh, uses);
        for shared in uses.chunk_by(|a, b| a.edge == b.edge) {
            let sides = || shared.iter().map(|usage| usage.half_edge);
            let normal = sides().map(|side| faces[side.triangle()]).sum::<DVec3>().normalize_or_zero();
            for side in sides() {
                edges[side.triangle()][side.side()] = normal;
            }
        }
        vertices.fill(DVec3::ZERO);
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let corners = mesh.corners(t);
            for i in 0..3 {
                let (to_next, to_last) = (corners[(i + 1) % 3] - corners[i], corners[(i + 2) % 3] - corners[i]);
                vertices[triangle[i] as usize] += angle(to_next, to_last) * faces[t];
            }
        }
        for normal in vertices {
            *normal = normal.normalize_or_zero();
        }
    }
}

/// The angle between two vectors, accurate for small angles and for angles near π.
fn angle(a: DVec3, b: DVec3) -> f64 {
    math::atan2(a.cross(b).length(), a.dot(b))
}

/// Normals of all faces. A sliver gets the normal of the face across its longest edge; until then
/// it has zero, which no other face has.
fn update_face_normals(normals: &mut [DVec3], mesh: &TriMesh, uses: &[EdgeUse]) {
    for (t, normal) in normals.iter_mut().enumerate() {
        *normal = face_normal(mesh.corners(t)).unwrap_or(DVec3::ZERO);
    }
    for _ in 0..SLIVER_ROUNDS {
        let mut taken = Vec::new();
        for t in (0..normals.len()).filter(|&t| normals[t] == DVec3::ZERO) {
            let triangle = mesh.triangles[t];
            let length = |edge: usize| {
                let [a, b] = [triangle[edge], triangle[(edge + 1) % 3]].map(|v| mesh.positions[v as usize]);
                a.distance_squared(b)
            };
            let longest = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
            let (a, b) = (triangle[longest], triangle[(longest + 1) % 3]);
            let key = [a.min(b), a.max(b)];
            let first = uses.partition_point(|usage| usage.edge < key);
            let across = uses[first..].iter().take_while(|usage| usage.edge == key);
            let mut found = across.map(|usage| normals[usage.half_edge.triangle()]);
            taken.extend(found.find(|normal| *normal != DVec3::ZERO).map(|normal| (t, normal)));
        }
        if taken.is_empty() {
            break;
        }
        for (t, normal) in taken {
            normals[t] = normal;
        }
    }
}
