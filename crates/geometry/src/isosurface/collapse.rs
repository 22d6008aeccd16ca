//! Collapse of short edges of an isosurface, with the floor and the contact line kept.
//!
//! A vertex of the contact line moves only along it, and no other vertex leaves the part of the
//! surface that it is on.

use glam::DVec3;

use super::Isosurface;
use crate::edge_collapse::{
    AdjacentTriangles, Collapse, Collapsible, VertexMap, collapse_short_edges, keeps_contact_line,
};

impl Isosurface {
    /// Collapses edges shorter than `shortest` (in m); returns the number of collapsed edges.
    ///
    /// Half a grid cell leaves three quarters of the triangles of a drop; the hundredth worst of
    /// them has a least angle of about 10° (flat triangles without a short edge stay). A quarter of
    /// a cell removes the slivers and little else.
    pub fn collapse_short_edges(&mut self, shortest: f64) -> usize {
        collapse_short_edges(self, shortest)
    }
}

impl Collapsible for Isosurface {
    type VertexClasses = Vec<AdjacentTriangles>;

    fn positions(&self) -> &[DVec3] {
        &self.mesh.positions
    }

    fn triangles(&self) -> &[[u32; 3]] {
        &self.mesh.triangles
    }

    fn classify_vertices(&self) -> Self::VertexClasses {
        AdjacentTriangles::classify(self.mesh.positions.len(), &self.mesh.triangles, &self.on_floor)
    }

    fn allows(&self, collapse: &Collapse, classes: &Self::VertexClasses) -> bool {
        keeps_contact_line(collapse, &self.mesh.triangles, &self.on_floor, classes)
    }

    fn renumber(&mut self, map: &VertexMap) {
        map.compact(&mut self.mesh.positions);
        map.compact(&mut self.sources);
        map.renumber(&mut self.mesh.triangles, &mut self.on_floor);
    }
}
