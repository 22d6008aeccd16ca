//! How long edges should be, place by place: shorter where the surface bends.
//!
//! A chord of length ℓ is ℓ²κ/8 away from an arc of curvature κ. At the length aimed at that is 5.6 % of the chord, κh = 0.45:
//!
//! ```text
//! h = 0.45/κ,    not below the scene's shortest edge e, not above the drop's own length (at most 2e: Drop::target_edge)
//! k = (n_b − n_a) · (x_b − x_a) / |x_b − x_a|²,    |κ| = |mean k| + √(2 var k)
//! ```
//!
//! k is the curvature along an edge from the normals of the surface at its ends, where neither touches a solid: those of the contact line are one-sided, and what is in a corner between two
//! solids bends without being curved. Over the edges at a vertex its mean is (κ₁ + κ₂)/2 and its variance (κ₁ − κ₂)²/8, so that κ is the
//! larger principal curvature by size; half of it is taken from the neighbors, lest one crooked vertex ask for a finer mesh all round. From a vertex to the next h grows by a quarter at
//! most.
//!
//! A ball's own length is at most 0.35 of its radius, below what this asks, so balls and caps that are not much flattened stay even. Necks, rims, the groove along a
//! seam, the feet of puddles become finer by up to two. Drops and threads whose own length is e or less have what they have: nothing becomes finer than e by its curvature.

use glam::DVec3;

use crate::mesh::{Kind, Mesh};
use crate::survey::Survey;

/// Edge length times curvature that is aimed at: a chord is off by an eighth of it, in edges.
pub const BEND: f64 = 0.45;
/// Ratio of the lengths aimed at of two neighbors, at most.
pub const GRADING: f64 = 1.25;
/// Part of the drop's own length down to which the shortest edge is not worth a look.
const WORTHWHILE: f64 = 0.9;
/// Sweeps that carry a short length outwards: enough, at this grading, from e to 2e.
const SWEEPS: usize = 4;

/// Lengths aimed at, kept between calls for their memory.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    edge: f64,
    even: bool,
    lengths: Vec<f64>,
    normals: Vec<DVec3>,
    bends: Vec<Bend>,
}

/// Sums over the edges at a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct Bend {
    sum: f64,
    squares: f64,
    count: f64,
    /// |κ| here, in 1/m.
    curvature: f64,
    /// Sum of the neighbors'.
    around: f64,
}

impl Sizes {
    /// One length for all edges, in m.
    pub fn set_even(&mut self, edge: f64) {
        self.edge = edge;
        self.even = true;
    }

    /// Whether curvature can ask for anything on a drop whose edges are `edge` long, in a scene whose shortest are `shortest`.
    pub fn can_differ(edge: f64, shortest: f64) -> bool {
        shortest < WORTHWHILE * edge
    }

    /// Reads what the curvature of a compact mesh, and a survey of it, ask for between `shortest` and `edge`, in m.
    pub fn read(&mut self, mesh: &Mesh, survey: &Survey, edge: f64, shortest: f64) {
        self.set_even(edge);
        if !Self::can_differ(edge, shortest) {
            return;
        }
        self.read_bends(mesh, survey);
        let limit = BEND / edge;
        let sharpest = self.bends.iter().map(|bend| bend.curvature).fold(0.0, f64::max);
        if sharpest <= limit {
            return;
        }
        for (a, b) in free_edges(mesh, survey) {
            let (one, other) = (self.bends[a].curvature, self.bends[b].curvature);
            self.bends[a].around += other;
            self.bends[b].around += one;
        }
        self.lengths.clear();
        self.lengths.extend(self.bends.iter().map(|bend| {
            // What touches a solid has no such edge, and lends its neighbors nothing.
            let curvature = 0.5 * (bend.curvature + bend.around / bend.count.max(1.0));
            if curvature > limit { (BEND / curvature).max(shortest) } else { edge }
        }));
        self.even = self.lengths.iter().all(|&length| length >= edge);
        if self.even {
            return;
        }
        for _ in 0..SWEEPS {
            for (a, b) in edges(mesh) {
                let (one, other) = (self.lengths[a], self.lengths[b]);
                self.lengths[a] = one.min(GRADING * other);
                self.lengths[b] = other.min(GRADING * one);
            }
        }
    }

    /// |κ| at every vertex.
    fn read_bends(&mut self, mesh: &Mesh, survey: &Survey) {
        let n = mesh.positions.len();
        self.normals.clear();
        self.normals.resize(n, DVec3::ZERO);
        self.bends.clear();
        self.bends.resize(n, Bend::default());
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let area = mesh.area_vector(t);
            corners.iter().for_each(|&v| self.normals[v as usize] += area);
        }
        self.normals.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        for (a, b) in free_edges(mesh, survey) {
            let way = mesh.positions[b] - mesh.positions[a];
            let along = (self.normals[b] - self.normals[a]).dot(way) / way.length_squared().max(1e-300);
            for v in [a, b] {
                let bend = &mut self.bends[v];
                bend.sum += along;
                bend.squares += along * along;
                bend.count += 1.0;
            }
        }
        for bend in &mut self.bends {
            let mean = bend.sum / bend.count.max(1.0);
            let spread = (bend.squares / bend.count.max(1.0) - mean * mean).max(0.0);
            bend.curvature = mean.abs() + (2.0 * spread).sqrt();
        }
    }

    /// Whether all edges should have one length.
    pub fn are_even(&self) -> bool {
        self.even
    }

    /// Length that the edge of `h` should have, in m.
    #[inline]
    pub fn of(&self, mesh: &Mesh, h: u32) -> f64 {
        if self.even {
            return self.edge;
        }
        0.5 * (self.lengths[mesh.from(h) as usize] + self.lengths[mesh.to(h) as usize])
    }

    /// Takes up a vertex that a split has put at the end of the mesh's, in the middle of edges that should be so long.
    pub fn push(&mut self, length: f64) {
        if !self.even {
            self.lengths.push(length);
        }
    }
}

/// Every edge once, by its ends.
fn edges(mesh: &Mesh) -> impl Iterator<Item = (usize, usize)> {
    let once = mesh.twins.iter().enumerate().filter(|&(h, &twin)| h < twin as usize);
    once.map(|(h, _)| (mesh.from(h as u32) as usize, mesh.to(h as u32) as usize))
}

/// Those that touch no solid.
fn free_edges(mesh: &Mesh, survey: &Survey) -> impl Iterator<Item = (usize, usize)> {
    edges(mesh).filter(|&(a, b)| survey.kind(a) == Kind::Free && survey.kind(b) == Kind::Free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::ball;

    #[test]
    fn balls_are_even_and_the_rim_of_a_flat_one_is_fine() {
        let mut sizes = Sizes::default();
        let mut survey = Survey::default();
        let round = ball(DVec3::ZERO, 1.0, 0.35, |_| 1.0).unwrap();
        survey.read(&round, 0.35, DVec3::ZERO);
        sizes.read(&round, &survey, 0.35, 0.175);
        let sharpest = sizes.bends.iter().map(|bend| bend.curvature).fold(0.0, f64::max);
        println!("{} triangles: largest curvature {sharpest} of a ball of radius 1", round.triangles.len());
        assert!(sizes.are_even() && (sharpest - 1.0).abs() < 0.2, "largest curvature {sharpest}");

        // Half as high as wide: its rim has the radius of curvature 1/4, its top 2.
        let mut flat = ball(DVec3::ZERO, 1.0, 0.1, |_| 1.0).unwrap();
        flat.positions.iter_mut().for_each(|p| p.y *= 0.5);
        survey.read(&flat, 0.6, DVec3::ZERO);
        sizes.read(&flat, &survey, 0.6, 0.3);
        let at = |sizes: &Sizes, low: f64, high: f64| {
            let inside = |v: &usize| (low..high).contains(&flat.positions[*v].y.abs());
            let (mut sum, mut count) = (0.0, 0.0);
            for v in (0..flat.positions.len()).filter(inside) {
                sum += sizes.lengths[v];
                count += 1.0;
            }
            sum / count
        };
        let (rim, top) = (at(&sizes, 0.0, 0.1), at(&sizes, 0.45, 0.51));
        println!("lengths aimed at: {rim} at the rim, {top} at the top");
        assert!(rim < 0.31 && top > 0.55, "{rim} at the rim, {top} at the top");
        for (a, b) in edges(&flat) {
            let ratio = sizes.lengths[a] / sizes.lengths[b];
            assert!(ratio.max(1.0 / ratio) < GRADING + 1e-9, "neighbors differ by {ratio}");
        }
    }
}
