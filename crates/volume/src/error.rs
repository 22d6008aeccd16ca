//! What a scene can ask that the volume model cannot do.

/// Why a scene does not run on the volume model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VolumeError {
    /// There is nothing to derive a cell size from.
    #[error(
        "the volume model needs a cell size, and this scene has no drop to derive one from: set resolution.cell, such as \"0.1 mm\""
    )]
    NoCell,
    /// A cell that is not a length.
    #[error("resolution.cell must be a positive length, got {cell} m")]
    Cell {
        /// As asked, in m.
        cell: f64,
    },
    /// A drop that the cells cannot show.
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
        /// Cell size that would do, in mm.
        wanted_mm: f64,
    },
    /// A solid that the cells cannot show.
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
        /// Cell size that would do, in mm.
        wanted_mm: f64,
    },
    /// Too many cells.
    #[error(
        "the liquid at the start needs about {cells:.1e} cells, {needed_gb:.1} GB, and this machine has {memory_gb:.1} GB free: set resolution.cell to at least {wanted_mm:.4} mm"
    )]
    Memory {
        /// Active cells.
        cells: f64,
        /// Memory for them, in GB.
        needed_gb: f64,
        /// Memory there is, in GB.
        memory_gb: f64,
        /// Cell size that would do, in mm.
        wanted_mm: f64,
    },
    /// Periods that no cell divides.
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
        /// Cell size that would do, in mm.
        wanted_mm: f64,
    },
    /// Not part of this version.
    #[error("the volume model of this version has no {what}: {instead}")]
    NotYet {
        /// What is asked for.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// A time step at which surface tension blows up.
    #[error(
        "volume.dt is {dt_us:.3} us, and steps on cells of {cell_mm:.4} mm blow up above {longest_us:.3} us: leave volume.dt out, or set it below"
    )]
    LongStep {
        /// As asked, in µs.
        dt_us: f64,
        /// The longest that is stable, in µs.
        longest_us: f64,
        /// Cell size, in mm.
        cell_mm: f64,
    },
    /// A knob out of range.
    #[error("volume.{knob} must be {range}, got {value}")]
    Knob {
        /// Its key.
        knob: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
}
