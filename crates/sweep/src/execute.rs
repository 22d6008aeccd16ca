//! Executes the runs of a plan, each in a process of its own.
//!
//! A run that crashes or runs out of memory does not affect the others. A stopped sweep loses
//! nothing: runs resume from their checkpoints.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sessile_frames::{Durability, FileError, atomic};

use crate::error::SweepError;
use crate::plan::Plan;
use crate::state::{RunState, Totals, failure_path, log_path, run_path};

/// Exit code of a run whose folder another process is writing to.
const BUSY: i32 = 75;
/// Exit codes of a run that was asked to stop.
const STOPPED: [i32; 2] = [130, 143];
/// Interval at which running processes are polled.
const POLL: Duration = Duration::from_millis(20);
/// Lines of messages that are kept as the reason of a failure.
const REASON_LINES: usize = 12;

/// How to execute a plan.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The program that executes a run.
    pub program: &'a Path,
    /// Folder of the sweep.
    pub folder: &'a Path,
    /// Number of runs at a time.
    pub jobs: NonZeroUsize,
    /// Whether failed runs are repeated from the beginning.
    pub retry_failed: bool,
    /// Set when the execution is to stop.
    pub stop: &'a AtomicBool,
}

/// Executes the runs that are not done; `changed` is called with the totals when a run ends.
pub fn execute(plan: &Plan, options: Options<'_>, changed: &(dyn Fn(Totals) + Sync)) -> Result<Totals, SweepError> {
    let states: Vec<RunState> = (0..plan.runs.len()).map(|run| RunState::of(options.folder, run)).collect();
    let pending: Vec<usize> = (0..plan.runs.len())
        .filter(|&run| match states[run] {
            RunState::Waiting => true,
            RunState::Failed(_) => options.retry_failed,
            RunState::Running | RunState::Done => false,
        })
        .collect();
    let totals = Mutex::new(Totals::of(options.folder, plan.runs.len()));
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), SweepError> {
        while !options.stop.load(Ordering::Relaxed)
            && let Some(&run) = pending.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let before = &states[run];
            let after = run_one(plan, run, options, matches!(before, RunState::Failed(_)))?;
            let mut totals = totals.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            totals.count(before, -1);
            totals.count(&after, 1);
            changed(*totals);
        }
        Ok(())
    };
    let results: Vec<Result<(), SweepError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.get().min(pending.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Err(SweepError::Stopped))).collect()
    });
    results.into_iter().collect::<Result<(), SweepError>>()?;
    if options.stop.load(Ordering::Relaxed) {
        return Err(SweepError::Stopped);
    }
    Ok(Totals::of(options.folder, plan.runs.len()))
}

impl Totals {
    fn count(&mut self, state: &RunState, change: isize) {
        let field = match state {
            RunState::Waiting => &mut self.waiting,
            RunState::Running => &mut self.running,
            RunState::Done => &mut self.done,
            RunState::Failed(_) => &mut self.failed,
        };
        *field = field.saturating_add_signed(change);
    }
}

/// Executes one run; from the beginning if `fresh`.
pub(crate) fn run_one(plan: &Plan, run: usize, options: Options<'_>, fresh: bool) -> Result<RunState, SweepError> {
    let log = log_path(options.folder, run);
    let failed = failure_path(options.folder, run);
    let messages = File::create(&log).map_err(|cause| FileError::new("write", &log, cause))?;
    let mut command = Command::new(options.program);
    command.arg("run").arg(&plan.scene).arg("--out").arg(run_path(options.folder, run));
    command.args(["--no-pictures", "--threads", "1"]);
    for set in plan.overrides(run) {
        command.arg("--set").arg(set);
    }
    if fresh {
        command.arg("--fresh");
        atomic::remove(&failed)?;
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages);
    let child = command.spawn().map_err(|cause| SweepError::Start { cause })?;
    let status = wait(child, options.stop).map_err(|cause| SweepError::Start { cause })?;
    let stopped = options.stop.load(Ordering::Relaxed);
    let harmless = status.code().is_some_and(|code| code == BUSY || STOPPED.contains(&code));
    if !status.success() && !stopped && !harmless {
        atomic::write(&failed, reason(&log, status).as_bytes(), Durability::Handed)?;
    }
    Ok(RunState::of(options.folder, run))
}

/// Waits for a process; asks it to stop when the flag is set, and lets it save.
fn wait(mut child: Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !asked {
            asked = true;
            ask_to_stop(&mut child);
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(unix)]
fn ask_to_stop(child: &mut Child) {
    let sent = Command::new("kill").arg("-TERM").arg(child.id().to_string()).stderr(Stdio::null()).status();
    if !sent.is_ok_and(|status| status.success()) {
        // Frames and the last checkpoint remain.
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
fn ask_to_stop(child: &mut Child) {
    // Frames and the last checkpoint remain.
    let _ = child.kill();
}

/// The last messages of a failed run.
fn reason(log: &Path, status: ExitStatus) -> String {
    let messages = fs::read(log).unwrap_or_default();
    let messages = String::from_utf8_lossy(&messages);
    let lines: Vec<&str> = messages.lines().collect();
    let last = lines[lines.len().saturating_sub(REASON_LINES)..].join("\n");
    format!("{last}\n({status})\n")
}
