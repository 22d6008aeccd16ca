//! Why a run could not begin, or did not come to its end.

use std::io;
use std::path::PathBuf;

use sessile_frames::{FolderError, MeasureError};
use sessile_model::{RestoreError, StepError};

use crate::build::BuildError;

/// Why a run could not begin, or did not come to its end. Whatever it is, the run folder keeps its last good checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene cannot be run by this program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A mesh or image of the scene cannot be read.
    #[error("cannot read {}, which the scene uses: {cause}", file.display())]
    Asset {
        /// The file.
        file: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The folder holds a run of another scene.
    #[error(
        "{} holds a run of another scene; different: {}. Nothing was changed. Choose another folder with `--out`, or start over in \
         this one with `--fresh`",
        folder.display(),
        keys.join(", ")
    )]
    OtherScene {
        /// The run folder.
        folder: PathBuf,
        /// Where the scenes differ, as dotted paths.
        keys: Vec<String>,
    },
    /// The scene that the folder keeps cannot be read any more.
    #[error("{}, the scene of the run in this folder, cannot be read. Start over with `--fresh`, or mend it:\n{reason}", file.display())]
    KeptScene {
        /// `scene.toml`.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A mesh or image is not what it was when the run began.
    #[error(
        "{} has changed since the run in {} began, so it cannot go on. Put the old file back, or start over with `--fresh`",
        file.display(),
        folder.display()
    )]
    AssetChanged {
        /// The file.
        file: PathBuf,
        /// The run folder.
        folder: PathBuf,
    },
    /// Frames are there, but the checkpoint that they go with is not.
    #[error(
        "{} has frames up to {frame} but no checkpoint to go on from. Nothing was changed. Start over with `--fresh`",
        folder.display()
    )]
    NoCheckpoint {
        /// The run folder.
        folder: PathBuf,
        /// The last frame in it.
        frame: u64,
    },
    /// A checkpoint is whole but does not fit the scene or the program.
    #[error("the checkpoint in {} cannot be taken up: {reason}. Start over with `--fresh`", folder.display())]
    Unfit {
        /// The run folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// The model refused a checkpoint's state.
    #[error("the checkpoint in {} cannot be taken up: {cause}. Start over with `--fresh`", folder.display())]
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
        "step {step}, between frames {frame} and {} at t = {time} s: {cause}. The frames so far are kept, and `{command}` goes on from \
         the last checkpoint",
        frame + 1
    )]
    Step {
        /// Steps done before it.
        step: u64,
        /// The last frame that was written.
        frame: u32,
        /// Simulated time, in s.
        time: f64,
        /// What the model says, with what to try.
        cause: Box<StepError>,
        /// How to go on.
        command: String,
    },
    /// A frame cannot be measured, or holds numbers that are not finite; it was not written.
    #[error("{0}. The frame was not written; those before it are kept. Try a finer resolution or a shorter step")]
    Measure(#[from] MeasureError),
    /// A step did not advance.
    #[error(
        "step {step} at t = {time} s advanced by {dt} s; the model is stuck. Try a coarser resolution, or report this with the scene"
    )]
    Stuck {
        /// Steps done before it.
        step: u64,
        /// Simulated time, in s.
        time: f64,
        /// How far it went, in s.
        dt: f64,
    },
    /// The system gave no threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

impl RunError {
    /// Whether the command or the scene is at fault, rather than what became of it.
    pub fn is_wrong_scene(&self) -> bool {
        matches!(self, Self::Build(_) | Self::Asset { .. })
    }
}
