//! The closed triangle mesh of one drop, in flat half-edge arrays.
//!
//! Half-edge `h = 3t + k` ([`index`]) runs from corner k of triangle t to the next corner;
//! `twins[h]` is the opposite half-edge in the neighboring triangle. The mesh is always closed and
//! manifold: every half-edge has a twin, and the triangles around a vertex form one fan. The
//! operations of [`edit`] preserve this; [`check`] verifies it. They mark the elements that they
//! remove, and [`Mesh::compact`] frees the storage of these.
//!
//! Every triangle is tagged with an [`Interface`]. The kind of a vertex follows from its triangles:
//! *wetted* if all of them lie on solids, on the *contact line* if some do, *free* if none does.

pub mod check;
mod edit;
pub mod index;
pub mod primitives;
pub mod quality;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::{Connectivity, HalfEdge};

use self::index::{HalfEdgeIndex, TriangleIndex, VertexIndex, typed_triangles};
use crate::substrate::{OutletIndex, SolidIndex};

/// What the liquid meets at a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Interface {
    /// Air: the free surface.
    #[default]
    Air,
    /// A solid of the scene.
    Solid(SolidIndex),
    /// The outlet of a tap; closes the stream that hangs from it.
    Outlet(OutletIndex),
}

impl Interface {
    /// Whether this is a solid of the scene, not air and not an outlet.
    #[inline]
    pub fn is_solid(self) -> bool {
        matches!(self, Self::Solid(_))
    }

    /// Index of the solid, if it is one.
    #[inline]
    pub fn solid_index(self) -> Option<SolidIndex> {
        match self {
            Self::Solid(index) => Some(index),
            Self::Air | Self::Outlet(_) => None,
        }
    }
}

/// What a vertex is in contact with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexKind {
    /// Only air.
    Free,
    /// Air and a solid.
    ContactLine,
    /// Only solids.
    Wetted,
}

impl VertexKind {
    /// The kind of a vertex by whether any of its triangles faces air and any lies on a solid.
    #[inline]
    pub fn new(air: bool, solid: bool) -> Self {
        match (air, solid) {
            (true, true) => Self::ContactLine,
            (false, true) => Self::Wetted,
            _ => Self::Free,
        }
    }

    /// Priority for keeping a vertex in place when an edge is collapsed: the largest stays.
    pub fn rank(self) -> u8 {
        match self {
            Self::ContactLine => 2,
            Self::Wetted => 1,
            Self::Free => 0,
        }
    }
}

/// A closed triangle mesh with its contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub(crate) velocities: Vec<DVec3>,
    /// A half-edge that starts at each vertex; `None` where the vertex was removed.
    outgoing: Vec<Option<HalfEdgeIndex>>,
    /// Corners of each triangle, counter-clockwise seen from outside the liquid.
    pub(crate) triangles: Vec<[VertexIndex; 3]>,
    /// Whether each triangle exists; false where it was removed.
    live: Vec<bool>,
    /// Twin of each half-edge.
    pub(crate) twins: Vec<HalfEdgeIndex>,
    /// What the liquid meets at each triangle.
    pub(crate) interfaces: Vec<Interface>,
}

impl Mesh {
    /// A mesh at rest and all against air from a closed manifold mesh; `None` if it is not one.
    pub(crate) fn from_triangles(mesh: &TriMesh) -> Option<Self> {
        let connectivity = Connectivity::new(&mesh.triangles).ok()?;
        let count = mesh.triangles.len();
        let mut made = Self {
            positions: mesh.positions.clone(),
            velocities: vec![DVec3::ZERO; mesh.positions.len()],
            outgoing: vec![None; mesh.positions.len()],
            triangles: typed_triangles(&mesh.triangles),
            live: vec![true; count],
            twins: Vec::with_capacity(3 * count),
            interfaces: vec![Interface::Air; count],
        };
        for t in TriangleIndex::first(count) {
            for (k, v) in made.triangles[t].into_iter().enumerate() {
                let twin = connectivity.opposite(HalfEdge::new(t.to_usize(), k))?;
                made.twins.push(TriangleIndex::new(twin.triangle()).half_edge(twin.side()));
                made.outgoing[v] = Some(t.half_edge(k));
            }
        }
        made.compact();
        Some(made)
    }

    /// Copies `other` and reuses this mesh's memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.outgoing.clone_from(&other.outgoing);
        self.triangles.clone_from(&other.triangles);
        self.live.clone_from(&other.live);
        self.twins.clone_from(&other.twins);
        self.interfaces.clone_from(&other.interfaces);
    }

    /// The vertex where `h` starts.
    #[inline]
    pub(crate) fn from(&self, h: HalfEdgeIndex) -> VertexIndex {
        self.triangles[h.triangle()][h.corner()]
    }

    /// The vertex where `h` ends.
    #[inline]
    pub(crate) fn to(&self, h: HalfEdgeIndex) -> VertexIndex {
        self.from(h.next())
    }

    /// The corner of `h`'s triangle opposite to `h`.
    #[inline]
    pub(crate) fn apex(&self, h: HalfEdgeIndex) -> VertexIndex {
        self.from(h.previous())
    }

    /// The opposite half-edge of the same edge.
    #[inline]
    pub(crate) fn twin(&self, h: HalfEdgeIndex) -> HalfEdgeIndex {
        self.twins[h]
    }

    /// The interface of `h`'s triangle.
    #[inline]
    pub(crate) fn interface_of(&self, h: HalfEdgeIndex) -> Interface {
        self.interfaces[h.triangle()]
    }

    /// Whether vertex `v` has not been removed.
    #[inline]
    pub(crate) fn is_vertex_live(&self, v: VertexIndex) -> bool {
        self.outgoing[v].is_some()
    }

    /// Whether triangle `t` has not been removed.
    #[inline]
    pub(crate) fn is_live(&self, t: TriangleIndex) -> bool {
        self.live[t]
    }

    /// All vertices, removed ones included.
    pub(crate) fn vertex_indices(&self) -> impl ExactSizeIterator<Item = VertexIndex> + Clone + use<> {
        VertexIndex::first(self.positions.len())
    }

    /// All triangles, removed ones included.
    pub(crate) fn triangle_indices(&self) -> impl ExactSizeIterator<Item = TriangleIndex> + Clone + use<> {
        TriangleIndex::first(self.triangles.len())
    }

    /// The triangles that were not removed.
    pub(crate) fn live_triangles(&self) -> impl Iterator<Item = TriangleIndex> {
        self.triangle_indices().filter(|&t| self.is_live(t))
    }

    /// All half-edges, those of removed triangles included.
    pub(crate) fn half_edge_indices(&self) -> impl ExactSizeIterator<Item = HalfEdgeIndex> + Clone + use<> {
        HalfEdgeIndex::first(self.twins.len())
    }

    /// The half-edges that start at `v`, in rotational order; none if it was removed.
    pub(crate) fn fan(&self, v: VertexIndex) -> Fan<'_> {
        let first = self.outgoing[v];
        Fan { mesh: self, first, at: first }
    }

    /// The half-edge from `a` to `b`, if they are neighbors.
    pub(crate) fn edge(&self, a: VertexIndex, b: VertexIndex) -> Option<HalfEdgeIndex> {
        self.fan(a).find(|&h| self.to(h) == b)
    }

    /// Number of edges at `v`.
    pub(crate) fn valence(&self, v: VertexIndex) -> usize {
        self.fan(v).count()
    }

    /// What `v` is in contact with.
    pub(crate) fn kind(&self, v: VertexIndex) -> VertexKind {
        let (mut air, mut wet) = (false, false);
        for h in self.fan(v) {
            if self.interface_of(h) == Interface::Air { air = true } else { wet = true }
        }
        VertexKind::new(air, wet)
    }

    /// The interface that `v` is in contact with, air for free vertices; the first in the fan if
    /// there are several.
    pub(crate) fn interface_at(&self, v: VertexIndex) -> Interface {
        self.fan(v).map(|h| self.interface_of(h)).find(|&s| s != Interface::Air).unwrap_or(Interface::Air)
    }

    /// Whether the two triangles at `h` have different interfaces.
    pub(crate) fn is_line(&self, h: HalfEdgeIndex) -> bool {
        self.interface_of(h) != self.interface_of(self.twin(h))
    }

    /// Corners of triangle `t`, in m.
    #[inline]
    pub(crate) fn corners(&self, t: TriangleIndex) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v])
    }

    /// Unit normal times area of triangle `t`, in m².
    #[inline]
    pub(crate) fn area_vector(&self, t: TriangleIndex) -> DVec3 {
        let [a, b, c] = self.corners(t);
        0.5 * (b - a).cross(c - a)
    }

    /// Length of the edge of `h`, in m.
    #[inline]
    pub(crate) fn length(&self, h: HalfEdgeIndex) -> f64 {
        self.positions[self.from(h)].distance(self.positions[self.to(h)])
    }

    /// Enclosed volume, in m³.
    ///
    /// The sum is taken about a vertex, which avoids cancellation far from the origin.
    pub fn volume(&self) -> f64 {
        let Some(&origin) = self.positions.first() else { return 0.0 };
        let sum: f64 = self
            .live_triangles()
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|p| p - origin);
                a.dot(b.cross(c))
            })
            .sum();
        sum / 6.0
    }

    /// Centroid of the enclosed volume, in m.
    pub fn centroid(&self) -> DVec3 {
        let Some(&origin) = self.positions.first() else { return DVec3::ZERO };
        let (mut volume, mut moment) = (0.0, DVec3::ZERO);
        for t in self.live_triangles() {
            let [a, b, c] = self.corners(t).map(|p| p - origin);
            let cone = a.dot(b.cross(c));
            volume += cone;
            moment += (a + b + c) * (0.25 * cone);
        }
        origin + moment / volume
    }

    /// Area of the free surface, in m².
    pub(crate) fn air_area(&self) -> f64 {
        self.live_triangles()
            .filter(|&t| self.interfaces[t] == Interface::Air)
            .map(|t| self.area_vector(t).length())
            .sum()
    }

    /// Area of the triangles on solids of the scene, in m².
    #[cfg(test)]
    pub(crate) fn wetted_area(&self) -> f64 {
        let wetted = self.live_triangles().filter(|&t| self.interfaces[t].is_solid());
        wetted.map(|t| self.area_vector(t).length()).sum()
    }

    /// Whether any triangle lies on a solid.
    pub fn touches_solid(&self) -> bool {
        self.live_triangles().any(|t| self.interfaces[t] != Interface::Air)
    }

    /// Corners of the axis-aligned bounding box, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.positions.iter().fold(start, |[low, high], &p| [low.min(p), high.max(p)])
    }

    /// A copy without contact and velocities.
    #[cfg(test)]
    pub(crate) fn to_tri_mesh(&self) -> TriMesh {
        TriMesh {
            positions: self.positions.clone(),
            triangles: index::plain_triangles(&self.triangles),
            corner_uvs: Vec::new(),
        }
    }

    /// Removes the storage of removed vertices and triangles; the order of the others is kept.
    pub(crate) fn compact(&mut self) {
        if self.outgoing.iter().all(Option::is_some) && !self.live.contains(&false) {
            return;
        }
        let new_vertices = self.compact_vertices();
        let new_triangles = self.compact_triangles(&new_vertices);
        let moved = |h: HalfEdgeIndex| new_triangles[h.triangle()].half_edge(h.corner());
        self.twins.iter_mut().for_each(|h| *h = moved(*h));
        self.outgoing.iter_mut().flatten().for_each(|h| *h = moved(*h));
    }

    /// Removes the storage of removed vertices; returns the new index of each that is left.
    fn compact_vertices(&mut self) -> Vec<VertexIndex> {
        let mut new_vertices = Vec::with_capacity(self.positions.len());
        let mut count = 0;
        for v in self.vertex_indices() {
            new_vertices.push(VertexIndex::new(count));
            if self.is_vertex_live(v) {
                self.positions[count] = self.positions[v];
                self.velocities[count] = self.velocities[v];
                self.outgoing[count] = self.outgoing[v];
                count += 1;
            }
        }
        self.positions.truncate(count);
        self.velocities.truncate(count);
        self.outgoing.truncate(count);
        new_vertices
    }

    /// Removes the storage of removed triangles; returns the new index of each that is left.
    ///
    /// Half-edges are still numbered by the old triangles.
    fn compact_triangles(&mut self, new_vertices: &[VertexIndex]) -> Vec<TriangleIndex> {
        let mut new_triangles = Vec::with_capacity(self.triangles.len());
        let mut count = 0;
        for t in self.triangle_indices() {
            let new = TriangleIndex::new(count);
            new_triangles.push(new);
            if self.is_live(t) {
                self.triangles[new] = self.triangles[t].map(|v| new_vertices[v]);
                self.interfaces[new] = self.interfaces[t];
                for k in 0..3 {
                    self.twins[new.half_edge(k)] = self.twins[t.half_edge(k)];
                }
                count += 1;
            }
        }
        self.triangles.truncate(count);
        self.interfaces.truncate(count);
        self.twins.truncate(3 * count);
        self.live.clear();
        self.live.resize(count, true);
        new_triangles
    }

    /// Appends a vertex; it has no triangles yet.
    fn push_vertex(&mut self, position: DVec3, velocity: DVec3) -> VertexIndex {
        let v = VertexIndex::new(self.positions.len());
        self.positions.push(position);
        self.velocities.push(velocity);
        self.outgoing.push(None);
        v
    }

    /// Appends a triangle; its half-edges are their own twins until they are linked.
    fn push_triangle(&mut self, corners: [VertexIndex; 3], interface: Interface) -> TriangleIndex {
        let t = TriangleIndex::new(self.triangles.len());
        self.triangles.push(corners);
        self.live.push(true);
        self.interfaces.push(interface);
        self.twins.extend(t.half_edges());
        t
    }

    /// Connected components as ascending lists of triangles, ordered by their first triangle.
    pub(crate) fn components(&self) -> Vec<Vec<TriangleIndex>> {
        let mut seen = vec![false; self.triangles.len()];
        let mut components = Vec::new();
        for first in self.live_triangles() {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut component = vec![first];
            let mut at = 0;
            while at < component.len() {
                for h in component[at].half_edges() {
                    let other = self.twin(h).triangle();
                    if !std::mem::replace(&mut seen[other], true) {
                        component.push(other);
                    }
                }
                at += 1;
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }

    /// Volume enclosed by a connected component, in m³.
    pub(crate) fn component_volume(&self, component: &[TriangleIndex]) -> f64 {
        let Some(&first) = component.first() else { return 0.0 };
        let origin = self.corners(first)[0];
        let cones = component.iter().map(|&t| {
            let [a, b, c] = self.corners(t).map(|p| p - origin);
            a.dot(b.cross(c))
        });
        cones.sum::<f64>() / 6.0
    }

    /// Copies connected components into meshes of their own; no two may share a vertex.
    pub(crate) fn extract(&self, components: &[Vec<TriangleIndex>]) -> Vec<Self> {
        let mut new_vertices: Vec<Option<VertexIndex>> = vec![None; self.positions.len()];
        let mut new_triangles = vec![TriangleIndex::new(0); self.triangles.len()];
        let extract = |component: &Vec<TriangleIndex>| {
            let mut made = Self::default();
            for (new, &t) in component.iter().enumerate() {
                new_triangles[t] = TriangleIndex::new(new);
            }
            for &t in component {
                let corners = self.triangles[t].map(|v| {
                    *new_vertices[v].get_or_insert_with(|| made.push_vertex(self.positions[v], self.velocities[v]))
                });
                let new = made.push_triangle(corners, self.interfaces[t]);
                for (k, v) in corners.into_iter().enumerate() {
                    let twin = self.twin(t.half_edge(k));
                    made.twins[new.half_edge(k)] = new_triangles[twin.triangle()].half_edge(twin.corner());
                    made.outgoing[v] = Some(new.half_edge(k));
                }
            }
            made
        };
        components.iter().map(extract).collect()
    }
}

/// Iterator over the half-edges that start at a vertex.
pub struct Fan<'a> {
    mesh: &'a Mesh,
    first: Option<HalfEdgeIndex>,
    at: Option<HalfEdgeIndex>,
}

impl Iterator for Fan<'_> {
    type Item = HalfEdgeIndex;

    #[inline]
    fn next(&mut self) -> Option<HalfEdgeIndex> {
        let here = self.at?;
        let onward = Some(self.mesh.twin(here.previous()));
        self.at = if onward == self.first { None } else { onward };
        Some(here)
    }
}
