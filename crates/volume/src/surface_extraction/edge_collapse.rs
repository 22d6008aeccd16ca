//! Collapse of short edges of a tagged surface, with the borders between tags kept.
//!
//! A vertex on a border (a contact line, or a line where two solids meet under the liquid) moves
//! only along it, one where three tags meet not at all.

use glam::DVec3;
use sessile_geometry::edge_collapse::{Collapse, Collapsible, VertexMap, collapse_short_edges};

use super::SurfaceTag;

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

/// The tags around a vertex: two of them, and whether there are more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VertexTags {
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
    /// Collapses edges shorter than `shortest` (in m); returns the number of collapsed edges.
    pub fn collapse_short_edges(&mut self, shortest: f64) -> usize {
        collapse_short_edges(self, shortest)
    }

    /// Removes the vertices that are not to be kept, with their triangles.
    pub fn retain(&mut self, keep: &[bool]) {
        self.renumber(&VertexMap::keeping(keep.to_vec()));
    }

    /// Whether every tag that vanishing triangles have survives at the vertices across and at the
    /// one that stays.
    fn keeps_all_tags(&self, collapse: &Collapse) -> bool {
        let others = |v: u32, t: u32| {
            let around = collapse.around.of(v).iter();
            around.copied().any(|u| u != t && self.tags[u as usize] == self.tags[t as usize])
        };
        collapse.vanishing(&self.triangles).all(|t| {
            let corners = self.triangles[t as usize].into_iter().filter(|&v| v != collapse.removed);
            corners.into_iter().all(|v| others(v, t) || (v == collapse.kept && others(collapse.removed, t)))
        })
    }

    /// Whether no liquid–air triangle would get three corners on one solid, and so lie on it with
    /// no liquid above.
    fn keeps_air_triangles_off_solids(&self, collapse: &Collapse, vertex_tags: &[VertexTags]) -> bool {
        collapse.changing(&self.triangles).all(|t| {
            let tag = self.tags[t as usize];
            let corners = self.triangles[t as usize].map(|v| vertex_tags[collapse.target(v) as usize]);
            let shared = |other: SurfaceTag| other != tag && corners.iter().all(|v| v.has(other));
            !tag.is_free() || !corners[0].tags.into_iter().flatten().any(shared)
        })
    }
}

impl Collapsible for TaggedMesh {
    type VertexClasses = Vec<VertexTags>;

    fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn classify_vertices(&self) -> Vec<VertexTags> {
        let mut vertex_tags = vec![VertexTags::EMPTY; self.positions.len()];
        for (triangle, &tag) in self.triangles.iter().zip(&self.tags) {
            for &v in triangle {
                vertex_tags[v as usize].add(tag);
            }
        }
        vertex_tags
    }

    fn allows(&self, collapse: &Collapse, vertex_tags: &Vec<VertexTags>) -> bool {
        let (leaving, staying) = (vertex_tags[collapse.removed as usize], vertex_tags[collapse.kept as usize]);
        if leaving.more || (leaving.is_border() && leaving.tags != staying.tags && !staying.more) {
            return false;
        }
        if !leaving.tags.into_iter().flatten().all(|tag| staying.has(tag)) {
            return false;
        }
        if leaving.is_border() {
            // Along a border, the two triangles of the edge lie on different sides of it.
            let mut tags = collapse.vanishing(&self.triangles).map(|t| self.tags[t as usize]);
            if tags.next() == tags.next() {
                return false;
            }
        }
        self.keeps_all_tags(collapse) && self.keeps_air_triangles_off_solids(collapse, vertex_tags)
    }

    fn renumber(&mut self, map: &VertexMap) {
        map.compact(&mut self.positions);
        map.compact(&mut self.owners);
        map.renumber(&mut self.triangles, &mut self.tags);
    }
}
