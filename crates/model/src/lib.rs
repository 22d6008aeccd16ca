//! What all models share: the trait that the rest of the program drives them by.
//!
//! A model owns its liquid and its [`World`]. It knows no files, no clocks and no threads of its own: work is spread over the rayon
//! pool that the caller installed, time is read by whoever implements [`StageTimer`], and state leaves and enters as bytes.

mod report;

pub use report::{StageReports, StageValue, StepReport};
use sessile_frames::{Frame, GridFields};
use sessile_world::World;

/// A running simulation.
pub trait Model: Send {
    /// Simulated time, in s.
    fn time(&self) -> f64;

    /// Advances by one step of the model's choice, at most `limit` seconds.
    ///
    /// The step depends on the state and `limit` alone, so a run that was interrupted between two steps goes on to the same bytes.
    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError>;

    /// What the user should be told since the last call: where the model does less than the scene asks for, and goes on.
    fn notices(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The liquid now.
    fn frame(&self) -> Frame;

    /// What the cells hold now; `None` where a model has none.
    fn fields(&self) -> Option<GridFields> {
        None
    }

    /// The solids, at the model's time.
    fn world(&self) -> &World;

    /// The solids, for moving one by hand.
    fn world_mut(&mut self) -> &mut World;

    /// Everything that a run needs to go on, except what the scene says.
    fn save(&self) -> Vec<u8>;

    /// Takes up a state that [`Model::save`] gave for the same scene.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;
}

/// Told when a stage of a step begins; the time until the next call (or the step's end) belongs to it.
pub trait StageTimer {
    /// A stage begins.
    fn enter(&mut self, stage: &'static str);
}

/// Does not look at the clock.
pub struct NoTimer;

impl StageTimer for NoTimer {
    fn enter(&mut self, _stage: &'static str) {}
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The state stopped being numbers.
    #[error("{what} is not finite at t = {time} s, near ({x:.3e}, {y:.3e}, {z:.3e}) m: {advice}", x = place[0], y = place[1], z = place[2])]
    NonFinite {
        /// Which quantity.
        what: String,
        /// When, in s.
        time: f64,
        /// Where, in m.
        place: [f64; 3],
        /// What to try.
        advice: String,
    },
    /// An iterative solver stopped before it reached its tolerance.
    #[error(
        "the {solver} stopped at residual {residual:.1e} after {iterations} iterations (tolerance {tolerance:.1e}) at t = {time} s: {advice}"
    )]
    NotConverged {
        /// Which solver, e.g. "pressure solve".
        solver: &'static str,
        /// Residual at the last iteration, in the solver's own norm.
        residual: f64,
        /// Iterations done.
        iterations: usize,
        /// Residual that was required.
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
    /// The state is still numbers, but none that liquid could have.
    #[error("the liquid runs away: {speed:.3e} m/s at t = {time} s; {advice}")]
    Runaway {
        /// Largest speed, in m/s.
        speed: f64,
        /// When, in s.
        time: f64,
        /// What to try.
        advice: String,
    },
}

/// Why a state could not be taken up.
#[derive(Debug, thiserror::Error)]
#[error("the saved state does not fit this scene: {0}")]
pub struct RestoreError(pub String);
