//! The linear system of one step.
//!
//! ```text
//! [M + κ K + τ drag] v = b        with  c · v = rate,     v = prescribed + P y
//! M v  = m (v − U) + Wᵀ (ρV U − Σ m (v − U))              m_i = ρ A_i ℓ,  U = W v
//! K v  = σ Σ_j w_ij (v_i − v_j) − p Σ_j v_j × (x_k − x_l)/6
//! ```
//!
//! w are the cotangent weights of the free triangles (pinkall1993), k and l the corners opposite to
//! the edge ij. The second term of K is the Hessian of the volume times the mean pressure. P
//! restricts a vertex to the directions that its [`Constraint`] allows, and couples the vertices of
//! the contact line along the line ([`LineFrame`]). K can be indefinite, as for
//! a ligament that is about to break; the solver then restarts without the pressure term.
//!
//! In flight the interior liquid contributes more than a shell of mass: [`Inertia`] adds its part
//! to m (v − U) and subtracts the sum of it from the rigid motion.
//!
//! The paper's mean curvature flow is the same system with m = A, σ = γ, no pressure and no rigid
//! motion (`rigid_mass` 0).

use std::ops::AddAssign;

use glam::{DMat3, DVec3};

use super::conjugate_gradient::VolumeConstraint;
use super::envelope_cholesky::EnvelopeCholesky;
use super::geometry::DropGeometry;
use super::incomplete_cholesky::IncompleteCholesky;
use super::inertia::Inertia;
use super::line_frame::LineFrame;
use crate::chunks;
use crate::mesh::index::{HalfEdgeIndex, VertexIndex};
use crate::mesh::{Interface, Mesh};

/// The directions in which a vertex may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// All directions.
    Free,
    /// Along this unit vector.
    Along(DVec3),
    /// Across the contact line on its own, and along it with the rest of the line
    /// ([`LineFrame`]).
    ContactLine {
        /// Unit outward normal of the line within the solid.
        outward: DVec3,
        /// Unit tangent of the line.
        along: DVec3,
    },
    /// None.
    Fixed,
}

impl Constraint {
    /// The component of a vector in the allowed directions; [`LineFrame::project`] couples those
    /// along the contact line.
    #[inline]
    pub fn project(self, v: DVec3) -> DVec3 {
        match self {
            Self::Free => v,
            Self::Along(d) => d * d.dot(v),
            Self::ContactLine { outward, along } => outward * outward.dot(v) + along * along.dot(v),
            Self::Fixed => DVec3::ZERO,
        }
    }

    /// What a vertex in contact gains of the velocity `gain` of its solid in a step: all of it
    /// unless it slides freely.
    pub fn carried(self, gain: DVec3) -> DVec3 {
        match self {
            Self::Along(_) | Self::Fixed => gain,
            Self::Free | Self::ContactLine { .. } => gain - self.project(gain),
        }
    }
}

/// Coefficients of a step that all vertices share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coefficients {
    /// κ, the factor of the stiffness, in s².
    pub stiffness: f64,
    /// σ, in N/m.
    pub tension: f64,
    /// Mean pressure p, in Pa.
    pub pressure: f64,
    /// ρV, with drag that acts on the whole drop, in kg; 0 where M is just m.
    pub rigid_mass: f64,
    /// τ times the friction of the footprint's boundary layer, in kg.
    pub base_drag: f64,
    /// Normal of the footprint; `base_drag` acts in the plane across it.
    pub base_normal: DVec3,
}

/// An edge as an off-diagonal entry of the matrix.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// (x_k − x_l)/6, in m.
    across: DVec3,
    /// Cotangent weight.
    weight: f64,
    /// The other vertex.
    column: VertexIndex,
}

/// Matrix and vectors; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct LinearSystem {
    /// Where the edges of each vertex begin in `edges`, and where the last ones end.
    rows: Vec<u32>,
    edges: Vec<Edge>,
    pub(super) weight_sums: Vec<f64>,
    /// Inertia of the flow along the surface; cleared by assembling.
    pub inertia: Inertia,
    /// Momentum of that flow at each vertex, in kg m/s.
    pub(super) flow: Vec<DVec3>,
    /// m_i, in kg.
    pub masses: Vec<f64>,
    /// Constraint of each vertex.
    pub constraints: Vec<Constraint>,
    /// Vertices that are not free, ascending; collected by a solve.
    pub(super) constrained: Vec<VertexIndex>,
    /// Motion of the contact line along itself; collected by a solve.
    pub(super) line_frame: LineFrame,
    /// τ times the friction of a line vertex, across the line where it is constrained to it, in kg.
    pub line_drag: Vec<f64>,
    /// b, in kg m/s.
    pub right: Vec<DVec3>,
    /// Velocities, in m/s: on entry a guess with the prescribed components, on return the solution.
    pub velocities: Vec<DVec3>,
    /// A v − b − multiplier c at constrained vertices after a solve: the constraint forces times τ.
    pub reactions: Vec<DVec3>,
    pub(super) inverse_diagonal: Vec<f64>,
    /// Factors that precondition where stiffness dominates masses.
    pub(super) complete: EnvelopeCholesky,
    pub(super) incomplete: IncompleteCholesky,
    pub(super) preconditioner: Preconditioner,
    /// The volume constraint of the last solve that needed no iterations.
    pub(super) volume: VolumeConstraint,
    /// Preconditioned residual.
    pub(super) preconditioned: Vec<DVec3>,
    /// Preconditioned gradient of the volume.
    pub(super) volume_direction: Vec<DVec3>,
    pub(super) residual: Vec<DVec3>,
    pub(super) search: Vec<DVec3>,
    pub(super) image: Vec<DVec3>,
    pub(super) gradient: Vec<DVec3>,
}

/// What preconditions the iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Preconditioner {
    /// One over the diagonal.
    #[default]
    Diagonal,
    /// The incomplete factor.
    Incomplete,
    /// The complete factor.
    Complete {
        /// Whether its product is the matrix that it factors.
        exact: bool,
    },
}

/// The vectors that the matrix is applied to.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Velocities,
    Search,
}

impl LinearSystem {
    /// Builds the stiffness of a compact mesh; `include_solids` includes the triangles on solids.
    pub fn assemble(&mut self, mesh: &Mesh, geometry: &DropGeometry, include_solids: bool) {
        let n = mesh.positions.len();
        self.rows.clear();
        self.edges.clear();
        self.weight_sums.clear();
        self.inertia.clear();
        for v in mesh.vertex_indices() {
            self.assemble_row(mesh, geometry, v, include_solids);
        }
        self.rows.push(self.edges.len() as u32);
        self.constraints.clear();
        self.constraints.resize(n, Constraint::Free);
        for values in [&mut self.masses, &mut self.line_drag, &mut self.inverse_diagonal] {
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
            &mut self.preconditioned,
            &mut self.volume_direction,
        ] {
            values.clear();
            values.resize(n, DVec3::ZERO);
        }
    }

    fn assemble_row(&mut self, mesh: &Mesh, geometry: &DropGeometry, v: VertexIndex, include_solids: bool) {
        let first = self.edges.len();
        self.rows.push(first as u32);
        let counts = |h: HalfEdgeIndex| include_solids || mesh.interface_of(h) == Interface::Air;
        let mut sum = 0.0;
        for h in mesh.fan(v) {
            let twin = mesh.twin(h);
            let mut weight = 0.0;
            if counts(h) {
                weight += 0.5 * geometry.cotangents[h];
            }
            if counts(twin) {
                weight += 0.5 * geometry.cotangents[twin];
            }
            self.edges.push(Edge { across: DVec3::ZERO, weight, column: mesh.to(h) });
            sum += weight;
        }
        self.weight_sums.push(sum);
        if include_solids {
            return;
        }
        // The corners opposite to an edge are the neighbors before and after it in the fan.
        let fan = &mut self.edges[first..];
        let position = |e: &Edge| mesh.positions[e.column];
        let mut before = fan.last().map(position).unwrap_or_default();
        let start = fan.first().map(position).unwrap_or_default();
        let mut here = start;
        for k in 0..fan.len() {
            let after = if k + 1 < fan.len() { position(&fan[k + 1]) } else { start };
            fan[k].across = (after - before) / 6.0;
            (before, here) = (here, after);
        }
    }

    /// The edges that leave a vertex.
    #[inline]
    fn row(&self, v: VertexIndex) -> &[Edge] {
        &self.edges[self.rows[v] as usize..self.rows[v.to_usize() + 1] as usize]
    }

    /// Σ_j w_ij (x_i − x_j): the gradient of the free area where `x` are the positions, in m.
    pub fn laplacian(&self, v: VertexIndex, x: &[DVec3]) -> DVec3 {
        self.row(v).iter().map(|e| (x[v] - x[e.column]) * e.weight).sum()
    }

    /// Adds the pull of a vertex that moves, with `impulse` as its velocity times κσ, to b of its
    /// neighbors.
    pub fn pull_neighbors(&mut self, v: VertexIndex, impulse: DVec3) {
        for e in &self.edges[self.rows[v] as usize..self.rows[v.to_usize() + 1] as usize] {
            self.right[e.column] += impulse * e.weight;
        }
    }

    /// Raises the weight of every edge by the share that `extra` returns for its half-edge.
    pub fn stiffen(&mut self, mesh: &Mesh, extra: impl Fn(HalfEdgeIndex) -> f64) {
        for v in mesh.vertex_indices() {
            let edges = &mut self.edges[self.rows[v] as usize..self.rows[v.to_usize() + 1] as usize];
            for (h, edge) in mesh.fan(v).zip(edges) {
                let added = edge.weight.max(0.0) * extra(h);
                edge.weight += added;
                self.weight_sums[v] += added;
            }
        }
    }

    /// Shifts the velocities so that they add up to the exact velocity `u` of a drop in flight, in
    /// m/s, which a solve conserves up to its tolerance only.
    pub fn set_rigid_velocity(&mut self, geometry: &DropGeometry, u: DVec3) {
        let missing = u - geometry.rigid_velocity(&self.velocities);
        self.velocities.iter_mut().for_each(|v| *v += missing);
    }

    /// Shifts the velocities of a drop that slides on a plane by the translation that removes the
    /// resultant of the residual along it.
    ///
    /// A solve conserves the momentum along the plane up to its tolerance only; what is left would
    /// accelerate a drop at rest. Translations along the plane do not deform the surface, so only
    /// masses and friction resist them.
    pub fn balance_slide(&mut self, k: &Coefficients, normal: DVec3) {
        let mut matrix = DMat3::from_diagonal(DVec3::splat(k.rigid_mass + k.base_drag));
        for &i in &self.constrained {
            if let Constraint::ContactLine { outward, .. } = self.constraints[i] {
                let column = outward * self.line_drag[i];
                matrix += DMat3::from_cols(column * outward.x, column * outward.y, column * outward.z);
            }
        }
        let sum: DVec3 = self.residual.iter().sum();
        let shift = matrix.inverse() * (sum - normal * normal.dot(sum));
        for (v, constraint) in self.velocities.iter_mut().zip(&self.constraints) {
            if *constraint != Constraint::Fixed {
                *v += shift;
            }
        }
    }

    /// M v: the momentum at each vertex, in kg m/s.
    pub fn momentum(&mut self, geometry: &DropGeometry, rigid_mass: f64, v: &[DVec3], out: &mut Vec<DVec3>) {
        let u = geometry.rigid_velocity(v);
        let relative: DVec3 = self.masses.iter().zip(v).map(|(&m, &v)| (v - u) * m).sum();
        let mut push = u * rigid_mass - relative;
        // `flow` is zero where there is no inertia but the shell's.
        if self.inertia.is_active() {
            push -= self.inertia.apply(geometry, v, u, &mut self.flow);
        }
        out.clear();
        out.extend(
            VertexIndex::first(v.len())
                .map(|i| (v[i] - u) * self.masses[i] + self.flow[i] + geometry.rigid[i].transpose() * push),
        );
    }

    /// Fills `flow` with the momentum of the flow along the surface, and its sum in `motion`.
    pub(super) fn update_flow(&mut self, geometry: &DropGeometry, operand: Operand, motion: &mut RigidMotion) {
        if self.inertia.is_active() {
            let v = match operand {
                Operand::Velocities => &self.velocities,
                Operand::Search => &self.search,
            };
            motion.flow = self.inertia.apply(geometry, v, motion.u, &mut self.flow);
        }
    }

    /// The rigid motion in some velocities.
    pub(super) fn rigid_motion(&self, geometry: &DropGeometry, k: &Coefficients, v: &[DVec3]) -> RigidMotion {
        if k.rigid_mass == 0.0 {
            return RigidMotion::default();
        }
        chunks::sum(v.len(), |range| {
            let mut motion = RigidMotion::default();
            for i in VertexIndex::range(range) {
                motion.add(geometry.rigid[i], self.masses[i], v[i]);
            }
            motion
        })
    }

    /// κ K v at a vertex; `tension` is κσ and `pressure` κp.
    #[inline]
    fn stiffness_row(&self, i: VertexIndex, v: &[DVec3], tension: f64, pressure: f64) -> DVec3 {
        let (mut pull, mut torsion) = (v[i] * self.weight_sums[i], DVec3::ZERO);
        for e in self.row(i) {
            let other = v[e.column];
            pull -= other * e.weight;
            torsion += other.cross(e.across);
        }
        pull * tension - torsion * pressure
    }

    /// Writes A v to `out`, without the friction of the contact line, and returns v · A v.
    pub(super) fn apply(
        &self,
        geometry: &DropGeometry,
        k: &Coefficients,
        v: &[DVec3],
        motion: &RigidMotion,
        out: &mut [DVec3],
    ) -> f64 {
        let rigid = RigidForce::new(k, motion);
        let (tension, pressure) = (k.stiffness * k.tension, k.stiffness * k.pressure);
        let curvature_flow_row = |i: VertexIndex| {
            let mut pull = v[i] * self.weight_sums[i];
            for e in self.row(i) {
                pull -= v[e.column] * e.weight;
            }
            pull * tension + v[i] * self.masses[i]
        };
        let flow: &[DVec3] = if self.inertia.is_active() { &self.flow } else { &[] };
        chunks::update_one(out, |first, out| {
            let mut dot = 0.0;
            for (offset, image) in out.iter_mut().enumerate() {
                let i = VertexIndex::new(first + offset);
                *image = if k.rigid_mass == 0.0 {
                    curvature_flow_row(i)
                } else {
                    self.stiffness_row(i, v, tension, pressure)
                        + (v[i] - rigid.u) * self.masses[i]
                        + geometry.rigid[i].mul_transpose_vec3(rigid.push)
                };
                if let Some(flow) = flow.get(i.to_usize()) {
                    *image += *flow;
                }
                dot += v[i].dot(*image);
            }
            dot
        })
    }

    /// The part of a velocity that the friction of a line vertex acts on.
    fn slip(&self, i: VertexIndex, velocity: DVec3) -> DVec3 {
        match self.constraints[i] {
            Constraint::ContactLine { outward, .. } => outward * outward.dot(velocity),
            _ => velocity,
        }
    }

    /// Adds the friction of the contact line to `image` = A v; returns `power`, v · A v without it,
    /// with its part.
    pub(super) fn add_line_friction(&self, v: &[DVec3], image: &mut [DVec3], mut power: f64) -> f64 {
        for &i in &self.constrained {
            let slip = self.slip(i, v[i]);
            power += slip.length_squared() * self.line_drag[i];
            image[i] += slip * self.line_drag[i];
        }
        power
    }

    /// Evaluates the constraint forces A v − b − multiplier c.
    pub(super) fn update_reactions(&mut self, geometry: &DropGeometry, k: &Coefficients, multiplier: f64) {
        if self.constrained.is_empty() || k.rigid_mass == 0.0 {
            return;
        }
        let mut motion = self.rigid_motion(geometry, k, &self.velocities);
        self.update_flow(geometry, Operand::Velocities, &mut motion);
        let (v, rigid) = (&self.velocities, RigidForce::new(k, &motion));
        let (tension, pressure) = (k.stiffness * k.tension, k.stiffness * k.pressure);
        for &i in &self.constrained {
            let image = self.stiffness_row(i, v, tension, pressure)
                + (v[i] - rigid.u) * self.masses[i]
                + self.flow[i]
                + geometry.rigid[i].mul_transpose_vec3(rigid.push)
                + self.slip(i, v[i]) * self.line_drag[i];
            self.reactions[i] = image - self.right[i] - geometry.volume_gradient[i] * multiplier;
        }
    }

    /// Factors the part of the matrix that acts on x, y and z alike: completely where there is no
    /// other part and it takes at most `max_work` multiplications.
    ///
    /// Fixed vertices are left out.
    pub(super) fn build_factor(&mut self, k: &Coefficients, max_work: usize) -> Preconditioner {
        let tension = k.stiffness * k.tension;
        let Self { complete, incomplete, rows, edges, inverse_diagonal, constraints, .. } = self;
        let row = |i: VertexIndex| &edges[rows[i] as usize..rows[i.to_usize() + 1] as usize];
        let entries = |i: VertexIndex| row(i).iter().map(|e| (e.column, -tension * e.weight));
        let is_free = |i: VertexIndex| constraints[i] != Constraint::Fixed;
        let n = constraints.len();
        if k.rigid_mass == 0.0 && complete.number(n, is_free, |i| row(i).iter().map(|e| e.column)) <= max_work {
            return Preconditioner::Complete { exact: complete.factor(|i| 1.0 / inverse_diagonal[i], entries) };
        }
        incomplete.factor(n, |i| is_free(i).then(|| 1.0 / inverse_diagonal[i]), entries);
        Preconditioner::Incomplete
    }
}

/// The rigid motion in some velocities: U, Σ m v, Σ m and the momentum of the flow along the
/// surface.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RigidMotion {
    u: DVec3,
    momentum: DVec3,
    mass: f64,
    flow: DVec3,
}

impl RigidMotion {
    #[inline]
    pub(super) fn add(&mut self, rigid: DMat3, mass: f64, v: DVec3) {
        self.u += rigid * v;
        self.momentum += v * mass;
        self.mass += mass;
    }
}

impl AddAssign for RigidMotion {
    fn add_assign(&mut self, other: Self) {
        self.u += other.u;
        self.momentum += other.momentum;
        self.mass += other.mass;
        self.flow += other.flow;
    }
}

/// The effect of the rigid motion on every vertex: U, and the vector that Wᵀ distributes.
struct RigidForce {
    u: DVec3,
    push: DVec3,
}

impl RigidForce {
    fn new(k: &Coefficients, motion: &RigidMotion) -> Self {
        let u = motion.u;
        let along = u - k.base_normal * k.base_normal.dot(u);
        Self { u, push: u * (k.rigid_mass + motion.mass) - motion.momentum - motion.flow + along * k.base_drag }
    }
}
