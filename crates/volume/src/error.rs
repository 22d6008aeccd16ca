//! Errors of the model: scenes that it cannot run, and solves that fail.

use crate::poisson::PoissonError;

/// Why a linear solve of a step failed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{solver}: {error}")]
pub struct SolveError {
    /// Which solve, e.g. "pressure solve".
    pub solver: &'static str,
    /// What went wrong.
    pub error: PoissonError,
}

/// Why a scene cannot run on the volume model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VolumeError {
    /// There is nothing to derive a cell size from.
    #[error(
        "the volume model needs a cell size, and this scene has no drop to derive one from: set resolution.cell, e.g. \"0.1 mm\""
    )]
    NoCell,
    /// A drop that the grid cannot resolve.
    #[error(
        "drops.{drop} is smaller than a few cells (radius {radius_mm:.4} mm, cell {cell_mm:.4} mm): set resolution.cell to at most {wanted_mm:.4} mm"
    )]
    CellTooLarge {
        /// Index of the drop.
        drop: usize,
        /// Radius of the sphere (or circle) of its volume, in mm.
        radius_mm: f64,
        /// Cell size, in mm.
        cell_mm: f64,
        /// Cell size that would suffice, in mm.
        wanted_mm: f64,
    },
    /// A mesh whose vertices move.
    #[error(
        "solid `{solid}` deforms, which the volume model does not support: use \
         the droplet or surface model, or remove `deform`"
    )]
    Deforming {
        /// Its name.
        solid: String,
    },
    /// A solid that the grid cannot resolve.
    #[error(
        "solid `{solid}` is {thickness_mm:.4} mm thick, less than two cells of {cell_mm:.4} mm: set resolution.cell to at most {wanted_mm:.4} mm, or make it thicker"
    )]
    ThinSolid {
        /// Its name.
        solid: String,
        /// Its thickness, in mm.
        thickness_mm: f64,
        /// Cell size, in mm.
        cell_mm: f64,
        /// Cell size that would suffice, in mm.
        wanted_mm: f64,
    },
    /// Periods that are not whole numbers of tiles.
    #[error(
        "the domain's periods must be whole numbers of tiles of 8 cells: {period_mm:.4} mm along {axis} is {tiles:.3} tiles of {tile_mm:.4} mm; \
         set resolution.cell to {wanted_mm:.6} mm"
    )]
    Period {
        /// x, y or z.
        axis: char,
        /// The period, in mm.
        period_mm: f64,
        /// The period in tiles.
        tiles: f64,
        /// Side of a tile, in mm.
        tile_mm: f64,
        /// Cell size that would suffice, in mm.
        wanted_mm: f64,
    },
    /// Drops that are too far apart.
    #[error("{0}")]
    Extent(String),
    /// A feature that the model does not have.
    #[error("the volume model of this version has no {what}: {instead}")]
    NotYet {
        /// The feature.
        what: &'static str,
        /// What to use instead.
        instead: &'static str,
    },
    /// A time step above the stability limit of surface tension.
    #[error(
        "volume.dt is {dt_us:.3} us, and steps on cells of {cell_mm:.4} mm are unstable above {longest_us:.3} us: leave volume.dt out, or set it below that"
    )]
    LongStep {
        /// As given, in µs.
        dt_us: f64,
        /// The longest stable step, in µs.
        longest_us: f64,
        /// Cell size, in mm.
        cell_mm: f64,
    },
}
