//! What moves with the surface: the inertia of the liquid inside, as the motion of the surface sees it.
//!
//! Potential flow inside a drop whose surface moves at w along its normal has the kinetic energy ½ ∫ w μ w dA, where μ = ρ/N and N takes a potential
//! on the surface to its slope across it. N is not local: it is l/R on mode l of a ball (lamb1932, art. 275), k I₁(ka)/I₀(ka) on a ripple of a thread
//! (rayleigh1878). Both are close to one function of the surface's own Laplacian L, whose eigenvalue is s, and of h = V/A, volume over area:
//!
//! ```text
//! N ≈ g h s/(1 + β h² s)            μ = ρ β h/g  +  ρ/(g h) · 1/s
//! ```
//!
//! The second form is what is used: a shell of the thickness βh/g, and the flow along the surface, as in shallow water, that brings the liquid which the surface
//! takes. g is 1 on a thread, where that flow is all there is when waves are long, and 1 + ⅔β on a ball, so that mode 2 rings at Lamb's
//! frequency; in between it goes with the sphericity, the area of the ball of the same volume over A. With β = ½:
//!
//! | | ball, l = 2 | 3 | 4 | 5 | 6 | thread, ka = 0.3 | 0.7 | 1 | 2 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | √N over the true one | 1.00 | 1.03 | 1.03 | 1.00 | 0.97 | 1.00 | 1.00 | 1.00 | 0.98 |
//!
//! 1/s is a Poisson problem on the surface: φ = L⁻¹ q with q_i = c_i · (v_i − U), c_i the gradient of the volume. Its matrix is the same during all
//! iterations of a step, so it is factored once, by rows within its envelope, vertices in the order of a walk over the mesh (cuthill1969). On a mesh of n vertices
//! the envelope holds about 1.5 n^1.5 numbers, fewer on threads.

use glam::DVec3;

use crate::mesh::{Mesh, NONE};
use crate::shape::Shape;

/// β: how soon the flow inside stops reaching through to the other side.
const BEND: f64 = 0.5;
/// Weight of an edge at least, so that the matrix stays positive on ugly meshes: a twelfth of that of an even mesh.
const LEAST_WEIGHT: f64 = 0.05;
/// Part of the diagonal that is added to it: constants must not make it singular.
const GROUNDING: f64 = 1e-9;
/// Most multiplications that factoring may take: round drops of some 4000 triangles, longer threads.
const MOST_WORK: usize = 10_000_000;

/// The shell's thickness and g h, both in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depths {
    /// βh/g.
    pub shell: f64,
    /// g h.
    pub flow: f64,
}

impl Depths {
    /// Of a drop of this volume, in m³, and area, in m².
    pub fn of(volume: f64, area: f64) -> Self {
        let h = volume / area;
        let sphericity = (36.0 * std::f64::consts::PI * volume * volume).cbrt() / area;
        // A long thread's is below one half.
        let roundness = (2.0 * sphericity - 1.0).clamp(0.0, 1.0);
        let g = 1.0 + 2.0 / 3.0 * BEND * roundness;
        Self { shell: BEND * h / g, flow: g * h }
    }
}

/// The flow along a surface, factored.
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// ρ/(g h), in kg/m⁴; 0 where there is none.
    scale: f64,
    /// Vertices in the order of the rows, and the row of each.
    order: Vec<u32>,
    rows: Vec<u32>,
    /// First column of each row, and where the row begins in `values`; its last is the diagonal.
    first: Vec<u32>,
    starts: Vec<usize>,
    values: Vec<f64>,
    /// Area at each vertex over all, by which what would change the volume is taken out.
    shares: Vec<f64>,
    potential: Vec<f64>,
}

impl Inertia {
    /// None of it.
    pub fn clear(&mut self) {
        self.scale = 0.0;
    }

    /// Whether there is any.
    pub fn is_there(&self) -> bool {
        self.scale != 0.0
    }

    /// Factors the flow along a compact mesh; `scale` is ρ/(g h), in kg/m⁴. False, and nothing is done, where that would take too long.
    pub fn build(&mut self, mesh: &Mesh, shape: &Shape, scale: f64) -> bool {
        self.scale = 0.0;
        self.walk(mesh);
        let n = mesh.positions.len();
        let weight = |h: u32| {
            let pair = shape.cotangents[h as usize] + shape.cotangents[mesh.twin(h) as usize];
            (0.5 * pair).max(LEAST_WEIGHT)
        };
        self.first.clear();
        self.starts.clear();
        let (mut size, mut work) = (0, 0);
        for (row, &v) in self.order.iter().enumerate() {
            let first = mesh.fan(v).map(|h| self.rows[mesh.to(h) as usize]).fold(row as u32, u32::min);
            self.first.push(first);
            self.starts.push(size);
            let width = row - first as usize + 1;
            size += width;
            work += width * width;
        }
        if work > MOST_WORK {
            return false;
        }
        self.scale = scale;
        self.starts.push(size);
        self.values.clear();
        self.values.resize(size, 0.0);
        for row in 0..n {
            let (start, end) = (self.starts[row], self.starts[row + 1]);
            let first = self.first[row] as usize;
            let mut sum = 0.0;
            for h in mesh.fan(self.order[row]) {
                let w = weight(h);
                sum += w;
                let column = self.rows[mesh.to(h) as usize] as usize;
                if column < row {
                    self.values[start + column - first] -= w;
                }
            }
            self.values[end - 1] = sum * (1.0 + GROUNDING);
        }
        self.factor();
        self.shares.clear();
        let total: f64 = shape.areas.iter().sum();
        self.shares.extend(shape.areas.iter().map(|area| area / total));
        self.potential.clear();
        self.potential.resize(n, 0.0);
        true
    }

    /// Numbers the vertices as two walks over the mesh meet them, the second from where the first ended.
    fn walk(&mut self, mesh: &Mesh) {
        let n = mesh.positions.len();
        let mut from = 0;
        for _ in 0..2 {
            self.order.clear();
            self.rows.clear();
            self.rows.resize(n, NONE);
            let mut at = 0;
            for start in std::iter::once(from).chain(0..n as u32) {
                if self.rows[start as usize] != NONE {
                    continue;
                }
                self.rows[start as usize] = self.order.len() as u32;
                self.order.push(start);
                while at < self.order.len() {
                    for h in mesh.fan(self.order[at]) {
                        let to = mesh.to(h);
                        if self.rows[to as usize] == NONE {
                            self.rows[to as usize] = self.order.len() as u32;
                            self.order.push(to);
                        }
                    }
                    at += 1;
                }
                // A drop is one surface; should it be several, the others follow.
                if self.order.len() == n {
                    break;
                }
            }
            from = self.order.last().copied().unwrap_or(0);
        }
    }

    /// Cholesky's factor in place of the matrix, row by row.
    fn factor(&mut self) {
        for row in 0..self.first.len() {
            let (start, first) = (self.starts[row], self.first[row] as usize);
            let (before, rest) = self.values.split_at_mut(start);
            let this = &mut rest[..row - first + 1];
            for column in first..row {
                let (other, begin) = (self.starts[column], self.first[column] as usize);
                let common = begin.max(first);
                let sum =
                    dot(&this[common - first..column - first], &before[other + common - begin..other + column - begin]);
                this[column - first] = (this[column - first] - sum) / before[other + column - begin];
            }
            let (left, diagonal) = this.split_at_mut(row - first);
            let whole = diagonal[0];
            // What rounding leaves of a pivot that constants make vanish is not to be relied on.
            diagonal[0] = (whole - dot(left, left)).max(GROUNDING * whole).sqrt();
        }
    }

    /// What the flow adds to the momentum at each vertex when vertices move at `v` and the drop at `u`, in kg m/s, and its sum.
    pub fn carry(&mut self, shape: &Shape, v: &[DVec3], u: DVec3, out: &mut [DVec3]) -> DVec3 {
        let c = &shape.volume_gradient;
        let mut surplus = 0.0;
        for (row, &vertex) in self.order.iter().enumerate() {
            let i = vertex as usize;
            let q = c[i].dot(v[i] - u);
            surplus += q;
            self.potential[row] = q;
        }
        let x = &mut self.potential;
        for (row, &vertex) in self.order.iter().enumerate() {
            x[row] -= surplus * self.shares[vertex as usize];
        }
        for row in 0..x.len() {
            let (start, end, first) = (self.starts[row], self.starts[row + 1] - 1, self.first[row] as usize);
            x[row] = (x[row] - dot(&self.values[start..end], &x[first..row])) / self.values[end];
        }
        for row in (0..x.len()).rev() {
            let (start, end, first) = (self.starts[row], self.starts[row + 1] - 1, self.first[row] as usize);
            let (before, rest) = x.split_at_mut(row);
            rest[0] /= self.values[end];
            let value = rest[0];
            for (x, l) in before[first..].iter_mut().zip(&self.values[start..end]) {
                *x -= l * value;
            }
        }
        let mean: f64 = self.order.iter().zip(x.iter()).map(|(&v, x)| self.shares[v as usize] * x).sum();
        let mut sum = DVec3::ZERO;
        for (&vertex, x) in self.order.iter().zip(x.iter()) {
            let i = vertex as usize;
            let push = c[i] * (self.scale * (x - mean));
            out[i] = push;
            sum += push;
        }
        sum
    }
}

/// A dot product in four sums, so that it need not wait for one.
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
    use crate::ground::Ground;
    use crate::shapes::ball;
    use sessile_world::World;

    /// Kinetic energy of a normal velocity over that of a shell of the thickness `depth`, both with density 1.
    fn inertia_over_shell(mesh: &Mesh, depth: f64, w: impl Fn(DVec3) -> f64) -> f64 {
        let world = Ground::new(World::build(&crate::testing::scene("")).unwrap());
        let mut shape = Shape::default();
        shape.read(mesh, &world);
        let depths = Depths::of(shape.volume, shape.air_area);
        let mut inertia = Inertia::default();
        assert!(inertia.build(mesh, &shape, 1.0 / depths.flow));
        let v: Vec<DVec3> = mesh.positions.iter().zip(&shape.normals).map(|(&p, &n)| n * w(p)).collect();
        let mut flow = vec![DVec3::ZERO; v.len()];
        inertia.carry(&shape, &v, DVec3::ZERO, &mut flow);
        let (mut energy, mut shell) = (0.0, 0.0);
        for i in 0..v.len() {
            let own = shape.areas[i] * v[i].length_squared();
            energy += own * depths.shell + v[i].dot(flow[i]);
            shell += own * depth;
        }
        energy / shell
    }

    #[test]
    fn on_a_ball_modes_two_to_four_carry_what_lamb_says() {
        let radius = 1e-3;
        let mesh = ball(DVec3::ZERO, radius, 0.1e-3, |_| radius).unwrap();
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
