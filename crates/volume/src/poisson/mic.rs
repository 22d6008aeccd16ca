//! Modified incomplete Cholesky factorization without fill, MIC(0) (bridson2015).
//!
//! ```text
//! M = (D + L) D⁻¹ (D + Lᵀ),    L the part of A below the diagonal,
//! D_i = A_ii − Σ_{j<i} c_ij²/D_j − τ Σ_{j<i} c_ij Σ_{k>j, k≠i} c_jk / D_j
//! ```
//!
//! On a grid no two neighbors of a cell are neighbors of one another, so the order of the unknowns
//! does not matter. τ = 0.97 instead of 1 keeps pivots away from zero; a pivot below σ = 0.25 of
//! the diagonal is replaced by the diagonal.

use super::matrix::Matrix;

const TAU: f64 = 0.97;
const SIGMA: f64 = 0.25;

/// The factor's diagonal.
#[derive(Debug, Default)]
pub struct Mic {
    inverse: Vec<f64>,
}

impl Mic {
    /// Factors a matrix.
    pub fn factor(&mut self, matrix: &Matrix) {
        self.inverse.clear();
        self.inverse.reserve(matrix.len());
        for i in 0..matrix.len() {
            let diagonal = matrix.diagonal[i];
            let mut pivot = diagonal;
            for entry in matrix.earlier(i) {
                let j = entry.column as usize;
                let later: f64 = matrix.later(j).iter().map(|e| e.coupling).sum();
                let fill = later - entry.coupling;
                pivot -= entry.coupling * (entry.coupling + TAU * fill) * self.inverse[j];
            }
            if pivot < SIGMA * diagonal {
                pivot = diagonal;
            }
            self.inverse.push(if pivot > 0.0 { 1.0 / pivot } else { 0.0 });
        }
    }

    /// z = M⁻¹ r.
    pub fn apply(&self, matrix: &Matrix, r: &[f64], z: &mut [f64]) {
        for i in 0..r.len() {
            let known: f64 = matrix.earlier(i).iter().map(|e| e.coupling * z[e.column as usize]).sum();
            z[i] = (r[i] + known) * self.inverse[i];
        }
        for i in (0..r.len()).rev() {
            let known: f64 = matrix.later(i).iter().map(|e| e.coupling * z[e.column as usize]).sum();
            z[i] += known * self.inverse[i];
        }
    }
}
