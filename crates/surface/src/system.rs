//! The linear system of one step and its solution: conjugate gradients with the volume held inside.
//!
//! ```text
//! [M + κ K + τ drag] v = b        with  c · v = rate,     v = given + P y
//! M v  = m (v − U) + Wᵀ (ρV U − Σ m (v − U))              m_i = ρ A_i ℓ,  U = W v
//! K v  = σ Σ_j w_ij (v_i − v_j) − p Σ_j v_j × (x_k − x_l)/6
//! ```
//!
//! w are cotangent weights of the triangles against air (pinkall1993), k and l the corners across the edge ij; the second term of K is the Hessian of the
//! volume times the mean pressure. P leaves free vertices all their directions, a line vertex that moves the one across the
//! line, all others none. K can be indefinite (a thread that wants to break); where the iteration meets that, it starts again without the pressure's part.

use glam::DVec3;

use crate::mesh::{AIR, Mesh};
use crate::shape::Shape;

/// What a vertex may do in a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// Move anywhere.
    All,
    /// Move along this direction.
    Along(DVec3),
    /// Move across this direction: along a solid.
    Across(DVec3),
    /// Nothing.
    Fixed,
}

impl Freedom {
    /// The part of a vector that it allows.
    #[inline]
    pub fn project(self, v: DVec3) -> DVec3 {
        match self {
            Self::All => v,
            Self::Along(d) => d * d.dot(v),
            Self::Across(d) => v - d * d.dot(v),
            Self::Fixed => DVec3::ZERO,
        }
    }
}

/// Numbers of one step that every vertex shares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coefficients {
    /// κ of the stiffness, in s².
    pub stiffness: f64,
    /// σ, in N/m.
    pub tension: f64,
    /// Mean pressure p, in Pa.
    pub pressure: f64,
    /// ρV (times what a drag on everything adds), in kg.
    pub rigid_mass: f64,
    /// τ times the friction of the footprint's boundary layer, in kg, and the normal across which it does not act.
    pub base_drag: f64,
    /// The normal of the footprint.
    pub base_normal: DVec3,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solved {
    /// Iterations.
    pub iterations: usize,
    /// Multiplier of the volume, in kg/(m s) times τ: a pressure times τ.
    pub multiplier: f64,
    /// Whether the pressure's part of the stiffness had to be left out.
    pub without_pressure: bool,
}

/// What one vertex's edge to another contributes.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// A sixth of the way between the corners across from it, in m.
    across: DVec3,
    /// Its cotangent weight.
    weight: f64,
    /// The other vertex.
    column: u32,
}

/// Matrix and vectors, kept between calls for their memory.
#[derive(Clone, Debug, Default)]
pub struct System {
    rows: Vec<u32>,
    edges: Vec<Edge>,
    weight_sums: Vec<f64>,
    /// m_i, in kg.
    pub masses: Vec<f64>,
    /// What each vertex may do.
    pub freedoms: Vec<Freedom>,
    /// τ times the friction of a line vertex along its direction, in kg.
    pub line_drag: Vec<f64>,
    /// b, in kg m/s.
    pub right: Vec<DVec3>,
    /// Velocities: on entry a guess with the given parts, on return the solution.
    pub velocities: Vec<DVec3>,
    /// A v − b − multiplier c after a solve: what holds the vertices that are not free.
    pub reactions: Vec<DVec3>,
    inverse: Vec<f64>,
    residual: Vec<DVec3>,
    search: Vec<DVec3>,
    image: Vec<DVec3>,
    gradient: Vec<DVec3>,
}

/// Relative residual at which a solve ends: looser ones act as a drag.
const TOLERANCE: f64 = 1e-5;
/// Most iterations of a solve.
const MOST_ITERATIONS: usize = 400;

impl System {
    /// Builds the rows of the stiffness for a compact mesh and its shape; `whole` takes the triangles on solids in, too.
    pub fn assemble(&mut self, mesh: &Mesh, shape: &Shape, whole: bool) {
        let n = mesh.positions.len();
        self.rows.clear();
        self.edges.clear();
        self.weight_sums.clear();
        let counts = |h: u32| whole || mesh.solid_of(h) == AIR;
        for v in 0..n {
            let first = self.edges.len();
            self.rows.push(first as u32);
            let mut sum = 0.0;
            for h in mesh.fan(v as u32) {
                let twin = mesh.twin(h);
                let mut weight = 0.0;
                if counts(h) {
                    weight += 0.5 * shape.cotangents[h as usize];
                }
                if counts(twin) {
                    weight += 0.5 * shape.cotangents[twin as usize];
                }
                let column = mesh.to(h);
                self.edges.push(Edge { across: DVec3::ZERO, weight, column });
                sum += weight;
            }
            self.weight_sums.push(sum);
            // The corners across from an edge are the neighbours before and after it in the fan.
            if !whole {
                let fan = &mut self.edges[first..];
                let places = |e: &Edge| mesh.positions[e.column as usize];
                let mut before = fan.last().map(places).unwrap_or_default();
                let start = fan.first().map(places).unwrap_or_default();
                let mut here = start;
                for k in 0..fan.len() {
                    let after = if k + 1 < fan.len() { places(&fan[k + 1]) } else { start };
                    fan[k].across = (after - before) / 6.0;
                    (before, here) = (here, after);
                }
            }
        }
        self.rows.push(self.edges.len() as u32);
        self.freedoms.clear();
        self.freedoms.resize(n, Freedom::All);
        for values in [&mut self.masses, &mut self.line_drag, &mut self.inverse] {
            values.clear();
            values.resize(n, 0.0);
        }
        for values in [
            &mut self.right,
            &mut self.velocities,
            &mut self.reactions,
            &mut self.residual,
            &mut self.search,
            &mut self.image,
            &mut self.gradient,
        ] {
            values.clear();
            values.resize(n, DVec3::ZERO);
        }
    }

    /// The edges that leave a vertex.
    #[inline]
    fn row(&self, v: usize) -> &[Edge] {
        &self.edges[self.rows[v] as usize..self.rows[v + 1] as usize]
    }

    /// Σ_j w_ij (x_i − x_j): the gradient of the area against air when `x` are the positions, in m.
    pub fn laplacian(&self, v: usize, x: &[DVec3]) -> DVec3 {
        self.row(v).iter().map(|e| (x[v] - x[e.column as usize]) * e.weight).sum()
    }

    /// Σ_j w_ij.
    pub fn weight_sum(&self, v: usize) -> f64 {
        self.weight_sums[v]
    }

    /// M v without the stiffness: what momentum the velocities carry at each vertex, in kg m/s.
    pub fn momentum(&self, shape: &Shape, rigid_mass: f64, v: &[DVec3], out: &mut Vec<DVec3>) {
        let u = shape.rigid_velocity(v);
        let loose: DVec3 = self.masses.iter().zip(v).map(|(&m, &v)| (v - u) * m).sum();
        let push = u * rigid_mass - loose;
        out.clear();
        out.extend((0..v.len()).map(|i| (v[i] - u) * self.masses[i] + shape.rigid[i].transpose() * push));
    }

    fn apply(&self, shape: &Shape, k: &Coefficients, v: &[DVec3], out: &mut [DVec3]) {
        let (mut u, mut carried, mut mass) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for i in 0..v.len() {
            u += shape.rigid[i] * v[i];
            carried += v[i] * self.masses[i];
            mass += self.masses[i];
        }
        let along = u - k.base_normal * k.base_normal.dot(u);
        let push = u * (k.rigid_mass + mass) - carried + along * k.base_drag;
        let (tension, pressure) = (k.stiffness * k.tension, k.stiffness * k.pressure);
        for i in 0..v.len() {
            let (mut pull, mut turn) = (v[i] * self.weight_sums[i], DVec3::ZERO);
            for e in self.row(i) {
                let other = v[e.column as usize];
                pull -= other * e.weight;
                turn += other.cross(e.across);
            }
            let mut sum =
                (v[i] - u) * self.masses[i] + shape.rigid[i].transpose() * push + pull * tension - turn * pressure;
            if self.line_drag[i] != 0.0 {
                sum += v[i] * self.line_drag[i];
            }
            out[i] = sum;
        }
    }

    /// Solves for `velocities`. `rate` is the wanted growth of the volume, in m³/s.
    pub fn solve(&mut self, shape: &Shape, k: &Coefficients, rate: f64) -> Solved {
        let mut start = std::mem::take(&mut self.reactions);
        start.copy_from_slice(&self.velocities);
        let solved = match self.iterate(shape, k, rate) {
            Some(solved) => solved,
            None => {
                self.velocities.copy_from_slice(&start);
                let k = Coefficients { pressure: 0.0, ..*k };
                let solved = self.iterate(shape, &k, rate).unwrap_or_default();
                Solved { without_pressure: true, ..solved }
            }
        };
        self.reactions = start;
        let mut image = std::mem::take(&mut self.image);
        let k = Coefficients { pressure: if solved.without_pressure { 0.0 } else { k.pressure }, ..*k };
        self.apply(shape, &k, &self.velocities, &mut image);
        // The multiplier that leaves free vertices without reaction, in the mean.
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..image.len() {
            let c = self.freedoms[i].project(shape.volume_gradient[i]);
            above += c.dot(image[i] - self.right[i]) * self.inverse[i];
            below += c.length_squared() * self.inverse[i];
        }
        let multiplier = if below > 0.0 { above / below } else { 0.0 };
        for i in 0..image.len() {
            self.reactions[i] = image[i] - self.right[i] - shape.volume_gradient[i] * multiplier;
        }
        self.image = image;
        Solved { multiplier, ..solved }
    }

    /// Conjugate gradients on what is free; `None` where the matrix shows itself not to be positive.
    fn iterate(&mut self, shape: &Shape, k: &Coefficients, rate: f64) -> Option<Solved> {
        let n = self.velocities.len();
        let mut given = 0.0;
        let mut weight = 0.0;
        for i in 0..n {
            let stiff = k.stiffness * k.tension * self.weight_sums[i].max(0.0);
            self.inverse[i] = 1.0 / (self.masses[i] + stiff + self.line_drag[i]).max(1e-300);
            let c = self.freedoms[i].project(shape.volume_gradient[i]);
            self.gradient[i] = c;
            weight += c.length_squared() * self.inverse[i];
            given += shape.volume_gradient[i].dot(self.velocities[i]);
        }
        let constrained = weight > 0.0;
        if constrained {
            let shift = (rate - given) / weight;
            for i in 0..n {
                self.velocities[i] += self.gradient[i] * (self.inverse[i] * shift);
            }
        }
        let mut image = std::mem::take(&mut self.image);
        self.apply(shape, k, &self.velocities, &mut image);
        for i in 0..n {
            self.residual[i] = self.freedoms[i].project(self.right[i] - image[i]);
        }
        let scale: f64 =
            (0..n).map(|i| self.freedoms[i].project(self.right[i]).length_squared() * self.inverse[i]).sum();
        let mut rho = self.precondition(weight);
        for i in 0..n {
            self.search[i] = self.residual[i] * self.inverse[i];
        }
        let enough = TOLERANCE * TOLERANCE * scale.max(1e-300);
        let mut iterations = 0;
        let mut positive = true;
        while rho > enough && iterations < MOST_ITERATIONS {
            iterations += 1;
            self.apply(shape, k, &self.search, &mut image);
            let curvature: f64 = self.search.iter().zip(&image).map(|(p, q)| p.dot(*q)).sum();
            if curvature <= 0.0 {
                positive = curvature == 0.0;
                break;
            }
            let alpha = rho / curvature;
            for i in 0..n {
                self.velocities[i] += self.search[i] * alpha;
                self.residual[i] -= self.freedoms[i].project(image[i]) * alpha;
            }
            let old = rho;
            rho = self.precondition(weight);
            let beta = rho / old;
            for i in 0..n {
                self.search[i] = self.residual[i] * self.inverse[i] + self.search[i] * beta;
            }
        }
        self.image = image;
        positive.then_some(Solved { iterations, ..Solved::default() })
    }

    /// Solves (M + s L) x = M x₀ for places, three right sides at once, with each vertex moving as its freedom allows; returns iterations.
    ///
    /// On entry `velocities` holds x₀, on return x; `masses` are those of M. This is one step of mean curvature flow (desbrun1999).
    pub fn smooth(&mut self, s: f64) -> usize {
        let n = self.velocities.len();
        let matrix = |this: &Self, x: &[DVec3], out: &mut [DVec3]| {
            for i in 0..n {
                let mut pull = x[i] * this.weight_sums[i];
                for e in this.row(i) {
                    pull -= x[e.column as usize] * e.weight;
                }
                out[i] = x[i] * this.masses[i] + pull * s;
            }
        };
        let mut image = std::mem::take(&mut self.image);
        for i in 0..n {
            self.right[i] = self.velocities[i] * self.masses[i];
            self.inverse[i] = 1.0 / (self.masses[i] + s * self.weight_sums[i].max(0.0)).max(1e-300);
        }
        matrix(self, &self.velocities, &mut image);
        for i in 0..n {
            self.residual[i] = self.freedoms[i].project(self.right[i] - image[i]);
            self.search[i] = self.residual[i] * self.inverse[i];
        }
        let mut rho: f64 = (0..n).map(|i| self.residual[i].length_squared() * self.inverse[i]).sum();
        let enough = 1e-8 * rho;
        let mut iterations = 0;
        while rho > enough && iterations < MOST_ITERATIONS {
            iterations += 1;
            matrix(self, &self.search, &mut image);
            let curvature: f64 = (0..n).map(|i| self.search[i].dot(image[i])).sum();
            if curvature <= 0.0 {
                break;
            }
            let alpha = rho / curvature;
            for i in 0..n {
                self.velocities[i] += self.search[i] * alpha;
                self.residual[i] -= self.freedoms[i].project(image[i]) * alpha;
            }
            let old = rho;
            rho = (0..n).map(|i| self.residual[i].length_squared() * self.inverse[i]).sum();
            for i in 0..n {
                self.search[i] = self.residual[i] * self.inverse[i] + self.search[i] * (rho / old);
            }
        }
        self.image = image;
        iterations
    }

    /// Takes out of the residual what would change the volume; returns residual · D⁻¹ residual.
    fn precondition(&mut self, weight: f64) -> f64 {
        let n = self.residual.len();
        if weight > 0.0 {
            let along: f64 = (0..n).map(|i| self.gradient[i].dot(self.residual[i]) * self.inverse[i]).sum();
            let lambda = along / weight;
            for i in 0..n {
                self.residual[i] -= self.gradient[i] * lambda;
            }
        }
        (0..n).map(|i| self.residual[i].length_squared() * self.inverse[i]).sum()
    }
}
