//! Preconditioned conjugate gradients.
//!
//! The direction's factor is β = z·(r − r_before) / (z·r)_before instead of z·r / (z·r)_before:
//! equal for an exactly symmetric preconditioner, and more robust with one that is symmetric only
//! up to rounding in single precision.

use rayon::prelude::*;
use sessile_numerics::{CHUNK, sum_in_chunks};

use super::matrix::Matrix;
use super::reductions::{dots, larger, largest, max_abs};

/// Growth of the residual above which the iteration has diverged.
const DIVERGED: f64 = 1e8;

/// Vectors of the method.
#[derive(Debug, Default)]
pub struct ConjugateGradients {
    /// b at first, then b − A x.
    pub residual: Vec<f64>,
    /// Memory of reductions.
    pub partial: Vec<f64>,
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    sums: Vec<[f64; 2]>,
}

impl ConjugateGradients {
    /// Sets the right-hand side.
    pub fn set_rhs(&mut self, rhs: &[f64]) {
        self.residual.clear();
        self.residual.extend_from_slice(rhs);
        for vector in [&mut self.preconditioned, &mut self.direction, &mut self.product] {
            vector.clear();
            vector.resize(rhs.len(), 0.0);
        }
    }

    /// Improves `x` until no residual exceeds `tolerance`; returns the number of iterations and the
    /// largest residual.
    ///
    /// `precondition(r, largest |r|, z)` writes z.
    pub fn iterate(
        &mut self,
        matrix: &Matrix,
        x: &mut [f64],
        tolerance: f64,
        max_iterations: usize,
        mut precondition: impl FnMut(&[f64], f64, &mut [f64]),
    ) -> (usize, f64) {
        let n = x.len();
        if x.iter().any(|&x| x != 0.0) {
            matrix.multiply(x, &mut self.product, &mut self.partial);
            self.residual.iter_mut().zip(&self.product).for_each(|(r, q)| *r -= q);
        }
        let mut residual = max_abs(&self.residual, &mut self.partial);
        let first = residual;
        let mut before = 0.0;
        let mut alpha = 0.0;
        for iteration in 0..max_iterations {
            if residual <= tolerance {
                return (iteration, residual);
            }
            precondition(&self.residual, residual, &mut self.preconditioned);
            let (z, r, q) = (&self.preconditioned, &self.residual, &self.product);
            let [rz, qz] = sum_in_chunks(n, &mut self.sums, |from, to| dots(&z[from..to], &r[from..to], &q[from..to]));
            let beta = if iteration == 0 { 0.0 } else { -alpha * qz / before };
            before = rz;
            each_chunk(&mut self.direction, |from, p| {
                for (p, z) in p.iter_mut().zip(&z[from..]) {
                    *p = z + beta * *p;
                }
            });
            let pq = matrix.multiply(&self.direction, &mut self.product, &mut self.partial);
            alpha = rz / pq;
            if !alpha.is_finite() || pq <= 0.0 {
                return (iteration, residual);
            }
            residual = self.advance(x, alpha);
            if residual.is_nan() || residual > DIVERGED * first {
                return (iteration + 1, residual);
            }
        }
        (max_iterations, residual)
    }

    /// x += α p and r −= α q; returns the largest |r|.
    fn advance(&mut self, x: &mut [f64], alpha: f64) -> f64 {
        let Self { residual, partial, direction, product, .. } = self;
        partial.clear();
        partial.resize(x.len().div_ceil(CHUNK), 0.0);
        if partial.len() > 1 {
            let vectors = partial.par_iter_mut().zip(x.par_chunks_mut(CHUNK)).zip(residual.par_chunks_mut(CHUNK));
            let ways = direction.par_chunks(CHUNK).zip(product.par_chunks(CHUNK));
            vectors.zip(ways).for_each(|(((most, x), r), way)| *most = advance_chunk(x, r, alpha, way));
        } else {
            partial.fill(advance_chunk(x, residual, alpha, (direction, product)));
        }
        partial.iter().fold(0.0, |max, &v| larger(max, v))
    }
}

/// x += α p and r −= α q on a chunk; returns its largest |r|.
fn advance_chunk(x: &mut [f64], r: &mut [f64], alpha: f64, (p, q): (&[f64], &[f64])) -> f64 {
    x.iter_mut().zip(p).for_each(|(x, p)| *x += alpha * p);
    r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q);
    largest(r)
}

fn each_chunk(values: &mut [f64], work: impl Fn(usize, &mut [f64]) + Sync) {
    if values.len() > CHUNK {
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| work(k * CHUNK, chunk));
    } else {
        work(0, values);
    }
}
