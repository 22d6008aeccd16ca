//! Half-edge connectivity of triangle meshes.
//!
//! Triangle `t` has the half-edges `3t`, `3t + 1` and `3t + 2`; half-edge `3t + k` runs from corner
//! `k` to the next one. On an orientable manifold the two triangles of an edge traverse it in
//! opposite directions, and their half-edges are *opposite*.
//!
//! ```text
//!            c
//!          ╱   ╲          h = a → b in the upper triangle, opposite(h) = b → a in the lower one.
//!        ╱   t   ╲        Rotating around a: next(opposite(h)) = a → d leaves a in the lower triangle.
//!       a ── h ─→ b
//!        ╲       ╱
//!          ╲   ╱
//!            d
//! ```

use rayon::slice::ParallelSliceMut;
use sessile_numerics::OptionalIndex;

/// A directed edge of a triangle, from one corner to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfEdge(pub u32);

impl HalfEdge {
    /// Edge `side` (0 to 2) of a triangle.
    pub fn new(triangle: usize, side: usize) -> Self {
        Self((3 * triangle + side) as u32)
    }

    /// Its triangle.
    pub fn triangle(self) -> usize {
        self.0 as usize / 3
    }

    /// Its index in the triangle, which is also that of the corner it starts from: 0 to 2.
    pub fn side(self) -> usize {
        self.0 as usize % 3
    }

    /// The next half-edge of the triangle, counterclockwise.
    #[must_use]
    pub fn next(self) -> Self {
        Self(if self.side() == 2 { self.0 - 2 } else { self.0 + 1 })
    }

    /// The previous half-edge of the triangle.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(if self.side() == 0 { self.0 + 2 } else { self.0 - 1 })
    }

    /// Its start and end vertex.
    pub fn ends(self, triangles: &[[u32; 3]]) -> [u32; 2] {
        let triangle = triangles[self.triangle()];
        [triangle[self.side()], triangle[self.next().side()]]
    }
}

/// An edge with one of its triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EdgeUse {
    /// Vertices of the edge, the smaller index first.
    pub edge: [u32; 2],
    /// The half-edge of the triangle.
    pub half_edge: HalfEdge,
}

/// All half-edges sorted by edge: `uses.chunk_by(|a, b| a.edge == b.edge)` gives the edges.
pub(crate) fn edge_uses(triangles: &[[u32; 3]]) -> Vec<EdgeUse> {
    let mut uses: Vec<EdgeUse> = (0..3 * triangles.len() as u32)
        .map(|half_edge| {
            let half_edge = HalfEdge(half_edge);
            let [from, to] = half_edge.ends(triangles);
            EdgeUse { edge: [from.min(to), from.max(to)], half_edge }
        })
        .collect();
    uses.par_sort_unstable();
    uses
}

/// An edge with three or more triangles, or with two that traverse it in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edge {edge:?} is used by {triangles} triangles, not by two that wind alike")]
pub struct NotManifold {
    /// The edge's vertices.
    pub edge: [u32; 2],
    /// Number of triangles at the edge.
    pub triangles: usize,
}

/// Pairs of opposite half-edges of a surface, closed or open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connectivity {
    opposite: Vec<OptionalIndex>,
}

/// The connected components of a surface; triangles are connected through edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each triangle, numbered in the order of their first triangles.
    pub of_triangle: Vec<u32>,
    /// Number of components.
    pub count: usize,
}

impl Connectivity {
    /// Finds the opposite of each half-edge.
    pub fn new(triangles: &[[u32; 3]]) -> Result<Self, NotManifold> {
        let mut opposite = vec![OptionalIndex::NONE; 3 * triangles.len()];
        for uses in edge_uses(triangles).chunk_by(|a, b| a.edge == b.edge) {
            match *uses {
                [_] => {}
                [a, b] if a.half_edge.ends(triangles) != b.half_edge.ends(triangles) => {
                    opposite[a.half_edge.0 as usize] = OptionalIndex::some(b.half_edge.0);
                    opposite[b.half_edge.0 as usize] = OptionalIndex::some(a.half_edge.0);
                }
                _ => return Err(NotManifold { edge: uses[0].edge, triangles: uses.len() }),
            }
        }
        Ok(Self { opposite })
    }

    /// The connectivity with the given pairs of opposite half-edges; all others are on a boundary.
    pub(crate) fn of_pairs(num_triangles: usize, pairs: impl IntoIterator<Item = [HalfEdge; 2]>) -> Self {
        let mut opposite = vec![OptionalIndex::NONE; 3 * num_triangles];
        for [a, b] in pairs {
            opposite[a.0 as usize] = OptionalIndex::some(b.0);
            opposite[b.0 as usize] = OptionalIndex::some(a.0);
        }
        Self { opposite }
    }

    /// The opposite half-edge; none on a boundary.
    pub fn opposite(&self, half_edge: HalfEdge) -> Option<HalfEdge> {
        self.opposite[half_edge.0 as usize].get().map(HalfEdge)
    }

    /// The half-edges without an opposite, in ascending order; none if the surface is closed.
    pub fn boundary(&self) -> impl Iterator<Item = HalfEdge> {
        (0_u32..).zip(&self.opposite).filter(|&(_, across)| across.is_none()).map(|(half_edge, _)| HalfEdge(half_edge))
    }

    /// The outgoing half-edges of a vertex in the triangle fan of `start`, beginning with `start`.
    ///
    /// They are visited counterclockwise until the fan closes; at a boundary, the rest follows
    /// clockwise from `start`.
    pub fn fan(&self, start: HalfEdge) -> impl Iterator<Item = HalfEdge> {
        let mut clockwise = false;
        let mut at = Some(start);
        std::iter::from_fn(move || {
            let current = at?;
            at = if clockwise {
                self.opposite(current).map(HalfEdge::next)
            } else {
                match self.opposite(current.previous()) {
                    Some(next) if next == start => None,
                    Some(next) => Some(next),
                    None => {
                        clockwise = true;
                        self.opposite(start).map(HalfEdge::next)
                    }
                }
            };
            Some(current)
        })
    }

    /// Finds the connected components.
    pub fn components(&self) -> Components {
        let num_triangles = self.opposite.len() / 3;
        let mut of_triangle = vec![0; num_triangles];
        let mut reached = vec![false; num_triangles];
        let mut count = 0;
        let mut open = Vec::new();
        for first in 0..num_triangles {
            if std::mem::replace(&mut reached[first], true) {
                continue;
            }
            open.push(first);
            while let Some(triangle) = open.pop() {
                of_triangle[triangle] = count;
                for side in 0..3 {
                    if let Some(across) = self.opposite(HalfEdge::new(triangle, side))
                        && !std::mem::replace(&mut reached[across.triangle()], true)
                    {
                        open.push(across.triangle());
                    }
                }
            }
            count += 1;
        }
        Components { of_triangle, count: count as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn connect(triangles: &[[u32; 3]]) -> Connectivity {
        Connectivity::new(triangles).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn closed_surface_has_no_boundary() {
        let connectivity = connect(&TETRAHEDRON);
        assert_eq!(connectivity.boundary().count(), 0);
        for half_edge in (0..12).map(HalfEdge) {
            let across = connectivity.opposite(half_edge).expect("closed");
            let [from, to] = half_edge.ends(&TETRAHEDRON);
            assert_eq!(across.ends(&TETRAHEDRON), [to, from]);
            assert_eq!(half_edge.next().previous(), half_edge);
        }
    }

    #[test]
    fn fan_visits_every_triangle_around_a_vertex_once() {
        for triangles in [&TETRAHEDRON[..], &TETRAHEDRON[1..]] {
            let connectivity = connect(triangles);
            for start in (0..3 * triangles.len() as u32).map(HalfEdge) {
                let [vertex, _] = start.ends(triangles);
                let mut fan: Vec<usize> = connectivity.fan(start).map(HalfEdge::triangle).collect();
                assert!(connectivity.fan(start).all(|half_edge| half_edge.ends(triangles)[0] == vertex));
                fan.sort_unstable();
                let around: Vec<usize> = (0..triangles.len()).filter(|&t| triangles[t].contains(&vertex)).collect();
                assert_eq!(fan, around, "fan of {start:?}");
            }
        }
    }

    #[test]
    fn triangles_that_share_only_a_vertex_are_two_components() {
        let components = connect(&[[0, 1, 2], [0, 3, 4]]).components();
        assert_eq!(components, Components { of_triangle: vec![0, 1], count: 2 });
    }

    #[test]
    fn third_triangle_at_an_edge_is_an_error() {
        let error = Connectivity::new(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]]).expect_err("three on an edge");
        assert_eq!(error.to_string(), "edge [0, 1] is used by 3 triangles, not by two that wind alike");
    }
}
