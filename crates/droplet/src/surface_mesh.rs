//! A mesh to run on: every triangle flat in its own axes, and what lies across each of its sides.
//!
//! Triangle t has its first corner at the origin of its own plane, its first side along x, and its normal out of the solid as
//! z = x × y. A place is a triangle and a [`DVec2`] in these axes. Side k runs from corner k to the next one; the triangle
//! lies to its left. Places and velocities go over a side exactly: a point of the side is the same share of it from either
//! triangle, and a velocity keeps its component along the side and across it. So nothing drifts off the surface, however
//! many sides are crossed.
//!
//! ```text
//! turn δ = angle between the normals of the two triangles, positive where the surface bends away (convex), negative in a valley
//! ```
//!
//! The mesh must be a manifold that winds alike, open or closed. Everything is in the rest pose of its solid.

mod geodesic;
mod subdivide;
pub(crate) mod t_junctions;
mod tangent_frame;

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::{Connectivity, HalfEdge, NotManifold};

pub use geodesic::SurfacePoint;
pub use subdivide::subdivide;
pub use t_junctions::close_t_junctions;

/// Nothing lies across.
pub const NONE: u32 = u32::MAX;
/// Height over longest side below which a triangle has no usable plane.
const FLATTEST: f64 = 1e-11;
/// A turn smaller than this is rounding: the triangles are one plane, in rad.
pub const COPLANAR: f64 = 1e-7;

/// A triangle as a droplet sees it, in four lines of memory; the last is for those who cross a side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Facet {
    /// Its first corner, in m, in the rest pose of its solid.
    pub origin: DVec3,
    /// Along its first side.
    pub x: DVec3,
    /// In its plane, to the left of the first side.
    pub y: DVec3,
    /// Corners in its own axes, in m.
    pub corners: [DVec2; 3],
    /// Unit directions of its sides.
    pub edges: [DVec2; 3],
    /// The half-edge across each side ([`NONE`] on a border).
    pub across: [u32; 3],
    /// The solid that it belongs to.
    pub solid: u32,
    /// Lengths of its sides, in m.
    pub edge_lengths: [f64; 3],
    /// How the surface turns over each side, in rad; 0 on a border.
    pub dihedrals: [f64; 3],
    /// Length across each side over which a smooth surface would make that turn, in m.
    pub bend_lengths: [f64; 3],
}

const _: () = assert!(size_of::<Facet>() == 256);

impl Facet {
    /// In m²: its first side lies along x.
    pub fn area(&self) -> f64 {
        0.5 * self.corners[1].x * self.corners[2].y
    }

    /// Reads something of each of the lines of memory that a droplet on it needs.
    #[inline]
    pub fn prefetch(&self) -> f64 {
        self.origin.x + self.corners[1].x + self.edges[2].x
    }

    /// Unit normal, out of the solid.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.x.cross(self.y)
    }

    /// A place in its axes, in the rest pose, in m.
    #[inline]
    pub fn point(&self, place: DVec2) -> DVec3 {
        self.origin + self.x * place.x + self.y * place.y
    }

    /// A direction of the rest pose, as far as it lies in the plane.
    #[inline]
    pub fn project(&self, vector: DVec3) -> DVec2 {
        DVec2::new(self.x.dot(vector), self.y.dot(vector))
    }

    /// A direction in its axes, in the rest pose.
    #[inline]
    pub fn lift(&self, vector: DVec2) -> DVec3 {
        self.x * vector.x + self.y * vector.y
    }

    /// Unit normal of side `k` in the plane, into the triangle.
    #[inline]
    pub fn inward(&self, k: usize) -> DVec2 {
        self.edges[k].perp()
    }

    /// Distance of a place from side `k`, in m: positive inside.
    #[inline]
    pub fn edge_distance(&self, place: DVec2, k: usize) -> f64 {
        self.edges[k].perp_dot(place - self.corners[k])
    }

    /// Least of the three distances from the sides, in m.
    #[inline]
    pub fn depth(&self, place: DVec2) -> f64 {
        (0..3).map(|k| self.edge_distance(place, k)).fold(f64::INFINITY, f64::min)
    }

    /// The point of side `k` at `share` of its length.
    #[inline]
    pub fn on_edge(&self, k: usize, share: f64) -> DVec2 {
        self.corners[k] + self.edges[k] * (share * self.edge_lengths[k])
    }

    /// Middle of the triangle in its axes.
    pub fn centroid(&self) -> DVec2 {
        (self.corners[0] + self.corners[1] + self.corners[2]) / 3.0
    }

    /// The nearest place inside the triangle.
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

/// A mesh that cannot be run on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// Three triangles at an edge, or two that wind against each other.
    #[error("solid `{solid}`: droplets cannot run over its mesh: {reason}; repair it in a modeling program")]
    NotManifold {
        /// Whose mesh.
        solid: String,
        /// Where.
        reason: NotManifold,
    },
    /// A triangle without a plane.
    #[error(
        "solid `{solid}`: triangle {triangle} near ({x:.4}, {y:.4}, {z:.4}) m has no plane to run on: its height is {share:.1e} of its longest side; \
         remove it in a modeling program",
        x = near.x, y = near.y, z = near.z
    )]
    NoPlane {
        /// Whose mesh.
        solid: String,
        /// Its index.
        triangle: usize,
        /// Where it is, in m.
        near: DVec3,
        /// Its height over its longest side.
        share: f64,
    },
    /// More triangles than can be numbered.
    #[error("the scene's solids have {triangles} triangles; at most {most} can be run on: simplify a mesh")]
    TooMany {
        /// In all.
        triangles: usize,
        /// The bound.
        most: usize,
    },
}

/// All triangles that droplets can run on, solid by solid.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMesh {
    facets: Vec<Facet>,
    /// First triangle of each solid, and the end.
    starts: Vec<usize>,
    /// The surface that a solid's mesh stands for, where it is rounder than the mesh.
    analytic: Vec<Option<tangent_frame::AnalyticSurface>>,
}

impl SurfaceMesh {
    /// Adds a solid's mesh.
    pub fn push(&mut self, name: &str, mesh: &TriMesh) -> Result<(), MeshError> {
        const MOST: usize = u32::MAX as usize / 3 - 1;
        let connectivity = Connectivity::new(&mesh.triangles)
            .map_err(|reason| MeshError::NotManifold { solid: name.into(), reason })?;
        let first = self.facets.len();
        let triangles = first + mesh.triangles.len();
        if triangles > MOST {
            return Err(MeshError::TooMany { triangles, most: MOST });
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let solid = self.starts.len() as u32 - 1;
        for t in 0..mesh.triangles.len() {
            let across =
                [0, 1, 2].map(|k| connectivity.opposite(HalfEdge::new(t, k)).map_or(NONE, |h| h.0 + 3 * first as u32));
            let facet = facet(mesh.corners(t), across, solid).map_err(|share| MeshError::NoPlane {
                solid: name.into(),
                triangle: t,
                near: mesh.corners(t)[0],
                share,
            })?;
            self.facets.push(facet);
        }
        self.starts.push(triangles);
        self.analytic.push(None);
        for t in first..triangles {
            for k in 0..3 {
                if let Some((other, side)) = self.across(t as u32, k) {
                    let (turn, span) = fold(&self.facets[t], k, &self.facets[other as usize], side);
                    self.facets[t].dihedrals[k] = turn;
                    self.facets[t].bend_lengths[k] = span;
                }
            }
        }
        Ok(())
    }

    /// The triangles.
    pub fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// A triangle.
    pub fn facet(&self, triangle: u32) -> &Facet {
        &self.facets[triangle as usize]
    }

    /// The triangles of a solid.
    pub fn triangles_of(&self, solid: usize) -> std::ops::Range<usize> {
        self.starts[solid]..self.starts[solid + 1]
    }

    /// Number of solids.
    pub fn num_solids(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The triangle across side `k`, and which of its sides that is.
    pub fn across(&self, triangle: u32, k: usize) -> Option<(u32, usize)> {
        let half_edge = self.facets[triangle as usize].across[k];
        (half_edge != NONE).then_some((half_edge / 3, half_edge as usize % 3))
    }

    /// A vector in the plane of `from` as it goes over its side `k` into `to` through the latter's side `into`, turned with the surface.
    pub fn transport(&self, from: u32, k: usize, to: u32, into: usize, vector: DVec2) -> DVec2 {
        let (side, other) = (self.facet(from).edges[k], self.facet(to).edges[into]);
        let (along, out) = (side.dot(vector), -side.perp_dot(vector));
        // The other triangle runs along the side the other way.
        other.perp() * out - other * along
    }
}

/// A triangle in its own axes; fails with its height over its longest side.
fn facet([a, b, c]: [DVec3; 3], across: [u32; 3], solid: u32) -> Result<Facet, f64> {
    let (ab, ac) = (b - a, c - a);
    let longest = ab.length().max(ac.length()).max(b.distance(c));
    let doubled = ab.cross(ac);
    let share = doubled.length() / (longest * longest);
    // Not a number fails too.
    if !(share > FLATTEST && longest.is_finite()) {
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
        across,
        solid,
    })
}

/// How the surface turns over a shared side, in rad, and over which length, in m.
fn fold(facet: &Facet, k: usize, other: &Facet, side: usize) -> (f64, f64) {
    let (n, m) = (facet.normal(), other.normal());
    let along = facet.lift(facet.edges[k]);
    let turn = n.cross(m).dot(along).atan2(n.dot(m));
    // Between the centers of the circumscribed circles: a smooth surface of curvature κ turns by κ times this, whether its
    // triangles are equilateral or halves of squares. Blunt triangles have theirs outside; then the middles must do.
    let half_cotangent = |facet: &Facet, k: usize| {
        let [u, v] = [k, (k + 1) % 3].map(|end| facet.corners[end] - facet.corners[(k + 2) % 3]);
        0.5 * facet.edge_lengths[k] * u.dot(v) / u.perp_dot(v)
    };
    let middles = facet.edge_distance(facet.centroid(), k) + other.edge_distance(other.centroid(), side);
    (turn, (half_cotangent(facet, k) + half_cotangent(other, side)).max(0.3 * middles))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A rectangle of `width` × `height` in the plane z = 0, cut into 2·columns·rows triangles.
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

    /// A surface of one mesh.
    pub fn surface_of(mesh: &TriMesh) -> SurfaceMesh {
        let mut surface = SurfaceMesh::default();
        surface.push("mesh", mesh).unwrap_or_else(|error| panic!("{error}"));
        surface
    }

    #[test]
    fn a_ridge_turns_positive_and_a_valley_negative() {
        for (height, sign) in [(0.5, 1.0), (-0.5, -1.0)] {
            // Two triangles that share the y axis, its ends raised against the outer corners or sunk.
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
            let turn = surface.facet(0).dihedrals[0];
            let expected = sign * 2.0 * 0.5_f64.atan();
            assert!((turn - expected).abs() < 1e-12, "{turn} for {expected}");
            assert!((surface.facet(1).dihedrals[2] - expected).abs() < 1e-12);
            // A vector carried over and back is itself.
            let vector = DVec2::new(0.3, -0.7);
            let (other, side) = surface.across(0, 0).expect("shared");
            let back = surface.transport(other, side, 0, 0, surface.transport(0, 0, other, side, vector));
            assert!((back - vector).length() < 1e-15, "{back}");
        }
    }

    #[test]
    fn what_cannot_be_run_on_is_refused_by_name() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::X * 2.0];
        let push = |triangles: Vec<[u32; 3]>| {
            let mesh = TriMesh { positions: positions.clone(), triangles, corner_uvs: vec![] };
            SurfaceMesh::default().push("cup", &mesh).unwrap_err().to_string()
        };
        let flat = push(vec![[0, 1, 4]]);
        assert!(flat.starts_with("solid `cup`: triangle 0 near (0.0000, 0.0000, 0.0000) m has no plane"), "{flat}");
        let fin = push(vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert!(fin.contains("edge [0, 1] is used by 3 triangles"), "{fin}");
        let against = push(vec![[0, 1, 2], [0, 1, 3]]);
        assert!(against.contains("edge [0, 1]"), "{against}");
    }
}
