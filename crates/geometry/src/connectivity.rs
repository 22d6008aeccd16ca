//! Which triangle lies across which edge.
//!
//! Triangle `t` has the half-edges `3t`, `3t + 1` and `3t + 2`; half-edge `3t + k` runs from its corner `k` to the next one.
//! On an orientable manifold the triangle across an edge runs along it the other way, and the two half-edges are *opposite*.
//!
//! ```text
//!            c
//!          ╱   ╲          h = a → b in the upper triangle, opposite(h) = b → a in the lower one.
//!        ╱   t   ╲        Turning round a: next(opposite(h)) = a → d leaves a in the lower triangle.
//!       a ── h ─→ b
//!        ╲       ╱
//!          ╲   ╱
//!            d
//! ```

use rayon::slice::ParallelSliceMut;

/// A side of a triangle, with a direction: from its origin to the origin of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfEdge(pub u32);

impl HalfEdge {
    /// Side `side` (0 to 2) of a triangle.
    pub fn new(triangle: usize, side: usize) -> Self {
        Self((3 * triangle + side) as u32)
    }

    /// The triangle it belongs to.
    pub fn triangle(self) -> usize {
        self.0 as usize / 3
    }

    /// Which side of its triangle it is, and which corner it starts from: 0 to 2.
    pub fn side(self) -> usize {
        self.0 as usize % 3
    }

    /// The next side of the triangle, counter-clockwise.
    #[must_use]
    pub fn next(self) -> Self {
        Self(if self.side() == 2 { self.0 - 2 } else { self.0 + 1 })
    }

    /// The side before.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(if self.side() == 0 { self.0 + 2 } else { self.0 - 1 })
    }

    /// The vertices it runs from and to.
    pub fn ends(self, triangles: &[[u32; 3]]) -> [u32; 2] {
        let triangle = triangles[self.triangle()];
        [triangle[self.side()], triangle[self.next().side()]]
    }
}

/// One triangle's use of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeUse {
    /// The edge: its lesser and its greater vertex.
    pub edge: [u32; 2],
    /// The side of the triangle that lies on it.
    pub half_edge: HalfEdge,
}

/// All uses of all edges, edge by edge: `uses.chunk_by(|a, b| a.edge == b.edge)` gives the edges.
pub fn edge_uses(triangles: &[[u32; 3]]) -> Vec<EdgeUse> {
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

/// Why triangles have no connectivity: an edge with three or more of them, or two that run along it in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edge {edge:?} is used by {triangles} triangles, not by two that wind alike")]
pub struct NotManifold {
    /// The edge's vertices.
    pub edge: [u32; 2],
    /// How many triangles use it.
    pub triangles: usize,
}

/// The half-edges across each other, for triangles that form a surface, closed or open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connectivity {
    opposite: Vec<u32>,
}

/// The pieces of a surface that hang together by edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each triangle, numbered in the order of their first triangles.
    pub of_triangle: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

const NONE: u32 = u32::MAX;

impl Connectivity {
    /// Finds what lies across each edge.
    pub fn new(triangles: &[[u32; 3]]) -> Result<Self, NotManifold> {
        let mut opposite = vec![NONE; 3 * triangles.len()];
        for uses in edge_uses(triangles).chunk_by(|a, b| a.edge == b.edge) {
            match *uses {
                [_] => {}
                [a, b] if a.half_edge.ends(triangles) != b.half_edge.ends(triangles) => {
                    opposite[a.half_edge.0 as usize] = b.half_edge.0;
                    opposite[b.half_edge.0 as usize] = a.half_edge.0;
                }
                _ => return Err(NotManifold { edge: uses[0].edge, triangles: uses.len() }),
            }
        }
        Ok(Self { opposite })
    }

    /// The connectivity in which the given half-edges are opposite, pair by pair, and all others are on a boundary.
    pub(crate) fn of_pairs(num_triangles: usize, pairs: impl IntoIterator<Item = [HalfEdge; 2]>) -> Self {
        let mut opposite = vec![NONE; 3 * num_triangles];
        for [a, b] in pairs {
            opposite[a.0 as usize] = b.0;
            opposite[b.0 as usize] = a.0;
        }
        Self { opposite }
    }

    /// The half-edge across the edge; none on a boundary.
    pub fn opposite(&self, half_edge: HalfEdge) -> Option<HalfEdge> {
        Some(self.opposite[half_edge.0 as usize]).filter(|&across| across != NONE).map(HalfEdge)
    }

    /// The half-edges without an opposite, in order; none if the surface is closed.
    pub fn boundary(&self) -> impl Iterator<Item = HalfEdge> {
        (0_u32..).zip(&self.opposite).filter(|&(_, &across)| across == NONE).map(|(half_edge, _)| HalfEdge(half_edge))
    }

    /// The half-edges that leave a vertex, beginning with `start`, round the vertex until they come back or meet a boundary; from a
    /// boundary the walk goes on from `start` the other way. So it covers the fan of triangles that `start` belongs to.
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

    /// The pieces that hang together by edges.
    pub fn components(&self) -> Components {
        let num_triangles = self.opposite.len() / 3;
        let mut of_triangle = vec![NONE; num_triangles];
        let mut count = 0;
        let mut open = Vec::new();
        for first in 0..num_triangles {
            if of_triangle[first] != NONE {
                continue;
            }
            of_triangle[first] = count;
            open.push(first);
            while let Some(triangle) = open.pop() {
                for side in 0..3 {
                    if let Some(across) = self.opposite(HalfEdge::new(triangle, side))
                        && of_triangle[across.triangle()] == NONE
                    {
                        of_triangle[across.triangle()] = count;
                        open.push(across.triangle());
                    }
                }
            }
            count += 1;
        }
        Components { of_triangle, count: count as usize }
    }

    /// Vertices − edges + triangles: 2 for each closed component without handles, 1 for a disc. Counts only vertices that are used.
    pub fn euler_characteristic(&self, triangles: &[[u32; 3]]) -> i64 {
        let mut vertices: Vec<u32> = triangles.as_flattened().to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        let num_boundary = self.boundary().count();
        let num_edges = (self.opposite.len() - num_boundary) / 2 + num_boundary;
        vertices.len() as i64 - num_edges as i64 + triangles.len() as i64
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
    fn closed_surface_has_no_boundary_and_euler_characteristic_two() {
        let connectivity = connect(&TETRAHEDRON);
        assert_eq!(connectivity.boundary().count(), 0);
        assert_eq!(connectivity.euler_characteristic(&TETRAHEDRON), 2);
        for half_edge in (0..12).map(HalfEdge) {
            let across = connectivity.opposite(half_edge).expect("closed");
            let [from, to] = half_edge.ends(&TETRAHEDRON);
            assert_eq!(across.ends(&TETRAHEDRON), [to, from]);
            assert_eq!(half_edge.next().previous(), half_edge);
        }
    }

    #[test]
    fn fan_visits_every_triangle_round_a_vertex_once_closed_or_open() {
        for triangles in [&TETRAHEDRON[..], &TETRAHEDRON[1..]] {
            let connectivity = connect(triangles);
            for start in (0..3 * triangles.len() as u32).map(HalfEdge) {
                let [vertex, _] = start.ends(triangles);
                let mut fan: Vec<usize> = connectivity.fan(start).map(HalfEdge::triangle).collect();
                assert!(connectivity.fan(start).all(|half_edge| half_edge.ends(triangles)[0] == vertex));
                fan.sort_unstable();
                let round: Vec<usize> = (0..triangles.len()).filter(|&t| triangles[t].contains(&vertex)).collect();
                assert_eq!(fan, round, "fan of {start:?}");
            }
        }
    }

    #[test]
    fn triangles_that_share_only_a_vertex_are_two_components() {
        let components = connect(&[[0, 1, 2], [0, 3, 4]]).components();
        assert_eq!(components, Components { of_triangle: vec![0, 1], count: 2 });
    }

    #[test]
    fn third_triangle_on_an_edge_is_named() {
        let error = Connectivity::new(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]]).expect_err("three on an edge");
        assert_eq!(error.to_string(), "edge [0, 1] is used by 3 triangles, not by two that wind alike");
    }
}
