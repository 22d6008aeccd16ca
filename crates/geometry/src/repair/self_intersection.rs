//! Search for triangles that intersect.
//!
//! Two triangles intersect if an edge of one passes through the other: its ends lie on different
//! sides of the plane, farther from it than rounding errors, and it hits the plane inside the
//! triangle or on its border. Triangles that share an edge are taken not to intersect, and for
//! those that share a vertex only edges without that vertex are tested. Surfaces that only touch,
//! or that overlap in one plane, do not intersect.

use glam::DVec3;
use rayon::prelude::*;

use super::linear_bvh::{LinearBvh, overlap};
use super::report::Intersections;
use crate::TriMesh;
use crate::bvh::Bounds;

/// A point is on one side of a plane beyond this fraction of the triangles' size: rounding of
/// coordinates written with nine digits is below it.
const PLANE_TOLERANCE: f64 = 1e-9;

/// An edge that passes the border of a triangle within this fraction of its size hits it: edges
/// must not slip between two adjacent triangles.
const BORDER_TOLERANCE: f64 = 1e-9;

/// Most pairs counted for one triangle, to bound the work.
const MAX_PAIRS_EACH: usize = 100;

/// All pairs of intersecting triangles; none if the mesh does not intersect itself.
pub(super) fn find(mesh: &TriMesh, bvh: &LinearBvh, boxes: &[Bounds]) -> Option<Intersections> {
    // In Morton order, consecutive triangles visit the same boxes.
    let (pairs, first) = bvh
        .order()
        .par_iter()
        .map(|&triangle| {
            let mut pairs = 0;
            let mut first: Option<(u32, u32, [f64; 3])> = None;
            let own_box = &boxes[triangle as usize];
            bvh.visit(
                |bounds| overlap(bounds, own_box),
                |other| {
                    if other > triangle
                        && overlap(&boxes[other as usize], own_box)
                        && pairs < MAX_PAIRS_EACH
                        && let Some(point) = intersect(mesh, triangle as usize, other as usize)
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
    first.map(|(_, _, point)| Intersections { pairs, near: DVec3::from(point) })
}

type Found = Option<(u32, u32, [f64; 3])>;

/// The pair that comes first in the mesh, so that the result does not depend on the number of
/// threads.
fn earlier(a: Found, b: Found) -> Found {
    match (a, b) {
        (Some(x), Some(y)) => Some(if (x.0, x.1) <= (y.0, y.1) { x } else { y }),
        (a, b) => a.or(b),
    }
}

/// A point in which two triangles intersect.
fn intersect(mesh: &TriMesh, first: usize, second: usize) -> Option<DVec3> {
    let (a, b) = (mesh.triangles[first], mesh.triangles[second]);
    let is_shared = |vertex: &u32| a.contains(vertex) && b.contains(vertex);
    if a.iter().filter(|vertex| is_shared(vertex)).count() > 1 {
        return None;
    }
    let (pa, pb) = (mesh.corners(first), mesh.corners(second));
    let edges = |triangle: [u32; 3], points: [DVec3; 3]| {
        (0..3).map(move |k| ([triangle[k], triangle[(k + 1) % 3]], [points[k], points[(k + 1) % 3]]))
    };
    let free = |(ends, _): &([u32; 2], [DVec3; 2])| !ends.iter().any(is_shared);
    let from_first = edges(a, pa).filter(free).find_map(|(_, edge)| pierces(edge, pb));
    from_first.or_else(|| edges(b, pb).filter(free).find_map(|(_, edge)| pierces(edge, pa)))
}

/// The point in which a segment passes through a triangle.
fn pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let (p, q) = (p - a, q - a);
    let (height_p, height_q) = (normal.dot(p), normal.dot(q));
    if height_p * height_q >= 0.0 {
        return None;
    }
    let size = ab.length().max(ac.length()).max(p.distance(q));
    let threshold = normal.length() * size * PLANE_TOLERANCE;
    if height_p.abs() <= threshold || height_q.abs() <= threshold {
        return None;
    }
    let hit = p + (q - p) * (height_p / (height_p - height_q));
    let least = -BORDER_TOLERANCE * normal.length_squared();
    let inside = normal.dot(ab.cross(hit)) >= least
        && normal.dot((ac - ab).cross(hit - ab)) >= least
        && normal.dot(hit.cross(ac)) >= least;
    inside.then_some(a + hit)
}
