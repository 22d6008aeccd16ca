//! Non-local added mass: inertia of the liquid inside a drop in flight, acting on its surface.
//!
//! Potential flow inside a drop whose surface moves at w along its normal has the kinetic energy ½
//! ∫ w μ w dA, where μ = ρ/N and N maps a potential on the surface to its normal derivative. N is
//! not local: it is l/R for mode l of a sphere (lamb1932, art. 275) and k I₁(ka)/I₀(ka) for a
//! perturbation of a cylinder (rayleigh1878). Both are close to one function of the surface
//! Laplacian L, with eigenvalue s, and of h = V/A, volume over area:
//!
//! ```text
//! N ≈ g h s/(1 + β h² s)            μ = ρ β h/g  +  ρ/(g h) · 1/s
//! ```
//!
//! The second form is used: a shell of thickness βh/g, and the flow along the surface, as in
//! shallow water, that supplies the displaced liquid. g is 1 on a cylinder, where that flow
//! dominates for long waves, and 1 + ⅔β on a sphere, so that mode 2 has Lamb's frequency; in
//! between it is interpolated by the sphericity, the area of the sphere of the same volume over A.
//! With β = ½:
//!
//! | | sphere, l = 2 | 3 | 4 | 5 | 6 | cylinder, ka = 0.3 | 0.7 | 1 | 2 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | √N over the exact one | 1.00 | 1.03 | 1.03 | 1.00 | 0.97 | 1.00 | 1.00 | 1.00 | 0.98 |
//!
//! 1/s is a Poisson problem on the surface: φ = L⁻¹ q with q_i = c_i · (v_i − U), c_i the gradient
//! of the volume. Its matrix is constant during the iterations of a step, so it is factored once,
//! by rows within its envelope, with the vertices in breadth-first order (cuthill1969). On a mesh
//! of n vertices the envelope has about 1.5 n^1.5 entries, fewer on ligaments.

use glam::DVec3;
use sessile_numerics::{math, typed_index};

use super::geometry::DropGeometry;
use crate::mesh::Mesh;
use crate::mesh::index::{HalfEdgeIndex, VertexIndex};

/// β: how quickly the interior flow decays with depth.
const BETA: f64 = 0.5;
/// Least weight of an edge, so that the matrix stays positive definite on poor meshes: a twelfth of
/// that of an even mesh.
const MIN_WEIGHT: f64 = 0.05;
/// Relative shift of the diagonal: without it constants make the matrix singular.
const REGULARIZATION: f64 = 1e-9;

/// Thickness of the shell and depth of the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InertiaDepths {
    /// βh/g, in m.
    pub shell: f64,
    /// g h, in m.
    pub flow: f64,
}

impl InertiaDepths {
    /// Depths of a drop of this volume, in m³, and area, in m².
    pub fn new(volume: f64, area: f64) -> Self {
        let h = volume / area;
        let sphericity = math::cbrt(36.0 * std::f64::consts::PI * volume * volume) / area;
        // Below one half for a long cylinder.
        let roundness = (2.0 * sphericity - 1.0).clamp(0.0, 1.0);
        let g = 1.0 + 2.0 / 3.0 * BETA * roundness;
        Self { shell: BETA * h / g, flow: g * h }
    }
}

typed_index! {
    /// A row of the Poisson problem.
    struct RowIndex;
}

/// The factored Poisson problem of the flow along a surface.
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// ρ/(g h), in kg/m⁴; 0 where the flow is not carried.
    scale: f64,
    /// Vertices in the order of the rows, the row of each vertex, and whether it has one.
    order: Vec<VertexIndex>,
    rows: Vec<RowIndex>,
    numbered: Vec<bool>,
    /// First column of each row, and where the row begins in `values`; it ends with the diagonal.
    first: Vec<RowIndex>,
    starts: Vec<usize>,
    values: Vec<f64>,
    /// Share of each vertex in the area, by which changes of the volume are removed.
    shares: Vec<f64>,
    potential: Vec<f64>,
}

impl Inertia {
    /// Disables the flow.
    pub fn clear(&mut self) {
        self.scale = 0.0;
    }

    /// Whether the flow is carried.
    pub fn is_active(&self) -> bool {
        self.scale != 0.0
    }

    /// Factors the Poisson problem on a compact mesh; `scale` is ρ/(g h), in kg/m⁴.
    ///
    /// Returns false, and disables the flow, where that takes more than `max_work` multiplications.
    pub fn build(&mut self, mesh: &Mesh, geometry: &DropGeometry, scale: f64, max_work: usize) -> bool {
        self.scale = 0.0;
        self.number_vertices(mesh);
        let n = mesh.positions.len();
        let weight = |h: HalfEdgeIndex| {
            let pair = geometry.cotangents[h] + geometry.cotangents[mesh.twin(h)];
            (0.5 * pair).max(MIN_WEIGHT)
        };
        self.first.clear();
        self.starts.clear();
        let (mut size, mut work) = (0, 0);
        for (row, &v) in RowIndex::first(n).zip(&self.order) {
            let first = mesh.fan(v).map(|h| self.rows[mesh.to(h)]).fold(row, RowIndex::min);
            self.first.push(first);
            self.starts.push(size);
            let width = row.to_usize() - first.to_usize() + 1;
            size += width;
            work += width * width;
        }
        if work > max_work {
            return false;
        }
        self.scale = scale;
        self.starts.push(size);
        self.values.clear();
        self.values.resize(size, 0.0);
        for row in 0..n {
            let (start, end) = (self.starts[row], self.starts[row + 1]);
            let first = self.first[row].to_usize();
            let mut sum = 0.0;
            for h in mesh.fan(self.order[row]) {
                let w = weight(h);
                sum += w;
                let column = self.rows[mesh.to(h)].to_usize();
                if column < row {
                    self.values[start + column - first] -= w;
                }
            }
            self.values[end - 1] = sum * (1.0 + REGULARIZATION);
        }
        self.factor();
        self.shares.clear();
        let total: f64 = geometry.areas.iter().sum();
        self.shares.extend(geometry.areas.iter().map(|area| area / total));
        self.potential.clear();
        self.potential.resize(n, 0.0);
        true
    }

    /// Numbers the vertices in breadth-first order, started from the end of a first traversal.
    fn number_vertices(&mut self, mesh: &Mesh) {
        let n = mesh.positions.len();
        let mut first = VertexIndex::new(0);
        for _ in 0..2 {
            self.order.clear();
            self.rows.clear();
            self.rows.resize(n, RowIndex::new(0));
            self.numbered.clear();
            self.numbered.resize(n, false);
            let mut at = 0;
            // A drop is one component; further ones would follow.
            for start in std::iter::once(first).chain(mesh.vertex_indices()) {
                self.number(start);
                while at < self.order.len() {
                    for h in mesh.fan(self.order[at]) {
                        self.number(mesh.to(h));
                    }
                    at += 1;
                }
                if self.order.len() == n {
                    break;
                }
            }
            first = self.order.last().copied().unwrap_or(first);
        }
    }

    /// Appends a vertex to the order unless it is in it.
    fn number(&mut self, v: VertexIndex) {
        if !std::mem::replace(&mut self.numbered[v], true) {
            self.rows[v] = RowIndex::new(self.order.len());
            self.order.push(v);
        }
    }

    /// Replaces the matrix by its Cholesky factor, row by row.
    fn factor(&mut self) {
        for row in 0..self.first.len() {
            let (start, first) = (self.starts[row], self.first[row].to_usize());
            let (before, rest) = self.values.split_at_mut(start);
            let this = &mut rest[..row - first + 1];
            for column in first..row {
                let (other, begin) = (self.starts[column], self.first[column].to_usize());
                let overlap = begin.max(first);
                let sum = dot(
                    &this[overlap - first..column - first],
                    &before[other + overlap - begin..other + column - begin],
                );
                this[column - first] = (this[column - first] - sum) / before[other + column - begin];
            }
            let (left, diagonal) = this.split_at_mut(row - first);
            let whole = diagonal[0];
            // The last pivot vanishes up to rounding errors.
            diagonal[0] = (whole - dot(left, left)).max(REGULARIZATION * whole).sqrt();
        }
    }

    /// Writes the momentum of the flow to `out`, in kg m/s, where vertices move at `v` and the drop
    /// at `u`; returns its sum.
    pub fn apply(&mut self, geometry: &DropGeometry, v: &[DVec3], u: DVec3, out: &mut [DVec3]) -> DVec3 {
        let c = &geometry.volume_gradient;
        let mut surplus = 0.0;
        for (row, &i) in self.order.iter().enumerate() {
            let q = c[i].dot(v[i] - u);
            surplus += q;
            self.potential[row] = q;
        }
        let x = &mut self.potential;
        for (row, &vertex) in self.order.iter().enumerate() {
            x[row] -= surplus * self.shares[vertex];
        }
        for row in 0..x.len() {
            let (start, end, first) = (self.starts[row], self.starts[row + 1] - 1, self.first[row].to_usize());
            x[row] = (x[row] - dot(&self.values[start..end], &x[first..row])) / self.values[end];
        }
        for row in (0..x.len()).rev() {
            let (start, end, first) = (self.starts[row], self.starts[row + 1] - 1, self.first[row].to_usize());
            let (before, rest) = x.split_at_mut(row);
            rest[0] /= self.values[end];
            let value = rest[0];
            for (x, l) in before[first..].iter_mut().zip(&self.values[start..end]) {
                *x -= l * value;
            }
        }
        let mean: f64 = self.order.iter().zip(x.iter()).map(|(&v, x)| self.shares[v] * x).sum();
        let mut sum = DVec3::ZERO;
        for (&i, x) in self.order.iter().zip(x.iter()) {
            let push = c[i] * (self.scale * (x - mean));
            out[i] = push;
            sum += push;
        }
        sum
    }
}

/// Dot product in four partial sums, which the processor can interleave.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (quads, others) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = quads.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in quads.zip(others) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives::sphere;
    use crate::substrate::Substrate;
    use sessile_world::World;

    /// Kinetic energy of a normal velocity relative to that of a shell of thickness `depth`.
    fn inertia_over_shell(mesh: &Mesh, depth: f64, w: impl Fn(DVec3) -> f64) -> f64 {
        let substrate = Substrate::new(World::build(&crate::test_support::scene("")).unwrap());
        let mut geometry = DropGeometry::default();
        geometry.read(mesh, &substrate);
        let depths = InertiaDepths::new(geometry.volume, geometry.air_area);
        let mut inertia = Inertia::default();
        assert!(inertia.build(mesh, &geometry, 1.0 / depths.flow, usize::MAX));
        let v: Vec<DVec3> = mesh.positions.iter().zip(&geometry.normals).map(|(&p, &n)| n * w(p)).collect();
        let mut flow = vec![DVec3::ZERO; v.len()];
        inertia.apply(&geometry, &v, DVec3::ZERO, &mut flow);
        let (mut energy, mut shell) = (0.0, 0.0);
        for i in VertexIndex::first(v.len()) {
            let own = geometry.areas[i] * v[i].length_squared();
            energy += own * depths.shell + v[i].dot(flow[i]);
            shell += own * depth;
        }
        energy / shell
    }

    #[test]
    fn modes_two_to_four_of_a_sphere_have_lambs_inertia() {
        let radius = 1e-3;
        let mesh = sphere(DVec3::ZERO, radius, 0.1e-3, |_| radius).unwrap();
        for (l, within) in [(2, 0.02), (3, 0.1), (4, 0.1)] {
            let legendre = |p: DVec3| {
                let x = p.y / p.length();
                match l {
                    2 => 1.5 * x * x - 0.5,
                    3 => (2.5 * x * x - 1.5) * x,
                    _ => (4.375 * x * x - 3.75) * x * x + 0.375,
                }
            };
            let got = inertia_over_shell(&mesh, radius / f64::from(l), legendre);
            assert!((got - 1.0).abs() < within, "mode {l}: {got} of ρR/l");
        }
    }
}
