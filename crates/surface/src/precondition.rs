//! An approximate inverse of what couples a vertex to its neighbors, for the solver to iterate with.
//!
//! Without the pressure's part and the motion of the whole, the matrix of a step acts on x, y and z alike:
//!
//! ```text
//! S = diag(m_i + drag_i + κσ Σ_j w_ij) − κσ w_ij  ≈  L Lᵀ
//! ```
//!
//! L is the incomplete Cholesky factor with the pattern of S (meijerink1977): exact where the mesh has no loops, and on meshes it leaves conjugate gradients a third
//! of the iterations of a diagonal where stiffness is what counts. Vertices that are held are left out; those that may only slide keep their coupling, and what is asked of L is
//! projected before and after, so that the whole stays symmetric.
//!
//! Large drops are cut into pieces of [`chunks::CHUNK`] vertices that do not know of one another: each is solved by whichever thread is free, to the same bits.

use glam::DVec3;

use crate::chunks;

/// What is left of a diagonal by elimination, over the diagonal, at least: below, on ugly meshes, a row is taken to stand alone.
const LEAST_PIVOT: f64 = 0.02;

/// The factor, kept between calls for its memory.
#[derive(Clone, Debug, Default)]
pub struct Incomplete {
    /// Where each row begins in `entries`.
    starts: Vec<u32>,
    /// Columns before the diagonal, rising, and L there.
    entries: Vec<(u32, f64)>,
    /// One over the diagonal of L.
    over: Vec<f64>,
    /// For the row at hand, L by column.
    open: Vec<f64>,
}

impl Incomplete {
    /// Factors the matrix with these diagonals and, by `row`, the columns and values beside them; `None` of a diagonal leaves a vertex out.
    pub fn factor<R>(&mut self, count: usize, diagonal: impl Fn(usize) -> Option<f64>, row: impl Fn(usize) -> R)
    where
        R: Iterator<Item = (u32, f64)>,
    {
        self.starts.clear();
        self.entries.clear();
        self.over.clear();
        self.open.clear();
        self.open.resize(count, 0.0);
        for i in 0..count {
            let first = self.entries.len();
            self.starts.push(first as u32);
            let Some(whole) = diagonal(i) else {
                self.over.push(0.0);
                continue;
            };
            let piece = i - i % chunks::CHUNK;
            let before = |&(j, _): &(u32, f64)| (piece..i).contains(&(j as usize)) && self.over[j as usize] != 0.0;
            self.entries.extend(row(i).filter(before));
            self.entries[first..].sort_unstable_by_key(|entry| entry.0);
            let mut left = whole;
            for k in first..self.entries.len() {
                let (j, mut value) = self.entries[k];
                let others = self.starts[j as usize] as usize..self.starts[j as usize + 1] as usize;
                for &(column, l) in &self.entries[others] {
                    value -= l * self.open[column as usize];
                }
                value *= self.over[j as usize];
                self.entries[k].1 = value;
                self.open[j as usize] = value;
                left -= value * value;
            }
            for &(j, _) in &self.entries[first..] {
                self.open[j as usize] = 0.0;
            }
            if left < LEAST_PIVOT * whole {
                self.entries.truncate(first);
                left = whole;
            }
            self.over.push(1.0 / left.max(1e-300).sqrt());
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// (L Lᵀ)⁻¹ of what is in `x`, in place: the vertices of the piece that begins at `first`.
    pub fn solve(&self, first: usize, x: &mut [DVec3]) {
        let row = |i: usize| &self.entries[self.starts[first + i] as usize..self.starts[first + i + 1] as usize];
        for i in 0..x.len() {
            let mut value = x[i];
            for &(j, l) in row(i) {
                value -= x[j as usize - first] * l;
            }
            x[i] = value * self.over[first + i];
        }
        for i in (0..x.len()).rev() {
            let value = x[i] * self.over[first + i];
            x[i] = value;
            for &(j, l) in row(i) {
                x[j as usize - first] -= value * l;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of vertices has no loops, so that nothing is left out of its factor.
    #[test]
    fn on_a_path_the_factor_is_exact() {
        let n = 50;
        let beside = |i: usize| {
            [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)].into_iter().flatten().map(|j| (j as u32, -1.0))
        };
        // One is held.
        let diagonal = |i: usize| (i != 20).then_some(2.3);
        let mut factor = Incomplete::default();
        factor.factor(n, diagonal, beside);
        let right: Vec<DVec3> = (0..n).map(|i| DVec3::new((i as f64).sin(), i as f64, 1.0)).collect();
        let mut x = right.clone();
        factor.solve(0, &mut x);
        for i in (0..n).filter(|&i| i != 20) {
            let image = x[i] * 2.3 - beside(i).map(|(j, _)| x[j as usize]).sum::<DVec3>();
            let off = image.distance(right[i]);
            assert!(off < 1e-10, "row {i} is off by {off}");
        }
        assert_eq!(x[20], DVec3::ZERO, "what is held stays");
    }
}
