//! Runs of interior unknowns, for which the matrix need not be read.
//!
//! In the interior all six couplings of a cell are equal, and the cells of a tile's row are
//! consecutive in every list. So the neighbors of a run's first unknown determine those of the
//! others. This saves memory traffic: 8 numbers for a run instead of 12 for each unknown.

use rayon::prelude::*;

/// Unknowns of one color in a tile's row.
pub const SHORT: usize = 4;
/// Cells of a tile's row.
pub const LONG: usize = 8;

/// Consecutive unknowns, and the neighbors of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first unknown.
    pub first: u32,
    /// Neighbors of the first across −x and +x.
    along: [u32; 2],
    /// Neighbor of the last across +x.
    end: u32,
    /// Neighbors of the first across −y, +y, −z, +z; those of the others follow.
    beside: [u32; 4],
}

/// Runs among unknowns, in parts of fixed size.
#[derive(Debug, Default)]
pub struct UniformRuns {
    parts: Vec<Vec<Run>>,
    /// Unknowns in a part.
    size: usize,
}

impl UniformRuns {
    /// Removes all runs, keeps the memory.
    pub fn clear(&mut self) {
        self.parts.iter_mut().for_each(Vec::clear);
    }

    /// Runs of the part that begins with an unknown; none extends beyond it.
    pub fn of_part(&self, first: usize) -> &[Run] {
        first.checked_div(self.size).and_then(|part| self.parts.get(part)).map_or(&[], Vec::as_slice)
    }

    /// Number of runs.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Finds runs of one color among `n` unknowns, in parts of `size`.
    ///
    /// `neighbors` gives an unknown's neighbors −x to +z, numbered in the other color, if all its
    /// couplings are equal.
    pub fn list_short(&mut self, n: usize, size: usize, neighbors: impl Fn(usize) -> Option<[u32; 6]> + Sync) {
        // Each cell between two of a run is a neighbor of both, and those cells are consecutive.
        self.list::<SHORT>(n, size, neighbors, |lane, _, before, here| {
            here[0] == before[1] && (lane == SHORT - 1 || here[1] == before[1] + 1)
        });
    }

    /// Finds runs of cells, in the order of the system.
    pub fn list_long(&mut self, n: usize, size: usize, neighbors: impl Fn(usize) -> Option<[u32; 6]> + Sync) {
        self.list::<LONG>(n, size, neighbors, |_, at, before, here| {
            here[0] as usize + 1 == at && before[1] as usize == at
        });
    }

    fn list<const LANES: usize>(
        &mut self,
        n: usize,
        size: usize,
        neighbors: impl Fn(usize) -> Option<[u32; 6]> + Sync,
        follows: impl Fn(usize, usize, &[u32; 6], &[u32; 6]) -> bool + Sync,
    ) {
        self.clear();
        self.size = size;
        let count = n.div_ceil(size);
        self.parts.resize_with(count.max(self.parts.len()), Vec::new);
        self.parts[..count].par_iter_mut().enumerate().for_each(|(part, runs)| {
            // The current chain: neighbors of its first and of its last unknown, and its length.
            let (mut first, mut last, mut length) = ([0; 6], [0; 6], 0);
            for at in part * size..n.min((part + 1) * size) {
                let Some(here) = neighbors(at) else {
                    length = 0;
                    continue;
                };
                let in_line = (2..6).all(|face| here[face] == last[face] + 1);
                if length == 0 || !in_line || !follows(length, at, &last, &here) {
                    (first, length) = (here, 0);
                }
                (last, length) = (here, length + 1);
                if length == LANES {
                    let [a, b, beside @ ..] = first;
                    runs.push(Run { first: (at + 1 - LANES) as u32, along: [a, b], end: here[1], beside });
                    length = 0;
                }
            }
        });
    }
}

impl Run {
    /// Σ over the neighbors' values in the other color, for each unknown of a short run.
    #[inline]
    pub fn short_sums(&self, other: &[f32]) -> [f32; SHORT] {
        let four = |at: u32| -> &[f32; SHORT] { other[at as usize..].first_chunk().expect("a run's neighbors") };
        let [low_y, high_y, low_z, high_z] = self.beside.map(four);
        let between: &[f32; SHORT - 1] = other[self.along[1] as usize..].first_chunk().expect("cells between");
        let low_x = [other[self.along[0] as usize], between[0], between[1], between[2]];
        let high_x = [between[0], between[1], between[2], other[self.end as usize]];
        std::array::from_fn(|k| ((low_z[k] + high_z[k]) + (low_y[k] + high_y[k])) + (low_x[k] + high_x[k]))
    }

    /// The same for each cell of a long run.
    #[inline]
    pub fn long_sums(&self, x: &[f64]) -> [f64; LONG] {
        let eight = |at: u32| -> &[f64; LONG] { x[at as usize..].first_chunk().expect("a run's neighbors") };
        let [low_y, high_y, low_z, high_z] = self.beside.map(eight);
        let own = eight(self.first);
        let (mut low_x, mut high_x) = ([x[self.along[0] as usize]; LONG], [x[self.end as usize]; LONG]);
        low_x[1..].copy_from_slice(&own[..LONG - 1]);
        high_x[..LONG - 1].copy_from_slice(&own[1..]);
        std::array::from_fn(|k| ((low_z[k] + high_z[k]) + (low_y[k] + high_y[k])) + (low_x[k] + high_x[k]))
    }
}

#[cfg(test)]
mod tests {
    use crate::poisson::cases::half_ball;
    use crate::poisson::matrix::Matrix;

    /// Runs do not change the product, and most unknowns of a large drop are in one.
    #[test]
    fn runs_give_the_same_product_as_their_rows() {
        let system = half_ball(32.0);
        let x: Vec<f64> = (0..system.len()).map(|i| (i as f64 * 0.37).sin()).collect();
        let [mut plain, mut by_runs] = [vec![0.0; x.len()], vec![0.0; x.len()]];
        let mut matrix = Matrix::default();
        matrix.assemble(&system);
        let dot = matrix.multiply(&x, &mut plain, &mut Vec::new());
        matrix.list_runs(&system);
        let dot_by_runs = matrix.multiply(&x, &mut by_runs, &mut Vec::new());
        let worst = plain.iter().zip(&by_runs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-14 && (dot - dot_by_runs).abs() < 1e-12 * dot, "{worst:e} off, {dot} and {dot_by_runs}");
        let in_runs = matrix.num_in_runs();
        assert!(2 * in_runs > x.len(), "{in_runs} of {} unknowns are in runs", x.len());
    }
}
