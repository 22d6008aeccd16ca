//! Errors of a run.

use std::io;
use std::path::PathBuf;

use sessile_frames::{FolderError, MeasureError};
use sessile_model::{RestoreError, StepError};
use sessile_scene::Diagnostics;

use crate::build::BuildError;

/// Why a run could not start, or failed. The run folder always keeps its last valid checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene cannot be simulated.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A mesh or image file of the scene cannot be read.
    #[error("cannot read {}, which the scene uses: {cause}", file.display())]
    Asset {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The folder contains a run of a different scene.
    #[error(
        "{} contains a run of a different scene (differs in: {}). Nothing was changed. Choose another folder with \
         `--out`, or start over in this one with `--fresh`",
        folder.display(),
        keys.join(", ")
    )]
    DifferentScene {
        /// The run folder.
        folder: PathBuf,
        /// Keys in which the scenes differ, as dotted paths.
        keys: Vec<String>,
    },
    /// The `scene.toml` of the folder cannot be read.
    #[error("cannot read {}, the scene of the run in this folder. Repair it, or start over with `--fresh`:\n{cause}", file.display())]
    StoredScene {
        /// `scene.toml`.
        file: PathBuf,
        /// What is wrong with it.
        cause: Diagnostics,
    },
    /// A mesh or image file has changed since the run started.
    #[error(
        "{} has changed since the run in {} started, so it cannot be resumed. Restore the file, or start over with `--fresh`",
        file.display(),
        folder.display()
    )]
    AssetChanged {
        /// The file.
        file: PathBuf,
        /// The run folder.
        folder: PathBuf,
    },
    /// There are frames, but no checkpoint.
    #[error(
        "{} has frames up to {frame} but no checkpoint to resume from. Nothing was changed. Start over with `--fresh`",
        folder.display()
    )]
    NoCheckpoint {
        /// The run folder.
        folder: PathBuf,
        /// Last frame in it.
        frame: u64,
    },
    /// An intact checkpoint does not match the scene or the program.
    #[error("cannot resume from the checkpoint in {}: {reason}. Start over with `--fresh`", folder.display())]
    IncompatibleCheckpoint {
        /// The run folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// The model rejected the state in a checkpoint.
    #[error("cannot resume from the checkpoint in {}: {cause}. Start over with `--fresh`", folder.display())]
    Restore {
        /// The run folder.
        folder: PathBuf,
        /// Why.
        cause: RestoreError,
    },
    /// The run folder could not be written or read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A step failed.
    #[error(
        "step {step}, between frames {frame} and {} at t = {time} s: {cause}. The frames so far are kept; `{command}` \
         resumes from the last checkpoint",
        frame + 1
    )]
    Step {
        /// Number of steps before it.
        step: u64,
        /// Last frame written.
        frame: u32,
        /// Simulated time, in s.
        time: f64,
        /// The model's error, with advice.
        cause: Box<StepError>,
        /// Command that resumes the run.
        command: String,
    },
    /// A frame cannot be measured, or contains values that are not finite; it was not written.
    #[error("{0}. The frame was not written; earlier frames are kept. Try a finer resolution or a shorter step")]
    Measure(#[from] MeasureError),
    /// A step did not advance the time.
    #[error(
        "step {step} at t = {time} s advanced by {dt} s; the model is stuck. Try a coarser resolution, or report this with the scene"
    )]
    Stuck {
        /// Number of steps before it.
        step: u64,
        /// Simulated time, in s.
        time: f64,
        /// Length of the step, in s.
        dt: f64,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {cause}")]
    Threads {
        /// Number of threads.
        threads: usize,
        /// The system's error.
        cause: rayon::ThreadPoolBuildError,
    },
}

impl RunError {
    /// Whether the scene is wrong (exit code 2), as opposed to a run that failed (exit code 1).
    pub fn is_wrong_scene(&self) -> bool {
        matches!(self, Self::Build(_) | Self::Asset { .. })
    }

    /// Whether another process is writing to the run folder (exit code 75).
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Folder(FolderError::Busy { .. }))
    }
}
