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
    for h in mesh.live_triangles().flat_map(TriangleIndex::half_edges) {
        let v = mesh.from(h);
        if v.to_usize() >= vertices || !mesh.is_vertex_live(v) {
            return Err(MeshDefect::Arrays("a triangle refers to a removed vertex"));
        }
        uses[v] += 1;
        let g = mesh.twin(h);
        if g.to_usize() >= 3 * triangles || !mesh.is_live(g.triangle()) {
            return Err(MeshDefect::Twin(h));
        }
        let matches = mesh.twin(g) == h && mesh.from(g) == mesh.to(h) && mesh.to(g) == mesh.from(h);
        if !matches || mesh.apex(g) == mesh.apex(h) {
            return Err(MeshDefect::Twin(h));
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
        let longest = t.half_edges().map(|h| mesh.length(h)).into_iter().fold(0.0, f64::max);
        if a == b || b == c || c == a || mesh.area_vector(t).length() <= 1e-9 * longest * longest {
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
    let mut boxes: Vec<(Bounds, TriangleIndex)> =
        mesh.live_triangles().map(|t| (Bounds::of(mesh.corners(t)), t)).collect();
    boxes.sort_unstable_by(|(a, t), (b, u)| a.low[axis].total_cmp(&b.low[axis]).then(t.cmp(u)));
    let mut clearance = reach;
    for (rank, &(one, t)) in boxes.iter().enumerate() {
        for &(other, u) in &boxes[rank + 1..] {
            if other.low[axis] > one.high[axis] + clearance {
                break;
            }
            let gap = (one.low - other.high).max(other.low - one.high).max(DVec3::ZERO);
            if gap.max_element() > clearance {
                continue;
            }
            if gap == DVec3::ZERO && (pierces(mesh, t, u) || pierces(mesh, u, t)) {
                return Err(MeshDefect::Crossing(t.min(u), t.max(u)));
            }
            // Two triangles with opposite normals that share no corner may be the two sides of a
            // film or of a gap.
            let shares = mesh.triangles[t].iter().any(|v| mesh.triangles[u].contains(v));
            if !shares && mesh.area_vector(t).dot(mesh.area_vector(u)) < 0.0 {
                clearance = clearance.min(gap.length());
            }
        }
    }
    Ok(clearance)
}

/// Whether an edge of triangle `t` intersects `u`, away from shared corners.
fn pierces(mesh: &Mesh, t: TriangleIndex, u: TriangleIndex) -> bool {
    let [a, b, c] = mesh.corners(u);
    let normal = (b - a).cross(c - a);
    t.half_edges().into_iter().any(|h| {
        let ends = [mesh.from(h), mesh.from(h.next())];
        if ends.iter().any(|v| mesh.triangles[u].contains(v)) {
            return false;
        }
        let [p, q] = ends.map(|v| mesh.positions[v]);
        let (dp, dq) = (normal.dot(p - a), normal.dot(q - a));
        if dp * dq >= 0.0 {
            return false;
        }
        let x = p + (q - p) * (dp / (dp - dq));
        let inside = |from: DVec3, to: DVec3| (to - from).cross(x - from).dot(normal) > 0.0;
        inside(a, b) && inside(b, c) && inside(c, a)
    })
}
