//! Connected components of a matrix, and those that float: they have no Dirichlet value.

use super::matrix::Matrix;

/// The floating components.
#[derive(Debug, Default)]
pub struct Components {
    /// Union by least index: points to an earlier unknown of the same component, or to itself.
    parent: Vec<u32>,
    /// Sum of the couplings to Dirichlet values, for each component's first unknown.
    dirichlet: Vec<f64>,
    /// The floating component of each unknown; empty when no component floats.
    floating: Vec<u32>,
    count: usize,
    sums: Vec<(f64, u32)>,
}

const HELD: u32 = u32::MAX;

impl Components {
    /// Finds the components of a matrix and which of them float.
    pub fn find(&mut self, matrix: &Matrix, dirichlet: &[f64]) {
        let n = matrix.len();
        self.parent.clear();
        self.parent.extend(0..n as u32);
        for i in 0..n {
            let mut own = i as u32;
            for entry in matrix.earlier(i) {
                let other = root(&mut self.parent, entry.column);
                self.parent[own.max(other) as usize] = own.min(other);
                own = own.min(other);
            }
        }
        self.dirichlet.clear();
        self.dirichlet.resize(n, 0.0);
        for (i, &dirichlet) in dirichlet.iter().enumerate().filter(|(_, dirichlet)| **dirichlet > 0.0) {
            let root = root(&mut self.parent, i as u32);
            self.dirichlet[root as usize] += dirichlet;
        }
        self.count = 0;
        self.floating.clear();
        let is_floating_root =
            |i: usize, parent: &[u32], dirichlet: &[f64]| parent[i] == i as u32 && dirichlet[i] == 0.0;
        if !(0..n).any(|i| is_floating_root(i, &self.parent, &self.dirichlet)) {
            return;
        }
        for i in 0..n {
            let number = if is_floating_root(i, &self.parent, &self.dirichlet) {
                self.count += 1;
                self.count as u32 - 1
            } else {
                match root(&mut self.parent, i as u32) {
                    root if root == i as u32 => HELD,
                    // First unknowns precede the others of their components.
                    root => self.floating[root as usize],
                }
            };
            self.floating.push(number);
        }
    }

    /// Number of floating components.
    pub fn num_floating(&self) -> usize {
        self.count
    }

    /// Subtracts from each floating component's values their mean; returns the largest magnitude of
    /// them.
    pub fn remove_means(&mut self, values: &mut [f64]) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.sums.clear();
        self.sums.resize(self.count, (0.0, 0));
        for (&value, &component) in values.iter().zip(&self.floating) {
            if component != HELD {
                let sum = &mut self.sums[component as usize];
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
        for (value, &component) in values.iter_mut().zip(&self.floating) {
            if component != HELD {
                let (sum, count) = self.sums[component as usize];
                *value -= sum / f64::from(count);
            }
        }
        self.sums.iter().fold(0.0, |max, &(sum, count)| f64::max(max, (sum / f64::from(count)).abs()))
    }
}

/// The root of an unknown; shortens the way for the next who asks.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        let above = parent[parent[i as usize] as usize];
        parent[i as usize] = above;
        i = above;
    }
    i
}
