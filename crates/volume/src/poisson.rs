//! Symmetric positive (semi-)definite systems on the cells of a sparse grid, by preconditioned conjugate gradients.
//!
//! Unknown i stands in a grid cell; it is coupled to its at most six face neighbors j by c ≥ 0 (the open share of the face times
//! its weight), and to known values outside (air at the surface, by the ghost-fluid distance) by d ≥ 0:
//!
//! ```text
//! d_i x_i + Σ_j c_ij (x_i − x_j) = b_i
//! ```
//!
//! A component of coupled cells with d = 0 throughout (a drop enclosed by walls) determines x up to a constant and has a solution only if
//! its b sum to zero. Such components are found; the mean of b is removed from each, and x is given the mean zero.
//!
//! # Preconditioners
//!
//! *MIC(0)* (`mic`): modified incomplete Cholesky without fill (wang2005, §8; bridson2015): little work, but the number of iterations grows like the number of cells
//! across, and its substitutions run on one thread.
//! *Multigrid* (`multigrid`): one V-cycle in single precision on levels of 2³ cells each: the number of iterations hardly grows, and all of it runs on all threads.
//! [`Method::Auto`] takes the second from [`MULTIGRID_FROM`] unknowns on.
//!
//! # Limits
//!
//! Unknowns must be listed so that neighbors are near one another in the list (tile by tile), for the sake of speed only.
//! Results are the same for any number of threads: sums are taken over chunks of fixed size, then in order.
//! Nothing is allocated once a solver has seen its largest system.

mod chunks;
mod components;
mod gradients;
mod hierarchy;
mod mic;
mod multigrid;
mod rows;
mod runs;

use rayon::prelude::*;

use self::components::Components;
use self::gradients::Gradients;
use self::mic::Mic;
use self::multigrid::Multigrid;
use self::rows::Rows;

/// No neighbor.
pub const NONE: u32 = u32::MAX;

/// From this many unknowns on, [`Method::Auto`] takes multigrid.
///
/// Measured on half a ball on a tilted plane, to 10⁻⁶: MIC(0) needs 17, 20, 24, 34, 46 iterations for 3·10³, 10⁴, 3·10⁴, 10⁵, 3·10⁵ unknowns, multigrid
/// 8, 9, 10, 10, 11 (12 for 10⁶). On one thread they take equally long at about 5·10⁴.
pub const MULTIGRID_FROM: usize = 40_000;

/// A system of equations. Arrays run over the unknowns; fill it with [`System::push`] or directly.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The cell of each unknown.
    pub cells: Vec<[i32; 3]>,
    /// Unknowns across the faces −x, +x, −y, +y, −z, +z, or [`NONE`]. Must be mutual.
    pub neighbors: Vec<[u32; 6]>,
    /// Couplings c across the faces +x, +y, +z; what stands where there is no neighbor is not read.
    pub faces: Vec<[f64; 3]>,
    /// Couplings d to known values.
    pub outside: Vec<f64>,
    /// Right-hand sides b.
    pub right: Vec<f64>,
}

impl System {
    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is nothing to solve.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Forgets all unknowns, keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.neighbors.clear();
        self.faces.clear();
        self.outside.clear();
        self.right.clear();
    }

    /// Adds an unknown.
    pub fn push(&mut self, cell: [i32; 3], neighbors: [u32; 6], faces: [f64; 3], outside: f64, right: f64) {
        self.cells.push(cell);
        self.neighbors.push(neighbors);
        self.faces.push(faces);
        self.outside.push(outside);
        self.right.push(right);
    }

    /// Coupling of unknown `i` across face `face` (in the order of `neighbors`); 0 without a neighbor.
    pub fn coupling(&self, i: usize, face: usize) -> f64 {
        match self.neighbors[i][face] {
            NONE => 0.0,
            j if face.is_multiple_of(2) => self.faces[j as usize][face / 2],
            _ => self.faces[i][face / 2],
        }
    }
}

/// How to precondition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// By the number of unknowns.
    #[default]
    Auto,
    /// Modified incomplete Cholesky.
    Mic,
    /// Multigrid.
    Multigrid,
}

/// How far to go, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The preconditioner.
    pub method: Method,
    /// Largest residual of any equation that will do, in the unit of b.
    pub tolerance: f64,
    /// Largest residual that will do, as a share of the largest |b|. The looser of the two tolerances counts.
    pub relative_tolerance: f64,
    /// More iterations than this are a failure.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { method: Method::Auto, tolerance: 0.0, relative_tolerance: 1e-8, max_iterations: 500 }
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Largest residual of any equation left, in the unit of b.
    pub residual: f64,
    /// Largest |b|, after [`Report::removed`] was.
    pub right: f64,
    /// Components of coupled cells that have no known value outside.
    pub floating: usize,
    /// Largest mean of b that had to be removed from such a component: 0 if all had a solution.
    pub removed: f64,
    /// Whether multigrid was used.
    pub multigrid: bool,
}

/// Why a solve failed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoissonError {
    /// The system holds something that is not a number, or a negative coupling.
    #[error("the equation of cell {cell:?} has {what} = {value}, which must be finite{}; the state that it was made from is broken", if *what == "b" { "" } else { " and not negative" })]
    BadEquation {
        /// The cell.
        cell: [i32; 3],
        /// Which number: c, d, b or the initial x.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The residual did not become small enough.
    #[error(
        "the solve stopped at residual {residual:.2e} after {iterations} iterations (wanted {tolerance:.2e}); a shorter time step, or a looser tolerance, may help"
    )]
    NotConverged {
        /// Largest residual left.
        residual: f64,
        /// Iterations made.
        iterations: usize,
        /// Residual wanted.
        tolerance: f64,
    },
}

/// Solves systems, one after another, in memory of its own.
#[derive(Debug, Default)]
pub struct Solver {
    rows: Rows,
    components: Components,
    gradients: Gradients,
    mic: Mic,
    multigrid: Multigrid,
}

impl Solver {
    /// Solves the system; `x` holds a first guess and receives the solution.
    ///
    /// # Panics
    /// If `x` or an array of the system has the wrong length, or a neighbor's index is out of range.
    pub fn solve(&mut self, system: &System, x: &mut [f64], options: &Options) -> Result<Report, PoissonError> {
        let n = system.len();
        assert!(
            [system.neighbors.len(), system.faces.len(), system.outside.len(), system.right.len(), x.len()] == [n; 5],
            "the arrays of a system of {n} unknowns differ in length"
        );
        let mut report = Report::default();
        if n == 0 {
            return Ok(report);
        }
        check(system, x)?;
        self.rows.assemble(system);
        self.components.find(&self.rows, &system.outside);
        self.gradients.set_right(&system.right);
        report.floating = self.components.num_floating();
        report.removed = self.components.remove_means(&mut self.gradients.residual);
        report.right = chunks::max_abs(&self.gradients.residual, &mut self.gradients.partial);
        report.multigrid = match options.method {
            Method::Auto => n >= MULTIGRID_FROM,
            method => method == Method::Multigrid,
        };
        let tolerance = options.tolerance.max(options.relative_tolerance * report.right);
        let (iterations, residual) = if report.multigrid {
            self.rows.list_runs(system);
            self.multigrid.prepare(system, &self.rows);
            let precondition = |r: &[f64], largest: f64, z: &mut [f64]| self.multigrid.apply(r, largest, z);
            self.gradients.iterate(&self.rows, x, tolerance, options.max_iterations, precondition)
        } else {
            self.mic.factor(&self.rows);
            let precondition = |r: &[f64], _: f64, z: &mut [f64]| self.mic.apply(&self.rows, r, z);
            self.gradients.iterate(&self.rows, x, tolerance, options.max_iterations, precondition)
        };
        (report.iterations, report.residual) = (iterations, residual);
        // A NaN is not small enough either.
        if residual.is_nan() || residual > tolerance {
            return Err(PoissonError::NotConverged { residual, iterations, tolerance });
        }
        self.components.remove_means(x);
        Ok(report)
    }

    /// Levels of the last system that multigrid solved, finest first: how many unknowns each has.
    pub fn level_sizes(&self) -> impl Iterator<Item = usize> {
        self.multigrid.level_sizes()
    }
}

fn check(system: &System, x: &[f64]) -> Result<(), PoissonError> {
    let found = (0..system.len()).into_par_iter().with_min_len(chunks::CHUNK).find_map_first(|i| {
        let is_coupling = |c: f64| c.is_finite() && c >= 0.0;
        let bad_face = (0..3)
            .filter(|axis| system.neighbors[i][2 * axis + 1] != NONE)
            .map(|axis| system.faces[i][axis])
            .find(|&c| !is_coupling(c));
        let (what, value) = if !system.right[i].is_finite() {
            ("b", system.right[i])
        } else if !is_coupling(system.outside[i]) {
            ("d", system.outside[i])
        } else if !x[i].is_finite() {
            ("the first guess", x[i])
        } else {
            ("c", bad_face?)
        };
        Some(PoissonError::BadEquation { cell: system.cells[i], what, value })
    });
    found.map_or(Ok(()), Err)
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
