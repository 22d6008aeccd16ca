//! Mesh edits that keep the surface closed and manifold: split, collapse, flip, cut.

use glam::DVec3;

use super::{Interface, Mesh, REMOVED, VertexKind, next, previous};

impl Mesh {
    fn link(&mut self, a: u32, b: u32) {
        self.twins[a as usize] = b;
        self.twins[b as usize] = a;
    }

    /// Splits the edge of `h` at `position` and returns the new vertex.
    ///
    /// Its velocity is the mean of the velocities at both ends.
    pub(crate) fn split(&mut self, h: u32, position: DVec3) -> u32 {
        let twin = self.twin(h);
        let (a, b) = (self.from(h), self.to(h));
        let m = self.positions.len() as u32;
        self.positions.push(position);
        self.velocities.push(0.5 * (self.velocities[a as usize] + self.velocities[b as usize]));
        self.outgoing.push(REMOVED);
        // (a, b, c) becomes (a, m, c) and (m, b, c); likewise in the twin's triangle.
        for (h, tail, head) in [(h, a, b), (twin, b, a)] {
            let (t, c) = (h / 3, self.apex(h));
            let interface = self.interfaces[t as usize];
            let new = self.triangles.len() as u32;
            self.triangles.push([m, head, c]);
            self.interfaces.push(interface);
            self.twins.extend([REMOVED; 3]);
            let beyond = self.twin(next(h));
            self.triangles[t as usize][(next(h) % 3) as usize] = m;
            self.link(3 * new + 1, beyond);
            self.link(next(h), 3 * new + 2);
            self.outgoing[head as usize] = 3 * new + 1;
            self.outgoing[c as usize] = 3 * new + 2;
            self.outgoing[m as usize] = 3 * new;
            self.outgoing[tail as usize] = h;
        }
        // h is a→m now; its twin is m→a in the other new triangle.
        let count = self.triangles.len() as u32;
        self.link(h, 3 * (count - 1));
        self.link(twin, 3 * (count - 2));
        m
    }

    /// Whether the edge of `h` can be flipped to join the two opposite corners.
    pub(crate) fn can_flip(&self, h: u32) -> bool {
        let (c, d) = (self.apex(h), self.apex(self.twin(h)));
        !self.is_line(h)
            && c != d
            && self.edge(c, d).is_none()
            && self.valence(self.from(h)) > 3
            && self.valence(self.to(h)) > 3
    }

    /// Flips the edge of `h`; requires [`Mesh::can_flip`].
    pub(crate) fn flip(&mut self, h: u32) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let (t, u) = (h / 3, g / 3);
        let outer = [next(h), previous(h), next(g), previous(g)].map(|e| self.twin(e));
        // (a, b, c) and (b, a, d) become (c, d, b) and (d, c, a).
        self.triangles[t as usize] = [c, d, b];
        self.triangles[u as usize] = [d, c, a];
        self.link(3 * t, 3 * u);
        self.link(3 * t + 2, outer[0]);
        self.link(3 * u + 1, outer[1]);
        self.link(3 * u + 2, outer[2]);
        self.link(3 * t + 1, outer[3]);
        self.outgoing[c as usize] = 3 * t;
        self.outgoing[d as usize] = 3 * t + 1;
        self.outgoing[b as usize] = 3 * t + 2;
        self.outgoing[a as usize] = 3 * u + 2;
    }

    /// Whether the edge of `h` can be collapsed without making the surface non-manifold.
    ///
    /// The only common neighbors of its ends must be the two opposite corners, and neither of these
    /// may be left with two triangles (the link condition).
    pub(crate) fn can_collapse(&self, h: u32) -> bool {
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
    pub(crate) fn neck_loop(&self, h: u32) -> Option<u32> {
        let (b, c, d) = (self.to(h), self.apex(h), self.apex(self.twin(h)));
        self.fan(self.from(h)).map(|e| self.to(e)).find(|&v| v != c && v != d && self.edge(v, b).is_some())
    }

    /// Whether collapsing the edge of `h` to `position` inverts or flattens no remaining triangle.
    pub(crate) fn collapse_keeps_orientation(&self, h: u32, position: DVec3) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (t, u) = (h / 3, self.twin(h) / 3);
        [a, b].into_iter().all(|v| {
            self.fan(v).filter(|e| e / 3 != t && e / 3 != u).all(|e| {
                let [p, q, r] = [v, self.to(e), self.apex(e)]
                    .map(|w| if w == a || w == b { position } else { self.positions[w as usize] });
                let before = self.area_vector((e / 3) as usize);
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
    pub(crate) fn collapse(&mut self, h: u32, position: DVec3) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let mut e = self.outgoing[a as usize];
        let first = e;
        loop {
            self.triangles[(e / 3) as usize][(e % 3) as usize] = b;
            e = self.twin(previous(e));
            if e == first {
                break;
            }
        }
        let (h_next, h_previous) = (self.twin(next(h)), self.twin(previous(h)));
        let (g_next, g_previous) = (self.twin(next(g)), self.twin(previous(g)));
        self.link(h_next, h_previous);
        self.link(g_next, g_previous);
        for t in [h / 3, g / 3] {
            self.triangles[t as usize] = [REMOVED; 3];
        }
        self.outgoing[a as usize] = REMOVED;
        // In the removed triangle (a, b, c) the outer half-edge c→b starts at c; in (b, a, d) the
        // outer half-edge a→d, now b→d, starts at b.
        self.outgoing[c as usize] = h_next;
        self.outgoing[b as usize] = h_previous;
        self.outgoing[d as usize] = g_next;
        debug_assert!(self.from(h_next) == c && self.from(h_previous) == b && self.from(g_next) == d);
        self.positions[b as usize] = position;
        self.velocities[b as usize] = 0.5 * (self.velocities[a as usize] + self.velocities[b as usize]);
    }

    /// Cuts along a loop of three vertices that are pairwise neighbors but no triangle, and closes
    /// both sides with a triangle each; returns whether it did.
    ///
    /// `h` runs from `a` to `b`, and `e` is the third vertex. Does nothing where the loop does not
    /// separate the fans of its vertices.
    pub(crate) fn cut(&mut self, h: u32, e: u32) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (Some(be), Some(ea)) = (self.edge(b, e), self.edge(e, a)) else { return false };
        let loop_edges = [h, be, ea];
        let corners = [a, b, e];
        // On one side of the loop each vertex is replaced by a copy: for the half-edges of its fan
        // from the loop's outgoing half-edge around to the incoming one.
        let mut fans: [Vec<u32>; 3] = Default::default();
        for k in 0..3 {
            let (outgoing, incoming) = (loop_edges[k], loop_edges[(k + 2) % 3]);
            let stop = self.twin(incoming);
            let mut at = outgoing;
            while at != stop {
                fans[k].push(at);
                at = self.twin(previous(at));
                if at == outgoing {
                    return false;
                }
            }
            if fans[k].is_empty() || fans[k].len() >= self.valence(corners[k]) {
                return false;
            }
        }
        let first = self.positions.len() as u32;
        for &v in &corners {
            self.positions.push(self.positions[v as usize]);
            self.velocities.push(self.velocities[v as usize]);
            self.outgoing.push(REMOVED);
        }
        let twins = loop_edges.map(|edge| self.twin(edge));
        for k in 0..3 {
            let new = first + k as u32;
            for &edge in &fans[k] {
                self.triangles[(edge / 3) as usize][(edge % 3) as usize] = new;
            }
            self.outgoing[new as usize] = loop_edges[k];
            self.outgoing[corners[k] as usize] = twins[(k + 2) % 3];
        }
        // The loop's half-edges get the new triangle of the copies as neighbor, their former twins
        // the one of the original vertices.
        let (near, far) = (self.triangles.len() as u32, self.triangles.len() as u32 + 1);
        self.triangles.push([first + 1, first, first + 2]);
        self.triangles.push([a, b, e]);
        self.interfaces.extend([Interface::Air; 2]);
        self.twins.extend([REMOVED; 6]);
        // near: (b', a', e') has the half-edges b'→a', a'→e', e'→b'.
        self.link(3 * near, loop_edges[0]);
        self.link(3 * near + 1, loop_edges[2]);
        self.link(3 * near + 2, loop_edges[1]);
        // far: (a, b, e); a→b is the twin of the former twin b→a, and so on.
        for k in 0..3 {
            self.link(3 * far + k as u32, twins[k]);
        }
        true
    }

    /// Removes components that are single tetrahedra, as cuts leave them, and returns how many.
    ///
    /// A mesh that consists of one tetrahedron stays.
    pub(crate) fn remove_tetrahedra(&mut self) -> usize {
        let mut left = (0..self.triangles.len()).filter(|&t| self.is_live(t)).count();
        let mut count = 0;
        for t in 0..self.triangles.len() {
            if !self.is_live(t) || left <= 4 {
                continue;
            }
            let across = [0, 1, 2].map(|k| self.twin((3 * t + k) as u32));
            let apex = self.apex(across[0]);
            if across.iter().any(|&h| self.apex(h) != apex) || self.valence(apex) != 3 {
                continue;
            }
            let corners = self.triangles[t];
            if corners.iter().any(|&v| self.valence(v) != 3) {
                continue;
            }
            for t in [t, (across[0] / 3) as usize, (across[1] / 3) as usize, (across[2] / 3) as usize] {
                self.triangles[t] = [REMOVED; 3];
            }
            for v in [corners[0], corners[1], corners[2], apex] {
                self.outgoing[v as usize] = REMOVED;
            }
            left -= 4;
            count += 1;
        }
        count
    }

    /// Kinds of the vertices at both ends of `h`.
    pub(crate) fn kinds(&self, h: u32) -> [VertexKind; 2] {
        [self.kind(self.from(h)), self.kind(self.to(h))]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::check::{check, check_connectivity};
    use crate::mesh::primitives::sphere;

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
        let live: Vec<u32> = (0..mesh.twins.len() as u32).filter(|&h| mesh.is_live((h / 3) as usize)).collect();
        let h = live[seed as usize % live.len()];
        let middle = 0.5 * (mesh.positions[mesh.from(h) as usize] + mesh.positions[mesh.to(h) as usize]);
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
                let h = 3 * (seed % mesh.twins.len() as u32 / 3);
                prop_assert!(mesh.can_flip(h));
                mesh.flip(h);
            }
            prop_assert_eq!(check(&mesh), Ok(()));
            prop_assert!((mesh.volume() / before - 1.0).abs() < 1e-12);
        }

        #[test]
        fn edits_keep_the_contact_of_a_wetted_patch_consistent(edits in edits()) {
            let mut mesh = small_sphere();
            for t in 0..mesh.triangles.len() {
                if mesh.corners(t).iter().all(|p| p.y < 0.0) {
                    mesh.interfaces[t] = Interface::Solid(0);
                }
            }
            for edit in edits {
                apply(&mut mesh, edit);
            }
            mesh.compact();
            for v in 0..mesh.positions.len() as u32 {
                let kind = mesh.kind(v);
                let on_solid = mesh.interface_at(v) == Interface::Solid(0);
                prop_assert_eq!(on_solid, kind != VertexKind::Free, "vertex {} is {:?}", v, kind);
            }
        }
    }
}
