//! Quality of a mesh after it has moved: what needs remeshing, and whether it is still valid.
//!
//! One pass over the triangles collects what the remesher and the validity checks need in most
//! steps, where nothing has to change: edges that are too long or too short, needles, edges to
//! flip, vertices away from the center of their neighbors, the enclosed volume.
//!
//! **Self-intersection.** If every triangle, seen from one interior point, faces away from it, a ·
//! (b × c) > 0, then the projection of the surface onto a sphere around that point has no folds.
//! The surface is closed and connected, so it covers the sphere once and cannot intersect itself.
//! Drops that rest, slide or oscillate gently pass this test; only the others are searched for
//! intersections.

use glam::DVec3;

use super::index::{HalfEdgeIndex, TriangleIndex, VertexIndex};
use super::{Interface, Mesh, VertexKind};
use crate::parameters::Numerics;
use crate::remesh::edge_queue::EdgeQueue;

/// Area over the squared longest edge below which a triangle is a needle.
pub const NEEDLE: f64 = 0.01;
/// Area over the squared longest edge below which a triangle is degenerate.
const DEGENERATE: f64 = 1e-9;
/// Sum of the two cotangents of an edge below which it should be flipped.
pub const FLIP_BELOW: f64 = -0.02;
/// Distance of a vertex from the center of its neighbors, in edges, from which it is moved.
pub const OFF_CENTER: f64 = 0.25;
/// Relative error by which a measure may differ from one that is evaluated again: much more than
/// rounding.
const MARGIN: f64 = 1e-6;

/// Quality measures of a mesh; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct MeshQuality {
    /// Enclosed volume, in m³.
    pub volume: f64,
    /// Whether the surface is star-shaped, and therefore free of self-intersections.
    pub star_shaped: bool,
    /// Whether a triangle is degenerate.
    pub degenerate: bool,
    /// Whether a triangle is a needle.
    pub needle: bool,
    /// Whether an edge is too long.
    pub long: bool,
    /// Whether an edge is too short.
    pub short: bool,
    /// Cotangent of the angle opposite to each half-edge, and its squared length, in m².
    cotangents: Vec<f64>,
    squares: Vec<f64>,
    /// Whether each triangle has changed since it was measured.
    outdated: Vec<bool>,
    rings: Vec<Ring>,
}

/// The one-ring of a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    /// Sum of the neighbors' offsets from the vertex, in m.
    sum: DVec3,
    valence: u32,
    air: bool,
    solid: bool,
}

/// Quantities of one triangle: edge vectors, twice its area and the squared edge lengths.
struct Triangle {
    corners: [DVec3; 3],
    edges: [DVec3; 3],
    cross: DVec3,
    twice_area: f64,
    squares: [f64; 3],
}

impl Triangle {
    #[inline]
    fn new(corners: [DVec3; 3]) -> Self {
        let [a, b, c] = corners;
        let (ab, bc, ca) = (b - a, c - b, a - c);
        let cross = ca.cross(ab);
        let squares = [ab.length_squared(), bc.length_squared(), ca.length_squared()];
        Self { corners, edges: [ab, bc, ca], cross, twice_area: cross.length(), squares }
    }

    /// Cotangents of the angles opposite to the edges a→b, b→c and c→a.
    #[inline]
    fn cotangents(&self) -> [f64; 3] {
        let [ab, bc, ca] = self.edges;
        let over = 1.0 / self.twice_area.max(1e-30);
        [-bc.dot(ca) * over, -ca.dot(ab) * over, -ab.dot(bc) * over]
    }
}

/// Sums over the triangles of a surface.
struct ShapeSums {
    six_volumes: f64,
    least_cone: f64,
    degenerate: bool,
}

impl Default for ShapeSums {
    fn default() -> Self {
        Self { six_volumes: 0.0, least_cone: f64::INFINITY, degenerate: false }
    }
}

impl ShapeSums {
    /// Adds a triangle whose longest edge has this square, in m².
    #[inline]
    fn add(&mut self, triangle: &Triangle, longest: f64) {
        let cone = triangle.corners[0].dot(triangle.cross);
        self.six_volumes += cone;
        self.least_cone = self.least_cone.min(cone);
        self.degenerate |= 0.5 * triangle.twice_area <= DEGENERATE * longest;
    }
}

impl MeshQuality {
    /// Measures a compact mesh with target edge length `edge`, in m, about an interior point.
    pub fn read(&mut self, mesh: &Mesh, edge: f64, center: DVec3, numerics: &Numerics) {
        self.cotangents.clear();
        self.squares.clear();
        self.outdated.clear();
        self.outdated.resize(mesh.triangles.len(), false);
        self.rings.clear();
        self.rings.resize(mesh.positions.len(), Ring::default());
        let (longest, shortest) = ((numerics.max_edge * edge).powi(2), (numerics.min_edge * edge).powi(2));
        let wetted_weight = numerics.wetted_edge_weight * numerics.wetted_edge_weight;
        let mut shape = ShapeSums::default();
        let (mut needle, mut long, mut short) = (false, false, false);
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            let triangle = Triangle::new(corners.map(|v| mesh.positions[v] - center));
            let squares = triangle.squares;
            let most = squares[0].max(squares[1]).max(squares[2]);
            let least = squares[0].min(squares[1]).min(squares[2]);
            shape.add(&triangle, most);
            needle |= 0.5 * triangle.twice_area <= NEEDLE * most;
            self.cotangents.extend(triangle.cotangents());
            self.squares.extend(squares);
            let air = mesh.interfaces[t] == Interface::Air;
            if air {
                long |= most > longest;
                short |= least < shortest;
            } else {
                for (h, square) in t.half_edges().into_iter().zip(squares) {
                    let wetted = mesh.interface_of(mesh.twin(h)) != Interface::Air;
                    let square = if wetted { square * wetted_weight } else { square };
                    long |= square > longest;
                    short |= square < shortest;
                }
            }
            self.add_to_rings(corners, triangle.corners, air);
        }
        self.center_rings(mesh, center);
        self.set_shape(&shape);
        (self.needle, self.long, self.short) = (needle, long, short);
    }

    /// Measures only what tells whether a surface is valid: volume, star shape and degenerate
    /// triangles.
    pub fn read_shape(&mut self, mesh: &Mesh, center: DVec3) {
        let mut shape = ShapeSums::default();
        for corners in &mesh.triangles {
            let triangle = Triangle::new(corners.map(|v| mesh.positions[v] - center));
            let [one, other, third] = triangle.squares;
            shape.add(&triangle, one.max(other).max(third));
        }
        self.set_shape(&shape);
    }

    /// Measures only the rings of the vertices.
    pub fn read_rings(&mut self, mesh: &Mesh, center: DVec3) {
        self.rings.clear();
        self.rings.resize(mesh.positions.len(), Ring::default());
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            let air = mesh.interfaces[t] == Interface::Air;
            self.add_to_rings(corners, corners.map(|v| mesh.positions[v] - center), air);
        }
        self.center_rings(mesh, center);
    }

    /// Adds a triangle with these corners, relative to the interior point, to the rings around it.
    #[inline]
    fn add_to_rings(&mut self, vertices: &[VertexIndex; 3], [a, b, c]: [DVec3; 3], air: bool) {
        for (v, next) in [(vertices[0], b), (vertices[1], c), (vertices[2], a)] {
            let ring = &mut self.rings[v];
            ring.sum += next;
            ring.valence += 1;
            ring.air |= air;
            ring.solid |= !air;
        }
    }

    fn center_rings(&mut self, mesh: &Mesh, center: DVec3) {
        for (ring, &p) in self.rings.iter_mut().zip(&mesh.positions) {
            ring.sum -= (p - center) * f64::from(ring.valence);
        }
    }

    fn set_shape(&mut self, shape: &ShapeSums) {
        self.volume = shape.six_volumes / 6.0;
        self.star_shaped = shape.least_cone > 0.0 && self.volume.is_finite();
        self.degenerate = shape.degenerate;
    }

    /// Notes that the triangles around a vertex, and all that were added, have changed since they
    /// were measured.
    pub fn outdate_around(&mut self, mesh: &Mesh, v: VertexIndex) {
        self.outdated.resize(mesh.triangles.len(), true);
        for h in mesh.fan(v) {
            self.outdated[h.triangle()] = true;
        }
    }

    /// Whether a triangle is new or has changed since it was measured.
    #[inline]
    pub fn is_outdated(&self, t: TriangleIndex) -> bool {
        self.outdated.get(t.to_usize()).is_none_or(|&outdated| outdated)
    }

    /// Whether the squared length of an edge may exceed `limit`, in m²: true where it has changed
    /// since it was measured.
    #[inline]
    pub fn may_exceed(&self, h: HalfEdgeIndex, limit: f64) -> bool {
        self.is_outdated(h.triangle()) || self.squares[h] > limit * (1.0 - MARGIN)
    }

    /// Whether it may be below `limit`, in m².
    #[inline]
    pub fn may_be_below(&self, h: HalfEdgeIndex, limit: f64) -> bool {
        self.is_outdated(h.triangle()) || self.squares[h] < limit * (1.0 + MARGIN)
    }

    /// Whether the cotangents of an edge may sum to less than [`FLIP_BELOW`].
    #[inline]
    pub fn may_need_flip(&self, h: HalfEdgeIndex, twin: HalfEdgeIndex) -> bool {
        if self.is_outdated(h.triangle()) || self.is_outdated(twin.triangle()) {
            return true;
        }
        let (one, other) = (self.cotangents[h], self.cotangents[twin]);
        one + other < FLIP_BELOW + MARGIN * (1.0 + one * one + other * other)
    }

    /// Queues the edges whose cotangents sum to less than [`FLIP_BELOW`], each by its lower
    /// half-edge.
    pub fn queue_flips(&self, mesh: &Mesh, queue: &mut EdgeQueue) {
        queue.clear();
        for (h, &twin) in mesh.half_edge_indices().zip(&mesh.twins) {
            if h < twin {
                queue.push((self.cotangents[h] + self.cotangents[twin]) / FLIP_BELOW, h);
            }
        }
    }

    /// Kind of a vertex.
    #[inline]
    pub fn kind(&self, v: VertexIndex) -> VertexKind {
        VertexKind::new(self.rings[v].air, self.rings[v].solid)
    }

    /// Whether a vertex is further than [`OFF_CENTER`] edges from the center of its neighbors.
    #[inline]
    pub fn is_off_center(&self, v: VertexIndex, edge: f64) -> bool {
        let ring = &self.rings[v];
        let limit = OFF_CENTER * edge * f64::from(ring.valence);
        ring.sum.length_squared() > limit * limit
    }
}
