//! Preconditioned conjugate gradients.
//!
//! The direction's factor is β = z·(r − r_before) / (z·r)_before, not z·r / (z·r)_before: equal for an exactly symmetric preconditioner, and
//! forgiving towards one that is symmetric only up to rounding in single precision.

use rayon::prelude::*;

use super::chunks::{CHUNK, dots, max_abs, sum_chunks};
use super::rows::Rows;

/// A residual this many times the first one has left the road.
const DIVERGED: f64 = 1e8;

/// The vectors of the method.
#[derive(Debug, Default)]
pub struct Gradients {
    /// b at first, then b − A x.
    pub residual: Vec<f64>,
    /// Memory of reductions.
    pub partial: Vec<f64>,
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    sums: Vec<[f64; 2]>,
}

impl Gradients {
    /// Takes the right-hand side.
    pub fn set_right(&mut self, right: &[f64]) {
        self.residual.clear();
        self.residual.extend_from_slice(right);
        for vector in [&mut self.preconditioned, &mut self.direction, &mut self.product] {
            vector.clear();
            vector.resize(right.len(), 0.0);
        }
    }

    /// Improves `x` until no residual is larger than `tolerance`; returns the number of iterations and the largest residual.
    pub fn iterate(
        &mut self,
        rows: &Rows,
        x: &mut [f64],
        tolerance: f64,
        max_iterations: usize,
        mut precondition: impl FnMut(&[f64], &mut [f64]),
    ) -> (usize, f64) {
        let n = x.len();
        if x.iter().any(|&x| x != 0.0) {
            rows.multiply(x, &mut self.product);
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
            precondition(&self.residual, &mut self.preconditioned);
            let (z, r, q) = (&self.preconditioned, &self.residual, &self.product);
            let [rz, qz] = sum_chunks(n, &mut self.sums, |from, to| dots(&z[from..to], &r[from..to], &q[from..to]));
            let beta = if iteration == 0 { 0.0 } else { -alpha * qz / before };
            before = rz;
            each_chunk(&mut self.direction, |from, p| {
                for (p, z) in p.iter_mut().zip(&z[from..]) {
                    *p = z + beta * *p;
                }
            });
            rows.multiply(&self.direction, &mut self.product);
            let (p, q) = (&self.direction, &self.product);
            let [pq, _] = sum_chunks(n, &mut self.sums, |from, to| dots(&p[from..to], &q[from..to], &q[from..to]));
            alpha = rz / pq;
            if !alpha.is_finite() || pq <= 0.0 {
                return (iteration, residual);
            }
            each_chunk(x, |from, x| {
                for (x, p) in x.iter_mut().zip(&p[from..]) {
                    *x += alpha * p;
                }
            });
            each_chunk(&mut self.residual, |from, r| {
                for (r, q) in r.iter_mut().zip(&q[from..]) {
                    *r -= alpha * q;
                }
            });
            residual = max_abs(&self.residual, &mut self.partial);
            if residual.is_nan() || residual > DIVERGED * first {
                return (iteration + 1, residual);
            }
        }
        (max_iterations, residual)
    }
}

fn each_chunk(values: &mut [f64], work: impl Fn(usize, &mut [f64]) + Sync) {
    if values.len() > CHUNK {
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| work(k * CHUNK, chunk));
    } else {
        work(0, values);
    }
}
