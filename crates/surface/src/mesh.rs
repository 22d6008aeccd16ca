//! The closed triangle mesh of one drop, in flat half-edge arrays.
//!
//! Half-edge `h = 3t + k` runs from corner k of triangle t to the next corner; `twins[h]` is the
//! opposite half-edge in the neighboring triangle. The mesh is always closed and manifold: every
//! half-edge has a twin, and the triangles around a vertex form one fan. The operations of [`edit`]
//! preserve this; [`check`] verifies it.
//!
//! Every triangle is tagged with an [`Interface`]. The kind of a vertex follows from its triangles:
//! *wetted* if all of them lie on solids, on the *contact line* if some do, *free* if none does.

pub mod check;
mod edit;
pub mod primitives;
pub mod quality;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::{Connectivity, HalfEdge};

/// Marks removed vertices and triangles until [`Mesh::compact`]; never leaves this module.
const REMOVED: u32 = u32::MAX;

/// What the liquid meets at a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Interface {
    /// Air: the free surface.
    #[default]
    Air,
    /// The solid with this index in the scene.
    Solid(u32),
    /// The outlet of the tap with this index; closes the stream that hangs from it.
    Outlet(u32),
}

impl Interface {
    /// The solid with this index.
    pub fn solid(index: usize) -> Self {
        Self::Solid(index as u32)
    }

    /// Whether this is a solid of the scene, not air and not an outlet.
    #[inline]
    pub fn is_solid(self) -> bool {
        matches!(self, Self::Solid(_))
    }

    /// Index of the solid, if it is one.
    #[inline]
    pub fn solid_index(self) -> Option<usize> {
        match self {
            Self::Solid(index) => Some(index as usize),
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
    /// A half-edge that starts at each vertex; [`REMOVED`] where the vertex was removed.
    outgoing: Vec<u32>,
    /// Corners of each triangle, counter-clockwise seen from outside the liquid; the first is
    /// [`REMOVED`] where the triangle was removed.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Twin of each half-edge.
    pub(crate) twins: Vec<u32>,
    /// What the liquid meets at each triangle.
    pub(crate) interfaces: Vec<Interface>,
}

/// The half-edge after `h` in its triangle.
#[inline]
pub fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

/// The half-edge before `h` in its triangle.
#[inline]
pub fn previous(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

impl Mesh {
    /// A mesh at rest and all against air from a closed manifold mesh; `None` if it is not one.
    pub(crate) fn from_triangles(mesh: &TriMesh) -> Option<Self> {
        let connectivity = Connectivity::new(&mesh.triangles).ok()?;
        let count = mesh.triangles.len();
        let mut twins = vec![REMOVED; 3 * count];
        let mut outgoing = vec![REMOVED; mesh.positions.len()];
        for t in 0..count {
            for k in 0..3 {
                let half_edge = HalfEdge::new(t, k);
                let twin = connectivity.opposite(half_edge)?;
                twins[3 * t + k] = (3 * twin.triangle() + twin.side()) as u32;
                outgoing[mesh.triangles[t][k] as usize] = (3 * t + k) as u32;
            }
        }
        let mut made = Self {
            positions: mesh.positions.clone(),
            velocities: vec![DVec3::ZERO; mesh.positions.len()],
            outgoing,
            triangles: mesh.triangles.clone(),
            twins,
            interfaces: vec![Interface::Air; count],
        };
        made.compact();
        Some(made)
    }

    /// Copies `other` and reuses this mesh's memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.outgoing.clone_from(&other.outgoing);
        self.triangles.clone_from(&other.triangles);
        self.twins.clone_from(&other.twins);
        self.interfaces.clone_from(&other.interfaces);
    }

    /// The vertex where `h` starts.
    #[inline]
    pub(crate) fn from(&self, h: u32) -> u32 {
        self.triangles[(h / 3) as usize][(h % 3) as usize]
    }

    /// The vertex where `h` ends.
    #[inline]
    pub(crate) fn to(&self, h: u32) -> u32 {
        self.from(next(h))
    }

    /// The corner of `h`'s triangle opposite to `h`.
    #[inline]
    pub(crate) fn apex(&self, h: u32) -> u32 {
        self.from(previous(h))
    }

    /// The opposite half-edge of the same edge.
    #[inline]
    pub(crate) fn twin(&self, h: u32) -> u32 {
        self.twins[h as usize]
    }

    /// The interface of `h`'s triangle.
    #[inline]
    pub(crate) fn interface_of(&self, h: u32) -> Interface {
        self.interfaces[(h / 3) as usize]
    }

    /// Whether vertex `v` has not been removed.
    #[inline]
    pub(crate) fn is_vertex_live(&self, v: u32) -> bool {
        self.outgoing[v as usize] != REMOVED
    }

    /// Whether triangle `t` has not been removed.
    #[inline]
    pub(crate) fn is_live(&self, t: usize) -> bool {
        self.triangles[t][0] != REMOVED
    }

    /// The half-edges that start at `v`, in rotational order.
    pub(crate) fn fan(&self, v: u32) -> Fan<'_> {
        let start = self.outgoing[v as usize];
        Fan { mesh: self, start, at: start }
    }

    /// The half-edge from `a` to `b`, if they are neighbors.
    pub(crate) fn edge(&self, a: u32, b: u32) -> Option<u32> {
        self.fan(a).find(|&h| self.to(h) == b)
    }

    /// Number of edges at `v`.
    pub(crate) fn valence(&self, v: u32) -> usize {
        self.fan(v).count()
    }

    /// What `v` is in contact with.
    pub(crate) fn kind(&self, v: u32) -> VertexKind {
        let (mut air, mut wet) = (false, false);
        for h in self.fan(v) {
            if self.interface_of(h) == Interface::Air { air = true } else { wet = true }
        }
        VertexKind::new(air, wet)
    }

    /// The interface that `v` is in contact with, air for free vertices; the first in the fan if
    /// there are several.
    pub(crate) fn interface_at(&self, v: u32) -> Interface {
        self.fan(v).map(|h| self.interface_of(h)).find(|&s| s != Interface::Air).unwrap_or(Interface::Air)
    }

    /// Whether the two triangles at `h` have different interfaces.
    pub(crate) fn is_line(&self, h: u32) -> bool {
        self.interface_of(h) != self.interface_of(self.twin(h))
    }

    /// Corners of triangle `t`, in m.
    #[inline]
    pub(crate) fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Unit normal times area of triangle `t`, in m².
    #[inline]
    pub(crate) fn area_vector(&self, t: usize) -> DVec3 {
        let [a, b, c] = self.corners(t);
        0.5 * (b - a).cross(c - a)
    }

    /// Length of the edge of `h`, in m.
    #[inline]
    pub(crate) fn length(&self, h: u32) -> f64 {
        self.positions[self.from(h) as usize].distance(self.positions[self.to(h) as usize])
    }

    /// Enclosed volume, in m³.
    ///
    /// The sum is taken about a vertex, which avoids cancellation far from the origin.
    pub fn volume(&self) -> f64 {
        let Some(&origin) = self.positions.first() else { return 0.0 };
        let sum: f64 = (0..self.triangles.len())
            .filter(|&t| self.is_live(t))
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
        for t in (0..self.triangles.len()).filter(|&t| self.is_live(t)) {
            let [a, b, c] = self.corners(t).map(|p| p - origin);
            let cone = a.dot(b.cross(c));
            volume += cone;
            moment += (a + b + c) * (0.25 * cone);
        }
        origin + moment / volume
    }

    /// Area of the free surface, in m².
    pub(crate) fn air_area(&self) -> f64 {
        (0..self.triangles.len())
            .filter(|&t| self.is_live(t) && self.interfaces[t] == Interface::Air)
            .map(|t| self.area_vector(t).length())
            .sum()
    }

    /// Area of the triangles on solids of the scene, in m².
    #[cfg(test)]
    pub(crate) fn wetted_area(&self) -> f64 {
        let wetted = (0..self.triangles.len()).filter(|&t| self.is_live(t) && self.interfaces[t].is_solid());
        wetted.map(|t| self.area_vector(t).length()).sum()
    }

    /// Whether any triangle lies on a solid.
    pub fn touches_solid(&self) -> bool {
        (0..self.triangles.len()).any(|t| self.is_live(t) && self.interfaces[t] != Interface::Air)
    }

    /// Corners of the axis-aligned bounding box, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.positions.iter().fold(start, |[low, high], &p| [low.min(p), high.max(p)])
    }

    /// A copy without contact and velocities.
    #[cfg(test)]
    pub(crate) fn to_tri_mesh(&self) -> TriMesh {
        TriMesh { positions: self.positions.clone(), triangles: self.triangles.clone(), corner_uvs: Vec::new() }
    }

    /// Removes the storage of removed vertices and triangles; the order of the others is kept.
    pub(crate) fn compact(&mut self) {
        let whole = self.outgoing.iter().all(|&h| h != REMOVED) && (0..self.triangles.len()).all(|t| self.is_live(t));
        if whole {
            return;
        }
        let mut new_vertex = vec![REMOVED; self.positions.len()];
        let mut count = 0;
        for v in 0..self.positions.len() {
            if self.outgoing[v] != REMOVED {
                new_vertex[v] = count as u32;
                self.positions[count] = self.positions[v];
                self.velocities[count] = self.velocities[v];
                self.outgoing[count] = self.outgoing[v];
                count += 1;
            }
        }
        self.positions.truncate(count);
        self.velocities.truncate(count);
        self.outgoing.truncate(count);
        let mut new_triangle = vec![REMOVED; self.triangles.len()];
        let mut kept = 0;
        for t in 0..self.triangles.len() {
            if self.triangles[t][0] != REMOVED {
                new_triangle[t] = kept as u32;
                self.triangles[kept] = self.triangles[t].map(|v| new_vertex[v as usize]);
                self.interfaces[kept] = self.interfaces[t];
                for k in 0..3 {
                    self.twins[3 * kept + k] = self.twins[3 * t + k];
                }
                kept += 1;
            }
        }
        self.triangles.truncate(kept);
        self.interfaces.truncate(kept);
        self.twins.truncate(3 * kept);
        let moved = |h: u32| 3 * new_triangle[(h / 3) as usize] + h % 3;
        self.twins.iter_mut().for_each(|h| *h = moved(*h));
        self.outgoing.iter_mut().for_each(|h| *h = moved(*h));
    }

    /// Connected components as ascending lists of triangles, ordered by their first triangle.
    pub(crate) fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.triangles.len()];
        let mut components = Vec::new();
        for first in 0..self.triangles.len() {
            if seen[first] || !self.is_live(first) {
                continue;
            }
            seen[first] = true;
            let mut component = vec![first as u32];
            let mut at = 0;
            while at < component.len() {
                for k in 0..3 {
                    let other = self.twin(3 * component[at] + k) / 3;
                    if !std::mem::replace(&mut seen[other as usize], true) {
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
    pub(crate) fn component_volume(&self, component: &[u32]) -> f64 {
        let Some(&first) = component.first() else { return 0.0 };
        let origin = self.corners(first as usize)[0];
        let cones = component.iter().map(|&t| {
            let [a, b, c] = self.corners(t as usize).map(|p| p - origin);
            a.dot(b.cross(c))
        });
        cones.sum::<f64>() / 6.0
    }

    /// Copies connected components into meshes of their own; no two may share a vertex.
    pub(crate) fn extract(&self, components: &[Vec<u32>]) -> Vec<Self> {
        let mut new_vertex = vec![REMOVED; self.positions.len()];
        let mut new_triangle = vec![REMOVED; self.triangles.len()];
        let extract = |component: &Vec<u32>| {
            let mut made = Self::default();
            for (count, &t) in component.iter().enumerate() {
                new_triangle[t as usize] = count as u32;
            }
            for &t in component {
                let corners = self.triangles[t as usize].map(|v| {
                    let v = v as usize;
                    if new_vertex[v] == REMOVED {
                        new_vertex[v] = made.positions.len() as u32;
                        made.positions.push(self.positions[v]);
                        made.velocities.push(self.velocities[v]);
                        made.outgoing.push(REMOVED);
                    }
                    new_vertex[v]
                });
                let here = made.triangles.len() as u32;
                for k in 0..3 {
                    let twin = self.twin(3 * t + k);
                    made.twins.push(3 * new_triangle[(twin / 3) as usize] + twin % 3);
                    made.outgoing[corners[k as usize] as usize] = 3 * here + k;
                }
                made.triangles.push(corners);
                made.interfaces.push(self.interfaces[t as usize]);
            }
            made
        };
        components.iter().map(extract).collect()
    }
}

/// Iterator over the half-edges that start at a vertex.
pub struct Fan<'a> {
    mesh: &'a Mesh,
    start: u32,
    at: u32,
}

impl Iterator for Fan<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.at == REMOVED {
            return None;
        }
        let here = self.at;
        let onward = self.mesh.twin(previous(here));
        self.at = if onward == self.start { REMOVED } else { onward };
        Some(here)
    }
}
