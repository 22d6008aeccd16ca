//! The status of a plan: totals, failures with their last messages, time left.

use std::path::Path;

use serde::Serialize;

use crate::error::JobsError;
use crate::item::DoneFile;
use crate::plan::{Plan, Stage, read_json};
use crate::slurm::queue::{JobState, Queue};
use crate::state::{ItemState, StageState, Totals};

/// Number of failures that are reported with their messages.
const SHOWN_FAILURES: usize = 5;
/// Number of completed items whose times are read for an estimate.
const TIMED_ITEMS: usize = 200;

/// The status of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Totals of the counted stages.
    #[serde(flatten)]
    pub totals: Totals,
    /// Estimated time left, in s, while something is being executed.
    pub seconds_left: Option<f64>,
    /// All stages.
    pub stages: Vec<StageStatus>,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// Jobs of the plan that Slurm has queued or is running.
    pub jobs: Vec<JobState>,
    /// What else is to be said, for example that Slurm does not respond.
    pub notices: Vec<String>,
}

/// The status of a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageStatus {
    /// Name of the stage.
    pub stage: String,
    /// Totals.
    #[serde(flatten)]
    pub totals: Totals,
}

/// A failed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Name of the stage.
    pub stage: String,
    /// Number of the item.
    pub item: usize,
    /// Last messages.
    pub reason: String,
}

impl Status {
    /// Reads the status of the plan in a folder, and asks Slurm about what was submitted.
    pub fn read(plan: &Plan, folder: &Path) -> Result<Self, JobsError> {
        let queue = Queue::of_plan(folder)?;
        let mut status = Self { jobs: queue.active(), notices: queue.notices(), ..Self::default() };
        let mut left = 0.0;
        for stage in &plan.stages {
            let mut state = StageState::read(folder, stage)?;
            queue.apply(folder, stage, &mut state)?;
            let totals = state.totals(stage);
            if stage.counted {
                status.totals = status.totals.plus(totals);
            }
            status.stages.push(StageStatus { stage: stage.name.clone(), totals });
            left += seconds_left(folder, stage, &state);
            for (item, state) in state.items.into_iter().enumerate() {
                if let ItemState::Failed(reason) = state
                    && status.failures.len() < SHOWN_FAILURES
                {
                    status.failures.push(Failure { stage: stage.name.clone(), item, reason });
                }
            }
        }
        let executing: u64 = status.stages.iter().map(|stage| stage.totals.running).sum();
        status.seconds_left = (executing > 0).then_some(left);
        Ok(status)
    }
}

/// Time that the unfinished items take, in s: the mean of the finished ones (before the first one
/// has finished, the estimate of the plan), by as many items at a time as are running now.
fn seconds_left(folder: &Path, stage: &Stage, state: &StageState) -> f64 {
    let done: Vec<usize> = (0..state.items.len()).filter(|&item| state.items[item] == ItemState::Done).collect();
    let step = done.len().div_ceil(TIMED_ITEMS).max(1);
    let times: Vec<f64> = done
        .iter()
        .step_by(step)
        .filter_map(|&item| read_json::<DoneFile>(&stage.path(folder, item, "done")).ok())
        .map(|file| file.seconds)
        .collect();
    let mean = if times.is_empty() { stage.seconds } else { times.iter().sum::<f64>() / times.len() as f64 };
    let running = state.items.iter().filter(|state| **state == ItemState::Running).count();
    // A running item is half done, on average.
    let left = state.unfinished() as f64 - 0.5 * running as f64;
    mean * left / running.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::write_json;

    #[test]
    fn the_status_has_totals_failures_and_the_time_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let work = Stage::new("work", [], 0..6).taking(100.0);
        let plan = Plan::new("test", vec![work.clone(), Stage::new("gather", [], 0..1).taking(1.0).uncounted()]);
        plan.save(folder).expect("saved");
        write_json(&work.path(folder, 0, "done"), &DoneFile { seconds: 8.0 }).expect("written");
        std::fs::write(work.path(folder, 3, "failed"), "no luck\n").expect("written");
        let status = Status::read(&plan, folder).expect("a status");
        assert_eq!(status.totals, Totals { total: 6, done: 1, running: 0, waiting: 4, failed: 1 });
        assert_eq!(status.seconds_left, None, "nothing is running");
        assert_eq!(status.failures, [Failure { stage: "work".into(), item: 3, reason: "no luck".into() }]);
        let log = std::fs::File::create(work.path(folder, 4, "log")).expect("a log");
        log.lock().expect("locked");
        let status = Status::read(&plan, folder).expect("a status");
        assert_eq!(status.totals.running, 1);
        // 3.5 items of 8 s, then one of a second.
        assert_eq!(status.seconds_left, Some(29.0));
        let json = serde_json::to_value(&status).expect("JSON");
        assert_eq!((&json["total"], &json["stages"][1]["stage"]), (&6.into(), &"gather".into()));
    }
}
