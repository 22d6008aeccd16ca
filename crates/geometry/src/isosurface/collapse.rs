//! Collapse of short edges of an isosurface, with the floor and the contact line kept.
//!
//! A vertex of the contact line moves only along it, and no other vertex leaves the part of the
//! surface that it is on.

use glam::DVec3;

use super::Isosurface;
use crate::edge_collapse::{Collapse, Collapsible, VertexMap, collapse_short_edges};

/// Which triangles meet at a vertex.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct AdjacentTriangles {
    floor: bool,
    free: bool,
}

impl AdjacentTriangles {
    fn on_contact_line(self) -> bool {
        self.floor && self.free
    }
}

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
        let mut classes = vec![AdjacentTriangles::default(); self.mesh.positions.len()];
        for (triangle, &on_floor) in self.mesh.triangles.iter().zip(&self.on_floor) {
            for &v in triangle {
                let class = &mut classes[v as usize];
                if on_floor { class.floor = true } else { class.free = true }
            }
        }
        classes
    }

    fn allows(&self, collapse: &Collapse, classes: &Self::VertexClasses) -> bool {
        let triangles = &self.mesh.triangles;
        // A vanishing triangle must not be the last of its kind at the vertex across.
        let has_single_triangle_of_a_kind = |v: u32| {
            let around = collapse.around.of(v);
            let on_floor = around.iter().filter(|&&t| self.on_floor[t as usize]).count();
            classes[v as usize].on_contact_line() && (on_floor == 1 || on_floor + 1 == around.len())
        };
        if collapse.across.into_iter().any(has_single_triangle_of_a_kind) {
            return false;
        }
        if classes[collapse.removed as usize].on_contact_line() {
            // Along the contact line, one of the two triangles of the edge lies on the floor.
            let on_floor = collapse.vanishing(triangles).filter(|&t| self.on_floor[t as usize]).count();
            if !classes[collapse.kept as usize].on_contact_line() || on_floor != 1 {
                return false;
            }
        }
        // A free triangle with three corners on the contact line would lie on the floor, with no
        // liquid above it.
        let would_lie_on_floor =
            |t: u32| triangles[t as usize].iter().all(|&v| classes[collapse.target(v) as usize].floor);
        collapse.changing(triangles).all(|t| self.on_floor[t as usize] || !would_lie_on_floor(t))
    }

    fn renumber(&mut self, map: &VertexMap) {
        map.compact(&mut self.mesh.positions);
        map.compact(&mut self.sources);
        map.renumber(&mut self.mesh.triangles, &mut self.on_floor);
    }
}
