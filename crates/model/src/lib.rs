//! The [`Model`] trait that all four models implement, and the types of its interface.
//!
//! A model owns its liquid and its [`World`]. It does no file or clock access and starts no
//! threads: parallel work runs on the caller's rayon pool, the caller's [`StageTimer`] measures
//! time, and state is saved and restored as bytes.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod estimate;
mod interaction;
mod report;
mod view;

pub use estimate::{Estimate, bytes_text, free_memory, time_text};
use glam::DVec3;
pub use interaction::{
    BLADE_FILM, InteractionError, Region, Stroke, Tool, check_added, check_speed, check_stroke, check_taken,
};
pub use report::{StageReports, StepReport};
pub use sessile_frames::StageValue;
use sessile_frames::{Frame, GridFields, VolumeBalance, WetMap};
use sessile_wetting::Wetting;
use sessile_world::{PlacedSource, World};
pub use view::{DROP_STRIDE, DropView, SurfaceView, View, cap_height};

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

    /// The present liquid as flat arrays, for a window that shows it many times a second.
    fn view(&self, into: &mut View) {
        into.set_frame(&self.frame());
    }

    /// The present volume balance.
    fn balance(&self) -> VolumeBalance {
        self.frame().balance
    }

    /// The present wetness of the solids.
    fn wet_maps(&self) -> Vec<WetMap> {
        self.frame().wet
    }

    /// Adds a drop of `volume` (in m³) with its center at `at` (in m) and a velocity (in m/s).
    ///
    /// Liquid that touches a solid is on it at once; inside a drop it adds to that drop.
    fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        let _ = (at, velocity, volume);
        Err(InteractionError::Unsupported { what: "adding a drop by hand" })
    }

    /// Takes a share (0 to 1) of the drops and films whose places are in a region away, and returns
    /// their volume, in m³. It counts as a negative addition.
    fn take(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        let _ = (region, share);
        Err(InteractionError::Unsupported { what: "taking liquid away by hand" })
    }

    /// Wipes the solids with a tool, and returns the volume that is on the tool afterwards more
    /// than before, in m³. It counts as a negative addition.
    fn wipe(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        let _ = stroke;
        Err(InteractionError::Unsupported { what: "wiping" })
    }

    /// Gives a solid a uniform wetting in place of its material's; `None` returns to the material.
    ///
    /// Drops at rest are reassessed in the next step.
    fn set_material(&mut self, solid: usize, wetting: Option<Wetting>) -> Result<(), InteractionError> {
        Ok(self.world_mut().set_material(solid, wetting)?)
    }

    /// Places a source of liquid by hand that emits from now on; returns its number, by which
    /// [`World::remove_source`] removes it.
    fn place_source(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        Ok(self.world_mut().place_source(source)?)
    }

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
