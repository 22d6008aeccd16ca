//! Checks that a surface is what it must always be: closed, manifold, oriented, without degenerate triangles, not crossing itself.

use sessile_geometry::bvh::Bounds;

use crate::mesh::{Mesh, NONE, next};

/// What is wrong with a surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The arrays have different lengths or point out of bounds.
    #[error("{0}")]
    Arrays(&'static str),
    /// A half-edge and its twin do not join the same two vertices in opposite directions.
    #[error("half-edge {0} has a twin that is not its opposite")]
    Twin(u32),
    /// The triangles at a vertex are not one fan.
    #[error("the triangles round vertex {0} are not one fan")]
    Fan(u32),
    /// A triangle has no area to speak of.
    #[error("triangle {0} is degenerate")]
    Degenerate(usize),
    /// It is turned inside out.
    #[error("it encloses {0:e} m³")]
    InsideOut(f64),
    /// Two triangles cross.
    #[error("triangles {0} and {1} cross")]
    Crossing(usize, usize),
    /// Something is not a number.
    #[error("vertex {0} is not finite")]
    NonFinite(usize),
}

/// Checks that lengths fit and no index points out of bounds: what a saved state must fulfil to be worked with at all.
pub fn check_arrays(mesh: &Mesh) -> Result<(), Flaw> {
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    if mesh.velocities.len() != vertices || mesh.starts.len() != vertices {
        return Err(Flaw::Arrays("vertex arrays differ in length"));
    }
    if mesh.twins.len() != 3 * triangles || mesh.solids.len() != triangles {
        return Err(Flaw::Arrays("triangle arrays differ in length"));
    }
    let inside = |&h: &u32| (h as usize) < 3 * triangles;
    let sound = mesh.triangles.iter().flatten().all(|&v| (v as usize) < vertices)
        && mesh.twins.iter().all(inside)
        && mesh.starts.iter().all(inside);
    if sound { Ok(()) } else { Err(Flaw::Arrays("an index points out of bounds")) }
}

/// Checks everything but crossings of a compact mesh; quick.
pub fn check(mesh: &Mesh) -> Result<(), Flaw> {
    check_arrays(mesh)?;
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    let mut uses = vec![0_u32; vertices];
    for t in (0..triangles).filter(|&t| mesh.is_live(t)) {
        for k in 0..3 {
            let h = (3 * t + k) as u32;
            let v = mesh.triangles[t][k] as usize;
            if v >= vertices || mesh.starts[v] == NONE {
                return Err(Flaw::Arrays("a triangle names a vertex that is not there"));
            }
            uses[v] += 1;
            let g = mesh.twin(h);
            if g as usize >= 3 * triangles || !mesh.is_live((g / 3) as usize) {
                return Err(Flaw::Twin(h));
            }
            if mesh.twin(g) != h
                || mesh.from(g) != mesh.to(h)
                || mesh.to(g) != mesh.from(h)
                || mesh.apex(g) == mesh.apex(h)
            {
                return Err(Flaw::Twin(h));
            }
        }
        let [a, b, c] = mesh.triangles[t];
        let longest = (3 * t as u32..3 * t as u32 + 3).map(|h| mesh.length(h)).fold(0.0, f64::max);
        if a == b || b == c || c == a || mesh.area_vector(t).length() <= 1e-9 * longest * longest {
            return Err(Flaw::Degenerate(t));
        }
    }
    for v in 0..vertices {
        if !(mesh.positions[v].is_finite() && mesh.velocities[v].is_finite()) {
            return Err(Flaw::NonFinite(v));
        }
        if mesh.starts[v] != NONE {
            let fan = mesh.fan(v as u32).take(uses[v] as usize + 1).count();
            if mesh.from(mesh.starts[v]) != v as u32 || fan != uses[v] as usize {
                return Err(Flaw::Fan(v as u32));
            }
        }
    }
    let volume = mesh.volume();
    if volume.is_nan() || volume <= 0.0 { Err(Flaw::InsideOut(volume)) } else { Ok(()) }
}

/// Checks that no edge passes through a triangle that it does not share a corner with.
pub fn check_crossings(mesh: &Mesh) -> Result<(), Flaw> {
    clearance(mesh, 0.0).map(|_| ())
}

/// Checks as [`check_crossings`] does; a lower bound, in m, on how far sheets that face one another, or face away from one another, are apart, up to `reach`.
pub fn clearance(mesh: &Mesh, reach: f64) -> Result<f64, Flaw> {
    let live: Vec<usize> = (0..mesh.triangles.len()).filter(|&t| mesh.is_live(t)).collect();
    let boxes: Vec<Bounds> = live.iter().map(|&t| Bounds::of(mesh.corners(t))).collect();
    // Sorted along x: only triangles whose boxes come near one another there are compared.
    let mut order: Vec<usize> = (0..live.len()).collect();
    order.sort_unstable_by(|&i, &j| boxes[i].low.x.total_cmp(&boxes[j].low.x).then(i.cmp(&j)));
    let mut clear = reach;
    for (place, &i) in order.iter().enumerate() {
        for &j in &order[place + 1..] {
            if boxes[j].low.x > boxes[i].high.x + clear {
                break;
            }
            let gap = (boxes[i].low - boxes[j].high).max(boxes[j].low - boxes[i].high).max(glam::DVec3::ZERO);
            if gap.max_element() > clear {
                continue;
            }
            let (t, u) = (live[i], live[j]);
            if gap == glam::DVec3::ZERO && (pierces(mesh, t, u) || pierces(mesh, u, t)) {
                return Err(Flaw::Crossing(t.min(u), t.max(u)));
            }
            // Neighbors stay neighbors; of others, those that are turned away from one another may be two sides of a film or of a gap.
            let shares = mesh.triangles[t].iter().any(|v| mesh.triangles[u].contains(v));
            if !shares && mesh.area_vector(t).dot(mesh.area_vector(u)) < 0.0 {
                clear = clear.min(gap.length());
            }
        }
    }
    Ok(clear)
}

/// Whether a side of triangle `t` passes through `u`, away from corners that they share.
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
        let inside = |from: glam::DVec3, to: glam::DVec3| (to - from).cross(x - from).dot(normal) > 0.0;
        inside(a, b) && inside(b, c) && inside(c, a)
    })
}
