//! Points on the surface, and straight geodesics from one point to another.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use super::{Facet, SurfaceMesh, TriangleIndex};

/// Largest number of edges crossed by one geodesic; longer ones end there.
const MAX_EDGES: usize = 256;

/// A point on the surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfacePoint {
    /// The triangle.
    pub triangle: TriangleIndex,
    /// Coordinates in the triangle's axes, in m.
    pub at: DVec2,
}

impl SurfacePoint {
    /// The point in the rest pose of its solid, in m.
    pub fn point(&self, surface: &SurfaceMesh) -> DVec3 {
        surface.facet(self.triangle).point(self.at)
    }
}

impl SurfaceMesh {
    /// Traces the straightest geodesic from a point along `displacement` (in m, in the axes of its
    /// triangle).
    ///
    /// Across an edge it continues as if both triangles were unfolded into a plane. At a border it
    /// continues along the border as long as it has a component there. The vector `carried` is
    /// transported along and returned in the axes of the last triangle.
    pub fn trace_geodesic(&self, from: SurfacePoint, displacement: DVec2, carried: DVec2) -> (SurfacePoint, DVec2) {
        let (SurfacePoint { mut triangle, mut at }, mut displacement, mut carried) = (from, displacement, carried);
        let mut entered = None;
        for _ in 0..MAX_EDGES {
            let facet = self.facet(triangle);
            let Some((k, share)) = first_edge(facet, at, displacement, entered) else {
                return (SurfacePoint { triangle, at: facet.clamp(at + displacement) }, carried);
            };
            let left = at + displacement * share;
            displacement *= 1.0 - share;
            let along = (facet.edges[k].dot(left - facet.corners[k]) / facet.edge_lengths[k]).clamp(0.0, 1.0);
            let Some((other, edge)) = facet.opposite[k].get() else {
                at = facet.on_edge(k, along);
                displacement = facet.edges[k] * facet.edges[k].dot(displacement);
                if entered == Some(k) {
                    break;
                }
                entered = Some(k);
                continue;
            };
            displacement = self.transport(triangle, k, other, edge, displacement);
            carried = self.transport(triangle, k, other, edge, carried);
            (triangle, at) = (other, self.facet(other).on_edge(edge, 1.0 - along));
            entered = Some(edge);
        }
        (SurfacePoint { triangle, at }, carried)
    }
}

/// The edge through which a straight line leaves, and the fraction of the line up to there.
fn first_edge(facet: &Facet, at: DVec2, displacement: DVec2, entered: Option<usize>) -> Option<(usize, f64)> {
    let mut first: Option<(usize, f64)> = None;
    for k in (0..3).filter(|&k| entered != Some(k)) {
        let (inside, change) = (facet.edge_distance(at, k).max(0.0), facet.edges[k].perp_dot(displacement));
        if inside + change < 0.0 {
            let share = inside / -change;
            if first.is_none_or(|(_, least)| share < least) {
                first = Some((k, share));
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sheet, surface_of};
    use super::*;

    #[test]
    fn a_geodesic_over_many_coplanar_triangles_is_straight() {
        let surface = surface_of(&sheet(1.0, 1.0, 37, 23));
        let from =
            SurfacePoint { triangle: TriangleIndex::new(0), at: surface.facet(TriangleIndex::new(0)).centroid() };
        let start = from.point(&surface);
        let wanted = DVec3::new(0.31, 0.47, 0.0);
        let (end, carried) = surface.trace_geodesic(
            from,
            surface.facet(TriangleIndex::new(0)).project(wanted - start),
            surface.facet(TriangleIndex::new(0)).project(DVec3::X),
        );
        assert!((end.point(&surface) - wanted).length() < 1e-13, "{}", end.point(&surface));
        let heading = surface.facet(end.triangle).lift(carried);
        assert!((heading - DVec3::X).length() < 1e-13, "{heading}");
    }

    #[test]
    fn a_geodesic_beyond_the_border_ends_on_it() {
        let surface = surface_of(&sheet(1.0, 1.0, 5, 5));
        let from =
            SurfacePoint { triangle: TriangleIndex::new(12), at: surface.facet(TriangleIndex::new(12)).centroid() };
        let (end, _) = surface.trace_geodesic(
            from,
            surface.facet(TriangleIndex::new(12)).project(DVec3::new(9.0, 0.1, 0.0)),
            DVec2::ZERO,
        );
        assert!((end.point(&surface).x - 0.5).abs() < 1e-12, "{}", end.point(&surface));
    }
}
