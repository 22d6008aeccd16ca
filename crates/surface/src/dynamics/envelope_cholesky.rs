//! Cholesky factor of the coupling between neighboring vertices, complete within its envelope.
//!
//! Without the pressure term and the rigid motion the matrix of a step acts on x, y and z alike:
//!
//! ```text
//! S = diag(m_i + drag_i + κσ Σ_j w_ij) − κσ w_ij  =  L Lᵀ
//! ```
//!
//! The vertices are numbered in breadth-first order (cuthill1969) from the far end of a first
//! traversal, so that the first column of a row never decreases from row to row, and L is stored by
//! rows from that column on. On a drop of n vertices it has about 1.5 n^1.5 entries, fewer on
//! ligaments. Fixed vertices are left out.
//!
//! The paper's flow has no other terms, so a factor solves it exactly, and again for other right
//! sides. With the pressure term and the rigid motion it would leave three quarters of the
//! iterations that the cheaper incomplete factor does ([`super::incomplete_cholesky`]).

use glam::DVec3;

use crate::mesh::index::VertexIndex;

/// Least pivot relative to the diagonal: below, on poor meshes, it is raised to that.
const MIN_PIVOT: f64 = 1e-9;

/// Row of a vertex that has none yet.
const UNNUMBERED: u32 = u32::MAX;
/// Row of a vertex that is left out; all rows are below.
const LEFT_OUT: u32 = u32::MAX - 1;

/// The factor; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub struct EnvelopeCholesky {
    /// Vertex of each row.
    order: Vec<VertexIndex>,
    /// Row of each vertex, or [`LEFT_OUT`].
    rows: Vec<u32>,
    /// First column of each row, and where the row begins in `values`; it ends with the diagonal.
    first: Vec<u32>,
    starts: Vec<u32>,
    values: Vec<f64>,
    /// One over the diagonal of L.
    inverse: Vec<f64>,
    /// The column that is being eliminated.
    column: Vec<f64>,
    /// The vector that is being solved for, by row.
    solution: Vec<DVec3>,
}

impl EnvelopeCholesky {
    /// Numbers the vertices that `included` selects; returns the multiplications that factoring
    /// takes.
    pub fn number<N>(
        &mut self,
        count: usize,
        included: impl Fn(VertexIndex) -> bool,
        neighbors: impl Fn(VertexIndex) -> N,
    ) -> usize
    where
        N: Iterator<Item = VertexIndex>,
    {
        self.rows.clear();
        self.rows.extend(VertexIndex::first(count).map(|v| if included(v) { UNNUMBERED } else { LEFT_OUT }));
        let all = self.rows.iter().filter(|&&row| row == UNNUMBERED).count();
        self.order.clear();
        let mut first = None;
        for _ in 0..2 {
            self.order.iter().for_each(|&v| self.rows[v] = UNNUMBERED);
            self.order.clear();
            let mut at = 0;
            // Fixed vertices may divide the others into several components.
            for start in first.into_iter().chain(VertexIndex::first(count)) {
                self.append(start);
                while at < self.order.len() {
                    for v in neighbors(self.order[at]) {
                        self.append(v);
                    }
                    at += 1;
                }
                if self.order.len() == all {
                    break;
                }
            }
            first = self.order.last().copied();
        }
        self.first.clear();
        self.starts.clear();
        let (mut size, mut work) = (0, 0);
        for (row, &v) in self.order.iter().enumerate() {
            // What is left out is beyond all rows.
            let first = neighbors(v).map(|w| self.rows[w] as usize).fold(row, usize::min);
            self.first.push(first as u32);
            self.starts.push(size as u32);
            size += row - first + 1;
            work += (row - first + 1).pow(2);
        }
        self.starts.push(size as u32);
        work / 2
    }

    /// Appends a vertex to the order unless it is in it or left out.
    #[inline]
    fn append(&mut self, v: VertexIndex) {
        if self.rows[v] == UNNUMBERED {
            self.rows[v] = self.order.len() as u32;
            self.order.push(v);
        }
    }

    /// Factors the matrix with these diagonals and rows of off-diagonal (column, value) pairs, in
    /// the numbering of [`number`](Self::number); returns whether every pivot was positive, so that
    /// the factor is exact.
    pub fn factor<R>(&mut self, diagonal: impl Fn(VertexIndex) -> f64, entries: impl Fn(VertexIndex) -> R) -> bool
    where
        R: Iterator<Item = (VertexIndex, f64)>,
    {
        self.values.clear();
        self.values.resize(self.starts.last().map_or(0, |&size| size as usize), 0.0);
        self.inverse.clear();
        for (row, &v) in self.order.iter().enumerate() {
            let (start, first) = (self.starts[row] as usize, self.first[row] as usize);
            for (other, value) in entries(v) {
                let column = self.rows[other] as usize;
                if column < row {
                    self.values[start + column - first] += value;
                }
            }
            let diagonal = diagonal(v);
            self.values[start + row - first] = diagonal;
            self.inverse.push(diagonal);
        }
        self.eliminate()
    }

    /// Eliminates column by column; each updates the rows below it that reach it.
    ///
    /// `inverse` has the diagonal of the matrix on entry.
    fn eliminate(&mut self) -> bool {
        let Self { first, starts, values, inverse, column, .. } = self;
        let n = first.len();
        let (mut exact, mut end) = (true, 0);
        for k in 0..n {
            let (pivot, least) = (values[starts[k + 1] as usize - 1], MIN_PIVOT * inverse[k]);
            exact &= pivot > least;
            let scale = 1.0 / pivot.max(least).max(f64::MIN_POSITIVE).sqrt();
            inverse[k] = scale;
            // First columns never decrease, so the rows that reach this column are consecutive.
            end = end.max(k + 1);
            while end < n && first[end] as usize <= k {
                end += 1;
            }
            column.clear();
            for row in k + 1..end {
                let value = &mut values[starts[row] as usize + k - first[row] as usize];
                *value *= scale;
                column.push(*value);
            }
            for (j, &l) in column.iter().enumerate() {
                let row = k + 1 + j;
                let from = starts[row] as usize + k + 1 - first[row] as usize;
                for (value, other) in values[from..=from + j].iter_mut().zip(&column[..=j]) {
                    *value -= l * other;
                }
            }
        }
        exact
    }

    /// Applies (L Lᵀ)⁻¹ in place; vertices without a row become zero.
    pub fn solve(&mut self, x: &mut [DVec3]) {
        let Self { order, first, starts, values, inverse, solution, .. } = self;
        solution.clear();
        for (row, &v) in order.iter().enumerate() {
            let (begin, end) = (starts[row] as usize, starts[row + 1] as usize - 1);
            let mut value = x[v];
            for (l, known) in values[begin..end].iter().zip(&solution[first[row] as usize..]) {
                value -= *known * *l;
            }
            solution.push(value * inverse[row]);
        }
        x.fill(DVec3::ZERO);
        for (row, &v) in order.iter().enumerate().rev() {
            let (begin, end) = (starts[row] as usize, starts[row + 1] as usize - 1);
            let value = solution[row] * inverse[row];
            x[v] = value;
            for (l, other) in values[begin..end].iter().zip(&mut solution[first[row] as usize..row]) {
                *other -= value * *l;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives::sphere;

    /// The Laplacian of a mesh with a shift, and two fixed vertices that leave it in one piece.
    #[test]
    fn a_solve_inverts_the_matrix_on_the_vertices_that_are_not_fixed() {
        let mesh = sphere(DVec3::ZERO, 1.0, 0.3, |_| 1.0).unwrap();
        let n = mesh.positions.len();
        let is_free = |v: VertexIndex| ![3, 40].contains(&v.to_usize());
        let neighbors = |v: VertexIndex| mesh.fan(v).map(|h| mesh.to(h));
        let diagonal = |v: VertexIndex| 0.01 + mesh.valence(v) as f64;
        let mut factor = EnvelopeCholesky::default();
        let work = factor.number(n, is_free, neighbors);
        assert!(2 * work < 3 * n * n, "{work} multiplications for {n} vertices");
        assert!(factor.factor(diagonal, |v| neighbors(v).map(|w| (w, -1.0))));
        let right: Vec<DVec3> = (0..n).map(|i| DVec3::new((i as f64).sin(), i as f64, 1.0)).collect();
        let mut x = right.clone();
        factor.solve(&mut x);
        for v in VertexIndex::first(n) {
            if !is_free(v) {
                assert_eq!(x[v], DVec3::ZERO, "a fixed vertex stays at zero");
                continue;
            }
            let image = x[v] * diagonal(v) - neighbors(v).map(|w| x[w]).sum::<DVec3>();
            let off = image.distance(right[v]);
            assert!(off < 1e-9, "row {v} is off by {off}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_is_reported() {
        let mut factor = EnvelopeCholesky::default();
        let beside = |v: VertexIndex| std::iter::once(VertexIndex::new(1 - v.to_usize()));
        factor.number(2, |_| true, beside);
        assert!(factor.factor(|_| 2.0, |v| beside(v).map(|w| (w, -1.0))));
        assert!(!factor.factor(|_| 1.0, |v| beside(v).map(|w| (w, -2.0))));
    }
}
