//! Verifies the invariants of a surface: closed, manifold, oriented outward, no degenerate
//! triangles, no self-intersections.

use glam::DVec3;
use sessile_geometry::bvh::Bounds;

use super::Mesh;
use super::index::{HalfEdgeIndex, TriangleIndex, VertexIndex};

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshDefect {
    /// The arrays have different lengths or point out of bounds.
    #[error("{0}")]
    Arrays(&'static str),
    /// A half-edge and its twin do not join the same two vertices in opposite directions.
    #[error("half-edge {0} and its twin do not match")]
    Twin(HalfEdgeIndex),
    /// The triangles at a vertex do not form one fan.
    #[error("the triangles around vertex {0} do not form one fan")]
    Fan(VertexIndex),
    /// A triangle has a vanishing area.
    #[error("triangle {0} is degenerate")]
    Degenerate(TriangleIndex),
    /// The enclosed volume is not positive.
    #[error("the enclosed volume is {0:e} m³")]
    InsideOut(f64),
    /// Two triangles intersect.
    #[error("triangles {0} and {1} intersect")]
    Crossing(TriangleIndex, TriangleIndex),
    /// A position or velocity is not finite.
    #[error("vertex {0} is not finite")]
    NonFinite(VertexIndex),
}

/// Checks array lengths and index bounds, as required of a saved state.
pub(crate) fn check_arrays(mesh: &Mesh) -> Result<(), MeshDefect> {
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    if mesh.velocities.len() != vertices || mesh.outgoing.len() != vertices {
        return Err(MeshDefect::Arrays("vertex arrays differ in length"));
    }
    if mesh.twins.len() != 3 * triangles || mesh.interfaces.len() != triangles || mesh.live.len() != triangles {
        return Err(MeshDefect::Arrays("triangle arrays differ in length"));
    }
    let valid = |h: &HalfEdgeIndex| h.to_usize() < 3 * triangles;
    let in_bounds = mesh.triangles.iter().flatten().all(|v| v.to_usize() < vertices)
        && mesh.twins.iter().all(valid)
        && mesh.outgoing.iter().flatten().all(valid);
    if in_bounds { Ok(()) } else { Err(MeshDefect::Arrays("an index is out of bounds")) }
}

/// Checks all invariants of a mesh except self-intersection; cheap.
pub fn check(mesh: &Mesh) -> Result<(), MeshDefect> {
    check_arrays(mesh)?;
    check_connectivity(mesh)?;
    check_shape(mesh)
}

/// Checks that every half-edge has a matching twin and that the triangles of each vertex form one
/// fan.
pub(crate) fn check_connectivity(mesh: &Mesh) -> Result<(), MeshDefect> {
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    let mut uses = vec![0_usize; vertices];
    for t in mesh.live_triangles() {
        let corners = mesh.triangles[t];
        for (k, h) in t.half_edges().into_iter().enumerate() {
            let [v, w, apex] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
            if v.to_usize() >= vertices || !mesh.is_vertex_live(v) {
                return Err(MeshDefect::Arrays("a triangle refers to a removed vertex"));
            }
            uses[v] += 1;
            let g = mesh.twin(h);
            if g.to_usize() >= 3 * triangles || !mesh.is_live(g.triangle()) {
                return Err(MeshDefect::Twin(h));
            }
            let (others, k) = (mesh.triangles[g.triangle()], g.corner());
            let matches = mesh.twin(g) == h && others[k] == w && others[(k + 1) % 3] == v;
            if !matches || others[(k + 2) % 3] == apex {
                return Err(MeshDefect::Twin(h));
            }
        }
    }
    for v in mesh.vertex_indices() {
        let Some(outgoing) = mesh.outgoing[v] else { continue };
        let uses = uses[v];
        if mesh.from(outgoing) != v || mesh.fan(v).take(uses + 1).count() != uses {
            return Err(MeshDefect::Fan(v));
        }
    }
    Ok(())
}

/// Checks that no triangle is degenerate, all values are finite and the volume is positive.
fn check_shape(mesh: &Mesh) -> Result<(), MeshDefect> {
    for t in mesh.live_triangles() {
        let [a, b, c] = mesh.triangles[t];
        let [p, q, r] = mesh.corners(t);
        let longest = p.distance_squared(q).max(q.distance_squared(r)).max(r.distance_squared(p));
        if a == b || b == c || c == a || mesh.area_vector(t).length() <= 1e-9 * longest {
            return Err(MeshDefect::Degenerate(t));
        }
    }
    for v in mesh.vertex_indices() {
        if !(mesh.positions[v].is_finite() && mesh.velocities[v].is_finite()) {
            return Err(MeshDefect::NonFinite(v));
        }
    }
    let volume = mesh.volume();
    if volume.is_nan() || volume <= 0.0 { Err(MeshDefect::InsideOut(volume)) } else { Ok(()) }
}

/// Checks that no edge intersects a triangle with which it shares no corner.
pub fn check_crossings(mesh: &Mesh) -> Result<(), MeshDefect> {
    clearance(mesh, 0.0).map(|_| ())
}

/// Checks for self-intersections and returns a lower bound of the distance between opposite sheets,
/// in m, at most `reach`.
///
/// Only pairs of triangles that face toward or away from each other count as opposite sheets.
pub(crate) fn clearance(mesh: &Mesh, reach: f64) -> Result<f64, MeshDefect> {
    let [low, high] = mesh.bounds();
    let extent = high - low;
    // Sweep over the bounding boxes along the longest side of the drop.
    let axis = (0..3).max_by(|&i, &j| extent[i].total_cmp(&extent[j])).unwrap_or(0);
    let second = (0..3).filter(|&i| i != axis).max_by(|&i, &j| extent[i].total_cmp(&extent[j])).unwrap_or(axis);
    let mut faces: Vec<Face> = mesh.live_triangles().map(|t| Face::new(mesh, t)).collect();
    faces.sort_unstable_by(|a, b| a.bounds.low[axis].total_cmp(&b.bounds.low[axis]).then(a.triangle.cmp(&b.triangle)));
    // What most pairs are told apart by: where a box begins along the first axis, and its extent
    // along the second.
    let starts: Vec<f64> = faces.iter().map(|face| face.bounds.low[axis]).collect();
    let spans: Vec<[f64; 2]> = faces.iter().map(|face| [face.bounds.low[second], face.bounds.high[second]]).collect();
    let mut clearance = reach;
    for (rank, one) in faces.iter().enumerate() {
        let (end, [low, high], next) = (one.bounds.high[axis], spans[rank], rank + 1);
        for ((&start, span), other) in starts[next..].iter().zip(&spans[next..]).zip(&faces[next..]) {
            if start > end + clearance {
                break;
            }
            if low - span[1] > clearance || span[0] - high > clearance {
                continue;
            }
            let (mine, theirs) = (&one.bounds, &other.bounds);
            let gap = (mine.low - theirs.high).max(theirs.low - mine.high).max(DVec3::ZERO);
            if gap.max_element() > clearance {
                continue;
            }
            let shared = one.corners.iter().filter(|v| other.corners.contains(v)).count();
            // Where two corners are shared, every edge ends in one of them.
            if gap == DVec3::ZERO && shared < 2 && (one.pierces(other) || other.pierces(one)) {
                let (t, u) = (one.triangle, other.triangle);
                return Err(MeshDefect::Crossing(t.min(u), t.max(u)));
            }
            // Two triangles with opposite normals that share no corner may be the two sides of a
            // film or of a gap.
            if shared == 0 && one.normal.dot(other.normal) < 0.0 {
                clearance = clearance.min(gap.length());
            }
        }
    }
    Ok(clearance)
}

/// A triangle in the search for intersections.
struct Face {
    bounds: Bounds,
    triangle: TriangleIndex,
    corners: [VertexIndex; 3],
    points: [DVec3; 3],
    /// Its normal, times twice its area.
    normal: DVec3,
}

impl Face {
    fn new(mesh: &Mesh, triangle: TriangleIndex) -> Self {
        let points = mesh.corners(triangle);
        let [a, b, c] = points;
        let normal = (b - a).cross(c - a);
        Self { bounds: Bounds::of(points), triangle, corners: mesh.triangles[triangle], points, normal }
    }

    /// Whether an edge intersects another triangle, away from shared corners.
    fn pierces(&self, other: &Self) -> bool {
        let ([a, b, c], normal) = (other.points, other.normal);
        let is_shared = self.corners.map(|v| other.corners.contains(&v));
        let heights = self.points.map(|p| normal.dot(p - a));
        (0..3).any(|k| {
            let next = (k + 1) % 3;
            let (dp, dq) = (heights[k], heights[next]);
            if is_shared[k] || is_shared[next] || dp * dq >= 0.0 {
                return false;
            }
            let (p, q) = (self.points[k], self.points[next]);
            let x = p + (q - p) * (dp / (dp - dq));
            let inside = |from: DVec3, to: DVec3| (to - from).cross(x - from).dot(normal) > 0.0;
            inside(a, b) && inside(b, c) && inside(c, a)
        })
    }
}
