//! Collapse of short edges of a tagged surface, with the borders between tags kept.
//!
//! A vertex on a border (a contact line, or a line where two solids meet under the liquid) moves only
//! along it, one where three tags meet not at all.

use glam::DVec3;
use sessile_geometry::edge_collapse::{Collapse, Collapsible, VertexMap, collapse_short_edges};

/// A closed surface whose triangles are tagged.
#[derive(Clone, Debug, Default)]
pub struct Tagged {
    /// Vertex positions.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// What each triangle lies on.
    pub tags: Vec<i32>,
    /// Something that goes with each vertex.
    pub owners: Vec<u32>,
}

/// The tags round a vertex: the two least, and whether there are more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Around {
    tags: [i32; 2],
    more: bool,
}

const NO_TAG: i32 = i32::MAX;

impl Around {
    const NOTHING: Self = Self { tags: [NO_TAG; 2], more: false };

    fn add(&mut self, tag: i32) {
        match self.tags {
            [a, b] if a == tag || b == tag => {}
            [NO_TAG, _] => self.tags[0] = tag,
            [a, NO_TAG] => self.tags = [a.min(tag), a.max(tag)],
            _ => self.more = true,
        }
    }

    fn is_border(self) -> bool {
        self.tags[1] != NO_TAG
    }

    fn has(self, tag: i32) -> bool {
        self.more || self.tags.contains(&tag)
    }
}

impl Tagged {
    /// Collapses edges shorter than `shortest` (in m); returns the number of collapsed edges.
    pub fn collapse_short_edges(&mut self, shortest: f64) -> usize {
        collapse_short_edges(self, shortest)
    }

    /// Removes the vertices that are not to be kept, with their triangles.
    pub fn retain(&mut self, keep: &[bool]) {
        self.renumber(&VertexMap::keeping(keep.to_vec()));
    }

    /// Whether every tag that vanishing triangles have survives at the vertices across and at the one that stays.
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

    /// Whether no liquid–air triangle would get three corners on one solid, and so lie on it with no liquid above.
    fn keeps_air_triangles_off_solids(&self, collapse: &Collapse, around: &[Around]) -> bool {
        collapse.changing(&self.triangles).all(|t| {
            let tag = self.tags[t as usize];
            let corners = self.triangles[t as usize].map(|v| around[collapse.target(v) as usize]);
            let shared = |other: i32| other != tag && other != NO_TAG && corners.iter().all(|v| v.has(other));
            tag >= 0 || !corners[0].tags.into_iter().any(shared)
        })
    }
}

impl Collapsible for Tagged {
    type VertexClasses = Vec<Around>;

    fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn classify_vertices(&self) -> Vec<Around> {
        let mut around = vec![Around::NOTHING; self.positions.len()];
        for (triangle, &tag) in self.triangles.iter().zip(&self.tags) {
            for &v in triangle {
                around[v as usize].add(tag);
            }
        }
        around
    }

    fn allows(&self, collapse: &Collapse, around: &Vec<Around>) -> bool {
        let (leaving, staying) = (around[collapse.removed as usize], around[collapse.kept as usize]);
        if leaving.more || (leaving.is_border() && leaving.tags != staying.tags && !staying.more) {
            return false;
        }
        if !leaving.tags.iter().all(|&tag| tag == NO_TAG || staying.has(tag)) {
            return false;
        }
        if leaving.is_border() {
            // Along a border, the two triangles of the edge lie on different sides of it.
            let mut tags = collapse.vanishing(&self.triangles).map(|t| self.tags[t as usize]);
            if tags.next() == tags.next() {
                return false;
            }
        }
        self.keeps_all_tags(collapse) && self.keeps_air_triangles_off_solids(collapse, around)
    }

    fn renumber(&mut self, map: &VertexMap) {
        map.compact(&mut self.positions);
        map.compact(&mut self.owners);
        map.renumber(&mut self.triangles, &mut self.tags);
    }
}
