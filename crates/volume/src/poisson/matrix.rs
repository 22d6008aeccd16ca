//! The assembled matrix: diagonal and couplings of each unknown, couplings to earlier unknowns
//! first.

use rayon::prelude::*;
use sessile_numerics::CHUNK;

use super::System;
use super::reductions::dots;
use super::uniform_runs::{LONG, UniformRuns};

/// A coupling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    /// The other unknown.
    pub column: u32,
    /// c, positive.
    pub coupling: f64,
}

/// Couplings of one unknown: to earlier unknowns, then to later ones.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    entries: [Entry; 6],
    earlier: u8,
    all: u8,
}

/// The matrix d + Σc on the diagonal, −c off it.
#[derive(Debug, Default)]
pub struct Matrix {
    matrix: Vec<Row>,
    /// The diagonal.
    pub diagonal: Vec<f64>,
    /// Strongest coupling, and the unknowns that have six of that strength.
    full: f64,
    uniform: Vec<bool>,
    runs: UniformRuns,
}

impl Matrix {
    /// Assembles a system; couplings of 0 are left out.
    pub fn assemble(&mut self, system: &System) {
        let n = system.len();
        self.matrix.resize(n, Row::default());
        self.diagonal.resize(n, 0.0);
        self.uniform.resize(n, false);
        self.runs.clear();
        let strongest = |i: usize| {
            let high = (0..3).filter(|axis| system.neighbors[i][2 * axis + 1].is_some());
            high.map(|axis| system.faces[i][axis]).fold(0.0, f64::max)
        };
        let full = (0..n).into_par_iter().with_min_len(CHUNK).map(strongest).reduce(|| 0.0, f64::max);
        self.full = full;
        let matrix = self.matrix.par_iter_mut().zip(self.diagonal.par_iter_mut()).zip(self.uniform.par_iter_mut());
        matrix.enumerate().with_min_len(CHUNK).for_each(|(i, ((row, diagonal), uniform))| {
            *row = Row::default();
            *diagonal = system.dirichlet[i];
            for face in 0..6 {
                // In planar runs a cell is its own neighbor along z.
                let Some(column) = system.neighbors[i][face].get().filter(|&column| column != i) else { continue };
                let coupling = system.coupling(i, face);
                if coupling > 0.0 {
                    *diagonal += coupling;
                    row.insert(Entry { column: column as u32, coupling });
                    row.earlier += u8::from(column < i);
                }
            }
            *uniform = row.all == 6 && row.entries.iter().all(|entry| entry.coupling == full);
        });
    }

    /// Finds the runs, for a system that is large enough to benefit.
    pub fn list_runs(&mut self, system: &System) {
        let mut runs = std::mem::take(&mut self.runs);
        runs.list_long(self.len(), CHUNK, |i| self.uniform[i].then(|| self.uniform_neighbors(system, i)));
        self.runs = runs;
    }

    /// The six neighbors of an unknown whose couplings are uniform.
    pub fn uniform_neighbors(&self, system: &System, i: usize) -> [u32; 6] {
        system.neighbors[i].map(|neighbor| neighbor.get().expect("uniform unknowns have six neighbors") as u32)
    }

    /// Number of unknowns in runs.
    #[cfg(test)]
    pub fn num_in_runs(&self) -> usize {
        LONG * self.runs.len()
    }

    /// The strongest coupling.
    pub fn full(&self) -> f64 {
        self.full
    }

    /// Whether an unknown has six couplings, all of the largest strength.
    pub fn is_uniform(&self, i: usize) -> bool {
        self.uniform[i]
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// All couplings of unknown `i`, by ascending column.
    pub fn all(&self, i: usize) -> &[Entry] {
        &self.matrix[i].entries[..usize::from(self.matrix[i].all)]
    }

    /// Its couplings to earlier unknowns.
    pub fn earlier(&self, i: usize) -> &[Entry] {
        &self.matrix[i].entries[..usize::from(self.matrix[i].earlier)]
    }

    /// Its couplings to later unknowns.
    pub fn later(&self, i: usize) -> &[Entry] {
        &self.matrix[i].entries[usize::from(self.matrix[i].earlier)..usize::from(self.matrix[i].all)]
    }

    /// Product with a vector, and the dot product of the two; `sums` is scratch memory.
    pub fn multiply(&self, x: &[f64], product: &mut [f64], sums: &mut Vec<f64>) -> f64 {
        sums.clear();
        sums.resize(product.len().div_ceil(CHUNK), 0.0);
        let chunk = |(k, (out, sum)): (usize, (&mut [f64], &mut f64))| {
            let from = k * CHUNK;
            let mut done = 0;
            for run in self.runs.of_part(from) {
                let first = run.first as usize;
                self.multiply_rows(x, from + done, &mut out[done..first - from]);
                let (neighbors, own) = (run.long_sums(x), &x[first..][..LONG]);
                let diagonal = &self.diagonal[first..][..LONG];
                for (lane, out) in out[first - from..][..LONG].iter_mut().enumerate() {
                    *out = diagonal[lane] * own[lane] - self.full * neighbors[lane];
                }
                done = first - from + LONG;
            }
            self.multiply_rows(x, from + done, &mut out[done..]);
            *sum = dots(&x[from..from + out.len()], out, out)[0];
        };
        if product.len() > CHUNK {
            product.par_chunks_mut(CHUNK).zip(&mut *sums).enumerate().for_each(chunk);
        } else {
            product.chunks_mut(CHUNK).zip(&mut *sums).enumerate().for_each(chunk);
        }
        sums.iter().sum()
    }

    /// Rows of the product from `first` on.
    fn multiply_rows(&self, x: &[f64], first: usize, out: &mut [f64]) {
        for (i, value) in (first..).zip(out) {
            let coupled: f64 = self.all(i).iter().map(|e| e.coupling * x[e.column as usize]).sum();
            *value = self.diagonal[i] * x[i] - coupled;
        }
    }
}

impl Row {
    /// Adds a coupling, by ascending column.
    fn insert(&mut self, entry: Entry) {
        let mut place = usize::from(self.all);
        while place > 0 && self.entries[place - 1].column > entry.column {
            self.entries[place] = self.entries[place - 1];
            place -= 1;
        }
        self.entries[place] = entry;
        self.all += 1;
    }
}
