//! Execution of a plan on this machine, several items at a time.
//!
//! An item that crashes or runs out of memory does not affect the others. A stopped execution
//! loses nothing: items are continued by the next one.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::JobsError;
use crate::item::{Item, Outcome};
use crate::plan::{Plan, Stage};
use crate::slurm::queue::Queue;
use crate::slurm::submission;
use crate::state::{ItemState, StageState, Totals, clear};

/// How to execute a plan on this machine.
#[derive(Clone, Copy)]
pub struct Local<'a> {
    /// The program that executes items.
    pub program: &'a Path,
    /// Number of items at a time.
    pub jobs: NonZeroUsize,
    /// Whether failed items are repeated.
    pub retry_failed: bool,
    /// Set when the execution is to stop.
    pub stop: &'a AtomicBool,
}

/// Executes the items of a plan that are not done; `changed` is called with the totals of the
/// counted stages when one of their items ends. Returns these totals in the end.
pub fn execute(
    plan: &Plan,
    folder: &Path,
    local: Local<'_>,
    changed: &(dyn Fn(Totals) + Sync),
) -> Result<Totals, JobsError> {
    let queue = Queue::of_plan(folder)?;
    queue.refuse_active(folder)?;
    submission::clear(folder)?;
    let mut totals = Totals::default();
    for stage in plan.stages.iter().filter(|stage| stage.counted) {
        totals = totals.plus(StageState::read(folder, stage)?.totals(stage));
    }
    let totals = Mutex::new(totals);
    for (position, stage) in plan.stages.iter().enumerate() {
        let state = StageState::read(folder, stage)?;
        let pending = state.pending(local.retry_failed);
        if !pending.is_empty() {
            repeat_later_stages(plan, folder, position)?;
            execute_stage(folder, stage, &pending, local, &|item, after| {
                let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                if stage.counted {
                    let units = stage.units_of(item);
                    totals.change(&state.items[item], after, units.end - units.start);
                    changed(*totals);
                }
            })?;
        }
        // Other processes may be executing items; what depends on them comes later.
        if StageState::read(folder, stage)?.unfinished() > 0 {
            break;
        }
    }
    Ok(totals.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Makes the stages after `position` wait again: what they depend on changes.
pub(crate) fn repeat_later_stages(plan: &Plan, folder: &Path, position: usize) -> Result<(), JobsError> {
    plan.stages[position + 1..].iter().try_for_each(|stage| clear(folder, stage))
}

fn execute_stage(
    folder: &Path,
    stage: &Stage,
    pending: &[usize],
    local: Local<'_>,
    ended: &(dyn Fn(usize, &ItemState) + Sync),
) -> Result<(), JobsError> {
    let next = AtomicUsize::new(0);
    let workers = local.jobs.get().min(pending.len());
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = (cores / workers).max(1);
    let work = || -> Result<(), JobsError> {
        while !local.stop.load(Ordering::Relaxed)
            && let Some(&item) = pending.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let outcome = Item { folder, stage, item }.execute(local.program, threads, local.stop)?;
            let state = match outcome {
                Outcome::Done => ItemState::Done,
                Outcome::Failed(reason) => ItemState::Failed(reason),
                Outcome::Busy => ItemState::Running,
                Outcome::Stopped => ItemState::Waiting,
            };
            ended(item, &state);
        }
        Ok(())
    };
    let results: Vec<Result<(), JobsError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Err(JobsError::Stopped))).collect()
    });
    results.into_iter().collect::<Result<(), JobsError>>()?;
    if local.stop.load(Ordering::Relaxed) { Err(JobsError::Stopped) } else { Ok(()) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Two stages; items of the first one fail while `bad-ITEM` exists.
    fn plan() -> Plan {
        let script = "cd \"$1\"; echo $2 >> executed; test ! -e bad-$2";
        let work = Stage::new("work", ["-c", script, "sh", "{folder}", "{item}"], 0..3);
        let gather = Stage::new("gather", ["-c", "cd \"$1\"; cat executed > gathered", "sh", "{folder}"], 0..1);
        Plan::new("test", vec![work, gather.uncounted()])
    }

    fn run(folder: &Path, retry_failed: bool) -> Totals {
        let stop = AtomicBool::new(false);
        let program = Path::new("/bin/sh");
        let local = Local { program, jobs: NonZeroUsize::MIN, retry_failed, stop: &stop };
        execute(&plan(), folder, local, &|_| {}).expect("executed")
    }

    fn gathered(folder: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(folder.join("gathered")).expect("gathered");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn items_are_executed_once_and_failed_ones_on_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        plan().save(folder).expect("saved");
        std::fs::write(folder.join("bad-00001"), "").expect("written");
        let totals = run(folder, false);
        assert_eq!(totals, Totals { total: 3, done: 2, failed: 1, ..Totals::default() });
        assert_eq!(gathered(folder), ["00000", "00001", "00002"], "the others run, and gathering too");
        run(folder, false);
        assert_eq!(gathered(folder).len(), 3, "nothing is repeated");
        std::fs::remove_file(folder.join("bad-00001")).expect("removed");
        assert_eq!(run(folder, true).done, 3);
        assert_eq!(gathered(folder), ["00000", "00001", "00002", "00001"], "the result is gathered again");
    }

    #[test]
    fn a_stopped_execution_starts_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        plan().save(folder.path()).expect("saved");
        let stop = AtomicBool::new(true);
        let program = Path::new("/bin/sh");
        let local = Local { program, jobs: NonZeroUsize::MIN, retry_failed: false, stop: &stop };
        assert!(matches!(execute(&plan(), folder.path(), local, &|_| {}), Err(JobsError::Stopped)));
        assert!(!folder.path().join("executed").exists());
    }
}
