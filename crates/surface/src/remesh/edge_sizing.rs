//! Target edge lengths by curvature.
//!
//! A chord of length ℓ deviates by ℓ²κ/8 from an arc of curvature κ. At the target length κh = 0.45
//! that is 5.6 % of the chord:
//!
//! ```text
//! h = 0.45/κ,    at least the scene's shortest edge e, at most Drop::target_edge
//! k = (n_b − n_a) · (x_b − x_a) / |x_b − x_a|²,    |κ| = |mean k| + √(2 var k)
//! ```
//!
//! k is the curvature along an edge from the vertex normals at its ends. Only edges between free
//! vertices count: normals at the contact line are one-sided, and liquid in a corner between two
//! solids is bent without being curved. Over the edges at a vertex the mean of k is (κ₁ + κ₂)/2 and
//! its variance (κ₁ − κ₂)²/8, so κ is the principal curvature of larger magnitude. Half of it is
//! averaged with the neighbors, so that a single displaced vertex does not refine its surroundings.
//! From one vertex to the next h grows by at most a quarter.
//!
//! The length of a round drop is at most 0.35 of its radius, below what the curvature asks for, so
//! spheres and moderately flattened caps keep uniform edges. Necks, rims, the groove along an
//! intersection curve and the feet of puddles are refined by up to a factor of two. Drops and
//! ligaments whose own length is e or less are not refined.

use glam::DVec3;

use crate::mesh::index::{HalfEdgeIndex, VertexIndex};
use crate::mesh::quality::MeshQuality;
use crate::mesh::{Mesh, VertexKind};
use crate::parameters::Numerics;

/// Ratio of the shortest edge to the drop's own length from which refinement is not worth its cost.
const MIN_REFINEMENT: f64 = 0.9;
/// Sweeps that limit the grading: enough, at the default grading, from e to 2e.
const SWEEPS: usize = 4;

/// Target edge lengths; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct EdgeSizes {
    edge: f64,
    uniform: bool,
    lengths: Vec<f64>,
    normals: Vec<DVec3>,
    curvatures: Vec<CurvatureSums>,
}

/// Curvature sums over the edges at a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct CurvatureSums {
    sum: f64,
    squares: f64,
    count: f64,
    /// |κ| at the vertex, in 1/m.
    curvature: f64,
    /// Sum of the neighbors' |κ|, in 1/m.
    around: f64,
}

impl EdgeSizes {
    /// Sets one target length for all edges, in m.
    pub fn set_uniform(&mut self, edge: f64) {
        self.edge = edge;
        self.uniform = true;
    }

    /// Evaluates the target lengths of a compact mesh between `shortest` and `edge`, in m.
    pub fn read(&mut self, mesh: &Mesh, quality: &MeshQuality, [edge, shortest]: [f64; 2], numerics: &Numerics) {
        self.set_uniform(edge);
        if shortest >= MIN_REFINEMENT * edge {
            return;
        }
        self.read_curvatures(mesh, quality);
        let limit = numerics.edge_curvature / edge;
        let sharpest = self.curvatures.iter().map(|sums| sums.curvature).fold(0.0, f64::max);
        if sharpest <= limit {
            return;
        }
        for (a, b) in free_edges(mesh, quality) {
            let (one, other) = (self.curvatures[a].curvature, self.curvatures[b].curvature);
            self.curvatures[a].around += other;
            self.curvatures[b].around += one;
        }
        self.lengths.clear();
        self.lengths.extend(self.curvatures.iter().map(|sums| {
            // Vertices in contact have no such edges and contribute nothing to their neighbors.
            let curvature = 0.5 * (sums.curvature + sums.around / sums.count.max(1.0));
            if curvature > limit { (numerics.edge_curvature / curvature).max(shortest) } else { edge }
        }));
        self.uniform = self.lengths.iter().all(|&length| length >= edge);
        if self.uniform {
            return;
        }
        for _ in 0..SWEEPS {
            for (a, b) in edges(mesh) {
                let (one, other) = (self.lengths[a], self.lengths[b]);
                self.lengths[a] = one.min(numerics.edge_grading * other);
                self.lengths[b] = other.min(numerics.edge_grading * one);
            }
        }
    }

    /// Evaluates |κ| at every vertex.
    fn read_curvatures(&mut self, mesh: &Mesh, quality: &MeshQuality) {
        let n = mesh.positions.len();
        self.normals.clear();
        self.normals.resize(n, DVec3::ZERO);
        self.curvatures.clear();
        self.curvatures.resize(n, CurvatureSums::default());
        for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
            let area = mesh.area_vector(t);
            corners.iter().for_each(|&v| self.normals[v] += area);
        }
        self.normals.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        for (a, b) in free_edges(mesh, quality) {
            let offset = mesh.positions[b] - mesh.positions[a];
            let k = (self.normals[b] - self.normals[a]).dot(offset) / offset.length_squared().max(1e-300);
            for v in [a, b] {
                let sums = &mut self.curvatures[v];
                sums.sum += k;
                sums.squares += k * k;
                sums.count += 1.0;
            }
        }
        for sums in &mut self.curvatures {
            let mean = sums.sum / sums.count.max(1.0);
            let spread = (sums.squares / sums.count.max(1.0) - mean * mean).max(0.0);
            sums.curvature = mean.abs() + (2.0 * spread).sqrt();
        }
    }

    /// Whether all edges have one target length.
    pub fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Target length of the edge of `h`, in m.
    #[inline]
    pub fn of(&self, mesh: &Mesh, h: HalfEdgeIndex) -> f64 {
        if self.uniform {
            return self.edge;
        }
        0.5 * (self.lengths[mesh.from(h)] + self.lengths[mesh.to(h)])
    }

    /// Adds the target length of a vertex that was appended to the mesh, in m.
    pub fn push(&mut self, length: f64) {
        if !self.uniform {
            self.lengths.push(length);
        }
    }
}

/// Every edge once, by its end vertices.
fn edges(mesh: &Mesh) -> impl Iterator<Item = (VertexIndex, VertexIndex)> {
    let once = mesh.half_edge_indices().filter(|&h| h < mesh.twin(h));
    once.map(|h| (mesh.from(h), mesh.to(h)))
}

/// Edges between free vertices.
fn free_edges(mesh: &Mesh, quality: &MeshQuality) -> impl Iterator<Item = (VertexIndex, VertexIndex)> {
    edges(mesh).filter(|&(a, b)| quality.kind(a) == VertexKind::Free && quality.kind(b) == VertexKind::Free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives::sphere;

    #[test]
    fn spheres_get_uniform_edges_and_the_rim_of_an_oblate_drop_gets_finer_ones() {
        let numerics = Numerics::default();
        let mut sizes = EdgeSizes::default();
        let mut quality = MeshQuality::default();
        let round = sphere(DVec3::ZERO, 1.0, 0.35, |_| 1.0).unwrap();
        quality.read(&round, 0.35, DVec3::ZERO, &numerics);
        sizes.read(&round, &quality, [0.35, 0.175], &numerics);
        let sharpest = sizes.curvatures.iter().map(|sums| sums.curvature).fold(0.0, f64::max);
        println!("{} triangles: largest curvature {sharpest} of a sphere of radius 1", round.triangles.len());
        assert!(sizes.is_uniform() && (sharpest - 1.0).abs() < 0.2, "largest curvature {sharpest}");

        // An oblate spheroid of aspect 1/2: radius of curvature 1/4 at the rim, 2 at the poles.
        let mut flat = sphere(DVec3::ZERO, 1.0, 0.1, |_| 1.0).unwrap();
        flat.positions.iter_mut().for_each(|p| p.y *= 0.5);
        quality.read(&flat, 0.6, DVec3::ZERO, &numerics);
        sizes.read(&flat, &quality, [0.6, 0.3], &numerics);
        let at = |sizes: &EdgeSizes, low: f64, high: f64| {
            let inside = |v: &VertexIndex| (low..high).contains(&flat.positions[*v].y.abs());
            let (mut sum, mut count) = (0.0, 0.0);
            for v in flat.vertex_indices().filter(inside) {
                sum += sizes.lengths[v];
                count += 1.0;
            }
            sum / count
        };
        let (rim, top) = (at(&sizes, 0.0, 0.1), at(&sizes, 0.45, 0.51));
        println!("target lengths: {rim} at the rim, {top} at the top");
        assert!(rim < 0.31 && top > 0.55, "{rim} at the rim, {top} at the top");
        for (a, b) in edges(&flat) {
            let ratio = sizes.lengths[a] / sizes.lengths[b];
            assert!(ratio.max(1.0 / ratio) < numerics.edge_grading + 1e-9, "neighbors differ by {ratio}");
        }
    }
}
