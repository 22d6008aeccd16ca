//! Changes of a closed surface that leave it closed and manifold: split, collapse, flip, cut.

use glam::DVec3;

use crate::mesh::{AIR, Kind, Mesh, NONE, next, previous};

impl Mesh {
    fn link(&mut self, a: u32, b: u32) {
        self.twins[a as usize] = b;
        self.twins[b as usize] = a;
    }

    /// Puts a vertex at `position` on the edge of `h`; its velocity is the mean of the ends'. Returns it.
    pub fn split(&mut self, h: u32, position: DVec3) -> u32 {
        let twin = self.twin(h);
        let (a, b) = (self.from(h), self.to(h));
        let m = self.positions.len() as u32;
        self.positions.push(position);
        self.velocities.push(0.5 * (self.velocities[a as usize] + self.velocities[b as usize]));
        self.starts.push(NONE);
        // (a, b, c) becomes (a, m, c) and (m, b, c); likewise on the other side.
        for (h, tail, head) in [(h, a, b), (twin, b, a)] {
            let (t, c) = (h / 3, self.apex(h));
            let solid = self.solids[t as usize];
            let new = self.triangles.len() as u32;
            self.triangles.push([m, head, c]);
            self.solids.push(solid);
            self.twins.extend([NONE; 3]);
            let beyond = self.twin(next(h));
            self.triangles[t as usize][(next(h) % 3) as usize] = m;
            self.link(3 * new + 1, beyond);
            self.link(next(h), 3 * new + 2);
            self.starts[head as usize] = 3 * new + 1;
            self.starts[c as usize] = 3 * new + 2;
            self.starts[m as usize] = 3 * new;
            self.starts[tail as usize] = h;
        }
        // The halves: h is a→m now, its opposite is m→a in the other side's new triangle.
        let count = self.triangles.len() as u32;
        self.link(h, 3 * (count - 1));
        self.link(twin, 3 * (count - 2));
        m
    }

    /// Whether the edge of `h` can turn to join the two corners across from it.
    pub fn can_flip(&self, h: u32) -> bool {
        let (c, d) = (self.apex(h), self.apex(self.twin(h)));
        !self.is_line(h)
            && c != d
            && self.edge(c, d).is_none()
            && self.valence(self.from(h)) > 3
            && self.valence(self.to(h)) > 3
    }

    /// Turns the edge of `h`; only where [`Mesh::can_flip`].
    pub fn flip(&mut self, h: u32) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let (t, u) = (h / 3, g / 3);
        let outer = [next(h), previous(h), next(g), previous(g)].map(|e| self.twin(e));
        // (a, b, c), (b, a, d) become (c, d, b), (d, c, a).
        self.triangles[t as usize] = [c, d, b];
        self.triangles[u as usize] = [d, c, a];
        self.link(3 * t, 3 * u);
        self.link(3 * t + 2, outer[0]);
        self.link(3 * u + 1, outer[1]);
        self.link(3 * u + 2, outer[2]);
        self.link(3 * t + 1, outer[3]);
        self.starts[c as usize] = 3 * t;
        self.starts[d as usize] = 3 * t + 1;
        self.starts[b as usize] = 3 * t + 2;
        self.starts[a as usize] = 3 * u + 2;
    }

    /// Whether the ends of `h` can become one without harm to the surface's being a manifold: their only common neighbors are the two
    /// corners across, and none of these is left with two triangles.
    pub fn can_collapse(&self, h: u32) -> bool {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        if c == d || self.valence(c) <= 3 || self.valence(d) <= 3 {
            return false;
        }
        let common = self.fan(a).map(|e| self.to(e)).filter(|&v| self.edge(v, b).is_some()).count();
        common == 2
    }

    /// A common neighbor of the ends of `h` that is not a corner across from it: the three are a waist of the surface.
    pub fn waist(&self, h: u32) -> Option<u32> {
        let (b, c, d) = (self.to(h), self.apex(h), self.apex(self.twin(h)));
        self.fan(self.from(h)).map(|e| self.to(e)).find(|&v| v != c && v != d && self.edge(v, b).is_some())
    }

    /// Whether moving the vertices `a` and `b` to `position` turns or squashes no triangle that survives their becoming one.
    pub fn collapse_keeps_shape(&self, h: u32, position: DVec3) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (t, u) = (h / 3, self.twin(h) / 3);
        [a, b].into_iter().all(|v| {
            self.fan(v).filter(|e| e / 3 != t && e / 3 != u).all(|e| {
                let [p, q, r] = [v, self.to(e), self.apex(e)]
                    .map(|w| if w == a || w == b { position } else { self.positions[w as usize] });
                let before = self.area_vector((e / 3) as usize);
                let after = 0.5 * (q - p).cross(r - p);
                let longest = (q - p).length_squared().max((r - p).length_squared()).max((r - q).length_squared());
                // Not turned by more than 60°, and no needle: height at least 1/12 of the longest side, unless it was one.
                let (size, old) = (after.length(), before.length());
                before.dot(after) > 0.5 * size * old && (size > longest / 24.0 || size > old)
            })
        })
    }

    /// Makes the ends of `h` one vertex at `position`; only where [`Mesh::can_collapse`]. The end of `h` stays.
    pub fn collapse(&mut self, h: u32, position: DVec3) {
        let g = self.twin(h);
        let (a, b, c, d) = (self.from(h), self.to(h), self.apex(h), self.apex(g));
        let mut e = self.starts[a as usize];
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
            self.triangles[t as usize] = [NONE; 3];
        }
        self.starts[a as usize] = NONE;
        // The outer half-edge c→b of the lost triangle (a, b, c) starts at c; of (b, a, d) the one a→d, now b→d, starts at b.
        self.starts[c as usize] = h_next;
        self.starts[b as usize] = h_previous;
        self.starts[d as usize] = g_next;
        debug_assert!(self.from(h_next) == c && self.from(h_previous) == b && self.from(g_next) == d);
        self.positions[b as usize] = position;
        self.velocities[b as usize] = 0.5 * (self.velocities[a as usize] + self.velocities[b as usize]);
    }

    /// Cuts along the waist of three vertices that are neighbors in pairs but no triangle, and closes both sides with a triangle each.
    ///
    /// `h` runs from `a` to `b`, and `e` is the third. Nothing is done where the three do not separate their fans.
    pub fn cut(&mut self, h: u32, e: u32) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (Some(be), Some(ea)) = (self.edge(b, e), self.edge(e, a)) else { return false };
        let loop_edges = [h, be, ea];
        let corners = [a, b, e];
        // Each of the three has the half-edges of its fan on one side of the waist given to a new vertex: those from the waist's
        // outgoing half-edge round to its incoming one.
        let mut takes: [Vec<u32>; 3] = Default::default();
        for k in 0..3 {
            let (outgoing, incoming) = (loop_edges[k], loop_edges[(k + 2) % 3]);
            let stop = self.twin(incoming);
            let mut at = outgoing;
            while at != stop {
                takes[k].push(at);
                at = self.twin(previous(at));
                if at == outgoing {
                    return false;
                }
            }
            if takes[k].is_empty() || takes[k].len() >= self.valence(corners[k]) {
                return false;
            }
        }
        let first = self.positions.len() as u32;
        for &v in &corners {
            self.positions.push(self.positions[v as usize]);
            self.velocities.push(self.velocities[v as usize]);
            self.starts.push(NONE);
        }
        let twins = loop_edges.map(|edge| self.twin(edge));
        for k in 0..3 {
            let new = first + k as u32;
            for &edge in &takes[k] {
                self.triangles[(edge / 3) as usize][(edge % 3) as usize] = new;
            }
            self.starts[new as usize] = loop_edges[k];
            self.starts[corners[k] as usize] = twins[(k + 2) % 3];
        }
        // The waist's half-edges face a new triangle with the new vertices, their former twins one with the old ones.
        let (near, far) = (self.triangles.len() as u32, self.triangles.len() as u32 + 1);
        self.triangles.push([first + 1, first, first + 2]);
        self.triangles.push([a, b, e]);
        self.solids.extend([AIR; 2]);
        self.twins.extend([NONE; 6]);
        // near: (b', a', e'): half-edges b'→a', a'→e', e'→b'.
        self.link(3 * near, loop_edges[0]);
        self.link(3 * near + 1, loop_edges[2]);
        self.link(3 * near + 2, loop_edges[1]);
        // far: (a, b, e): a→b faces the former twin b→a, and so on.
        for k in 0..3 {
            self.link(3 * far + k as u32, twins[k]);
        }
        true
    }

    /// Takes away parts that are single tetrahedra, as cuts leave them where a waist had one vertex beyond it; how many. One that is all there is stays.
    pub fn take_out_tetrahedra(&mut self) -> usize {
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
                self.triangles[t] = [NONE; 3];
            }
            for v in [corners[0], corners[1], corners[2], apex] {
                self.starts[v as usize] = NONE;
            }
            left -= 4;
            count += 1;
        }
        count
    }

    /// What the ends of `h` touch.
    pub fn kinds(&self, h: u32) -> [Kind; 2] {
        [self.kind(self.from(h)), self.kind(self.to(h))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::ball;
    use crate::validate::check;

    #[test]
    fn single_tetrahedra_vanish_and_a_drop_that_is_one_stays() {
        let mut plain = ball(DVec3::ZERO, 1.0, 0.3, |_| 1.0).unwrap().to_tri_mesh();
        let first = plain.positions.len() as u32;
        plain.positions.extend([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * 0.1 + DVec3::splat(2.0)));
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t: [u32; 3]| t.map(|v| v + first));
        plain.triangles.extend(faces);
        let mut mesh = Mesh::from_triangles(&plain).unwrap();
        assert_eq!((mesh.parts().len(), mesh.take_out_tetrahedra()), (2, 1));
        mesh.compact();
        check(&mesh).unwrap();
        assert_eq!(mesh.parts().len(), 1);
        plain.triangles = faces.to_vec();
        let mut alone = Mesh::from_triangles(&plain).unwrap();
        assert_eq!(alone.take_out_tetrahedra(), 0, "it is all there is");
    }
}
