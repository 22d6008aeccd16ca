//! The assembled matrix: for each unknown its diagonal and its couplings, those to earlier unknowns first.

use rayon::prelude::*;

use super::chunks::CHUNK;
use super::{NONE, System};

/// A coupling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    /// The other unknown.
    pub column: u32,
    /// c, positive.
    pub coupling: f64,
}

/// One unknown's couplings: those to earlier unknowns, then those to later ones.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    entries: [Entry; 6],
    earlier: u8,
    all: u8,
}

/// The matrix d + Σc on the diagonal, −c off it.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    /// The diagonal.
    pub diagonal: Vec<f64>,
}

impl Rows {
    /// Reads a system; couplings of 0 are left out.
    pub fn assemble(&mut self, system: &System) {
        let n = system.len();
        self.rows.clear();
        self.rows.resize(n, Row::default());
        self.diagonal.clear();
        self.diagonal.resize(n, 0.0);
        let rows = self.rows.par_iter_mut().zip(self.diagonal.par_iter_mut());
        rows.enumerate().with_min_len(CHUNK).for_each(|(i, (row, diagonal))| {
            *diagonal = system.outside[i];
            for face in 0..6 {
                let column = system.neighbours[i][face];
                // Along z, a planar run's cell is its own neighbour.
                if column == NONE || column as usize == i {
                    continue;
                }
                let coupling = system.coupling(i, face);
                if coupling > 0.0 {
                    *diagonal += coupling;
                    row.insert(Entry { column, coupling });
                    row.earlier += u8::from((column as usize) < i);
                }
            }
        });
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// All couplings of unknown `i`, by rising column.
    pub fn all(&self, i: usize) -> &[Entry] {
        &self.rows[i].entries[..usize::from(self.rows[i].all)]
    }

    /// Its couplings to unknowns before it.
    pub fn earlier(&self, i: usize) -> &[Entry] {
        &self.rows[i].entries[..usize::from(self.rows[i].earlier)]
    }

    /// Its couplings to unknowns after it.
    pub fn later(&self, i: usize) -> &[Entry] {
        &self.rows[i].entries[usize::from(self.rows[i].earlier)..usize::from(self.rows[i].all)]
    }

    /// Product with a vector.
    pub fn multiply(&self, x: &[f64], product: &mut [f64]) {
        let chunk = |(k, out): (usize, &mut [f64])| {
            for (i, value) in (k * CHUNK..).zip(out) {
                let coupled: f64 = self.all(i).iter().map(|e| e.coupling * x[e.column as usize]).sum();
                *value = self.diagonal[i] * x[i] - coupled;
            }
        };
        if product.len() > CHUNK {
            product.par_chunks_mut(CHUNK).enumerate().for_each(chunk);
        } else {
            product.chunks_mut(CHUNK).enumerate().for_each(chunk);
        }
    }
}

impl Row {
    /// Adds a coupling, by rising column.
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
