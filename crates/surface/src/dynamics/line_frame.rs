//! Motion of the contact line along itself.
//!
//! Along the line its vertices are markers: their spacing is not a degree of freedom of the liquid.
//! With t_i the tangent of the line at vertex i, they follow one velocity u,
//!
//! ```text
//! t_i · v_i = t_i · u,         u = (Σ t tᵀ)⁻¹ Σ t (t · v)   for the projection of any v
//! ```
//!
//! u is part of the solution. A rigid translation of the line fulfills the constraint, so by
//! virtual work its reactions have no resultant on it: a drop on a plane without hysteresis is not
//! pushed along. With a prescribed u the reactions would balance the tangential parts of the
//! discrete tension, whose sum does not vanish on an irregular mesh, and propel the drop.

use glam::{DMat3, DVec3};

use super::linear_system::Constraint;
use crate::mesh::index::VertexIndex;

/// Relative shift of Σ t tᵀ, which has no normal component on a plane.
const REGULARIZATION: f64 = 1e-12;

/// The vertices that follow the motion of the contact line along itself.
#[derive(Clone, Debug, Default)]
pub struct LineFrame {
    vertices: Vec<VertexIndex>,
    /// (Σ t tᵀ)⁻¹.
    inverse: DMat3,
}

impl LineFrame {
    /// Collects the vertices of the contact line among the constrained ones.
    pub fn collect(&mut self, constraints: &[Constraint], constrained: &[VertexIndex]) {
        self.vertices.clear();
        let mut sum = DMat3::ZERO;
        for &v in constrained {
            if let Constraint::ContactLine { along, .. } = constraints[v] {
                self.vertices.push(v);
                sum += DMat3::from_cols(along * along.x, along * along.y, along * along.z);
            }
        }
        let shift = REGULARIZATION * self.vertices.len().max(1) as f64;
        self.inverse = (sum + DMat3::from_diagonal(DVec3::splat(shift))).inverse();
    }

    /// Replaces the components of some vectors along the line by those of their common translation.
    pub fn project(&self, constraints: &[Constraint], values: &mut [DVec3]) {
        if self.vertices.is_empty() {
            return;
        }
        let tangent = |v: VertexIndex| match constraints[v] {
            Constraint::ContactLine { along, .. } => along,
            _ => DVec3::ZERO,
        };
        let mut sum = DVec3::ZERO;
        for &v in &self.vertices {
            let t = tangent(v);
            sum += t * t.dot(values[v]);
        }
        let u = self.inverse * sum;
        for &v in &self.vertices {
            let t = tangent(v);
            let value = &mut values[v];
            *value += t * t.dot(u - *value);
        }
    }
}
