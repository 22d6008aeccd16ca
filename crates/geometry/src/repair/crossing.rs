//! Finding triangles that pass through each other.
//!
//! Two triangles cross if a side of one passes through the other: its ends lie on different sides of the plane, farther from it
//! than rounding can tell, and it meets the plane inside the triangle or on its rim. Triangles that share an edge are taken not to
//! cross, and those that share a vertex cross only by the sides that it does not belong to. Surfaces that only touch, or that
//! overlap in one plane, do not cross.

use glam::DVec3;
use rayon::prelude::*;

use super::pyramid::{Pyramid, touch};
use super::report::Crossings;
use crate::TriMesh;
use crate::bvh::Bounds;

/// An end counts as on one side of a plane beyond this share of the triangles' size: rounding of coordinates that were written
/// with nine digits is below it.
const PLANE_TOLERANCE: f64 = 1e-9;

/// A side that passes a triangle's rim within this share of its size meets it: sides through an edge must not slip between the
/// two triangles there.
const RIM_TOLERANCE: f64 = 1e-9;

/// Pairs counted for one triangle at most. A fan of a thousand triangles through a thousand others is as wrong as one of a hundred.
const MAX_PAIRS_EACH: usize = 100;

/// All pairs of triangles that cross; none if the mesh does not cross itself.
pub(super) fn find(mesh: &TriMesh, pyramid: &Pyramid, boxes: &[Bounds]) -> Option<Crossings> {
    // Neighbors in the pyramid's order look at the same boxes.
    let (pairs, first) = pyramid
        .order()
        .par_iter()
        .map(|&triangle| {
            let mut pairs = 0;
            let mut first: Option<(u32, u32, [f64; 3])> = None;
            let own_box = &boxes[triangle as usize];
            pyramid.visit(
                |bounds| touch(bounds, own_box),
                |other| {
                    if other > triangle
                        && touch(&boxes[other as usize], own_box)
                        && pairs < MAX_PAIRS_EACH
                        && let Some(point) = cross(mesh, triangle as usize, other as usize)
                    {
                        pairs += 1;
                        let found = (triangle, other, point.to_array());
                        first = earlier(first, Some(found));
                    }
                },
            );
            (pairs, first)
        })
        .reduce(|| (0, None), |a, b| (a.0 + b.0, earlier(a.1, b.1)));
    first.map(|(_, _, point)| Crossings { pairs, near: DVec3::from(point) })
}

type Found = Option<(u32, u32, [f64; 3])>;

/// The pair that comes first in the mesh, so that the answer does not depend on who found what when.
fn earlier(a: Found, b: Found) -> Found {
    match (a, b) {
        (Some(x), Some(y)) => Some(if (x.0, x.1) <= (y.0, y.1) { x } else { y }),
        (a, b) => a.or(b),
    }
}

/// A point in which two triangles cross.
fn cross(mesh: &TriMesh, first: usize, second: usize) -> Option<DVec3> {
    let (a, b) = (mesh.triangles[first], mesh.triangles[second]);
    let is_shared = |vertex: &u32| a.contains(vertex) && b.contains(vertex);
    if a.iter().filter(|vertex| is_shared(vertex)).count() > 1 {
        return None;
    }
    let (pa, pb) = (mesh.corners(first), mesh.corners(second));
    let sides = |triangle: [u32; 3], points: [DVec3; 3]| {
        (0..3).map(move |k| ([triangle[k], triangle[(k + 1) % 3]], [points[k], points[(k + 1) % 3]]))
    };
    let free = |(ends, _): &([u32; 2], [DVec3; 2])| !ends.iter().any(is_shared);
    let from_first = sides(a, pa).filter(free).find_map(|(_, side)| pierces(side, pb));
    from_first.or_else(|| sides(b, pb).filter(free).find_map(|(_, side)| pierces(side, pa)))
}

/// Where a segment passes through a triangle.
fn pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let (p, q) = (p - a, q - a);
    let (height_p, height_q) = (normal.dot(p), normal.dot(q));
    if height_p * height_q >= 0.0 {
        return None;
    }
    let size = ab.length().max(ac.length()).max(p.distance(q));
    let least = normal.length() * size * PLANE_TOLERANCE;
    if height_p.abs() <= least || height_q.abs() <= least {
        return None;
    }
    let hit = p + (q - p) * (height_p / (height_p - height_q));
    let least = -RIM_TOLERANCE * normal.length_squared();
    let inside = normal.dot(ab.cross(hit)) >= least
        && normal.dot((ac - ab).cross(hit - ab)) >= least
        && normal.dot(hit.cross(ac)) >= least;
    inside.then_some(a + hit)
}
