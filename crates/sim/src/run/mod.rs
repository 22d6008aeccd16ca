//! A run: simulates a scene into a folder of frames and measures, in one or several sessions.
//!
//! The time of frame k is k times the scene's frame interval, by multiplication, so that rounding
//! errors do not accumulate. Between two frames the model chooses its steps, up to the time of the
//! next frame. A checkpoint contains everything that the next step depends on. On resume, files
//! written after the checkpoint's frame are removed and computed again; the result is
//! bit-identical.
//!
//! The order of writes guarantees this at any instant: first the surfaces and wet maps of a frame,
//! then its line of measures, then the checkpoint that refers to them, then `run.json`. A
//! checkpoint never refers to a missing frame.

mod assets;
mod error;
mod open;
mod runner;
mod saved;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use sessile_frames::Progress;
use sessile_scene::types::Scene;

pub use error::RunError;

use crate::build::{BuildError, Built, build};

/// Options of a run. None of them changes results.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The run folder; created if missing.
    pub out: PathBuf,
    /// Name of the run: stem of the scene file.
    pub name: String,
    /// Start over, even if the folder contains a run.
    pub fresh: bool,
    /// Number of threads; `None` for all cores.
    pub threads: Option<NonZeroUsize>,
    /// Wall time between two checkpoints, in s; 0 writes one at every frame.
    pub checkpoint_seconds: f64,
    /// Command that resumes this run, for messages.
    pub command: String,
}

impl RunOptions {
    /// A run into `out`, named after it, on all cores, with a checkpoint every 30 s.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let out = out.into();
        let name = out.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { out, name, fresh: false, threads: None, checkpoint_seconds: 30.0, command: "the same command".into() }
    }
}

/// How a run without errors ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It reached its duration, or came to rest.
    Done {
        /// Last frame.
        frame: u32,
        /// Whether it came to rest before its duration.
        settled: bool,
    },
    /// It was finished already; nothing was done.
    AlreadyDone {
        /// Last frame.
        frame: u32,
        /// Whether it had come to rest.
        settled: bool,
    },
    /// It was asked to stop, and wrote a checkpoint.
    Stopped {
        /// Last frame.
        frame: u32,
    },
}

/// Number of threads that the machine runs at once.
pub fn hardware_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A thread pool of `threads` threads, at most [`hardware_threads`], or of all cores.
pub fn thread_pool(threads: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, RunError> {
    let hardware = hardware_threads();
    let threads = threads.map_or(hardware, |threads| threads.min(hardware)).get();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|cause| RunError::Threads { threads, cause })
}

/// Simulates a scene, or resumes its run, until it is done or `stop` is set.
pub fn run(
    scene: &Scene,
    options: &RunOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    run_with(build, scene, options, progress, stop)
}

/// Like [`run`], with a model of the caller's.
pub fn run_with(
    build: impl FnOnce(&Scene) -> Result<Built, BuildError> + Send,
    scene: &Scene,
    options: &RunOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let pool = thread_pool(options.threads)?;
    pool.install(|| runner::run(build, scene, options, progress, stop))
}
