//! Collapse of short edges, so that the triangles of an isosurface are few and well shaped.
//!
//! A grid cuts a surface into pieces of any size, down to slivers where it passes a node. Contracting the short edges,
//! shortest first, removes them. A contraction keeps one end where it is, so vertices stay on the surface they were
//! found on, and it is made only if
//! - the ends have exactly two common neighbors, and neither of those is left with two triangles (the link condition:
//!   the surface stays a closed manifold of the same genus);
//! - every triangle [keeps facing](keeps_facing) where it did;
//! - the floor and the contact line stay: a vertex of the contact line moves only along it, and no other vertex leaves
//!   the part of the surface it is on.

use std::mem;

use super::Isosurface;
use crate::contraction::{Fans, keeps_facing, short_edges};

/// Rounds of contraction; each takes edges that do not touch one another. The last ones find next to nothing.
const MAX_ROUNDS: usize = 8;

/// Which triangles a vertex belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sides {
    floor: bool,
    free: bool,
}

impl Sides {
    fn is_contact_line(self) -> bool {
        self.floor && self.free
    }
}

impl Isosurface {
    /// Contracts edges shorter than `shortest` (in m), and returns how many were.
    ///
    /// Half a grid cell leaves three quarters of the triangles of a drop; the hundredth worst of them has a least angle of
    /// about 10° (flat triangles without a short edge stay). A quarter of a cell removes the slivers and little else.
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
        let num_vertices = self.mesh.positions.len();
        let fans = Fans::new(num_vertices, &self.mesh.triangles);
        let sides = self.vertex_sides();
        // A contraction reads and writes the triangles round both ends: no two of one round may share any.
        let mut busy = vec![false; num_vertices];
        let mut merged_into: Vec<u32> = (0..num_vertices as u32).collect();
        let mut contracted = 0;
        for [a, b] in short_edges(&self.mesh.positions, &self.mesh.triangles, shortest) {
            let around = || fans.of(a).iter().chain(fans.of(b)).flat_map(|&t| self.mesh.triangles[t as usize]);
            if around().any(|v| busy[v as usize]) {
                continue;
            }
            let ways = if sides[b as usize].is_contact_line() && !sides[a as usize].is_contact_line() {
                [Some((a, b)), None]
            } else if sides[a as usize] == sides[b as usize] {
                [Some((b, a)), Some((a, b))]
            } else {
                [Some((b, a)), None]
            };
            let Some((gone, kept)) =
                ways.into_iter().flatten().find(|&(gone, kept)| self.may_collapse(gone, kept, &fans, &sides))
            else {
                continue;
            };
            for v in around() {
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

    fn vertex_sides(&self) -> Vec<Sides> {
        let mut sides = vec![Sides::default(); self.mesh.positions.len()];
        for (triangle, &on_floor) in self.mesh.triangles.iter().zip(&self.on_floor) {
            for &v in triangle {
                let sides = &mut sides[v as usize];
                if on_floor { sides.floor = true } else { sides.free = true }
            }
        }
        sides
    }

    fn may_collapse(&self, gone: u32, kept: u32, fans: &Fans, sides: &[Sides]) -> bool {
        let triangles = &self.mesh.triangles;
        let neighbors = |v: u32| {
            let mut ring: Vec<u32> =
                fans.of(v).iter().flat_map(|&t| triangles[t as usize]).filter(|&w| w != v).collect();
            ring.sort_unstable();
            ring.dedup();
            ring
        };
        let ring_of_kept = neighbors(kept);
        let common: Vec<u32> = neighbors(gone).into_iter().filter(|v| ring_of_kept.binary_search(v).is_ok()).collect();
        if common.len() != 2 || common.iter().any(|&v| fans.of(v).len() <= 3) {
            return false;
        }
        // A triangle that vanishes must not be the last of its side at the vertex across.
        let is_last_of_its_side = |v: u32| {
            let on_floor = fans.of(v).iter().filter(|&&t| self.on_floor[t as usize]).count();
            sides[v as usize].is_contact_line() && (on_floor == 1 || on_floor + 1 == fans.of(v).len())
        };
        if common.iter().any(|&v| is_last_of_its_side(v)) {
            return false;
        }
        if sides[gone as usize].is_contact_line() {
            // Along the contact line, the two triangles of the edge lie on different sides of it.
            let at_edge = fans.of(gone).iter().filter(|&&t| triangles[t as usize].contains(&kept));
            let on_floor = at_edge.filter(|&&t| self.on_floor[t as usize]).count();
            if !sides[kept as usize].is_contact_line() || on_floor != 1 {
                return false;
            }
        }
        let position = |v: u32| self.mesh.positions[v as usize];
        fans.of(gone).iter().filter(|&&t| !triangles[t as usize].contains(&kept)).all(|&t| {
            let on_floor = self.on_floor[t as usize];
            let t = triangles[t as usize];
            // A free triangle with three corners on the contact line would lie on the floor, under no liquid.
            if !on_floor && t.iter().all(|&v| sides[if v == gone { kept } else { v } as usize].floor) {
                return false;
            }
            keeps_facing(t.map(position), t.map(|v| position(if v == gone { kept } else { v })))
        })
    }

    /// Rewrites the mesh without the merged vertices and the triangles that vanished with them.
    fn apply(&mut self, merged_into: &[u32]) {
        let mut new_index = vec![0_u32; merged_into.len()];
        let mut count = 0;
        for (v, &target) in merged_into.iter().enumerate() {
            if target == v as u32 {
                new_index[v] = count as u32;
                self.mesh.positions[count] = self.mesh.positions[v];
                self.sources[count] = self.sources[v];
                count += 1;
            }
        }
        self.mesh.positions.truncate(count);
        self.sources.truncate(count);
        let triangles = mem::take(&mut self.mesh.triangles);
        let on_floor = mem::take(&mut self.on_floor);
        for (triangle, floor) in triangles.into_iter().zip(on_floor) {
            let [a, b, c] = triangle.map(|v| new_index[merged_into[v as usize] as usize]);
            if a != b && b != c && c != a {
                self.mesh.triangles.push([a, b, c]);
                self.on_floor.push(floor);
            }
        }
    }
}
