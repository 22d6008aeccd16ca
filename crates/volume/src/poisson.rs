//! Symmetric positive (semi-)definite systems on the cells of a sparse grid, by preconditioned
//! conjugate gradients.
//!
//! Unknown i lies in a grid cell; it is coupled to its at most six face neighbors j by c ≥ 0 (the
//! open fraction of the face times its weight), and to Dirichlet values (air at the interface, by
//! the ghost-fluid distance) by d ≥ 0:
//!
//! ```text
//! d_i x_i + Σ_j c_ij (x_i − x_j) = b_i
//! ```
//!
//! A component of coupled cells with d = 0 throughout (a drop enclosed by walls) determines x up to
//! a constant and has a solution only if its b sum to zero. Such floating components are found; the
//! mean of b is removed from each, and x gets the mean zero.
//!
//! # Preconditioners
//!
//! *MIC(0)* ([`mic`]): modified incomplete Cholesky without fill (wang2005, §8; bridson2015). It is
//! cheap, but iterations grow with the number of cells across, and its substitutions run on one
//! thread. *Multigrid* ([`multigrid`]): one V-cycle in single precision on levels of 2³ cells each;
//! iterations hardly grow, and it runs on all threads. [`Method::Auto`] selects multigrid from
//! [`MULTIGRID_FROM`] unknowns on.
//!
//! # Limits
//!
//! Neighboring unknowns should be close in the list (tile by tile), for speed only. Results are
//! bit-identical for any number of threads: sums run over chunks of fixed size, then in order. A
//! solver that has seen its largest system allocates nothing.

mod components;
mod conjugate_gradients;
mod levels;
mod matrix;
mod mic;
mod multigrid;
mod reductions;
mod uniform_runs;

use rayon::prelude::*;
use sessile_model::StageReports;
use sessile_numerics::CHUNK;

use self::components::Components;
use self::conjugate_gradients::ConjugateGradients;
use self::matrix::Matrix;
use self::mic::Mic;
use self::multigrid::Multigrid;

/// An unknown, or none; four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionalUnknown(u32);

impl OptionalUnknown {
    /// No unknown.
    pub const NONE: Self = Self(u32::MAX);

    /// The unknown with this index.
    #[inline]
    pub fn new(unknown: usize) -> Self {
        Self(unknown as u32)
    }

    /// Its index, if there is one.
    #[inline]
    pub fn get(self) -> Option<usize> {
        self.is_some().then_some(self.0 as usize)
    }

    /// Whether there is one.
    #[inline]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// Number of unknowns from which [`Method::Auto`] selects multigrid.
///
/// Measured on half a ball on a tilted plane, to 10⁻⁶: MIC(0) needs 17, 20, 24, 34, 46 iterations
/// for 3·10³, 10⁴, 3·10⁴, 10⁵, 3·10⁵ unknowns, multigrid 8, 9, 10, 10, 11 (12 for 10⁶). On one
/// thread they take equally long at about 5·10⁴.
pub const MULTIGRID_FROM: usize = 40_000;

/// A system of equations. Arrays run over the unknowns; filled by [`System::push`] or directly.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The cell of each unknown.
    pub cells: Vec<[i32; 3]>,
    /// Unknowns across the faces −x, +x, −y, +y, −z, +z, if there are any. Must be mutual.
    pub neighbors: Vec<[OptionalUnknown; 6]>,
    /// Couplings c across the faces +x, +y, +z; not read where there is no neighbor.
    pub faces: Vec<[f64; 3]>,
    /// Couplings d to Dirichlet values.
    pub dirichlet: Vec<f64>,
    /// Right-hand sides b.
    pub rhs: Vec<f64>,
}

impl System {
    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Removes all unknowns, keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.neighbors.clear();
        self.faces.clear();
        self.dirichlet.clear();
        self.rhs.clear();
    }

    /// Adds an unknown.
    pub fn push(&mut self, cell: [i32; 3], neighbors: [OptionalUnknown; 6], faces: [f64; 3], dirichlet: f64, rhs: f64) {
        self.cells.push(cell);
        self.neighbors.push(neighbors);
        self.faces.push(faces);
        self.dirichlet.push(dirichlet);
        self.rhs.push(rhs);
    }

    /// Coupling of unknown `i` across face `face` (in the order of `neighbors`); 0 without a
    /// neighbor.
    pub fn coupling(&self, i: usize, face: usize) -> f64 {
        match self.neighbors[i][face].get() {
            None => 0.0,
            Some(j) if face.is_multiple_of(2) => self.faces[j][face / 2],
            Some(_) => self.faces[i][face / 2],
        }
    }
}

/// Preconditioner.
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

/// Tolerances and method of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The preconditioner.
    pub method: Method,
    /// Largest residual allowed in any equation, in the unit of b.
    pub tolerance: f64,
    /// Largest residual allowed, relative to the largest |b|. The looser of the two tolerances
    /// applies.
    pub relative_tolerance: f64,
    /// Iterations after which the solve has failed.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { method: Method::Auto, tolerance: 0.0, relative_tolerance: 1e-8, max_iterations: 500 }
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Largest residual of any equation left, in the unit of b.
    pub residual: f64,
    /// Largest |b|, after [`SolveReport::removed`] was subtracted.
    pub rhs: f64,
    /// Components without a Dirichlet value.
    pub floating: usize,
    /// Largest mean of b that was removed from such a component: 0 if all had a solution.
    pub removed: f64,
    /// Whether multigrid was used.
    pub multigrid: bool,
}

impl SolveReport {
    /// Writes the report of a pressure solve under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("pressure.solves", 1);
        reports.add("pressure.iterations", self.iterations as u64);
        reports.keep_largest("pressure.residual", self.residual);
    }
}

/// Why a solve failed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoissonError {
    /// The system contains a number that is not finite, or a negative coupling.
    #[error("the equation of cell {cell:?} has {what} = {value}, which must be finite{}; the state that it was made from is broken", if *what == "b" { "" } else { " and not negative" })]
    InvalidEquation {
        /// The cell.
        cell: [i32; 3],
        /// Which number: c, d, b or the initial guess.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The residual did not reach the tolerance.
    #[error(
        "the solve stopped at residual {residual:.2e} after {iterations} iterations (wanted {tolerance:.2e}); a shorter time step, or a looser tolerance, may help"
    )]
    NotConverged {
        /// Largest residual at the last iteration.
        residual: f64,
        /// Iterations done.
        iterations: usize,
        /// Residual required.
        tolerance: f64,
    },
}

/// Solves systems one after another, reusing its memory.
#[derive(Debug, Default)]
pub struct Solver {
    matrix: Matrix,
    components: Components,
    conjugate_gradients: ConjugateGradients,
    mic: Mic,
    multigrid: Multigrid,
    uses_multigrid: bool,
}

impl Solver {
    /// Solves the system; `x` holds the initial guess and receives the solution.
    ///
    /// # Panics
    /// If `x` or an array of the system has the wrong length, or a neighbor's index is out of
    /// range.
    pub fn solve(&mut self, system: &System, x: &mut [f64], options: &Options) -> Result<SolveReport, PoissonError> {
        let n = system.len();
        assert!(
            [system.neighbors.len(), system.faces.len(), system.dirichlet.len(), system.rhs.len(), x.len()] == [n; 5],
            "the arrays of a system of {n} unknowns differ in length"
        );
        check(system, x)?;
        self.matrix.assemble(system);
        self.components.find(&self.matrix, &system.dirichlet);
        self.uses_multigrid = match options.method {
            Method::Auto => n >= MULTIGRID_FROM,
            method => method == Method::Multigrid,
        };
        if self.uses_multigrid && n > 0 {
            self.matrix.list_runs(system);
            self.multigrid.prepare(system, &self.matrix);
        } else {
            self.mic.factor(&self.matrix);
        }
        self.solve_again(&system.rhs, x, options)
    }

    /// Solves the last system with another right-hand side; `x` holds the initial guess and
    /// receives the solution.
    ///
    /// # Panics
    /// If `rhs` or `x` has another length than the system.
    pub fn solve_again(&mut self, rhs: &[f64], x: &mut [f64], options: &Options) -> Result<SolveReport, PoissonError> {
        let n = self.matrix.len();
        assert!([rhs.len(), x.len()] == [n; 2], "vectors for a system of {n} unknowns differ in length");
        let mut report = SolveReport { multigrid: self.uses_multigrid, ..SolveReport::default() };
        self.conjugate_gradients.set_rhs(rhs);
        if n == 0 {
            return Ok(report);
        }
        report.floating = self.components.num_floating();
        report.removed = self.components.remove_means(&mut self.conjugate_gradients.residual);
        report.rhs = reductions::max_abs(&self.conjugate_gradients.residual, &mut self.conjugate_gradients.partial);
        let tolerance = options.tolerance.max(options.relative_tolerance * report.rhs);
        let (iterations, residual) = if self.uses_multigrid {
            let precondition = |r: &[f64], largest: f64, z: &mut [f64]| self.multigrid.apply(r, largest, z);
            self.conjugate_gradients.iterate(&self.matrix, x, tolerance, options.max_iterations, precondition)
        } else {
            let precondition = |r: &[f64], _: f64, z: &mut [f64]| self.mic.apply(&self.matrix, r, z);
            self.conjugate_gradients.iterate(&self.matrix, x, tolerance, options.max_iterations, precondition)
        };
        (report.iterations, report.residual) = (iterations, residual);
        // NaN has not converged, either.
        if residual.is_nan() || residual > tolerance {
            return Err(PoissonError::NotConverged { residual, iterations, tolerance });
        }
        self.components.remove_means(x);
        Ok(report)
    }

    /// What the last solve has left of each equation.
    pub fn residual(&self) -> &[f64] {
        &self.conjugate_gradients.residual
    }

    /// Number of unknowns on each multigrid level of the last system, finest first.
    pub fn level_sizes(&self) -> impl Iterator<Item = usize> {
        self.multigrid.level_sizes()
    }
}

fn check(system: &System, x: &[f64]) -> Result<(), PoissonError> {
    let found = (0..system.len()).into_par_iter().with_min_len(CHUNK).find_map_first(|i| {
        let is_coupling = |c: f64| c.is_finite() && c >= 0.0;
        let bad_face = (0..3)
            .filter(|axis| system.neighbors[i][2 * axis + 1].is_some())
            .map(|axis| system.faces[i][axis])
            .find(|&c| !is_coupling(c));
        let (what, value) = if !system.rhs[i].is_finite() {
            ("b", system.rhs[i])
        } else if !is_coupling(system.dirichlet[i]) {
            ("d", system.dirichlet[i])
        } else if !x[i].is_finite() {
            ("the first guess", x[i])
        } else {
            ("c", bad_face?)
        };
        Some(PoissonError::InvalidEquation { cell: system.cells[i], what, value })
    });
    found.map_or(Ok(()), Err)
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
