//! One look at a surface after it has moved: what its mesh needs, and whether it is still sound.
//!
//! One pass over the triangles finds all that the remesher and the checks ask in most steps, where the answer is that nothing needs doing: edges too long
//! or too short, needles, edges that want to be flipped, vertices that sit badly among their neighbors, the enclosed volume.
//!
//! **Crossings.** Let every triangle, seen from one point inside, face away from it: a · (b × c) > 0. Then the projection of the surface onto a sphere round
//! that point folds nowhere; being closed and in one piece, it covers the sphere once, and so the surface does not cross itself. Drops at rest, sliding, or
//! ringing gently pass that test, and only the others need be searched for crossings.

use glam::DVec3;

use crate::mesh::{AIR, Kind, Mesh};
use crate::queue::Queue;

/// Longest edge over the wanted length.
pub const LONGEST: f64 = 1.5;
/// Shortest edge over the wanted length.
pub const SHORTEST: f64 = 0.5;
/// Weight of lengths on the solid.
pub const WET_WEIGHT: f64 = 0.6;
/// Area over the square of the longest side below which a triangle is a needle.
pub const NEEDLE: f64 = 0.01;
/// Area over the square of the longest side below which a triangle has none.
pub const DEGENERATE: f64 = 1e-9;
/// Sum of an edge's two cotangents below which it wants to be flipped.
pub const FLIP_BELOW: f64 = -0.02;
/// Distance of a vertex from the middle of its neighbors, in edges, from which it is moved.
pub const CROOKED: f64 = 0.25;

/// What a look found, kept between calls for its memory.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Enclosed volume, in m³.
    pub volume: f64,
    /// Whether it is certain that the surface does not cross itself.
    pub star_shaped: bool,
    /// Whether some triangle has no area.
    pub degenerate: bool,
    /// Whether some triangle is a needle.
    pub needle: bool,
    /// Whether some edge is too long.
    pub long: bool,
    /// Whether some edge is too short.
    pub short: bool,
    cotangents: Vec<f64>,
    rings: Vec<Ring>,
}

/// What is around a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    /// Sum of the neighbors' places, from the survey's center.
    sum: DVec3,
    valence: u32,
    air: bool,
    solid: bool,
}

impl Survey {
    /// Looks at a compact mesh whose edges should be `edge` meters long, from a point inside it.
    pub fn read(&mut self, mesh: &Mesh, edge: f64, center: DVec3) {
        self.cotangents.clear();
        self.rings.clear();
        self.rings.resize(mesh.positions.len(), Ring::default());
        let (longest, shortest) = ((LONGEST * edge).powi(2), (SHORTEST * edge).powi(2));
        let (mut volume, mut least_cone) = (0.0, f64::INFINITY);
        let (mut needle, mut degenerate, mut long, mut short) = (false, false, false, false);
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize] - center);
            let (ab, bc, ca) = (b - a, c - b, a - c);
            let cross = ca.cross(ab);
            let twice = cross.length();
            let cone = a.dot(cross);
            volume += cone;
            least_cone = least_cone.min(cone);
            let squares = [ab.length_squared(), bc.length_squared(), ca.length_squared()];
            let most = squares[0].max(squares[1]).max(squares[2]);
            let least = squares[0].min(squares[1]).min(squares[2]);
            needle |= 0.5 * twice <= NEEDLE * most;
            degenerate |= 0.5 * twice <= DEGENERATE * most;
            // Across from a→b is the angle at c, and so on.
            let over = 1.0 / twice.max(1e-30);
            self.cotangents.extend([-bc.dot(ca) * over, -ca.dot(ab) * over, -ab.dot(bc) * over]);
            let air = mesh.solids[t] == AIR;
            if air {
                long |= most > longest;
                short |= least < shortest;
            } else {
                for (k, square) in squares.into_iter().enumerate() {
                    let wet = mesh.solid_of(mesh.twin((3 * t + k) as u32)) != AIR;
                    let square = if wet { square * (WET_WEIGHT * WET_WEIGHT) } else { square };
                    long |= square > longest;
                    short |= square < shortest;
                }
            }
            for (v, next) in [(corners[0], b), (corners[1], c), (corners[2], a)] {
                let ring = &mut self.rings[v as usize];
                ring.sum += next;
                ring.valence += 1;
                ring.air |= air;
                ring.solid |= !air;
            }
        }
        // Places are seen from the center from here on.
        for (ring, &p) in self.rings.iter_mut().zip(&mesh.positions) {
            ring.sum -= (p - center) * f64::from(ring.valence);
        }
        self.volume = volume / 6.0;
        self.star_shaped = least_cone > 0.0 && self.volume.is_finite();
        (self.needle, self.degenerate, self.long, self.short) = (needle, degenerate, long, short);
    }

    /// The edges that want to be flipped, each by its first half-edge, by how far their cotangents are below [`FLIP_BELOW`].
    pub fn wanting_flips(&self, mesh: &Mesh, queue: &mut Queue) {
        queue.clear();
        for (h, &twin) in mesh.twins.iter().enumerate() {
            if h < twin as usize {
                queue.push((self.cotangents[h] + self.cotangents[twin as usize]) / FLIP_BELOW, h as u32);
            }
        }
    }

    /// What a vertex is in contact with.
    #[inline]
    pub fn kind(&self, v: usize) -> Kind {
        match (self.rings[v].air, self.rings[v].solid) {
            (true, true) => Kind::Line,
            (false, true) => Kind::Wet,
            _ => Kind::Free,
        }
    }

    /// Whether a vertex is further than [`CROOKED`] from the middle of its neighbors.
    #[inline]
    pub fn is_crooked(&self, v: usize, edge: f64) -> bool {
        let ring = &self.rings[v];
        let reach = CROOKED * edge * f64::from(ring.valence);
        ring.sum.length_squared() > reach * reach
    }
}
