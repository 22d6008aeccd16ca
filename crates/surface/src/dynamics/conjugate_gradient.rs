//! Preconditioned conjugate gradients with the volume rate as a constraint.
//!
//! Solves A v = b + λ c with c · v = rate on the allowed directions of every vertex. Residuals and
//! search directions are kept orthogonal to the preconditioned volume gradient, so that every
//! iterate fulfills the constraint; the accumulated multiplier λ is the pressure times τ.
//!
//! The preconditioner is the inverse diagonal or, where stiffness dominates masses, a Cholesky
//! factor: a complete one for small drops ([`super::envelope_cholesky`]), an incomplete one for
//! large ones ([`super::incomplete_cholesky`]). The iteration ends when the preconditioned residual
//! falls below a tolerance relative to the forces that the pressure does not balance. The paper's
//! flow has nothing but what the complete factor inverts, so it is solved without iterations.

use std::ops::AddAssign;

use super::geometry::DropGeometry;
use super::linear_system::{Coefficients, Constraint, LinearSystem, Operand, Preconditioner, RigidMotion};
use crate::chunks;
use crate::mesh::index::VertexIndex;
use crate::parameters::Numerics;

/// Result of a solve.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolveReport {
    /// Iterations.
    pub iterations: usize,
    /// Multiplier of the volume constraint, in Pa s: a pressure times τ.
    pub multiplier: f64,
    /// Norm of the residual relative to that of the unbalanced forces.
    pub residual: f64,
    /// Whether the iteration limit was reached first.
    pub unconverged: bool,
    /// Whether the pressure term of the stiffness had to be dropped.
    pub without_pressure: bool,
}

/// The volume constraint: c · S⁻¹ c, with S the preconditioner; zero where the volume is free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VolumeConstraint {
    weight: f64,
}

impl VolumeConstraint {
    /// λ that makes a vector with this product with c orthogonal to it.
    fn multiplier(self, along: f64) -> f64 {
        if self.weight > 0.0 { along / self.weight } else { 0.0 }
    }
}

/// Products of the preconditioned residual.
#[derive(Clone, Copy, Debug, Default)]
struct Products {
    /// With the volume gradient.
    gradient: f64,
    /// With the residual.
    residual: f64,
}

impl AddAssign for Products {
    fn add_assign(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.residual += other.residual;
    }
}

impl LinearSystem {
    /// Solves for `velocities`.
    ///
    /// `rate` is the prescribed growth of the volume, in m³/s; `None` leaves the volume free.
    pub fn solve(
        &mut self,
        geometry: &DropGeometry,
        k: &Coefficients,
        rate: Option<f64>,
        numerics: &Numerics,
    ) -> SolveReport {
        self.constrained.clear();
        self.constrained
            .extend(VertexIndex::first(self.constraints.len()).filter(|&i| self.constraints[i] != Constraint::Free));
        self.line_frame.collect(&self.constraints, &self.constrained);
        self.reactions.copy_from_slice(&self.velocities);
        let solved = match self.iterate(geometry, k, rate, numerics) {
            Some(solved) => solved,
            None => {
                self.velocities.copy_from_slice(&self.reactions);
                let k = Coefficients { pressure: 0.0, ..*k };
                let solved = self.iterate(geometry, &k, rate, numerics).unwrap_or_default();
                SolveReport { without_pressure: true, ..solved }
            }
        };
        let k = Coefficients { pressure: if solved.without_pressure { 0.0 } else { k.pressure }, ..*k };
        self.update_reactions(geometry, &k, solved.multiplier);
        solved
    }

    /// Conjugate gradients; `None` where the matrix turns out to be indefinite.
    fn iterate(
        &mut self,
        geometry: &DropGeometry,
        k: &Coefficients,
        rate: Option<f64>,
        numerics: &Numerics,
    ) -> Option<SolveReport> {
        self.build_preconditioner(k, numerics);
        if self.is_inverted(k) {
            self.volume = self.build_volume_direction(geometry, rate.is_some());
            return Some(self.solve_directly(geometry, k, rate));
        }
        let volume = self.impose_volume_rate(geometry, rate);
        let mut image = std::mem::take(&mut self.image);
        let scale = self.initial_residual(geometry, k, volume, &mut image, numerics);
        let products = self.precondition();
        let mut lambda = volume.multiplier(products.gradient);
        let mut rho = products.residual - lambda * products.gradient;
        let mut multiplier = -lambda;
        let mut motion = self.update_search(geometry, k, lambda, 0.0);
        let tolerance = match self.preconditioner {
            Preconditioner::Diagonal => numerics.solver_tolerance,
            Preconditioner::Incomplete | Preconditioner::Complete { .. } => numerics.factored_tolerance,
        };
        let enough = tolerance * tolerance * scale.max(1e-300);
        let mut iterations = 0;
        let mut definite = true;
        while rho > enough && iterations < numerics.max_iterations {
            iterations += 1;
            let curvature = self.apply_to_search(geometry, k, &mut motion, &mut image);
            if curvature <= 0.0 {
                definite = curvature == 0.0;
                break;
            }
            self.advance_along_search(rho / curvature, &image);
            let products = self.precondition();
            lambda = volume.multiplier(products.gradient);
            multiplier -= lambda;
            let old = rho;
            rho = products.residual - lambda * products.gradient;
            motion = self.update_search(geometry, k, lambda, rho / old);
        }
        self.image = image;
        let residual = (rho.max(0.0) / scale.max(1e-300)).sqrt();
        definite.then_some(SolveReport {
            iterations,
            multiplier,
            residual,
            unconverged: rho > enough && iterations == numerics.max_iterations,
            without_pressure: false,
        })
    }

    /// Inverts the diagonal, and factors the matrix where stiffness dominates masses.
    ///
    /// A drop in flight is never factored: its rigid motion is in the initial guess, which the
    /// diagonal leaves exact.
    fn build_preconditioner(&mut self, k: &Coefficients, numerics: &Numerics) {
        let (mut stiffness, mut mass) = (0.0, 0.0);
        for i in VertexIndex::first(self.velocities.len()) {
            let pull = k.stiffness * k.tension * self.weight_sums[i].max(0.0);
            self.inverse_diagonal[i] = 1.0 / (self.masses[i] + pull + self.line_drag[i]).max(1e-300);
            (stiffness, mass) = (stiffness + pull, mass + self.masses[i]);
        }
        self.preconditioner = if !self.constrained.is_empty() && stiffness > numerics.factor_stiffness * mass {
            self.build_factor(k, numerics.max_factor_work)
        } else {
            Preconditioner::Diagonal
        };
    }

    /// Whether the complete factor inverts the whole matrix.
    fn is_inverted(&self, k: &Coefficients) -> bool {
        k.rigid_mass == 0.0 && self.preconditioner == (Preconditioner::Complete { exact: true })
    }

    /// Solves again after the prescribed velocities or `right` have changed, but not the matrix.
    pub fn solve_again(
        &mut self,
        geometry: &DropGeometry,
        k: &Coefficients,
        rate: Option<f64>,
        numerics: &Numerics,
    ) -> SolveReport {
        if self.is_inverted(k) {
            self.solve_directly(geometry, k, rate)
        } else {
            self.solve(geometry, k, rate, numerics)
        }
    }

    /// Solves a system that the complete factor inverts.
    fn solve_directly(&mut self, geometry: &DropGeometry, k: &Coefficients, rate: Option<f64>) -> SolveReport {
        let mut image = std::mem::take(&mut self.image);
        self.apply(geometry, k, &self.velocities, &RigidMotion::default(), &mut image);
        for i in 0..image.len() {
            self.residual[i] = self.constraints[i].project(self.right[i] - image[i]);
        }
        self.image = image;
        self.precondition();
        let mut current = 0.0;
        for i in 0..self.velocities.len() {
            self.velocities[i] += self.preconditioned[i];
            current += geometry.volume_gradient[i].dot(self.velocities[i]);
        }
        let multiplier = self.volume.multiplier(rate.unwrap_or(current) - current);
        for (v, direction) in self.velocities.iter_mut().zip(&self.volume_direction) {
            *v += *direction * multiplier;
        }
        SolveReport { iterations: 1, multiplier, ..SolveReport::default() }
    }

    /// Fills `gradient` and `volume_direction`.
    fn build_volume_direction(&mut self, geometry: &DropGeometry, constrained: bool) -> VolumeConstraint {
        if !constrained {
            return VolumeConstraint { weight: 0.0 };
        }
        for i in VertexIndex::first(self.velocities.len()) {
            self.gradient[i] = self.constraints[i].project(geometry.volume_gradient[i]);
        }
        self.line_frame.project(&self.constraints, &mut self.gradient);
        self.residual.copy_from_slice(&self.gradient);
        let weight = self.precondition().gradient;
        std::mem::swap(&mut self.volume_direction, &mut self.preconditioned);
        VolumeConstraint { weight }
    }

    /// Shifts the initial guess along S⁻¹ c so that it fulfills the volume constraint.
    fn impose_volume_rate(&mut self, geometry: &DropGeometry, rate: Option<f64>) -> VolumeConstraint {
        let volume = self.build_volume_direction(geometry, rate.is_some());
        if let Some(rate) = rate.filter(|_| volume.weight > 0.0) {
            let current: f64 = geometry.volume_gradient.iter().zip(&self.velocities).map(|(c, &v)| c.dot(v)).sum();
            let shift = (rate - current) / volume.weight;
            for (v, direction) in self.velocities.iter_mut().zip(&self.volume_direction) {
                *v += *direction * shift;
            }
        }
        volume
    }

    /// Sets the residual P (b − A v) and returns the squared norm of the unbalanced forces.
    ///
    /// Most of b is balanced by the pressure; what accelerates the drop is the rest.
    fn initial_residual(
        &mut self,
        geometry: &DropGeometry,
        k: &Coefficients,
        volume: VolumeConstraint,
        image: &mut [glam::DVec3],
        numerics: &Numerics,
    ) -> f64 {
        let n = self.velocities.len();
        let mut motion = self.rigid_motion(geometry, k, &self.velocities);
        self.update_flow(geometry, Operand::Velocities, &mut motion);
        self.apply(geometry, k, &self.velocities, &motion, image);
        self.add_line_friction(&self.velocities, image, 0.0);
        for i in 0..n {
            self.residual[i] = self.constraints[i].project(self.right[i]);
        }
        self.line_frame.project(&self.constraints, &mut self.residual);
        let Products { gradient, residual } = self.precondition();
        let floor = numerics.static_force_floor;
        let scale = (residual - volume.multiplier(gradient) * gradient).max(floor * floor * residual);
        for i in 0..n {
            self.residual[i] = self.constraints[i].project(self.right[i] - image[i]);
        }
        self.line_frame.project(&self.constraints, &mut self.residual);
        scale
    }

    /// Writes A p of the search direction p to `image` and returns p · A p.
    fn apply_to_search(
        &mut self,
        geometry: &DropGeometry,
        k: &Coefficients,
        motion: &mut RigidMotion,
        image: &mut [glam::DVec3],
    ) -> f64 {
        self.update_flow(geometry, Operand::Search, motion);
        let curvature = self.apply(geometry, k, &self.search, motion, image);
        let curvature = self.add_line_friction(&self.search, image, curvature);
        for &i in &self.constrained {
            image[i] = self.constraints[i].project(image[i]);
        }
        self.line_frame.project(&self.constraints, image);
        curvature
    }

    /// v += α p and r −= α A p.
    fn advance_along_search(&mut self, alpha: f64, image: &[glam::DVec3]) {
        let search = &self.search;
        chunks::update(&mut self.velocities, &mut self.residual, |first, velocities, residuals| {
            for (offset, (v, r)) in velocities.iter_mut().zip(residuals).enumerate() {
                let i = first + offset;
                *v += search[i] * alpha;
                *r -= image[i] * alpha;
            }
            0.0
        });
    }

    /// Fills `preconditioned` with S⁻¹ r and returns its products.
    fn precondition(&mut self) -> Products {
        let Self { complete, incomplete, preconditioner, inverse_diagonal, gradient, constraints, constrained, .. } =
            self;
        if matches!(preconditioner, Preconditioner::Complete { .. }) {
            self.preconditioned.copy_from_slice(&self.residual);
            complete.solve(&mut self.preconditioned);
        }
        let products = chunks::update(&mut self.preconditioned, &mut self.residual, |first, values, residuals| {
            if *preconditioner == Preconditioner::Diagonal {
                for (offset, (z, r)) in values.iter_mut().zip(residuals.iter()).enumerate() {
                    *z = *r * inverse_diagonal[first + offset];
                }
            } else {
                if *preconditioner == Preconditioner::Incomplete {
                    values.copy_from_slice(residuals);
                    incomplete.solve(first, values);
                }
                let rank = |end: usize| constrained.partition_point(|i| i.to_usize() < end);
                for &i in &constrained[rank(first)..rank(first + values.len())] {
                    let z = &mut values[i.to_usize() - first];
                    *z = constraints[i].project(*z);
                }
            }
            let mut products = Products::default();
            for (offset, (z, r)) in values.iter().zip(residuals.iter()).enumerate() {
                products += Products { gradient: gradient[first + offset].dot(*z), residual: r.dot(*z) };
            }
            products
        });
        // The gradient and the residual are projected, so the products do not change.
        self.line_frame.project(&self.constraints, &mut self.preconditioned);
        products
    }

    /// Removes λ c from the residual and sets p = S⁻¹ (r − λ c) + β p; returns the rigid motion in
    /// p.
    fn update_search(&mut self, geometry: &DropGeometry, k: &Coefficients, lambda: f64, beta: f64) -> RigidMotion {
        let (preconditioned, direction) = (&self.preconditioned, &self.volume_direction);
        let (gradient, masses) = (&self.gradient, &self.masses);
        chunks::update(&mut self.residual, &mut self.search, |first, residuals, searches| {
            let mut motion = RigidMotion::default();
            for (offset, (r, p)) in residuals.iter_mut().zip(searches).enumerate() {
                let i = first + offset;
                *r -= gradient[i] * lambda;
                *p = preconditioned[i] - direction[i] * lambda + *p * beta;
                if k.rigid_mass != 0.0 {
                    motion.add(geometry.rigid[i], masses[i], *p);
                }
            }
            motion
        })
    }
}
