//! What Slurm reports about the jobs of a plan.
//!
//! `squeue -h -r -t all -o '%i|%T|%r'` prints one line per task, `12_3|PENDING|Resources`, in all
//! versions of Slurm. Tasks that ended some minutes ago (`MinJobAge`) are no longer listed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::submission::{self, Submission};
use crate::error::JobsError;
use crate::item::last_lines;
use crate::plan::Stage;
use crate::state::{ItemState, StageState};

/// State and reason of a task, as `squeue` prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TaskState {
    state: String,
    reason: String,
}

/// A job array in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobState {
    /// Id.
    pub job: u64,
    /// Name of the stage.
    pub stage: String,
    /// Numbers of tasks by state and reason.
    pub tasks: BTreeMap<String, usize>,
}

/// The submissions of a plan, and the state of their tasks.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    submissions: Vec<(usize, Submission)>,
    tasks: BTreeMap<(u64, usize), TaskState>,
    /// Why the state is not known.
    problem: Option<Problem>,
}

/// Why Slurm does not tell the state of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// There is no Slurm on this machine.
    NoSlurm(String),
    /// Slurm does not respond.
    NoResponse(String),
}

impl TaskState {
    /// Whether the task has ended and will not run again. Unknown states have not.
    fn has_ended(&self) -> bool {
        let ended = [
            "BOOT_FAIL",
            "CANCELLED",
            "COMPLETED",
            "DEADLINE",
            "FAILED",
            "NODE_FAIL",
            "OUT_OF_MEMORY",
            "PREEMPTED",
            "REVOKED",
            "TIMEOUT",
        ];
        ended.contains(&self.state.as_str())
    }

    /// Whether its commands are being executed.
    fn is_running(&self) -> bool {
        matches!(self.state.as_str(), "RUNNING" | "COMPLETING" | "STOPPED" | "SUSPENDED")
    }
}

/// Reads the lines of `squeue`; a task that is listed twice has the state of its last line.
fn parse(text: &str) -> BTreeMap<(u64, usize), TaskState> {
    let task = |line: &str| {
        let (id, rest) = line.trim().split_once('|')?;
        let (state, reason) = rest.split_once('|')?;
        let (job, task) = id.split_once('_')?;
        let state = TaskState { state: state.to_owned(), reason: reason.to_owned() };
        Some(((job.parse().ok()?, task.parse().ok()?), state))
    };
    text.lines().filter_map(task).collect()
}

impl Queue {
    /// Asks Slurm about what was submitted for the plan in a folder; nothing without submissions.
    pub fn of_plan(folder: &Path) -> Result<Self, JobsError> {
        let mut submissions = Vec::new();
        for number in submission::numbers(folder)? {
            let mut submission = Submission::load(folder, number)?;
            adopt(folder, number, &mut submission)?;
            submissions.push((number, submission));
        }
        let ids: Vec<String> =
            submissions.iter().filter_map(|(_, submission)| submission.job).map(|job| job.to_string()).collect();
        if ids.is_empty() {
            return Ok(Self { submissions, ..Self::default() });
        }
        let arguments = ["-h", "-r", "-t", "all", "-o", "%i|%T|%r", "-j"].map(str::to_owned);
        let arguments: Vec<String> = arguments.into_iter().chain([ids.join(",")]).collect();
        match super::call("squeue", &arguments) {
            Ok(text) => Ok(Self { submissions, tasks: parse(&text), problem: None }),
            // All of the jobs ended long ago.
            Err(JobsError::Slurm { message, .. }) if message.contains("Invalid job id") => {
                Ok(Self { submissions, ..Self::default() })
            }
            Err(error) => {
                let problem = match error {
                    JobsError::NoSlurm { .. } => Problem::NoSlurm(error.to_string()),
                    error => Problem::NoResponse(error.to_string()),
                };
                Ok(Self { submissions, tasks: BTreeMap::new(), problem: Some(problem) })
            }
        }
    }

    /// Returns an error if jobs have not ended, or if Slurm does not tell. A machine without Slurm
    /// may execute the plan: its folder has been moved there.
    pub(crate) fn refuse_active(&self, folder: &Path) -> Result<(), JobsError> {
        if let Some(Problem::NoResponse(problem)) = &self.problem {
            return Err(JobsError::QueueUnknown { folder: folder.to_owned(), problem: problem.clone() });
        }
        let active: Vec<String> = self.active().iter().map(|job| job.job.to_string()).collect();
        if active.is_empty() {
            return Ok(());
        }
        Err(JobsError::StillQueued { folder: folder.to_owned(), jobs: active.join(" ") })
    }

    /// Jobs that have not ended.
    pub fn active(&self) -> Vec<JobState> {
        let jobs = self.submissions.iter().filter_map(|(_, submission)| Some((submission.job?, &submission.stage)));
        let with_tasks = jobs.map(|(job, stage)| {
            let mut tasks = BTreeMap::new();
            for (_, state) in self.tasks.range((job, 0)..=(job, usize::MAX)).filter(|(_, state)| !state.has_ended()) {
                let reason = if state.reason == "None" { String::new() } else { format!(" ({})", state.reason) };
                *tasks.entry(format!("{}{reason}", state.state)).or_insert(0) += 1;
            }
            JobState { job, stage: stage.clone(), tasks }
        });
        with_tasks.filter(|job| !job.tasks.is_empty()).collect()
    }

    /// What a user should know about the queue.
    pub fn notices(&self) -> Vec<String> {
        // Reasons with which a task would wait forever.
        let hopeless = [
            "BadConstraints",
            "DependencyNeverSatisfied",
            "InvalidAccount",
            "InvalidQOS",
            "JobHeld",
            "PartitionConfig",
        ];
        let stuck = self.tasks.iter().find(|(_, state)| hopeless.iter().any(|reason| state.reason.contains(reason)));
        let stuck = stuck.map(|((job, _), state)| {
            format!("job {job} waits for something that may never happen: Slurm gives the reason {}", state.reason)
        });
        let unsubmitted = self.submissions.iter().any(|(_, submission)| submission.job.is_none());
        let unsubmitted = unsubmitted.then(|| "a submission was interrupted; repeat the command".to_owned());
        let unknown = self.problem.as_ref().map(|problem| match problem {
            Problem::NoSlurm(reason) | Problem::NoResponse(reason) => {
                format!("the state of the queue is unknown: {reason}")
            }
        });
        unknown.into_iter().chain(stuck).chain(unsubmitted).collect()
    }

    /// Adds what Slurm reports to the states of a stage: items that a task executes are running,
    /// and items whose task has ended without completing them have failed.
    pub(crate) fn apply(&self, folder: &Path, stage: &Stage, state: &mut StageState) -> Result<(), JobsError> {
        if self.problem.is_some() {
            return Ok(());
        }
        for (number, submission) in self.submissions.iter().filter(|(_, submission)| submission.stage == stage.name) {
            let Some(job) = submission.job else { continue };
            for task in 0..submission.tasks() {
                let items = submission.items_of(task);
                let waiting = |state: &StageState, item: usize| state.items.get(item) == Some(&ItemState::Waiting);
                if !items.iter().any(|&item| waiting(state, item)) {
                    continue;
                }
                match self.tasks.get(&(job, task)) {
                    Some(task) if task.is_running() => {
                        let running = items.iter().any(|&item| state.items.get(item) == Some(&ItemState::Running));
                        if let Some(&item) = items.iter().find(|&&item| !running && waiting(state, item)) {
                            state.items[item] = ItemState::Running;
                        }
                    }
                    Some(task) if !task.has_ended() => {}
                    ended => {
                        let reason = lost(folder, *number, job, task, ended);
                        for &item in items {
                            if waiting(state, item) {
                                state.items[item] = ItemState::Failed(reason.clone());
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Records the id of a job whose submission was interrupted after Slurm had accepted it.
fn adopt(folder: &Path, number: usize, submission: &mut Submission) -> Result<(), JobsError> {
    if submission.job.is_some() || submission.name.is_empty() {
        return Ok(());
    }
    let arguments = ["-h", "-t", "all", "-o", "%F", &format!("--name={}", submission.name)].map(str::to_owned);
    let listed = super::call("squeue", &arguments).unwrap_or_default();
    if let Some(job) = listed.lines().next().and_then(|line| line.trim().parse().ok()) {
        submission.job = Some(job);
        submission.save(folder, number)?;
    }
    Ok(())
}

/// Why an item is not complete though its task has ended.
fn lost(folder: &Path, number: usize, job: u64, task: usize, ended: Option<&TaskState>) -> String {
    let messages = sessile_input::open(&submission::path(folder, number, &format!("-{task}.out")), u64::MAX);
    let messages = messages.and_then(|mut file| last_lines(&mut file, 0)).unwrap_or_default();
    let end = match ended {
        Some(TaskState { state, reason }) if reason == "None" => format!("ended as {state}"),
        Some(TaskState { state, reason }) => format!("ended as {state} ({reason})"),
        None => "is no longer known to Slurm".to_owned(),
    };
    format!("{messages}\ntask {job}_{task} {end} before this was done; repeat the command to continue")
        .trim_start()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read() {
        let text = "12_0|RUNNING|None\n12_10|PENDING|Resources\nnoise\n13|PENDING|x\n12_x|RUNNING|None\n\n";
        let tasks = parse(text);
        assert_eq!(tasks.len(), 2);
        assert_eq!(tasks[&(12, 10)], TaskState { state: "PENDING".into(), reason: "Resources".into() });
    }

    /// Five items in tasks of two, as job 12.
    fn queue(squeue: &str) -> Queue {
        let submission =
            Submission { stage: "work".into(), per_task: 2, items: (0..5).collect(), name: "n".into(), job: Some(12) };
        Queue { submissions: vec![(0, submission)], tasks: parse(squeue), problem: None }
    }

    fn apply(queue: &Queue, items: Vec<ItemState>) -> Vec<ItemState> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut state = StageState { items };
        queue.apply(folder.path(), &Stage::new("work", [], 0..5), &mut state).expect("applied");
        state.items
    }

    #[test]
    fn states_of_tasks_become_states_of_items() {
        use ItemState::{Done, Running, Waiting};
        let queue = queue("12_0|RUNNING|None\n12_1|PENDING|Resources\n12_2|TIMEOUT|TimeLimit\n");
        let items = apply(&queue, vec![Done, Waiting, Waiting, Waiting, Waiting]);
        assert_eq!(items[..4], [Done, Running, Waiting, Waiting]);
        let ItemState::Failed(reason) = &items[4] else { panic!("{items:?}") };
        assert!(reason.contains("task 12_2 ended as TIMEOUT (TimeLimit)"), "{reason}");
        assert_eq!(apply(&queue, vec![Running, Waiting, Done, Done, Done])[..2], [Running, Waiting]);
        assert!(
            matches!(queue.refuse_active(Path::new("x")), Err(JobsError::StillQueued { jobs, .. }) if jobs == "12")
        );
        let jobs = queue.active();
        assert_eq!((jobs.len(), jobs[0].tasks["RUNNING"], jobs[0].tasks["PENDING (Resources)"]), (1, 1, 1));
    }

    #[test]
    fn items_of_forgotten_tasks_have_failed_and_finished_ones_are_done() {
        let queue = queue("");
        let items =
            apply(&queue, vec![ItemState::Done, ItemState::Waiting, ItemState::Done, ItemState::Done, ItemState::Done]);
        assert_eq!(items.iter().filter(|state| **state == ItemState::Done).count(), 4);
        let ItemState::Failed(reason) = &items[1] else { panic!("{items:?}") };
        assert!(reason.contains("no longer known to Slurm"), "{reason}");
        queue.refuse_active(Path::new("x")).expect("jobs that are gone do not block a new submission");
    }

    #[test]
    fn an_unknown_queue_changes_nothing() {
        let queue = Queue { problem: Some(Problem::NoResponse("no connection".into())), ..queue("") };
        assert_eq!(apply(&queue, vec![ItemState::Waiting; 5]), vec![ItemState::Waiting; 5]);
        assert!(queue.notices()[0].contains("no connection"));
        let refused = queue.refuse_active(Path::new("x"));
        assert!(matches!(refused, Err(JobsError::QueueUnknown { .. })), "jobs may be running");
        let queue = Queue { problem: Some(Problem::NoSlurm("no squeue".into())), ..queue };
        queue.refuse_active(Path::new("x")).expect("a machine without Slurm continues the plan");
    }

    #[test]
    fn a_task_that_waits_forever_is_reported() {
        assert!(queue("12_0|PENDING|PartitionConfig\n").notices()[0].contains("PartitionConfig"));
        assert!(queue("12_0|PENDING|Priority\n").notices().is_empty());
    }
}
