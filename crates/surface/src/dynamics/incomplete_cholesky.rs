//! Incomplete Cholesky preconditioner of the coupling between neighboring vertices.
//!
//! Without the pressure term and the rigid motion the matrix of a step acts on x, y and z alike:
//!
//! ```text
//! S = diag(m_i + drag_i + κσ Σ_j w_ij) − κσ w_ij  ≈  L Lᵀ
//! ```
//!
//! L has the sparsity pattern of S (meijerink1977). It is exact on graphs without cycles; on meshes
//! dominated by stiffness it needs a third of the iterations of the diagonal. Fixed vertices are
//! left out. Vertices that may slide keep their coupling; vectors are projected before and after
//! applying L, so that the preconditioner stays symmetric.
//!
//! Large drops are divided into independent blocks of [`chunks::CHUNK`] vertices, so the result is
//! bit-identical for any number of threads.

use glam::DVec3;

use crate::chunks;
use crate::mesh::index::VertexIndex;

/// Least pivot relative to the diagonal: below, on poor meshes, the row's off-diagonals are
/// dropped.
const MIN_PIVOT: f64 = 0.02;

/// The factor; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct IncompleteCholesky {
    /// Start of each row in `entries`.
    starts: Vec<u32>,
    /// Entries of L left of the diagonal, by ascending column.
    entries: Vec<(VertexIndex, f64)>,
    /// One inverse the diagonal of L.
    inverse: Vec<f64>,
    /// Entries of the current row, by column.
    row_values: Vec<f64>,
}

impl IncompleteCholesky {
    /// Factors the matrix with these diagonals and rows of off-diagonal (column, value) pairs.
    ///
    /// A diagonal of `None` leaves a vertex out.
    pub fn factor<R>(
        &mut self,
        count: usize,
        diagonal: impl Fn(VertexIndex) -> Option<f64>,
        row: impl Fn(VertexIndex) -> R,
    ) where
        R: Iterator<Item = (VertexIndex, f64)>,
    {
        self.starts.clear();
        self.entries.clear();
        self.inverse.clear();
        self.row_values.clear();
        self.row_values.resize(count, 0.0);
        for i in VertexIndex::first(count) {
            let first = self.entries.len();
            self.starts.push(first as u32);
            let Some(full) = diagonal(i) else {
                self.inverse.push(0.0);
                continue;
            };
            let chunk_start = VertexIndex::new(i.to_usize() - i.to_usize() % chunks::CHUNK);
            let before = |&(j, _): &(VertexIndex, f64)| (chunk_start..i).contains(&j) && self.inverse[j] != 0.0;
            self.entries.extend(row(i).filter(before));
            self.entries[first..].sort_unstable_by_key(|entry| entry.0);
            let mut left = full;
            for k in first..self.entries.len() {
                let (j, mut value) = self.entries[k];
                let others = self.starts[j] as usize..self.starts[j.to_usize() + 1] as usize;
                for &(column, l) in &self.entries[others] {
                    value -= l * self.row_values[column];
                }
                value *= self.inverse[j];
                self.entries[k].1 = value;
                self.row_values[j] = value;
                left -= value * value;
            }
            for &(j, _) in &self.entries[first..] {
                self.row_values[j] = 0.0;
            }
            if left < MIN_PIVOT * full {
                self.entries.truncate(first);
                left = full;
            }
            self.inverse.push(1.0 / left.max(1e-300).sqrt());
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// Applies (L Lᵀ)⁻¹ in place to the block of vertices that begins at `first`.
    pub fn solve(&self, first: usize, x: &mut [DVec3]) {
        let row = |i: usize| &self.entries[self.starts[first + i] as usize..self.starts[first + i + 1] as usize];
        for i in 0..x.len() {
            let mut value = x[i];
            for &(j, l) in row(i) {
                value -= x[j.to_usize() - first] * l;
            }
            x[i] = value * self.inverse[first + i];
        }
        for i in (0..x.len()).rev() {
            let value = x[i] * self.inverse[first + i];
            x[i] = value;
            for &(j, l) in row(i) {
                x[j.to_usize() - first] -= value * l;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path has no cycles, so its incomplete factor is complete.
    #[test]
    fn the_factor_of_a_path_graph_is_exact() {
        let n = 50;
        let beside = |i: VertexIndex| {
            let i = i.to_usize();
            [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)]
                .into_iter()
                .flatten()
                .map(|j| (VertexIndex::new(j), -1.0))
        };
        // One vertex is fixed.
        let fixed = VertexIndex::new(20);
        let diagonal = |i: VertexIndex| (i != fixed).then_some(2.3);
        let mut factor = IncompleteCholesky::default();
        factor.factor(n, diagonal, beside);
        let right: Vec<DVec3> = (0..n).map(|i| DVec3::new((i as f64).sin(), i as f64, 1.0)).collect();
        let mut x = right.clone();
        factor.solve(0, &mut x);
        for i in VertexIndex::first(n).filter(|&i| i != fixed) {
            let image = x[i] * 2.3 - beside(i).map(|(j, _)| x[j]).sum::<DVec3>();
            let off = image.distance(right[i]);
            assert!(off < 1e-10, "row {i} is off by {off}");
        }
        assert_eq!(x[fixed], DVec3::ZERO, "a fixed vertex stays at zero");
    }
}
