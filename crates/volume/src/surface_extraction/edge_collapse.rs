//! Collapse of short edges of a tagged surface, so that its triangles are few and well shaped.
//!
//! Cutting tetrahedra leaves slivers wherever the surface passes a node. Collapsing short edges,
//! shortest first, removes them. A collapse keeps one end in place, so that vertices stay on the
//! surface that they were projected to, and is made only if
//!
//! - the ends have exactly two common neighbors, and neither of those is left with two triangles
//!   (the link condition: the surface stays a closed manifold of the same genus);
//! - every triangle [keeps its orientation](keeps_facing);
//! - borders between tags (contact lines, and where two solids meet under the liquid) are
//!   preserved: a vertex on a border moves only along it, one where three tags meet not at all.

use std::mem;

use glam::DVec3;
use sessile_geometry::contraction::{Fans, keeps_facing, short_edges};

use super::SurfaceTag;

/// Rounds of collapses; each takes edges that do not touch one another. The last ones find next to
/// nothing.
const MAX_ROUNDS: usize = 8;

/// A closed surface whose triangles are tagged.
#[derive(Clone, Debug, Default)]
pub struct TaggedMesh {
    /// Vertex positions.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// What each triangle lies on.
    pub tags: Vec<SurfaceTag>,
    /// Drop of each vertex.
    pub owners: Vec<u32>,
}

/// The tags around a vertex: the two smallest, and whether there are more.
#[derive(Clone, Copy, PartialEq, Eq)]
struct VertexTags {
    tags: [Option<SurfaceTag>; 2],
    more: bool,
}

impl VertexTags {
    const EMPTY: Self = Self { tags: [None; 2], more: false };

    fn add(&mut self, tag: SurfaceTag) {
        match self.tags {
            tags if tags.contains(&Some(tag)) => {}
            [None, _] => self.tags[0] = Some(tag),
            [Some(a), None] => self.tags = [Some(a.min(tag)), Some(a.max(tag))],
            _ => self.more = true,
        }
    }

    fn is_border(self) -> bool {
        self.tags[1].is_some()
    }

    fn has(self, tag: SurfaceTag) -> bool {
        self.more || self.tags.contains(&Some(tag))
    }
}

impl TaggedMesh {
    /// Collapses edges shorter than `shortest`; returns how many.
    pub fn collapse_short_edges(&mut self, shortest: f64) -> usize {
        let mut total = 0;
        for _ in 0..MAX_ROUNDS {
            let contracted = self.collapse_round(shortest);
            total += contracted;
            if contracted == 0 {
                break;
            }
        }
        total
    }

    fn collapse_round(&mut self, shortest: f64) -> usize {
        let num_vertices = self.positions.len();
        let fans = Fans::new(num_vertices, &self.triangles);
        let mut vertex_tags = vec![VertexTags::EMPTY; num_vertices];
        for (triangle, &tag) in self.triangles.iter().zip(&self.tags) {
            for &v in triangle {
                vertex_tags[v as usize].add(tag);
            }
        }
        // A collapse reads and writes the triangles around both ends: no two of one round may share
        // any.
        let mut busy = vec![false; num_vertices];
        let mut merged_into: Vec<u32> = (0..num_vertices as u32).collect();
        let mut rings = [Vec::new(), Vec::new()];
        let mut contracted = 0;
        for [a, b] in short_edges(&self.positions, &self.triangles, shortest) {
            let touched = || fans.of(a).iter().chain(fans.of(b)).flat_map(|&t| self.triangles[t as usize]);
            if touched().any(|v| busy[v as usize]) {
                continue;
            }
            let found = [(b, a), (a, b)]
                .into_iter()
                .find(|&(gone, kept)| self.may_collapse(gone, kept, &fans, &vertex_tags, &mut rings));
            let Some((gone, kept)) = found else { continue };
            for v in touched() {
                busy[v as usize] = true;
            }
            merged_into[gone as usize] = kept;
            contracted += 1;
        }
        if contracted > 0 {
            self.apply(&merged_into);
        }
        contracted
    }

    fn may_collapse(
        &self,
        gone: u32,
        kept: u32,
        fans: &Fans,
        vertex_tags: &[VertexTags],
        rings: &mut [Vec<u32>; 2],
    ) -> bool {
        let (leaving, staying) = (vertex_tags[gone as usize], vertex_tags[kept as usize]);
        if leaving.more || (leaving.is_border() && leaving.tags != staying.tags && !staying.more) {
            return false;
        }
        if !leaving.tags.into_iter().flatten().all(|tag| staying.has(tag)) {
            return false;
        }
        for (ring, v) in rings.iter_mut().zip([gone, kept]) {
            ring.clear();
            ring.extend(fans.of(v).iter().flat_map(|&t| self.triangles[t as usize]).filter(|&w| w != v));
            ring.sort_unstable();
            ring.dedup();
        }
        let [ring_of_gone, ring_of_kept] = &*rings;
        let common = || ring_of_gone.iter().copied().filter(|v| ring_of_kept.binary_search(v).is_ok());
        if common().count() != 2 || common().any(|v| fans.of(v).len() <= 3) {
            return false;
        }
        let at_edge = |v: &&u32| self.triangles[**v as usize].contains(&kept);
        if leaving.is_border() {
            // Along a border, the two triangles of the edge have different tags.
            let mut tags = fans.of(gone).iter().filter(at_edge).map(|&t| self.tags[t as usize]);
            if tags.next() == tags.next() {
                return false;
            }
        }
        // A triangle that vanishes must not be the last of its tag at the opposite vertex, nor at
        // the vertex that stays.
        for &t in fans.of(gone).iter().filter(at_edge) {
            let (tag, corners) = (self.tags[t as usize], self.triangles[t as usize]);
            for v in corners.into_iter().filter(|&v| v != gone) {
                let others = |w: u32| fans.of(w).iter().any(|&u| u != t && self.tags[u as usize] == tag);
                if !(others(v) || (v == kept && others(gone))) {
                    return false;
                }
            }
        }
        let position = |v: u32| self.positions[v as usize];
        let moved = |v: u32| if v == gone { kept } else { v };
        fans.of(gone).iter().filter(|t| !at_edge(t)).all(|&t| {
            let tag = self.tags[t as usize];
            let t = self.triangles[t as usize];
            // A free triangle with three vertices on one solid would lie on it, under no liquid.
            let shared =
                |other: SurfaceTag| other != tag && t.iter().all(|&v| vertex_tags[moved(v) as usize].has(other));
            if tag.is_free() && vertex_tags[moved(t[0]) as usize].tags.into_iter().flatten().any(shared) {
                return false;
            }
            keeps_facing(t.map(position), t.map(|v| position(moved(v))))
        })
    }

    /// Removes the vertices that are not to be kept, with their triangles.
    pub fn retain(&mut self, keep: &[bool]) {
        let tags = mem::take(&mut self.tags);
        let triangles = mem::take(&mut self.triangles);
        for (triangle, tag) in triangles.into_iter().zip(tags) {
            if triangle.iter().all(|&v| keep[v as usize]) {
                self.triangles.push(triangle);
                self.tags.push(tag);
            }
        }
        let mut new_index = vec![0; keep.len()];
        let mut count = 0;
        for v in (0..keep.len()).filter(|&v| keep[v]) {
            new_index[v] = count as u32;
            self.positions[count] = self.positions[v];
            self.owners[count] = self.owners[v];
            count += 1;
        }
        self.positions.truncate(count);
        self.owners.truncate(count);
        self.triangles.iter_mut().flatten().for_each(|v| *v = new_index[*v as usize]);
    }

    /// Rewrites the mesh without the merged vertices and the triangles that vanished with them.
    fn apply(&mut self, merged_into: &[u32]) {
        let mut new_index = vec![0_u32; merged_into.len()];
        let mut count = 0;
        for (v, &target) in merged_into.iter().enumerate() {
            if target == v as u32 {
                new_index[v] = count as u32;
                self.positions[count] = self.positions[v];
                self.owners[count] = self.owners[v];
                count += 1;
            }
        }
        self.positions.truncate(count);
        self.owners.truncate(count);
        let triangles = mem::take(&mut self.triangles);
        let tags = mem::take(&mut self.tags);
        for (triangle, tag) in triangles.into_iter().zip(tags) {
            let [a, b, c] = triangle.map(|v| new_index[merged_into[v as usize] as usize]);
            if a != b && b != c && c != a {
                self.triangles.push([a, b, c]);
                self.tags.push(tag);
            }
        }
    }
}
