//! Triangle mesh with a planar coordinate system per triangle and adjacency across edges.
//!
//! Triangle t has its first corner at the origin of its own plane, its first edge along x, and its
//! outward normal z = x × y. A point on the surface is a triangle and a [`DVec2`] in these axes.
//! Edge k runs from corner k to the next one; the triangle is on its left. Points and velocities
//! cross edges exactly: a point of an edge is the same fraction of it from either triangle, and a
//! velocity keeps its components along and across the edge. So nothing drifts off the surface,
//! however many edges are crossed.
//!
//! ```text
//! dihedral turn δ: angle between the normals of two triangles; positive over a ridge,
//!                  negative in a valley
//! ```
//!
//! The mesh must be a consistently oriented manifold, open or closed. Everything is in the rest
//! pose of its solid.
//!
//! A scene may have thousands of solids of which droplets touch a few. A mesh is checked when its
//! solid is declared; its triangles are added when they are first needed, and numbered in that
//! order.

mod geodesic;
mod subdivide;
pub(crate) mod t_junctions;
mod tangent_frame;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::{Connectivity, HalfEdge, NotManifold};
use sessile_numerics::{OptionalIndex, math, typed_index};

pub use geodesic::SurfacePoint;
pub use subdivide::subdivide;
pub use t_junctions::close_t_junctions;
pub use tangent_frame::{ContactLine, TangentFrame};

/// Height over longest edge below which a triangle has no usable plane.
const MIN_HEIGHT: f64 = 1e-11;
/// Dihedral turn below which two triangles count as coplanar, in rad.
pub const COPLANAR: f64 = 1e-7;

typed_index! {
    /// A triangle of the mesh of all solids.
    #[derive(Serialize, Deserialize)]
    pub struct TriangleIndex;
}

typed_index! {
    /// A solid of the scene.
    #[derive(Default, Serialize, Deserialize)]
    pub struct SolidIndex;
}

/// The half-edge opposite to an edge, or none at a border, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OppositeEdge(OptionalIndex);

impl OppositeEdge {
    /// Triangle and edge; `None` at a border.
    #[inline(always)]
    pub fn get(self) -> Option<(TriangleIndex, usize)> {
        self.0.get().map(|half_edge| (TriangleIndex::new((half_edge / 3) as usize), half_edge as usize % 3))
    }
}

/// A triangle in four cache lines; the last one is needed only to cross an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Facet {
    /// First corner in the rest pose of its solid, in m.
    pub origin: DVec3,
    /// Unit direction of the first edge.
    pub x: DVec3,
    /// Unit direction in the plane, to the left of the first edge.
    pub y: DVec3,
    /// Corners in the triangle's axes, in m.
    pub corners: [DVec2; 3],
    /// Unit directions of the edges.
    pub edges: [DVec2; 3],
    /// The half-edge opposite to each edge.
    pub opposite: [OppositeEdge; 3],
    /// Its solid.
    pub solid: SolidIndex,
    /// Lengths of the edges, in m.
    pub edge_lengths: [f64; 3],
    /// Dihedral turn at each edge, in rad; 0 at a border.
    pub dihedrals: [f64; 3],
    /// Length across each edge over which a smooth surface would make that turn, in m.
    pub bend_lengths: [f64; 3],
}

const _: () = assert!(size_of::<Facet>() == 256);

impl Facet {
    /// Area, in m².
    pub fn area(&self) -> f64 {
        0.5 * self.corners[1].x * self.corners[2].y
    }

    /// Reads each of the cache lines that a droplet on it needs.
    #[inline]
    pub fn prefetch(&self) -> f64 {
        self.origin.x + self.corners[1].x + self.edges[2].x
    }

    /// Outward unit normal.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.x.cross(self.y)
    }

    /// A point of the triangle in the rest pose, in m.
    #[inline]
    pub fn point(&self, place: DVec2) -> DVec3 {
        self.origin + self.x * place.x + self.y * place.y
    }

    /// The component of a vector in the plane, in the triangle's axes.
    #[inline]
    pub fn project(&self, vector: DVec3) -> DVec2 {
        DVec2::new(self.x.dot(vector), self.y.dot(vector))
    }

    /// A vector in the triangle's axes, in the rest pose.
    #[inline]
    pub fn lift(&self, vector: DVec2) -> DVec3 {
        self.x * vector.x + self.y * vector.y
    }

    /// Unit normal of edge `k` in the plane, pointing into the triangle.
    #[inline]
    pub fn inward(&self, k: usize) -> DVec2 {
        self.edges[k].perp()
    }

    /// Distance of a point from edge `k`, in m; positive inside.
    #[inline]
    pub fn edge_distance(&self, place: DVec2, k: usize) -> f64 {
        self.edges[k].perp_dot(place - self.corners[k])
    }

    /// Least distance from the three edges, in m; positive inside.
    #[inline]
    pub fn depth(&self, place: DVec2) -> f64 {
        (0..3).map(|k| self.edge_distance(place, k)).fold(f64::INFINITY, f64::min)
    }

    /// The point of edge `k` at the fraction `share` of its length.
    #[inline]
    pub fn on_edge(&self, k: usize, share: f64) -> DVec2 {
        self.corners[k] + self.edges[k] * (share * self.edge_lengths[k])
    }

    /// Centroid in the triangle's axes.
    pub fn centroid(&self) -> DVec2 {
        (self.corners[0] + self.corners[1] + self.corners[2]) / 3.0
    }

    /// The nearest point of the triangle.
    #[inline]
    pub fn clamp(&self, place: DVec2) -> DVec2 {
        if self.depth(place) >= 0.0 {
            return place;
        }
        let on = |k: usize| {
            self.on_edge(k, (self.edges[k].dot(place - self.corners[k]) / self.edge_lengths[k]).clamp(0.0, 1.0))
        };
        let [a, b, c] = [on(0), on(1), on(2)];
        let nearer = |p: DVec2, q: DVec2| if q.distance_squared(place) < p.distance_squared(place) { q } else { p };
        nearer(nearer(a, b), c)
    }
}

/// A mesh that droplets cannot slide on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// Three triangles at an edge, or two of opposite orientation.
    #[error("solid `{solid}`: droplets cannot slide on its mesh: {reason}; repair it in a modeling program")]
    NotManifold {
        /// Name of the solid.
        solid: String,
        /// Where it is not a manifold.
        reason: NotManifold,
    },
    /// A triangle without a plane.
    #[error(
        "solid `{solid}`: triangle {triangle} near ({x:.4}, {y:.4}, {z:.4}) m has no plane: its height is {share:.1e} of its longest edge; \
         remove it in a modeling program",
        x = near.x, y = near.y, z = near.z
    )]
    NoPlane {
        /// Name of the solid.
        solid: String,
        /// Index of the triangle.
        triangle: usize,
        /// Its first corner, in m.
        near: DVec3,
        /// Its height over its longest edge.
        share: f64,
    },
    /// More triangles than indices.
    #[error("the scene's solids have {triangles} triangles; at most {most} are supported: simplify a mesh")]
    TooMany {
        /// Number of triangles.
        triangles: usize,
        /// Largest number of triangles.
        most: usize,
    },
}

/// What is known of the mesh of a solid before its triangles are added.
#[derive(Clone, Debug)]
struct Declared {
    /// Number of triangles.
    count: usize,
    /// The first one; `None` until they are added.
    first: Option<usize>,
    /// Whether there is no border.
    is_closed: bool,
    /// Area when it was declared, in m².
    area: f64,
    /// Largest coordinate of a first corner, in m.
    farthest: f64,
}

/// The meshes of all solids.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMesh {
    /// The triangles of the solids in `built`, in that order.
    facets: Vec<Facet>,
    built: Vec<SolidIndex>,
    declared: Vec<Declared>,
    /// The exact surface of each solid that its mesh approximates.
    analytic: Vec<Option<tangent_frame::AnalyticSurface>>,
}

impl SurfaceMesh {
    /// Checks the mesh of the next solid, whose triangles [`SurfaceMesh::build`] adds.
    pub fn declare(&mut self, name: &str, mesh: &TriMesh) -> Result<(), MeshError> {
        const MOST: usize = u32::MAX as usize / 3 - 1;
        let triangles = self.declared.iter().map(|solid| solid.count).sum::<usize>() + mesh.triangles.len();
        if triangles > MOST {
            return Err(MeshError::TooMany { triangles, most: MOST });
        }
        let facets = facets(name, mesh, SolidIndex::new(self.declared.len()), 0)?;
        self.declared.push(Declared {
            count: facets.len(),
            first: None,
            is_closed: facets.iter().all(|facet| facet.opposite.iter().all(|edge| edge.get().is_some())),
            area: mesh.area(),
            farthest: farthest(&facets),
        });
        self.analytic.push(None);
        Ok(())
    }

    /// Adds the triangles of a solid, whose mesh is that with which it was declared.
    pub fn build(&mut self, solid: SolidIndex, mesh: &TriMesh) {
        let first = self.facets.len();
        let added = facets("", mesh, solid, first).expect("the mesh was checked when the solid was declared");
        self.facets.extend(added);
        self.declared[solid].first = Some(first);
        self.built.push(solid);
        self.measure_folds(first..self.facets.len());
    }

    /// Removes the triangles of all solids but the first `count` of [`SurfaceMesh::built`].
    pub fn truncate(&mut self, count: usize) {
        for solid in self.built.drain(count..) {
            self.declared[solid].first = None;
        }
        self.facets.truncate(self.built.iter().map(|&solid| self.declared[solid].count).sum());
    }

    /// The solids that have triangles, in the order of these.
    pub fn built(&self) -> &[SolidIndex] {
        &self.built
    }

    /// Whether the triangles of a solid have been added.
    pub fn is_built(&self, solid: SolidIndex) -> bool {
        self.declared[solid].first.is_some()
    }

    /// Number of triangles of a list of solids; `None` if it has one twice or one that does not
    /// exist.
    pub fn num_triangles_of(&self, solids: &[SolidIndex]) -> Option<usize> {
        let mut is_listed = vec![false; self.declared.len()];
        let count = |solid: &SolidIndex| {
            let listed = is_listed.get_mut(solid.to_usize())?;
            (!std::mem::replace(listed, true)).then(|| self.declared[*solid].count)
        };
        solids.iter().map(count).sum()
    }

    /// The solids without triangles.
    pub fn unbuilt(&self) -> impl Iterator<Item = SolidIndex> + '_ {
        let none_is_missing = self.built.len() == self.declared.len();
        self.solids().take_while(move |_| !none_is_missing).filter(|&solid| !self.is_built(solid))
    }

    /// Area of a solid, in m².
    pub fn area(&self, solid: SolidIndex) -> f64 {
        self.declared[solid].area
    }

    /// Area of all solids (in m²), and the largest coordinate (in m).
    pub fn extent(&self) -> (f64, f64) {
        let all = self.declared.iter();
        all.fold((0.0, 0.0), |(area, farthest), solid| (area + solid.area, f64::max(farthest, solid.farthest)))
    }

    /// Moves the vertices of a solid; `mesh` has its triangles. A triangle that has no plane any
    /// more keeps its shape; the index of the first such triangle is returned.
    pub fn move_vertices(&mut self, solid: SolidIndex, mesh: &TriMesh) -> Option<usize> {
        let (range, mut flat) = (self.range_of(solid), None);
        for (t, own) in self.facets[range.clone()].iter_mut().enumerate() {
            match facet(mesh.corners(t), own.opposite, solid) {
                Ok(moved) => *own = moved,
                Err(_) => flat = flat.or(Some(t)),
            }
        }
        self.declared[solid].farthest = farthest(&self.facets[range.clone()]);
        self.measure_folds(range);
        flat
    }

    /// Measures the dihedral turns of a range of triangles.
    fn measure_folds(&mut self, range: std::ops::Range<usize>) {
        for t in range {
            for k in 0..3 {
                if let Some((other, edge)) = self.facets[t].opposite[k].get() {
                    let (turn, span) = fold(&self.facets[t], k, &self.facets[other], edge);
                    self.facets[t].dihedrals[k] = turn;
                    self.facets[t].bend_lengths[k] = span;
                }
            }
        }
    }

    /// All triangles.
    pub fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// A triangle.
    pub fn facet(&self, triangle: TriangleIndex) -> &Facet {
        &self.facets[triangle]
    }

    /// The triangles of a solid.
    pub fn triangles_of(&self, solid: SolidIndex) -> impl Iterator<Item = TriangleIndex> + use<> {
        TriangleIndex::range(self.range_of(solid))
    }

    /// The triangle of a solid with this index in the solid's own mesh.
    pub fn triangle_of(&self, solid: SolidIndex, index: usize) -> TriangleIndex {
        TriangleIndex::new(self.range_of(solid).start + index)
    }

    /// Positions of the triangles of a solid among all; none if they have not been added.
    pub fn range_of(&self, solid: SolidIndex) -> std::ops::Range<usize> {
        let Declared { first, count, .. } = self.declared[solid];
        first.map_or(0..0, |first| first..first + count)
    }

    /// Whether the mesh of a solid has no border.
    pub fn is_closed(&self, solid: SolidIndex) -> bool {
        self.declared[solid].is_closed
    }

    /// All solids.
    pub fn solids(&self) -> impl Iterator<Item = SolidIndex> + use<> {
        SolidIndex::first(self.declared.len())
    }

    /// The triangle across edge `k` and the edge of that triangle.
    pub fn opposite(&self, triangle: TriangleIndex, k: usize) -> Option<(TriangleIndex, usize)> {
        self.facets[triangle].opposite[k].get()
    }

    /// Transports a vector in the plane of `from` across its edge `k` into `to` through the edge
    /// `into` of that triangle.
    pub fn transport(&self, from: TriangleIndex, k: usize, to: TriangleIndex, into: usize, vector: DVec2) -> DVec2 {
        let (edge, other) = (self.facet(from).edges[k], self.facet(to).edges[into]);
        let (along, out) = (edge.dot(vector), -edge.perp_dot(vector));
        // The edge has the opposite direction in the other triangle.
        other.perp() * out - other * along
    }
}

/// The triangles of a mesh, of which the first is number `first`; without dihedral turns.
fn facets(name: &str, mesh: &TriMesh, solid: SolidIndex, first: usize) -> Result<Vec<Facet>, MeshError> {
    let connectivity =
        Connectivity::new(&mesh.triangles).map_err(|reason| MeshError::NotManifold { solid: name.into(), reason })?;
    let build = |t: usize| {
        let opposite = [0, 1, 2].map(|k| {
            let half_edge = connectivity.opposite(HalfEdge::new(t, k));
            OppositeEdge(half_edge.map(|h| h.0 + 3 * first as u32).into())
        });
        let no_plane = |share| MeshError::NoPlane { solid: name.into(), triangle: t, near: mesh.corners(t)[0], share };
        facet(mesh.corners(t), opposite, solid).map_err(no_plane)
    };
    (0..mesh.triangles.len()).map(build).collect()
}

/// Largest coordinate of the first corners, in m.
fn farthest(facets: &[Facet]) -> f64 {
    facets.iter().map(|facet| facet.origin.abs().max_element()).fold(0.0, f64::max)
}

/// A triangle in its own axes; the error is its height over its longest edge.
fn facet([a, b, c]: [DVec3; 3], opposite: [OppositeEdge; 3], solid: SolidIndex) -> Result<Facet, f64> {
    let (ab, ac) = (b - a, c - a);
    let longest = ab.length().max(ac.length()).max(b.distance(c));
    let doubled = ab.cross(ac);
    let share = doubled.length() / (longest * longest);
    // NaN fails too.
    if !(share > MIN_HEIGHT && longest.is_finite()) {
        return Err(if share.is_finite() { share } else { 0.0 });
    }
    let x = ab.normalize();
    let y = doubled.normalize().cross(x).normalize();
    let corners = [DVec2::ZERO, DVec2::new(ab.length(), 0.0), DVec2::new(x.dot(ac), y.dot(ac))];
    let ends = [(0, 1), (1, 2), (2, 0)].map(|(from, to): (usize, usize)| corners[to] - corners[from]);
    Ok(Facet {
        origin: a,
        x,
        y,
        corners,
        edges: ends.map(DVec2::normalize),
        edge_lengths: ends.map(DVec2::length),
        dihedrals: [0.0; 3],
        bend_lengths: [0.0; 3],
        opposite,
        solid,
    })
}

/// Dihedral turn at a shared edge, in rad, and the length over which the surface makes it, in m.
fn fold(facet: &Facet, k: usize, other: &Facet, edge: usize) -> (f64, f64) {
    let (n, m) = (facet.normal(), other.normal());
    let along = facet.lift(facet.edges[k]);
    let turn = math::atan2(n.cross(m).dot(along), n.dot(m));
    // The distance of the circumcenters: a smooth surface of curvature κ turns by κ times this
    // distance, for equilateral triangles and for halves of squares. Obtuse triangles have theirs
    // outside; their centroids are used instead.
    let half_cotangent = |facet: &Facet, k: usize| {
        let [u, v] = [k, (k + 1) % 3].map(|end| facet.corners[end] - facet.corners[(k + 2) % 3]);
        0.5 * facet.edge_lengths[k] * u.dot(v) / u.perp_dot(v)
    };
    let middles = facet.edge_distance(facet.centroid(), k) + other.edge_distance(other.centroid(), edge);
    (turn, (half_cotangent(facet, k) + half_cotangent(other, edge)).max(0.3 * middles))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A rectangle of `width` × `height` in the plane z = 0 with 2·columns·rows triangles.
    pub fn sheet(width: f64, height: f64, columns: usize, rows: usize) -> TriMesh {
        let at = |i: usize, j: usize| {
            DVec3::new(width * (i as f64 / columns as f64 - 0.5), height * (j as f64 / rows as f64 - 0.5), 0.0)
        };
        let mut mesh = TriMesh::default();
        for j in 0..=rows {
            mesh.positions.extend((0..=columns).map(|i| at(i, j)));
        }
        let vertex = |i: usize, j: usize| (j * (columns + 1) + i) as u32;
        for j in 0..rows {
            for i in 0..columns {
                let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        let uv = |v: u32| {
            let p = mesh.positions[v as usize];
            DVec2::new(p.x / width + 0.5, p.y / height + 0.5)
        };
        mesh.corner_uvs = mesh.triangles.iter().map(|t| t.map(uv)).collect();
        mesh
    }

    /// The surface of one mesh.
    pub fn surface_of(mesh: &TriMesh) -> SurfaceMesh {
        let mut surface = SurfaceMesh::default();
        surface.declare("mesh", mesh).unwrap_or_else(|error| panic!("{error}"));
        surface.build(SolidIndex::new(0), mesh);
        surface
    }

    #[test]
    fn the_dihedral_turn_is_positive_at_a_ridge_and_negative_in_a_valley() {
        for (height, sign) in [(0.5, 1.0), (-0.5, -1.0)] {
            // Two triangles that share the y axis, which is raised above the outer corners or sunk
            // below them.
            let mesh = TriMesh {
                positions: vec![
                    DVec3::new(0.0, 0.0, height),
                    DVec3::new(0.0, 1.0, height),
                    DVec3::new(-1.0, 0.0, 0.0),
                    DVec3::new(1.0, 0.0, 0.0),
                ],
                triangles: vec![[0, 1, 2], [0, 3, 1]],
                corner_uvs: vec![],
            };
            let surface = surface_of(&mesh);
            let turn = surface.facet(TriangleIndex::new(0)).dihedrals[0];
            let expected = sign * 2.0 * 0.5_f64.atan();
            assert!((turn - expected).abs() < 1e-12, "{turn} for {expected}");
            assert!((surface.facet(TriangleIndex::new(1)).dihedrals[2] - expected).abs() < 1e-12);
            // A vector transported across and back is unchanged.
            let vector = DVec2::new(0.3, -0.7);
            let first = TriangleIndex::new(0);
            let (other, edge) = surface.opposite(first, 0).expect("shared");
            let back = surface.transport(other, edge, first, 0, surface.transport(first, 0, other, edge, vector));
            assert!((back - vector).length() < 1e-15, "{back}");
        }
    }

    #[test]
    fn unusable_meshes_are_rejected_with_their_name() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::X * 2.0];
        let push = |triangles: Vec<[u32; 3]>| {
            let mesh = TriMesh { positions: positions.clone(), triangles, corner_uvs: vec![] };
            SurfaceMesh::default().declare("cup", &mesh).unwrap_err().to_string()
        };
        let flat = push(vec![[0, 1, 4]]);
        assert!(flat.starts_with("solid `cup`: triangle 0 near (0.0000, 0.0000, 0.0000) m has no plane"), "{flat}");
        let fin = push(vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert!(fin.contains("edge [0, 1] is used by 3 triangles"), "{fin}");
        let against = push(vec![[0, 1, 2], [0, 1, 3]]);
        assert!(against.contains("edge [0, 1]"), "{against}");
    }
}
