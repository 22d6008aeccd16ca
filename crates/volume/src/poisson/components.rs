//! Connected components of a matrix, and those that float: they have no Dirichlet value.

use sessile_numerics::UnionFind;

use super::matrix::Matrix;

/// The floating components.
#[derive(Debug, Default)]
pub struct Components {
    sets: UnionFind,
    /// Sum of the couplings to Dirichlet values, for each component's first unknown.
    dirichlet: Vec<f64>,
    /// The floating component of each unknown; empty when no component floats.
    floating: Vec<Option<u32>>,
    count: u32,
    sums: Vec<(f64, u32)>,
}

impl Components {
    /// Finds the components of a matrix and which of them float.
    pub fn find(&mut self, matrix: &Matrix, dirichlet: &[f64]) {
        let n = matrix.len();
        self.sets.reset(n);
        for i in 0..n {
            for entry in matrix.earlier(i) {
                self.sets.union(i as u32, entry.column);
            }
        }
        self.dirichlet.clear();
        self.dirichlet.resize(n, 0.0);
        for (i, &dirichlet) in dirichlet.iter().enumerate().filter(|(_, dirichlet)| **dirichlet > 0.0) {
            let first = self.sets.find(i as u32);
            self.dirichlet[first as usize] += dirichlet;
        }
        self.count = 0;
        self.floating.clear();
        let floats = |first: u32, dirichlet: &[f64]| dirichlet[first as usize] == 0.0;
        if !(0..n as u32).any(|i| self.sets.find(i) == i && floats(i, &self.dirichlet)) {
            return;
        }
        for i in 0..n as u32 {
            let first = self.sets.find(i);
            let component = if first != i {
                // First unknowns precede the others of their components.
                self.floating[first as usize]
            } else if floats(i, &self.dirichlet) {
                self.count += 1;
                Some(self.count - 1)
            } else {
                None
            };
            self.floating.push(component);
        }
    }

    /// Number of floating components.
    pub fn num_floating(&self) -> usize {
        self.count as usize
    }

    /// Subtracts from each floating component's values their mean; returns the largest magnitude of
    /// them.
    pub fn remove_means(&mut self, values: &mut [f64]) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.sums.clear();
        self.sums.resize(self.count as usize, (0.0, 0));
        for (&value, &component) in values.iter().zip(&self.floating) {
            if let Some(component) = component {
                let sum = &mut self.sums[component as usize];
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
        for (value, &component) in values.iter_mut().zip(&self.floating) {
            if let Some(component) = component {
                let (sum, count) = self.sums[component as usize];
                *value -= sum / f64::from(count);
            }
        }
        self.sums.iter().fold(0.0, |max, &(sum, count)| f64::max(max, (sum / f64::from(count)).abs()))
    }
}
