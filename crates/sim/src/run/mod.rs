//! A run: from a scene to a folder of frames and measures, in one go or in many.
//!
//! Frame k stands at k times the scene's frame interval, by multiplication, so that nothing drifts. Between two frames the model steps as it
//! likes, up to the next frame. Everything that the next step depends on goes into a checkpoint between two steps; on resume, whatever was
//! written after the checkpoint's frame is dropped and done again, to the same bytes.
//!
//! The order of writes makes that hold at any instant: a frame's surface and wet maps, then its line of measures, then the checkpoint that
//! counts them, then `run.json`. A checkpoint never counts a frame that is not there, and what no checkpoint counts is written again.

mod assets;
mod engine;
mod error;
mod open;
mod progress;
mod saved;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use sessile_scene::types::Scene;

pub use error::RunError;
pub use progress::{Progress, Silent, Status};

use crate::build::{BuildError, Built, build};

/// How to run a scene. None of it changes results.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The run folder; made where missing.
    pub out: PathBuf,
    /// What the run is called: the scene file's stem.
    pub name: String,
    /// Start over, even if the folder holds a run.
    pub fresh: bool,
    /// Threads; `None` means all cores.
    pub threads: Option<NonZeroUsize>,
    /// Wall time between two checkpoints, in s; 0 writes one at every frame.
    pub checkpoint_seconds: f64,
    /// The command that goes on with this run, for messages.
    pub command: String,
}

impl RunOptions {
    /// Into `out`, called after it, on all cores, with a checkpoint every 30 s.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let out = out.into();
        let name = out.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { out, name, fresh: false, threads: None, checkpoint_seconds: 30.0, command: "the same command".into() }
    }
}

/// How a run ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// At its duration, or at rest.
    Done {
        /// The last frame.
        frame: u32,
        /// It came to rest before its duration was over.
        settled: bool,
    },
    /// It had ended before; nothing was done.
    AlreadyDone {
        /// The last frame.
        frame: u32,
        /// It had come to rest.
        settled: bool,
    },
    /// It was asked to stop, and has saved where it is.
    Stopped {
        /// The last frame.
        frame: u32,
    },
}

/// A pool of `threads`, or of all cores.
pub fn thread_pool(threads: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, RunError> {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| RunError::Threads { threads, reason: error.to_string() })
}

/// Runs a scene with the model that it names, or goes on with a run of it, until it is done or `stop` is set.
pub fn run(
    scene: &Scene,
    options: &RunOptions,
    progress: &mut (dyn Progress + Send),
    stop: &AtomicBool,
) -> Result<Finish, RunError> {
    run_with(build, scene, options, progress, stop)
}

/// The same with a model of the caller's.
pub fn run_with(
    build: impl FnOnce(&Scene) -> Result<Built, BuildError> + Send,
    scene: &Scene,
    options: &RunOptions,
    progress: &mut (dyn Progress + Send),
    stop: &AtomicBool,
) -> Result<Finish, RunError> {
    let pool = thread_pool(options.threads)?;
    pool.install(|| engine::run(build, scene, options, progress, stop))
}
