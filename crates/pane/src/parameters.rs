//! Tunable parameters of the pane model, in one place.
//!
//! None of them is measured. docs/pane.md explains each choice and what it affects.

/// Parameters of the pane model.
pub struct Parameters {
    /// Default cell side in the physical mode, in m; well below the size of drops that slide on
    /// most solids.
    pub cell_size: f64,
    /// Smallest number of default cells along the pane's shorter side.
    pub cells_along_shorter_side: f64,
    /// Largest number of cells: 12 bytes each make 0.8 GB.
    pub max_cells: usize,
    /// Default number of fine spots along a cell's side.
    pub fine: u32,

    /// Relative change of the retention force by impurities. At 0 a critical drop slides straight,
    /// at 1 it gets stuck in pockets; heterogeneity causes hysteresis, so the two are of one order
    /// of magnitude.
    pub impurity_strength: f64,
    /// Raggedness of a front per unit of hysteresis cos θ_r − cos θ_a, as a share of the drop's
    /// radius.
    pub raggedness_per_hysteresis: f64,
    /// Largest raggedness of a front, as a share of the drop's radius.
    pub max_raggedness: f64,

    /// Longest time step, in s.
    pub max_step: f64,
    /// Cells that the fastest drop may cross in one step; less than [`MAX_SEGMENTS`] by one for the
    /// cell that it starts in.
    pub cells_per_step: f64,
    /// Path length in base radii after which a sliding drop wets the spots under it: edges lie
    /// within 3 % of a smooth path's.
    pub wetting_interval: f64,
    /// Smallest width of a film, in base radii.
    pub min_film_width: f64,
    /// Drag that `time.settle` adds, in 1/s.
    pub settle_damping: f64,

    /// Distance below the pane at which an airborne drop is lost, in m.
    pub missed_by: f64,
    /// Longest flight of a tap's stream, in s.
    pub longest_stream: f64,
    /// Base radius of a grain of dew, in cells.
    pub dew_grain_radius: f64,

    /// Paper mode: default dynamic critical weight, as a share of the static one.
    pub dynamic_weight_share: f64,
    /// Paper mode: default residue, as a share of the static critical weight.
    pub residue_share: f64,
    /// Paper mode: base radius of the lightest drop that slides by default, in m; for solids
    /// without hysteresis.
    pub lightest_sliding_radius: f64,

    /// Base radius from which a drop at rest is shown as a puddle, in capillary lengths.
    pub puddle_radius: f64,
    /// Contact angle from which a drop at rest is shown by its Young–Laplace profile, in rad: the
    /// surface of an ellipsoid bends too much at the line.
    pub steep_angle: f64,
    /// Largest sag that two metaballs can show, in base radii.
    pub max_sag: f64,
    /// Elongation that a drop approaches with speed, in base radii.
    pub max_stretch: f64,
    /// Speed of half that elongation on a solid without trails, in m/s.
    pub stretch_speed: f64,
    /// Gain of the displayed front over the raggedness: means over 3 × 3 spots are a third as
    /// strong as single ones.
    pub front_gain: f64,
}

/// The parameters.
pub const PARAMETERS: Parameters = Parameters {
    cell_size: 1e-3,
    cells_along_shorter_side: 64.0,
    max_cells: 1 << 26,
    fine: 4,
    impurity_strength: 0.35,
    raggedness_per_hysteresis: 0.25,
    max_raggedness: 0.2,
    max_step: 1.0 / 60.0,
    cells_per_step: 6.0,
    wetting_interval: 0.5,
    min_film_width: 0.1,
    settle_damping: 50.0,
    missed_by: 0.05,
    longest_stream: 2.0,
    dew_grain_radius: 0.15,
    dynamic_weight_share: 0.5,
    residue_share: 0.05,
    lightest_sliding_radius: 0.5e-3,
    puddle_radius: 2.5,
    steep_angle: 1.9,
    max_sag: 0.22,
    max_stretch: 0.9,
    stretch_speed: 0.2,
    front_gain: 3.0,
};

/// Largest number of straight segments of a drop's path in one step.
pub const MAX_SEGMENTS: usize = 8;
/// Largest number of fine spots along a cell's side: their square and one more bit fit a word.
pub const MAX_FINE: u32 = 5;
/// Time between two passes of the paper mode where the scene gives none, in s.
pub const PASS_INTERVAL: f64 = 0.04;
/// Key of the dew's random streams among those of the seed.
pub const DEW_STREAM: u64 = 0xdeed;
/// Key of the random streams of nucleation sites.
pub const SITE_STREAM: u64 = 0x517e;
