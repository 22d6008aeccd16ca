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
//!
//! Where stiffness outweighs masses, an incomplete factor of what acts on x, y and z alike takes the place of the inverse diagonal (`precondition.rs`).
//!
//! In flight the liquid inside is carried by more than a shell: [`Inertia`] adds its part to m (v − U), and takes the sum of it from what moves the whole.
//!
//! The paper's mean curvature flow is the same system with m = A, σ = γ, without pressure and with masses that know of no rigid motion (`rigid_mass` 0).

use std::ops::AddAssign;

use glam::{DMat3, DVec3};

use crate::chunks;
use crate::inertia::Inertia;
use crate::mesh::{AIR, Mesh};
use crate::precondition::Incomplete;
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
    /// ρV (times what a drag on everything adds), in kg; 0 where M is just m.
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
    /// What is carried by flow along the surface; cleared by assembling.
    pub inertia: Inertia,
    /// What it adds at each vertex, in kg m/s.
    flow: Vec<DVec3>,
    /// m_i, in kg.
    pub masses: Vec<f64>,
    /// What each vertex may do.
    pub freedoms: Vec<Freedom>,
    /// Vertices that may not move anywhere, by rising index; gathered by a solve.
    bound: Vec<u32>,
    /// τ times the friction of a line vertex along its direction, in kg.
    pub line_drag: Vec<f64>,
    /// b, in kg m/s.
    pub right: Vec<DVec3>,
    /// Velocities: on entry a guess with the given parts, on return the solution.
    pub velocities: Vec<DVec3>,
    /// A v − b − multiplier c after a solve: what holds the vertices that are not free.
    pub reactions: Vec<DVec3>,
    inverse: Vec<f64>,
    /// What stands for the inverse of the matrix where stiffness outweighs masses; elsewhere `inverse` does.
    factor: Incomplete,
    factored: bool,
    /// The approximate inverse of the residual, and of the volume's gradient.
    shift: Vec<DVec3>,
    push: Vec<DVec3>,
    residual: Vec<DVec3>,
    search: Vec<DVec3>,
    image: Vec<DVec3>,
    gradient: Vec<DVec3>,
}

/// Residual at which a solve ends, over what moves the drop: looser ones act as a drag. Measured against all forces, those included that the pressure balances, velocities below some thousandths of the
/// capillary speed were not resolved: the midpoint rule turned them over at every step, and drops did not come to rest.
const TOLERANCE: f64 = 1e-5;
/// The same where the matrix is factored, which measures the residual by what it still does to velocities: speeds of sliding drops are as far from those of exact solves, 1e-6 of them.
const FACTORED_TOLERANCE: f64 = 1e-4;
/// Part of all forces below which what is left of them beside the pressure's is not resolved as finely.
const STATIC: f64 = 1e-2;
/// Stiffness over masses from which the matrix is factored: below, its diagonal does as well and costs less.
const STIFF: f64 = 4.0;
/// Most iterations of a solve.
const MOST_ITERATIONS: usize = 400;

impl System {
    /// Builds the rows of the stiffness for a compact mesh and its shape; `whole` takes the triangles on solids in, too.
    pub fn assemble(&mut self, mesh: &Mesh, shape: &Shape, whole: bool) {
        let n = mesh.positions.len();
        self.rows.clear();
        self.edges.clear();
        self.weight_sums.clear();
        self.inertia.clear();
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
            // The corners across from an edge are the neighbors before and after it in the fan.
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
            &mut self.flow,
            &mut self.shift,
            &mut self.push,
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
    pub fn momentum(&mut self, shape: &Shape, rigid_mass: f64, v: &[DVec3], out: &mut Vec<DVec3>) {
        let u = shape.rigid_velocity(v);
        let loose: DVec3 = self.masses.iter().zip(v).map(|(&m, &v)| (v - u) * m).sum();
        let mut push = u * rigid_mass - loose;
        // The flow is nothing where there is no inertia but the shell's.
        if self.inertia.is_there() {
            push -= self.inertia.carry(shape, v, u, &mut self.flow);
        }
        out.clear();
        out.extend(
            (0..v.len()).map(|i| (v[i] - u) * self.masses[i] + self.flow[i] + shape.rigid[i].transpose() * push),
        );
    }

    /// Fills `flow` with what velocities carry along the surface, and leaves its sum in `whole`.
    fn carry(&mut self, shape: &Shape, which: Which, whole: &mut Whole) {
        if self.inertia.is_there() {
            let v = match which {
                Which::Velocities => &self.velocities,
                Which::Search => &self.search,
            };
            whole.flow = self.inertia.carry(shape, v, whole.u, &mut self.flow);
        }
    }

    /// What of some velocities moves the drop as a whole.
    fn whole_of(&self, shape: &Shape, k: &Coefficients, v: &[DVec3]) -> Whole {
        if k.rigid_mass == 0.0 {
            return Whole::default();
        }
        chunks::sum(v.len(), |piece| {
            let mut whole = Whole::default();
            for i in piece {
                whole.add(shape.rigid[i], self.masses[i], v[i]);
            }
            whole
        })
    }

    /// A v at each vertex, without the friction of lines; v · A v.
    fn apply(&self, shape: &Shape, k: &Coefficients, v: &[DVec3], whole: &Whole, out: &mut [DVec3]) -> f64 {
        let terms = Terms::new(k, whole);
        let (tension, pressure) = (k.stiffness * k.tension, k.stiffness * k.pressure);
        let row = |i: usize| {
            let (mut pull, mut turn) = (v[i] * self.weight_sums[i], DVec3::ZERO);
            for e in self.row(i) {
                let other = v[e.column as usize];
                pull -= other * e.weight;
                turn += other.cross(e.across);
            }
            pull * tension - turn * pressure
        };
        let flat = |i: usize| {
            let mut pull = v[i] * self.weight_sums[i];
            for e in self.row(i) {
                pull -= v[e.column as usize] * e.weight;
            }
            pull * tension + v[i] * self.masses[i]
        };
        let flow: &[DVec3] = if self.inertia.is_there() { &self.flow } else { &[] };
        // A slice of nothing costs nothing.
        let nothing: &mut [()] = &mut vec![(); out.len()];
        chunks::update(out, nothing, |first, out, _| {
            let mut dot = 0.0;
            for (offset, image) in out.iter_mut().enumerate() {
                let i = first + offset;
                *image = if k.rigid_mass == 0.0 {
                    flat(i)
                } else {
                    row(i) + (v[i] - terms.u) * self.masses[i] + shape.rigid[i].mul_transpose_vec3(terms.push)
                };
                if let Some(flow) = flow.get(i) {
                    *image += *flow;
                }
                dot += v[i].dot(*image);
            }
            dot
        })
    }

    /// Solves for `velocities`. `rate` is the wanted growth of the volume, in m³/s; `None` where it may be anything.
    pub fn solve(&mut self, shape: &Shape, k: &Coefficients, rate: Option<f64>) -> Solved {
        self.bound.clear();
        self.bound.extend((0..self.freedoms.len() as u32).filter(|&i| self.freedoms[i as usize] != Freedom::All));
        self.reactions.copy_from_slice(&self.velocities);
        let solved = match self.iterate(shape, k, rate) {
            Some(solved) => solved,
            None => {
                self.velocities.copy_from_slice(&self.reactions);
                let k = Coefficients { pressure: 0.0, ..*k };
                let solved = self.iterate(shape, &k, rate).unwrap_or_default();
                Solved { without_pressure: true, ..solved }
            }
        };
        let k = Coefficients { pressure: if solved.without_pressure { 0.0 } else { k.pressure }, ..*k };
        self.react(shape, &k, solved.multiplier);
        solved
    }

    /// What holds the vertices that are not free: A v − b − multiplier c there.
    fn react(&mut self, shape: &Shape, k: &Coefficients, multiplier: f64) {
        if self.bound.is_empty() || k.rigid_mass == 0.0 {
            return;
        }
        let mut whole = self.whole_of(shape, k, &self.velocities);
        self.carry(shape, Which::Velocities, &mut whole);
        let (v, terms) = (&self.velocities, Terms::new(k, &whole));
        let (tension, pressure) = (k.stiffness * k.tension, k.stiffness * k.pressure);
        for &i in &self.bound {
            let i = i as usize;
            let (mut pull, mut turn) = (v[i] * self.weight_sums[i], DVec3::ZERO);
            for e in self.row(i) {
                let other = v[e.column as usize];
                pull -= other * e.weight;
                turn += other.cross(e.across);
            }
            let image = pull * tension - turn * pressure
                + (v[i] - terms.u) * self.masses[i]
                + self.flow[i]
                + shape.rigid[i].mul_transpose_vec3(terms.push)
                + v[i] * self.line_drag[i];
            self.reactions[i] = image - self.right[i] - shape.volume_gradient[i] * multiplier;
        }
    }

    /// Conjugate gradients on what is free; `None` where the matrix shows itself not to be positive.
    fn iterate(&mut self, shape: &Shape, k: &Coefficients, rate: Option<f64>) -> Option<Solved> {
        let n = self.velocities.len();
        let (mut stiff, mut heavy) = (0.0, 0.0);
        for i in 0..n {
            let pull = k.stiffness * k.tension * self.weight_sums[i].max(0.0);
            self.inverse[i] = 1.0 / (self.masses[i] + pull + self.line_drag[i]).max(1e-300);
            (stiff, heavy) = (stiff + pull, heavy + self.masses[i]);
        }
        // A drop in flight is solved by its guess, all but its shape; the diagonal leaves its fall exact.
        self.factored = !self.bound.is_empty() && stiff > STIFF * heavy;
        if self.factored {
            self.factor(k.stiffness * k.tension);
        }
        let (mut given, mut weight) = (0.0, 0.0);
        if let Some(rate) = rate {
            for i in 0..n {
                self.gradient[i] = self.freedoms[i].project(shape.volume_gradient[i]);
                given += shape.volume_gradient[i].dot(self.velocities[i]);
            }
            self.residual.copy_from_slice(&self.gradient);
            weight = self.precondition().0;
            std::mem::swap(&mut self.push, &mut self.shift);
            if weight > 0.0 {
                let shift = (rate - given) / weight;
                for (v, push) in self.velocities.iter_mut().zip(&self.push) {
                    *v += *push * shift;
                }
            }
        }
        // r = P (b − A v), and what of it would change the volume taken out.
        let mut whole = self.whole_of(shape, k, &self.velocities);
        self.carry(shape, Which::Velocities, &mut whole);
        let mut image = std::mem::take(&mut self.image);
        self.apply(shape, k, &self.velocities, &whole, &mut image);
        for &i in &self.bound {
            let i = i as usize;
            image[i] += self.velocities[i] * self.line_drag[i];
        }
        for i in 0..n {
            self.residual[i] = self.freedoms[i].project(self.right[i]);
        }
        let share = |along: f64| if weight > 0.0 { along / weight } else { 0.0 };
        // Most of b is what the pressure holds; what moves a drop is the rest.
        let Pair(along, all) = self.precondition();
        let scale = (all - share(along) * along).max(STATIC * STATIC * all);
        for i in 0..n {
            self.residual[i] = self.freedoms[i].project(self.right[i] - image[i]);
        }
        let Pair(along, mut rho) = self.precondition();
        let mut lambda = share(along);
        rho -= lambda * along;
        let mut multiplier = -lambda;
        let mut whole = self.turn(shape, k, lambda, 0.0);
        let tolerance = if self.factored { FACTORED_TOLERANCE } else { TOLERANCE };
        let enough = tolerance * tolerance * scale.max(1e-300);
        let mut iterations = 0;
        let mut positive = true;
        while rho > enough && iterations < MOST_ITERATIONS {
            iterations += 1;
            self.carry(shape, Which::Search, &mut whole);
            let mut curvature = self.apply(shape, k, &self.search, &whole, &mut image);
            for &i in &self.bound {
                let i = i as usize;
                let p = self.search[i];
                curvature += p.length_squared() * self.line_drag[i];
                image[i] = self.freedoms[i].project(image[i] + p * self.line_drag[i]);
            }
            if curvature <= 0.0 {
                positive = curvature == 0.0;
                break;
            }
            let alpha = rho / curvature;
            let search = &self.search;
            chunks::update(&mut self.velocities, &mut self.residual, |first, velocities, residuals| {
                for (offset, (v, r)) in velocities.iter_mut().zip(residuals).enumerate() {
                    let i = first + offset;
                    *v += search[i] * alpha;
                    *r -= image[i] * alpha;
                }
                0.0
            });
            let Pair(along, left) = self.precondition();
            lambda = share(along);
            multiplier -= lambda;
            let old = rho;
            rho = left - lambda * along;
            whole = self.turn(shape, k, lambda, rho / old);
        }
        self.image = image;
        positive.then_some(Solved { iterations, multiplier, ..Solved::default() })
    }

    /// Factors the part of the matrix that acts on x, y and z alike, without the vertices that are held; `tension` is κσ.
    fn factor(&mut self, tension: f64) {
        let Self { factor, rows, edges, inverse, freedoms, .. } = self;
        let diagonal = |i: usize| (freedoms[i] != Freedom::Fixed).then(|| 1.0 / inverse[i]);
        let row =
            |i: usize| edges[rows[i] as usize..rows[i + 1] as usize].iter().map(|e| (e.column, -tension * e.weight));
        factor.factor(freedoms.len(), diagonal, row);
    }

    /// Fills `shift` with the approximate inverse of the residual; its products with the volume's gradient and with the residual.
    fn precondition(&mut self) -> Pair {
        let Self { factor, factored, inverse, gradient, freedoms, bound, shift, residual, .. } = self;
        chunks::update(shift, residual, |first, shifts, residuals| {
            if *factored {
                shifts.copy_from_slice(residuals);
                factor.solve(first, shifts);
                let place = |end: usize| bound.partition_point(|&i| (i as usize) < end);
                for &i in &bound[place(first)..place(first + shifts.len())] {
                    let z = &mut shifts[i as usize - first];
                    *z = freedoms[i as usize].project(*z);
                }
            } else {
                for (offset, (z, r)) in shifts.iter_mut().zip(residuals.iter()).enumerate() {
                    *z = *r * inverse[first + offset];
                }
            }
            let mut sums = Pair::default();
            for (offset, (z, r)) in shifts.iter().zip(residuals.iter()).enumerate() {
                sums += Pair(gradient[first + offset].dot(*z), r.dot(*z));
            }
            sums
        })
    }

    /// Takes λ c out of the residual and sets out in its direction: p = S⁻¹ (r − λ c) + β p; what of p moves the drop as a whole.
    fn turn(&mut self, shape: &Shape, k: &Coefficients, lambda: f64, beta: f64) -> Whole {
        let (shift, push, gradient, masses) = (&self.shift, &self.push, &self.gradient, &self.masses);
        chunks::update(&mut self.residual, &mut self.search, |first, residuals, searches| {
            let mut whole = Whole::default();
            for (offset, (r, p)) in residuals.iter_mut().zip(searches).enumerate() {
                let i = first + offset;
                *r -= gradient[i] * lambda;
                *p = shift[i] - push[i] * lambda + *p * beta;
                if k.rigid_mass != 0.0 {
                    whole.add(shape.rigid[i], masses[i], *p);
                }
            }
            whole
        })
    }
}

/// Of which vectors the flow is asked for.
#[derive(Clone, Copy)]
enum Which {
    Velocities,
    Search,
}

/// What of some velocities moves the drop as a whole: U, Σ m v and Σ m, and the sum of what they carry along the surface.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    u: DVec3,
    carried: DVec3,
    mass: f64,
    flow: DVec3,
}

impl Whole {
    #[inline]
    fn add(&mut self, rigid: DMat3, mass: f64, v: DVec3) {
        self.u += rigid * v;
        self.carried += v * mass;
        self.mass += mass;
    }
}

impl AddAssign for Whole {
    fn add_assign(&mut self, other: Self) {
        self.u += other.u;
        self.carried += other.carried;
        self.mass += other.mass;
        self.flow += other.flow;
    }
}

/// What the motion of the whole does to every vertex.
struct Terms {
    u: DVec3,
    push: DVec3,
}

impl Terms {
    fn new(k: &Coefficients, whole: &Whole) -> Self {
        let u = whole.u;
        let along = u - k.base_normal * k.base_normal.dot(u);
        Self { u, push: u * (k.rigid_mass + whole.mass) - whole.carried - whole.flow + along * k.base_drag }
    }
}

/// Two sums.
#[derive(Clone, Copy, Debug, Default)]
struct Pair(f64, f64);

impl AddAssign for Pair {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}
