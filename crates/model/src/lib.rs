//! The [`Model`] trait that all four models implement, and the types of its interface.
//!
//! A model owns its liquid and its [`World`]. It does no file or clock access and starts no
//! threads: parallel work runs on the caller's rayon pool, the caller's [`StageTimer`] measures
//! time, and state is saved and restored as bytes.

mod report;

pub use report::{StageReports, StepReport};
pub use sessile_frames::StageValue;
use sessile_frames::{Frame, GridFields};
use sessile_world::World;

/// A simulation in progress.
pub trait Model: Send {
    /// Simulated time, in s.
    fn time(&self) -> f64;

    /// Advances by one step whose length the model chooses, at most `limit` seconds.
    ///
    /// The step depends on the state and on `limit` only, so a run that was interrupted between two
    /// steps and resumed is bit-identical to an uninterrupted one.
    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError>;

    /// Messages for the user since the last call: where the model does less than the scene asks
    /// for.
    fn notices(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The present state of the liquid, as readers see it.
    fn frame(&self) -> Frame;

    /// Values on the grid cells; `None` for models without a grid.
    fn fields(&self) -> Option<GridFields> {
        None
    }

    /// The solids at the model's time.
    fn world(&self) -> &World;

    /// The solids, for moving one interactively.
    fn world_mut(&mut self) -> &mut World;

    /// Everything needed to resume, except what the scene defines.
    fn save(&self) -> Vec<u8>;

    /// Restores a state that [`Model::save`] returned for the same scene.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;
}

/// Is notified when a stage of a step begins; the time until the next call, or the end of the step,
/// counts to it.
pub trait StageTimer {
    /// A stage begins.
    fn enter(&mut self, stage: &'static str);
}

/// Measures nothing.
pub struct NoTimer;

impl StageTimer for NoTimer {
    fn enter(&mut self, _stage: &'static str) {}
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A quantity became NaN or infinite.
    #[error(
        "{what} is not finite at t = {time} s, near ({x:.3e}, {y:.3e}, {z:.3e}) m: {advice}",
        x = position[0],
        y = position[1],
        z = position[2]
    )]
    NonFinite {
        /// The quantity.
        what: String,
        /// Simulated time, in s.
        time: f64,
        /// Position, in m.
        position: [f64; 3],
        /// What to try.
        advice: String,
    },
    /// An iterative solver stopped before it reached its tolerance.
    #[error(
        "the {solver} stopped at residual {residual:.1e} after {iterations} iterations (tolerance {tolerance:.1e}) \
         at t = {time} s: {advice}"
    )]
    NotConverged {
        /// The solver, e.g. "pressure solve".
        solver: &'static str,
        /// Residual at the last iteration, in the solver's own norm.
        residual: f64,
        /// Number of iterations.
        iterations: usize,
        /// Required residual.
        tolerance: f64,
        /// Simulated time, in s.
        time: f64,
        /// What to try.
        advice: String,
    },
    /// The liquid has spread farther than a frame can show.
    #[error("the liquid spans {extent:.3e} m at t = {time} s, at most {limit:.3e} m can be shown: {advice}")]
    TooSpread {
        /// Largest extent along an axis, in m.
        extent: f64,
        /// Largest extent that a frame can show, in m.
        limit: f64,
        /// When, in s.
        time: f64,
        /// What to try.
        advice: String,
    },
    /// The state is finite, but its speeds are unphysically high.
    #[error("unphysical speed: the liquid moves at {speed:.3e} m/s at t = {time} s; {advice}")]
    Runaway {
        /// Largest speed, in m/s.
        speed: f64,
        /// Simulated time, in s.
        time: f64,
        /// What to try.
        advice: String,
    },
}

/// Why a saved state could not be restored.
#[derive(Debug, thiserror::Error)]
#[error("the saved state does not fit this scene: {0}")]
pub struct RestoreError(pub String);
