//! Verifies the invariants of a surface: closed, manifold, oriented outward, no degenerate
//! triangles, no self-intersections.

use glam::DVec3;
use sessile_geometry::bvh::Bounds;

use super::{Mesh, next};

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshDefect {
    /// The arrays have different lengths or point out of bounds.
    #[error("{0}")]
    Arrays(&'static str),
    /// A half-edge and its twin do not join the same two vertices in opposite directions.
    #[error("half-edge {0} and its twin do not match")]
    Twin(u32),
    /// The triangles at a vertex do not form one fan.
    #[error("the triangles around vertex {0} do not form one fan")]
    Fan(u32),
    /// A triangle has a vanishing area.
    #[error("triangle {0} is degenerate")]
    Degenerate(usize),
    /// The enclosed volume is not positive.
    #[error("the enclosed volume is {0:e} m³")]
    InsideOut(f64),
    /// Two triangles intersect.
    #[error("triangles {0} and {1} intersect")]
    Crossing(usize, usize),
    /// A position or velocity is not finite.
    #[error("vertex {0} is not finite")]
    NonFinite(usize),
}

/// Checks array lengths and index bounds, as required of a saved state.
pub(crate) fn check_arrays(mesh: &Mesh) -> Result<(), MeshDefect> {
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    if mesh.velocities.len() != vertices || mesh.outgoing.len() != vertices {
        return Err(MeshDefect::Arrays("vertex arrays differ in length"));
    }
    if mesh.twins.len() != 3 * triangles || mesh.interfaces.len() != triangles {
        return Err(MeshDefect::Arrays("triangle arrays differ in length"));
    }
    let valid = |&h: &u32| (h as usize) < 3 * triangles;
    let in_bounds = mesh.triangles.iter().flatten().all(|&v| (v as usize) < vertices)
        && mesh.twins.iter().all(valid)
        && mesh.outgoing.iter().all(valid);
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
    for t in (0..triangles).filter(|&t| mesh.is_live(t)) {
        for k in 0..3 {
            let h = (3 * t + k) as u32;
            let v = mesh.triangles[t][k];
            if v as usize >= vertices || !mesh.is_vertex_live(v) {
                return Err(MeshDefect::Arrays("a triangle refers to a removed vertex"));
            }
            uses[v as usize] += 1;
            let g = mesh.twin(h);
            if g as usize >= 3 * triangles || !mesh.is_live((g / 3) as usize) {
                return Err(MeshDefect::Twin(h));
            }
            let matches = mesh.twin(g) == h && mesh.from(g) == mesh.to(h) && mesh.to(g) == mesh.from(h);
            if !matches || mesh.apex(g) == mesh.apex(h) {
                return Err(MeshDefect::Twin(h));
            }
        }
    }
    for v in (0..vertices as u32).filter(|&v| mesh.is_vertex_live(v)) {
        let uses = uses[v as usize];
        let starts_here = mesh.from(mesh.outgoing[v as usize]) == v;
        if !starts_here || mesh.fan(v).take(uses + 1).count() != uses {
            return Err(MeshDefect::Fan(v));
        }
    }
    Ok(())
}

/// Checks that no triangle is degenerate, all values are finite and the volume is positive.
fn check_shape(mesh: &Mesh) -> Result<(), MeshDefect> {
    for t in (0..mesh.triangles.len()).filter(|&t| mesh.is_live(t)) {
        let [a, b, c] = mesh.triangles[t];
        let longest = (3 * t as u32..3 * t as u32 + 3).map(|h| mesh.length(h)).fold(0.0, f64::max);
        if a == b || b == c || c == a || mesh.area_vector(t).length() <= 1e-9 * longest * longest {
            return Err(MeshDefect::Degenerate(t));
        }
    }
    for v in 0..mesh.positions.len() {
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
    let live: Vec<usize> = (0..mesh.triangles.len()).filter(|&t| mesh.is_live(t)).collect();
    let boxes: Vec<Bounds> = live.iter().map(|&t| Bounds::of(mesh.corners(t))).collect();
    // Sweep along x over the bounding boxes.
    let mut order: Vec<usize> = (0..live.len()).collect();
    order.sort_unstable_by(|&i, &j| boxes[i].low.x.total_cmp(&boxes[j].low.x).then(i.cmp(&j)));
    let mut clearance = reach;
    for (rank, &i) in order.iter().enumerate() {
        for &j in &order[rank + 1..] {
            if boxes[j].low.x > boxes[i].high.x + clearance {
                break;
            }
            let gap = (boxes[i].low - boxes[j].high).max(boxes[j].low - boxes[i].high).max(DVec3::ZERO);
            if gap.max_element() > clearance {
                continue;
            }
            let (t, u) = (live[i], live[j]);
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
fn pierces(mesh: &Mesh, t: usize, u: usize) -> bool {
    let [a, b, c] = mesh.corners(u);
    let normal = (b - a).cross(c - a);
    (0..3).any(|k| {
        let h = (3 * t + k) as u32;
        let ends = [mesh.from(h), mesh.from(next(h))];
        if ends.iter().any(|v| mesh.triangles[u].contains(v)) {
            return false;
        }
        let [p, q] = ends.map(|v| mesh.positions[v as usize]);
        let (dp, dq) = (normal.dot(p - a), normal.dot(q - a));
        if dp * dq >= 0.0 {
            return false;
        }
        let x = p + (q - p) * (dp / (dp - dq));
        let inside = |from: DVec3, to: DVec3| (to - from).cross(x - from).dot(normal) > 0.0;
        inside(a, b) && inside(b, c) && inside(c, a)
    })
}
