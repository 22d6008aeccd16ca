//! Mesh edits that keep the surface closed and manifold: split, collapse, flip, cut.

use glam::DVec3;

use super::index::{HalfEdgeIndex, VertexIndex};
use super::{Interface, Mesh, VertexKind};

impl Mesh {
    fn link(&mut self, a: HalfEdgeIndex, b: HalfEdgeIndex) {
        self.twins[a] = b;
        self.twins[b] = a;
    }

    /// Splits the edge of `h` at `position` and returns the new vertex.
    ///
    /// Its velocity is the mean of the velocities at both ends.
    pub(crate) fn split(&mut self, h: HalfEdgeIndex, position: DVec3) -> VertexIndex {
        let twin = self.twin(h);
        let (a, b) = (self.from(h), self.to(h));
        let m = self.push_vertex(position, 0.5 * (self.velocities[a] + self.velocities[b]));
        // (a, b, c) becomes (a, m, c) and (m, b, c); likewise in the twin's triangle.
        let [other, opposite] = [(h, a, b), (twin, b, a)].map(|(h, tail, head)| {
            let (t, c) = (h.triangle(), self.apex(h));
            let new = self.push_triangle([m, head, c], self.interfaces[t]);
            let beyond = self.twin(h.next());
            self.triangles[t][h.next().corner()] = m;
            self.link(new.half_edge(1), beyond);
            self.link(h.next(), new.half_edge(2));
            self.outgoing[head] = Some(new.half_edge(1));
            self.outgoing[c] = Some(new.half_edge(2));
            self.outgoing[m] = Some(new.half_edge(0));
            self.outgoing[tail] = Some(h);
            new
        });
        // h is a→m now; its twin is m→a in the other new triangle.
        self.link(h, opposite.half_edge(0));
        self.link(twin, other.half_edge(0));
        m
    }

    /// Whether the edge of `h` can be flipped to join the two opposite corners.
    pub(crate) fn can_flip(&self, h: HalfEdgeIndex) -> bool {
        let (c, d) = (self.apex(h), self.apex(self.twin(h)));
        !self.is_line(h)
            && c != d
            && self.edge(c, d).is_none()
            && self.valence(self.from(h)) > 3
            && self.valence(self.to(h)) > 3
    }

    /// Flips the edge of `h`; requires [`Mesh::can_flip`].
    pub(crate) fn flip(&mut self, h: HalfEdgeIndex) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let (t, u) = (h.triangle(), g.triangle());
        let outer = [h.next(), h.previous(), g.next(), g.previous()].map(|e| self.twin(e));
        // (a, b, c) and (b, a, d) become (c, d, b) and (d, c, a).
        self.triangles[t] = [c, d, b];
        self.triangles[u] = [d, c, a];
        self.link(t.half_edge(0), u.half_edge(0));
        self.link(t.half_edge(2), outer[0]);
        self.link(u.half_edge(1), outer[1]);
        self.link(u.half_edge(2), outer[2]);
        self.link(t.half_edge(1), outer[3]);
        self.outgoing[c] = Some(t.half_edge(0));
        self.outgoing[d] = Some(t.half_edge(1));
        self.outgoing[b] = Some(t.half_edge(2));
        self.outgoing[a] = Some(u.half_edge(2));
    }

    /// Whether the edge of `h` can be collapsed without making the surface non-manifold.
    ///
    /// The only common neighbors of its ends must be the two opposite corners, and neither of these
    /// may be left with two triangles (the link condition).
    pub(crate) fn can_collapse(&self, h: HalfEdgeIndex) -> bool {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        if c == d || self.valence(c) <= 3 || self.valence(d) <= 3 {
            return false;
        }
        let common = self.fan(a).map(|e| self.to(e)).filter(|&v| self.edge(v, b).is_some()).count();
        common == 2
    }

    /// A common neighbor of the ends of `h` that is not an opposite corner.
    ///
    /// The three vertices then form a closed loop of edges around a neck.
    pub(crate) fn neck_loop(&self, h: HalfEdgeIndex) -> Option<VertexIndex> {
        let (b, c, d) = (self.to(h), self.apex(h), self.apex(self.twin(h)));
        self.fan(self.from(h)).map(|e| self.to(e)).find(|&v| v != c && v != d && self.edge(v, b).is_some())
    }

    /// Whether collapsing the edge of `h` to `position` inverts or flattens no remaining triangle.
    pub(crate) fn collapse_keeps_orientation(&self, h: HalfEdgeIndex, position: DVec3) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (t, u) = (h.triangle(), self.twin(h).triangle());
        [a, b].into_iter().all(|v| {
            self.fan(v).filter(|e| e.triangle() != t && e.triangle() != u).all(|e| {
                let [p, q, r] =
                    [v, self.to(e), self.apex(e)].map(|w| if w == a || w == b { position } else { self.positions[w] });
                let before = self.area_vector(e.triangle());
                let after = 0.5 * (q - p).cross(r - p);
                let longest = (q - p).length_squared().max((r - p).length_squared()).max((r - q).length_squared());
                // Rotated by less than 60°, and at least 1/12 as high as long, unless it was
                // flatter before.
                let (size, old) = (after.length(), before.length());
                before.dot(after) > 0.5 * size * old && (size > longest / 24.0 || size > old)
            })
        })
    }

    /// Collapses the edge of `h` to one vertex at `position`; requires [`Mesh::can_collapse`].
    ///
    /// The vertex where `h` ends is kept.
    pub(crate) fn collapse(&mut self, h: HalfEdgeIndex, position: DVec3) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let fan: Vec<HalfEdgeIndex> = self.fan(a).collect();
        for e in fan {
            self.triangles[e.triangle()][e.corner()] = b;
        }
        let (h_next, h_previous) = (self.twin(h.next()), self.twin(h.previous()));
        let (g_next, g_previous) = (self.twin(g.next()), self.twin(g.previous()));
        self.link(h_next, h_previous);
        self.link(g_next, g_previous);
        for t in [h.triangle(), g.triangle()] {
            self.live[t] = false;
        }
        self.outgoing[a] = None;
        // In the removed triangle (a, b, c) the outer half-edge c→b starts at c; in (b, a, d) the
        // outer half-edge a→d, now b→d, starts at b.
        self.outgoing[c] = Some(h_next);
        self.outgoing[b] = Some(h_previous);
        self.outgoing[d] = Some(g_next);
        debug_assert!(self.from(h_next) == c && self.from(h_previous) == b && self.from(g_next) == d);
        self.positions[b] = position;
        self.velocities[b] = 0.5 * (self.velocities[a] + self.velocities[b]);
    }

    /// Cuts along a loop of three vertices that are pairwise neighbors but no triangle, and closes
    /// both sides with a triangle each; returns whether it did.
    ///
    /// `h` runs from `a` to `b`, and `e` is the third vertex. Does nothing where the loop does not
    /// separate the fans of its vertices.
    pub(crate) fn cut(&mut self, h: HalfEdgeIndex, e: VertexIndex) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (Some(be), Some(ea)) = (self.edge(b, e), self.edge(e, a)) else { return false };
        let loop_edges = [h, be, ea];
        let corners = [a, b, e];
        // On one side of the loop each vertex is replaced by a copy: for the half-edges of its fan
        // from the loop's outgoing half-edge around to the incoming one.
        let mut fans: [Vec<HalfEdgeIndex>; 3] = Default::default();
        for k in 0..3 {
            let (outgoing, incoming) = (loop_edges[k], loop_edges[(k + 2) % 3]);
            let stop = self.twin(incoming);
            let mut at = outgoing;
            while at != stop {
                fans[k].push(at);
                at = self.twin(at.previous());
                if at == outgoing {
                    return false;
                }
            }
            if fans[k].is_empty() || fans[k].len() >= self.valence(corners[k]) {
                return false;
            }
        }
        let copies = corners.map(|v| self.push_vertex(self.positions[v], self.velocities[v]));
        let twins = loop_edges.map(|edge| self.twin(edge));
        for k in 0..3 {
            for &edge in &fans[k] {
                self.triangles[edge.triangle()][edge.corner()] = copies[k];
            }
            self.outgoing[copies[k]] = Some(loop_edges[k]);
            self.outgoing[corners[k]] = Some(twins[(k + 2) % 3]);
        }
        // The loop's half-edges get the new triangle of the copies as neighbor, their former twins
        // the one of the original vertices.
        let near = self.push_triangle([copies[1], copies[0], copies[2]], Interface::Air);
        let far = self.push_triangle(corners, Interface::Air);
        // near: (b', a', e') has the half-edges b'→a', a'→e', e'→b'.
        self.link(near.half_edge(0), loop_edges[0]);
        self.link(near.half_edge(1), loop_edges[2]);
        self.link(near.half_edge(2), loop_edges[1]);
        // far: (a, b, e); a→b is the twin of the former twin b→a, and so on.
        for k in 0..3 {
            self.link(far.half_edge(k), twins[k]);
        }
        true
    }

    /// Removes components that are single tetrahedra, as cuts leave them, and returns how many.
    ///
    /// A mesh that consists of one tetrahedron stays.
    pub(crate) fn remove_tetrahedra(&mut self) -> usize {
        let mut left = self.live_triangles().count();
        let mut count = 0;
        for t in self.triangle_indices() {
            if !self.is_live(t) || left <= 4 {
                continue;
            }
            let across = t.half_edges().map(|h| self.twin(h));
            let apex = self.apex(across[0]);
            if across.iter().any(|&h| self.apex(h) != apex) || self.valence(apex) != 3 {
                continue;
            }
            let corners = self.triangles[t];
            if corners.iter().any(|&v| self.valence(v) != 3) {
                continue;
            }
            for t in [t, across[0].triangle(), across[1].triangle(), across[2].triangle()] {
                self.live[t] = false;
            }
            for v in [corners[0], corners[1], corners[2], apex] {
                self.outgoing[v] = None;
            }
            left -= 4;
            count += 1;
        }
        count
    }

    /// Kinds of the vertices at both ends of `h`.
    pub(crate) fn kinds(&self, h: HalfEdgeIndex) -> [VertexKind; 2] {
        [self.kind(self.from(h)), self.kind(self.to(h))]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::check::{check, check_connectivity};
    use crate::mesh::index::TriangleIndex;
    use crate::mesh::primitives::sphere;
    use crate::substrate::SolidIndex;

    #[test]
    fn isolated_tetrahedra_are_removed_unless_they_are_the_whole_mesh() {
        let mut plain = sphere(DVec3::ZERO, 1.0, 0.3, |_| 1.0).unwrap().to_tri_mesh();
        let first = plain.positions.len() as u32;
        plain.positions.extend([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * 0.1 + DVec3::splat(2.0)));
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t: [u32; 3]| t.map(|v| v + first));
        plain.triangles.extend(faces);
        let mut mesh = Mesh::from_triangles(&plain).unwrap();
        assert_eq!((mesh.components().len(), mesh.remove_tetrahedra()), (2, 1));
        mesh.compact();
        check(&mesh).unwrap();
        assert_eq!(mesh.components().len(), 1);
        plain.triangles = faces.to_vec();
        let mut alone = Mesh::from_triangles(&plain).unwrap();
        assert_eq!(alone.remove_tetrahedra(), 0, "the last component stays");
    }

    /// An edit of a random edge.
    #[derive(Clone, Copy, Debug)]
    enum Edit {
        Split(u32),
        Flip(u32),
        Collapse(u32),
        CutNeck(u32),
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let edit = prop_oneof![
            any::<u32>().prop_map(Edit::Split),
            any::<u32>().prop_map(Edit::Flip),
            any::<u32>().prop_map(Edit::Collapse),
            any::<u32>().prop_map(Edit::CutNeck),
        ];
        proptest::collection::vec(edit, 1..60)
    }

    /// Applies an edit where it is allowed; returns whether it was.
    fn apply(mesh: &mut Mesh, edit: Edit) -> bool {
        let (Edit::Split(seed) | Edit::Flip(seed) | Edit::Collapse(seed) | Edit::CutNeck(seed)) = edit;
        let live: Vec<HalfEdgeIndex> = mesh.live_triangles().flat_map(TriangleIndex::half_edges).collect();
        let h = live[seed as usize % live.len()];
        let middle = 0.5 * (mesh.positions[mesh.from(h)] + mesh.positions[mesh.to(h)]);
        match edit {
            Edit::Split(_) => {
                mesh.split(h, middle);
                true
            }
            Edit::Flip(_) => {
                mesh.can_flip(h) && {
                    mesh.flip(h);
                    true
                }
            }
            Edit::Collapse(_) => {
                mesh.can_collapse(h) && {
                    mesh.collapse(h, middle);
                    true
                }
            }
            Edit::CutNeck(_) => mesh.neck_loop(h).is_some_and(|third| mesh.cut(h, third)),
        }
    }

    fn small_sphere() -> Mesh {
        sphere(DVec3::ZERO, 1.0, 0.6, |_| 1.0).unwrap()
    }

    /// V − E + F of a closed triangle mesh.
    fn euler_characteristic(mesh: &Mesh) -> i64 {
        mesh.positions.len() as i64 - mesh.triangles.len() as i64 / 2
    }

    proptest! {
        #[test]
        fn any_sequence_of_edits_keeps_the_mesh_closed_and_manifold(edits in edits()) {
            let mut mesh = small_sphere();
            for edit in edits {
                apply(&mut mesh, edit);
                prop_assert_eq!(check_connectivity(&mesh), Ok(()), "after {:?}", edit);
            }
            mesh.compact();
            prop_assert_eq!(check_connectivity(&mesh), Ok(()));
            prop_assert_eq!(euler_characteristic(&mesh), 2 * mesh.components().len() as i64, "spheres");
        }

        #[test]
        fn splits_at_edge_midpoints_conserve_volume_and_area(seeds in proptest::collection::vec(any::<u32>(), 1..40)) {
            let mut mesh = small_sphere();
            let (volume, area) = (mesh.volume(), mesh.air_area());
            for seed in seeds {
                apply(&mut mesh, Edit::Split(seed));
            }
            prop_assert_eq!(check(&mesh), Ok(()));
            prop_assert!((mesh.volume() / volume - 1.0).abs() < 1e-12);
            prop_assert!((mesh.air_area() / area - 1.0).abs() < 1e-12);
        }

        #[test]
        fn a_flip_is_undone_by_flipping_the_new_edge(seed in any::<u32>()) {
            let mut mesh = small_sphere();
            let before = mesh.volume();
            if apply(&mut mesh, Edit::Flip(seed)) {
                let h = HalfEdgeIndex::new(seed as usize % mesh.twins.len()).triangle().half_edge(0);
                prop_assert!(mesh.can_flip(h));
                mesh.flip(h);
            }
            prop_assert_eq!(check(&mesh), Ok(()));
            prop_assert!((mesh.volume() / before - 1.0).abs() < 1e-12);
        }

        #[test]
        fn edits_keep_the_contact_of_a_wetted_patch_consistent(edits in edits()) {
            let mut mesh = small_sphere();
            for t in mesh.triangle_indices() {
                if mesh.corners(t).iter().all(|p| p.y < 0.0) {
                    mesh.interfaces[t] = Interface::Solid(SolidIndex::new(0));
                }
            }
            for edit in edits {
                apply(&mut mesh, edit);
            }
            mesh.compact();
            for v in mesh.vertex_indices() {
                let kind = mesh.kind(v);
                let on_solid = mesh.interface_at(v) == Interface::Solid(SolidIndex::new(0));
                prop_assert_eq!(on_solid, kind != VertexKind::Free, "vertex {} is {:?}", v, kind);
            }
        }
    }
}
