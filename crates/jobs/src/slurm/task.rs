//! Execution of one task of a job array: its items, one after the other.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::submission::Submission;
use crate::error::JobsError;
use crate::item::{Item, Outcome};
use crate::plan::Plan;
use crate::state::StageState;

/// Number of times that a task requeues itself; then something is wrong.
const MAX_RESTARTS: u32 = 200;

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// All items are complete.
    Done,
    /// Some items have failed: their number, and the reason of the first one.
    Failed(usize, String),
    /// Items are executed by other processes.
    Busy,
    /// Asked to stop.
    Stopped,
}

/// Executes the items of a task of a submission.
pub fn execute_task(
    folder: &Path,
    number: usize,
    task: usize,
    program: &Path,
    stop: &AtomicBool,
) -> Result<TaskOutcome, JobsError> {
    let plan = Plan::load(folder)?;
    let submission = Submission::load(folder, number)?;
    let Some((position, stage)) = plan.stage(&submission.stage) else {
        return Err(JobsError::OtherPlan { folder: folder.to_owned() });
    };
    // The stage before may have ended without being complete, because its tasks were canceled.
    for before in &plan.stages[..position] {
        let left = StageState::read(folder, before)?.unfinished();
        if left > 0 {
            return Err(JobsError::Incomplete { stage: stage.name.clone(), left });
        }
    }
    let (mut failures, mut busy) = (Vec::new(), false);
    let items = submission.items_of(task).iter().filter(|&&item| item < stage.items());
    for &item in items {
        match (Item { folder, stage, item }).execute(program, threads(), stop)? {
            Outcome::Done => {}
            Outcome::Failed(reason) => failures.push(reason),
            Outcome::Busy => busy = true,
            Outcome::Stopped => return Ok(TaskOutcome::Stopped),
        }
    }
    Ok(match failures.first() {
        _ if busy => TaskOutcome::Busy,
        Some(first) => TaskOutcome::Failed(failures.len(), first.clone()),
        None => TaskOutcome::Done,
    })
}

/// Number of threads that Slurm gives to the task.
fn threads() -> usize {
    variable("SLURM_CPUS_PER_TASK").unwrap_or(1)
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.trim().parse().ok()
}

/// Asks Slurm to execute this task again, later and perhaps on another node.
pub fn requeue() -> Result<(), JobsError> {
    let failed = |message: &str| JobsError::Slurm { program: "scontrol requeue".into(), message: message.to_owned() };
    if variable::<u32>("SLURM_RESTART_COUNT").is_some_and(|restarts| restarts >= MAX_RESTARTS) {
        return Err(failed("the task was requeued too often"));
    }
    let job: u64 = variable("SLURM_JOB_ID").ok_or_else(|| failed("this is not a job of Slurm"))?;
    super::call("scontrol", &["requeue".to_owned(), job.to_string()]).map(|_| ())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::plan::Stage;

    /// Items 0 to 3 in tasks of two; item 2 fails while `bad` exists.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "cd \"$1\"; test $2 != 00002 || test ! -e bad || { echo broken >&2; exit 1; }";
        let work = Stage::new("work", ["-c", script, "sh", "{folder}", "{item}"], 0..4);
        let gather = Stage::new("gather", ["-c", "touch \"$1/gathered\"", "sh", "{folder}"], 0..1);
        Plan::new("test", vec![work, gather]).save(folder.path()).expect("saved");
        let submit = |stage: &str, items: std::ops::Range<usize>, number| {
            let submission =
                Submission { stage: stage.into(), per_task: 2, items: items.collect(), name: String::new(), job: None };
            submission.save(folder.path(), number).expect("saved");
        };
        submit("work", 0..4, 0);
        submit("gather", 0..1, 1);
        folder
    }

    fn run(folder: &Path, number: usize, task: usize) -> Result<TaskOutcome, JobsError> {
        execute_task(folder, number, task, Path::new("/bin/sh"), &AtomicBool::new(false))
    }

    #[test]
    fn a_task_executes_its_items_and_later_stages_wait_for_all() {
        let folder = folder();
        let folder = folder.path();
        std::fs::write(folder.join("bad"), "").expect("written");
        assert_eq!(run(folder, 0, 0).expect("executed"), TaskOutcome::Done);
        let Err(JobsError::Incomplete { left: 2, .. }) = run(folder, 1, 0) else { panic!("it waits") };
        let TaskOutcome::Failed(1, reason) = run(folder, 0, 1).expect("executed") else { panic!("it fails") };
        assert!(reason.starts_with("broken"), "{reason}");
        // A failed item does not stop the stage that gathers.
        assert_eq!(run(folder, 1, 0).expect("executed"), TaskOutcome::Done);
        assert!(folder.join("gathered").exists());
    }

    #[test]
    fn a_task_whose_item_is_locked_is_busy_and_does_the_others() {
        let folder = folder();
        let folder = folder.path();
        let plan = Plan::load(folder).expect("a plan");
        let log = std::fs::File::create(plan.stages[0].path(folder, 0, "log")).expect("a log");
        log.lock().expect("locked");
        assert_eq!(run(folder, 0, 0).expect("executed"), TaskOutcome::Busy);
        assert!(plan.stages[0].path(folder, 1, "done").exists());
        drop(log);
        assert_eq!(run(folder, 0, 0).expect("executed"), TaskOutcome::Done);
    }
}
