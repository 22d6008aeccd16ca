//! How far a sweep has come, as its folder shows.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sessile_frames::{RunFolder, RunInfo, RunStatus};

/// State of a run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Not started, or stopped before its end.
    Waiting,
    /// A process is writing to its folder.
    Running,
    /// Complete.
    Done,
    /// Failed, with the reason.
    Failed(String),
}

/// Numbers of runs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// All runs.
    pub total: usize,
    /// Complete runs.
    pub done: usize,
    /// Runs that a process is executing.
    pub running: usize,
    /// Runs that are still to be executed.
    pub waiting: usize,
    /// Failed runs.
    pub failed: usize,
}

/// The run folder of a run.
pub(crate) fn run_path(folder: &Path, run: usize) -> PathBuf {
    folder.join("runs").join(format!("{run:05}"))
}

/// The messages of a run.
pub(crate) fn log_path(folder: &Path, run: usize) -> PathBuf {
    folder.join("runs").join(format!("{run:05}.log"))
}

/// The file that marks a failed run and says why it failed.
pub(crate) fn failure_path(folder: &Path, run: usize) -> PathBuf {
    folder.join("runs").join(format!("{run:05}.failed"))
}

impl RunState {
    /// The state of a run of the sweep in `folder`.
    pub fn of(folder: &Path, run: usize) -> Self {
        let root = run_path(folder, run);
        if RunFolder::is_busy(&root) {
            return Self::Running;
        }
        if let Ok(reason) = std::fs::read_to_string(failure_path(folder, run)) {
            return Self::Failed(reason.trim().to_owned());
        }
        match RunInfo::read(&root.join("run.json")) {
            Ok(info) if info.status == RunStatus::Done => Self::Done,
            Ok(RunInfo { status: RunStatus::Failed, error, .. }) => Self::Failed(error.unwrap_or_default()),
            _ => Self::Waiting,
        }
    }
}

impl Totals {
    /// Counts the states of `runs` runs.
    pub fn of(folder: &Path, runs: usize) -> Self {
        let mut totals = Self { total: runs, ..Self::default() };
        for run in 0..runs {
            match RunState::of(folder, run) {
                RunState::Waiting => totals.waiting += 1,
                RunState::Running => totals.running += 1,
                RunState::Done => totals.done += 1,
                RunState::Failed(_) => totals.failed += 1,
            }
        }
        totals
    }
}
