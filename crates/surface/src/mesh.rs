//! The closed triangle surface of one drop, in flat arrays.
//!
//! Half-edge `h = 3t + k` runs from corner k of triangle t to the next one; `twins[h]` is the half-edge on the other side. The
//! surface is always closed and manifold: every half-edge has a twin, and the triangles round a vertex are one fan. The
//! operations of [`edit`](crate::edit) keep it so; [`validate`](crate::validate) checks it.
//!
//! Every triangle says which solid it lies on (−1: air). Contact is read off the triangles: a vertex of wetted triangles only is *wet*, one
//! of both kinds lies on the contact *line*, all others are *free*.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;

/// No vertex, no half-edge.
pub const NONE: u32 = u32::MAX;
/// The tag of a triangle between liquid and air.
pub const AIR: i32 = -1;

/// What a vertex is in contact with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Air all round.
    Free,
    /// On the contact line.
    Line,
    /// On a solid all round.
    Wet,
}

/// A closed surface with its contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Vertex positions, in m.
    pub positions: Vec<DVec3>,
    /// Vertex velocities, in m/s.
    pub velocities: Vec<DVec3>,
    /// A half-edge that starts at each vertex; [`NONE`] where the vertex was removed.
    pub starts: Vec<u32>,
    /// Corners of each triangle, counter-clockwise seen from the air; the first is [`NONE`] where the triangle was removed.
    pub triangles: Vec<[u32; 3]>,
    /// The half-edge across each half-edge.
    pub twins: Vec<u32>,
    /// The solid that each triangle lies on, or [`AIR`].
    pub solids: Vec<i32>,
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
    /// From a closed manifold mesh, all of it against air, at rest; `None` if it is not one.
    pub fn from_triangles(mesh: &TriMesh) -> Option<Self> {
        let connectivity = Connectivity::new(&mesh.triangles).ok()?;
        let count = mesh.triangles.len();
        let mut twins = vec![NONE; 3 * count];
        let mut starts = vec![NONE; mesh.positions.len()];
        for t in 0..count {
            for side in 0..3 {
                let half_edge = sessile_geometry::connectivity::HalfEdge::new(t, side);
                let twin = connectivity.opposite(half_edge)?;
                twins[3 * t + side] = (3 * twin.triangle() + twin.side()) as u32;
                starts[mesh.triangles[t][side] as usize] = (3 * t + side) as u32;
            }
        }
        let mut made = Self {
            positions: mesh.positions.clone(),
            velocities: vec![DVec3::ZERO; mesh.positions.len()],
            starts,
            triangles: mesh.triangles.clone(),
            twins,
            solids: vec![AIR; count],
        };
        made.compact();
        Some(made)
    }

    /// Becomes a copy of another, in the memory that it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.starts.clone_from(&other.starts);
        self.triangles.clone_from(&other.triangles);
        self.twins.clone_from(&other.twins);
        self.solids.clone_from(&other.solids);
    }

    /// The vertex that `h` starts from.
    #[inline]
    pub fn from(&self, h: u32) -> u32 {
        self.triangles[(h / 3) as usize][(h % 3) as usize]
    }

    /// The vertex that `h` goes to.
    #[inline]
    pub fn to(&self, h: u32) -> u32 {
        self.from(next(h))
    }

    /// The corner of `h`'s triangle that `h` does not touch.
    #[inline]
    pub fn apex(&self, h: u32) -> u32 {
        self.from(previous(h))
    }

    /// The half-edge on the other side.
    #[inline]
    pub fn twin(&self, h: u32) -> u32 {
        self.twins[h as usize]
    }

    /// The solid tag of `h`'s triangle.
    #[inline]
    pub fn solid_of(&self, h: u32) -> i32 {
        self.solids[(h / 3) as usize]
    }

    /// Whether the triangle is there.
    #[inline]
    pub fn is_live(&self, t: usize) -> bool {
        self.triangles[t][0] != NONE
    }

    /// The half-edges that start at `v`, in order round it.
    pub fn fan(&self, v: u32) -> Fan<'_> {
        let start = self.starts[v as usize];
        Fan { mesh: self, start, at: start }
    }

    /// The half-edge from `a` to `b`, if they are neighbors.
    pub fn edge(&self, a: u32, b: u32) -> Option<u32> {
        self.fan(a).find(|&h| self.to(h) == b)
    }

    /// Number of edges at `v`.
    pub fn valence(&self, v: u32) -> usize {
        self.fan(v).count()
    }

    /// What `v` is in contact with.
    pub fn kind(&self, v: u32) -> Kind {
        let (mut air, mut wet) = (false, false);
        for h in self.fan(v) {
            if self.solid_of(h) == AIR { air = true } else { wet = true }
        }
        match (air, wet) {
            (true, true) => Kind::Line,
            (false, true) => Kind::Wet,
            _ => Kind::Free,
        }
    }

    /// The solid that `v` touches, or [`AIR`]; the first in its fan of several.
    pub fn solid_at(&self, v: u32) -> i32 {
        self.fan(v).map(|h| self.solid_of(h)).find(|&s| s != AIR).unwrap_or(AIR)
    }

    /// Whether the triangles on the two sides of `h` lie on different things.
    pub fn is_line(&self, h: u32) -> bool {
        self.solid_of(h) != self.solid_of(self.twin(h))
    }

    /// Corners of triangle `t`, in m.
    #[inline]
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Half the cross product of two sides: normal times area, in m².
    #[inline]
    pub fn area_vector(&self, t: usize) -> DVec3 {
        let [a, b, c] = self.corners(t);
        0.5 * (b - a).cross(c - a)
    }

    /// Length of a half-edge, in m.
    #[inline]
    pub fn length(&self, h: u32) -> f64 {
        self.positions[self.from(h) as usize].distance(self.positions[self.to(h) as usize])
    }

    /// Enclosed volume, in m³, summed from a point near the surface so that distance from the origin costs no digits.
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

    /// Centroid of the enclosed body, in m.
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

    /// Area against air, in m².
    pub fn air_area(&self) -> f64 {
        (0..self.triangles.len())
            .filter(|&t| self.is_live(t) && self.solids[t] == AIR)
            .map(|t| self.area_vector(t).length())
            .sum()
    }

    /// Whether any triangle lies on a solid.
    pub fn touches(&self) -> bool {
        (0..self.triangles.len()).any(|t| self.is_live(t) && self.solids[t] != AIR)
    }

    /// Corners of the box round it, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.positions.iter().fold(start, |[low, high], &p| [low.min(p), high.max(p)])
    }

    /// A plain copy of the triangles.
    pub fn to_tri_mesh(&self) -> TriMesh {
        TriMesh { positions: self.positions.clone(), triangles: self.triangles.clone(), corner_uvs: Vec::new() }
    }

    /// Drops removed vertices and triangles; the order of the others stays.
    pub fn compact(&mut self) {
        let whole = self.starts.iter().all(|&h| h != NONE) && (0..self.triangles.len()).all(|t| self.is_live(t));
        if whole {
            return;
        }
        let mut new_vertex = vec![NONE; self.positions.len()];
        let mut count = 0;
        for v in 0..self.positions.len() {
            if self.starts[v] != NONE {
                new_vertex[v] = count as u32;
                self.positions[count] = self.positions[v];
                self.velocities[count] = self.velocities[v];
                self.starts[count] = self.starts[v];
                count += 1;
            }
        }
        self.positions.truncate(count);
        self.velocities.truncate(count);
        self.starts.truncate(count);
        let mut new_triangle = vec![NONE; self.triangles.len()];
        let mut kept = 0;
        for t in 0..self.triangles.len() {
            if self.triangles[t][0] != NONE {
                new_triangle[t] = kept as u32;
                self.triangles[kept] = self.triangles[t].map(|v| new_vertex[v as usize]);
                self.solids[kept] = self.solids[t];
                for k in 0..3 {
                    self.twins[3 * kept + k] = self.twins[3 * t + k];
                }
                kept += 1;
            }
        }
        self.triangles.truncate(kept);
        self.solids.truncate(kept);
        self.twins.truncate(3 * kept);
        let moved = |h: u32| 3 * new_triangle[(h / 3) as usize] + h % 3;
        self.twins.iter_mut().for_each(|h| *h = moved(*h));
        self.starts.iter_mut().for_each(|h| *h = moved(*h));
    }

    /// The connected parts, each by its triangles, in the order of their first triangle.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.triangles.len()];
        let mut parts = Vec::new();
        for first in 0..self.triangles.len() {
            if seen[first] || !self.is_live(first) {
                continue;
            }
            seen[first] = true;
            let mut part = vec![first as u32];
            let mut at = 0;
            while at < part.len() {
                for k in 0..3 {
                    let other = self.twin(3 * part[at] + k) / 3;
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        part.push(other);
                    }
                }
                at += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// Volume that a part encloses, in m³.
    pub fn part_volume(&self, part: &[u32]) -> f64 {
        let Some(&first) = part.first() else { return 0.0 };
        let origin = self.corners(first as usize)[0];
        let cones = part.iter().map(|&t| {
            let [a, b, c] = self.corners(t as usize).map(|p| p - origin);
            a.dot(b.cross(c))
        });
        cones.sum::<f64>() / 6.0
    }

    /// Parts, as meshes of their own. No two of them may share a vertex.
    pub fn extract(&self, parts: &[Vec<u32>]) -> Vec<Self> {
        let mut new_vertex = vec![NONE; self.positions.len()];
        let mut new_triangle = vec![NONE; self.triangles.len()];
        let extract = |part: &Vec<u32>| {
            let mut made = Self::default();
            for (count, &t) in part.iter().enumerate() {
                new_triangle[t as usize] = count as u32;
            }
            for &t in part {
                let corners = self.triangles[t as usize].map(|v| {
                    let v = v as usize;
                    if new_vertex[v] == NONE {
                        new_vertex[v] = made.positions.len() as u32;
                        made.positions.push(self.positions[v]);
                        made.velocities.push(self.velocities[v]);
                        made.starts.push(NONE);
                    }
                    new_vertex[v]
                });
                let here = made.triangles.len() as u32;
                for k in 0..3 {
                    let twin = self.twin(3 * t + k);
                    made.twins.push(3 * new_triangle[(twin / 3) as usize] + twin % 3);
                    made.starts[corners[k as usize] as usize] = 3 * here + k;
                }
                made.triangles.push(corners);
                made.solids.push(self.solids[t as usize]);
            }
            made
        };
        parts.iter().map(extract).collect()
    }
}

/// Walks round a vertex.
pub struct Fan<'a> {
    mesh: &'a Mesh,
    start: u32,
    at: u32,
}

impl Iterator for Fan<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.at == NONE {
            return None;
        }
        let here = self.at;
        let onward = self.mesh.twin(previous(here));
        self.at = if onward == self.start { NONE } else { onward };
        Some(here)
    }
}
