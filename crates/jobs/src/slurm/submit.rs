//! Submission of a plan: one job array per stage, each depending on the one before.

use std::path::{Path, PathBuf};

use sessile_frames::{Durability, atomic};

use super::profile::Profile;
use super::queue::Queue;
use super::submission::{self, Submission};
use crate::error::JobsError;
use crate::local::repeat_later_stages;
use crate::plan::{Plan, Stage};
use crate::state::{ItemState, StageState};

/// Estimated time of a task, in s: several short items share a task, because starting one takes
/// about a second.
const TASK_SECONDS: f64 = 60.0;
/// Time that an item takes at least, in s: its process starts and writes files.
const LEAST_ITEM_SECONDS: f64 = 0.1;
/// Number of tasks that a stage has at least, where it has as many items: so many nodes can share
/// even short work.
const LEAST_TASKS: usize = 8;
/// Tasks of an array where the cluster does not tell its limit: Slurm's default `MaxArraySize`
/// less one.
const DEFAULT_MAX_TASKS: usize = 1000;

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Name of the stage.
    pub stage: String,
    /// Id of the job.
    pub job: u64,
    /// Number of tasks.
    pub tasks: usize,
}

/// Submits the items of a plan that are not done.
///
/// `program` is the path of the program, unless the profile names another one.
pub fn submit(
    plan: &Plan,
    folder: &Path,
    profile: &Profile,
    program: &Path,
    retry_failed: bool,
) -> Result<Vec<Submitted>, JobsError> {
    let lock = submission::lock(folder)?;
    if lock.is_none() {
        return Err(JobsError::Submitting { folder: folder.to_owned() });
    }
    Queue::of_plan(folder)?.refuse_active(folder)?;
    let stages = pending_stages(plan, folder, retry_failed)?;
    submission::clear(folder)?;
    let limit = max_tasks(profile);
    let mut submitted: Vec<Submitted> = Vec::new();
    let mut before: Vec<u64> = Vec::new();
    let mut number = 0;
    for (stage, items) in stages {
        let mut jobs = Vec::new();
        let per_task = items_per_task(stage, items.len(), profile);
        for items in items.chunks(per_task.saturating_mul(limit)) {
            let (name, items) = (submission::unique_name(&stage.name, number), items.to_vec());
            let array = Submission { stage: stage.name.clone(), per_task, items, name, job: None };
            match submit_array(folder, number, array, profile, program, &before) {
                Ok(array) => {
                    jobs.push(array.job);
                    submitted.push(array);
                }
                Err(error) => {
                    // All or nothing: a part of the plan would wait for jobs that do not exist.
                    let ids = submitted.iter().map(|array| array.job.to_string()).collect::<Vec<_>>();
                    if !ids.is_empty() {
                        super::call("scancel", &ids)?;
                    }
                    submission::clear(folder)?;
                    return Err(error);
                }
            }
            number += 1;
        }
        before = jobs;
    }
    Ok(submitted)
}

/// The stages with their items that are to be executed. The state of the folder is prepared for
/// them: failed items that are repeated and the stages after them wait again.
fn pending_stages<'a>(
    plan: &'a Plan,
    folder: &Path,
    retry_failed: bool,
) -> Result<Vec<(&'a Stage, Vec<usize>)>, JobsError> {
    let mut stages = Vec::new();
    for (position, stage) in plan.stages.iter().enumerate() {
        let state = StageState::read(folder, stage)?;
        if state.items.contains(&ItemState::Running) {
            return Err(JobsError::Executing { folder: folder.to_owned() });
        }
        let pending = state.pending(retry_failed);
        if pending.is_empty() {
            continue;
        }
        for &item in &pending {
            atomic::remove(&stage.path(folder, item, "failed"))?;
        }
        repeat_later_stages(plan, folder, position)?;
        stages.push((stage, pending));
    }
    Ok(stages)
}

/// Number of items of a task.
fn items_per_task(stage: &Stage, items: usize, profile: &Profile) -> usize {
    let by_time = (TASK_SECONDS / stage.seconds.max(LEAST_ITEM_SECONDS)).ceil() as usize;
    let shared = items.div_ceil(LEAST_TASKS);
    profile.items_per_task.unwrap_or_else(|| by_time.min(shared)).clamp(1, items.max(1))
}

/// Largest number of tasks of an array.
fn max_tasks(profile: &Profile) -> usize {
    let config = super::call("scontrol", &["show".to_owned(), "config".to_owned()]).unwrap_or_default();
    let cluster = max_array_size(&config).unwrap_or(DEFAULT_MAX_TASKS);
    profile.max_tasks.map_or(cluster, |tasks| tasks.min(cluster))
}

/// `MaxArraySize` in the configuration of a cluster: indices are smaller than it.
fn max_array_size(config: &str) -> Option<usize> {
    let value = config.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize")?.trim().strip_prefix('='))?;
    value.trim().parse().ok().filter(|&size| size > 0)
}

fn submit_array(
    folder: &Path,
    number: usize,
    mut array: Submission,
    profile: &Profile,
    program: &Path,
    before: &[u64],
) -> Result<Submitted, JobsError> {
    array.save(folder, number)?;
    let script = submission::path(folder, number, ".sh");
    let program = profile.program.as_deref().unwrap_or(program);
    let text = job_script(folder, number, &profile.preamble, program);
    atomic::write(&script, text.as_bytes(), Durability::Handed)?;
    let printed = super::call("sbatch", &sbatch_arguments(folder, number, &array, profile, before, &script))?;
    let job = job_id(&printed)
        .ok_or_else(|| JobsError::Slurm { program: "sbatch".into(), message: format!("no job id in `{printed}`") })?;
    array.job = Some(job);
    array.save(folder, number)?;
    Ok(Submitted { stage: array.stage.clone(), job, tasks: array.tasks() })
}

/// `12` or `12;cluster`, as `sbatch --parsable` prints it.
fn job_id(printed: &str) -> Option<u64> {
    printed.trim().split(';').next()?.parse().ok()
}

fn sbatch_arguments(
    folder: &Path,
    number: usize,
    array: &Submission,
    profile: &Profile,
    before: &[u64],
    script: &Path,
) -> Vec<String> {
    let output: PathBuf = submission::path(folder, number, "-%a.out");
    let mut arguments = vec![
        "--parsable".to_owned(),
        format!("--job-name={}", array.name),
        format!("--array=0-{}", array.tasks().saturating_sub(1)),
        "--requeue".to_owned(),
        // The messages of a first attempt are kept when a task is requeued.
        "--open-mode=append".to_owned(),
        format!("--output={}", output.display()),
        format!("--signal=B:XCPU@{}", profile.warning_seconds()),
    ];
    if !before.is_empty() {
        let ids = before.iter().map(u64::to_string).collect::<Vec<_>>().join(":");
        arguments.push(format!("--dependency=afterany:{ids}"));
    }
    arguments.extend(profile.arguments());
    arguments.push(script.display().to_string());
    arguments
}

/// The script of an array: it becomes the program, so that signals reach it.
fn job_script(folder: &Path, number: usize, preamble: &str, program: &Path) -> String {
    let (program, folder) = (quoted(&program.to_string_lossy()), quoted(&folder.to_string_lossy()));
    format!(
        "#!/bin/bash\n\
         # Executes one task of the plan in this folder; written by `--on slurm`.\n\
         {preamble}\n\
         program={program}\n\
         if [ ! -x \"$program\" ]; then\n\
         \x20   echo \"the program $program is missing on node ${{SLURMD_NODENAME:-$(hostname)}}\" >&2\n\
         \x20   exit 127\n\
         fi\n\
         exec \"$program\" task {folder} {number} \"$SLURM_ARRAY_TASK_ID\"\n"
    )
}

/// A word for a POSIX shell, in single quotes.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_items_share_a_task() {
        let items = |seconds: f64, count: usize, profile: &Profile| {
            items_per_task(&Stage::new("s", [], 0..count as u64).taking(seconds), count, profile)
        };
        let none = Profile::default();
        assert_eq!(items(600.0, 40, &none), 1);
        assert_eq!(items(6.0, 10_000, &none), 10);
        assert_eq!(items(6.0, 40, &none), 5, "few items are spread over tasks");
        assert_eq!((items(0.0, 1, &none), items(0.0, 10_000, &none)), (1, 600));
        assert_eq!(items(600.0, 40, &Profile { items_per_task: Some(7), ..Profile::default() }), 7);
    }

    #[test]
    fn the_limit_of_arrays_is_read() {
        let config = "Configuration data\nMaxArraySize            = 1001\nMaxBatchRequeue         = 5\n";
        assert_eq!(max_array_size(config), Some(1001));
        assert_eq!(max_array_size("MaxArraySize = 0"), None);
        assert_eq!(max_array_size("nothing"), None);
    }

    #[test]
    fn job_ids_are_read() {
        assert_eq!((job_id("12\n"), job_id("12;lab\n"), job_id("error")), (Some(12), Some(12), None));
    }

    #[test]
    fn arguments_and_script_of_an_array() {
        let array = Submission {
            stage: "render".into(),
            per_task: 4,
            items: (0..10).collect(),
            name: "sessile-x".into(),
            job: None,
        };
        let profile = Profile { time: Some("1:00:00".into()), ..Profile::default() };
        let folder = Path::new("it's");
        let arguments = sbatch_arguments(folder, 3, &array, &profile, &[7, 8], Path::new("x.sh"));
        for expected in [
            "--array=0-2",
            "--job-name=sessile-x",
            "--requeue",
            "--dependency=afterany:7:8",
            "--time=1:00:00",
            "--signal=B:XCPU@60",
        ] {
            assert!(arguments.iter().any(|argument| argument == expected), "{expected} in {arguments:?}");
        }
        let script = job_script(folder, 3, "module load x", Path::new("/opt/sessile"));
        assert!(script.contains("\nmodule load x\n"), "{script}");
        assert!(script.ends_with("exec \"$program\" task 'it'\\''s' 3 \"$SLURM_ARRAY_TASK_ID\"\n"), "{script}");
    }

    #[test]
    fn repeated_items_make_later_stages_wait_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let plan = Plan::new("t", vec![Stage::new("a", [], 0..3), Stage::new("b", [], 0..1)]);
        plan.save(folder).expect("saved");
        for (stage, item, extension) in [(0, 0, "done"), (0, 1, "done"), (0, 2, "failed"), (1, 0, "done")] {
            std::fs::write(plan.stages[stage].path(folder, item, extension), "").expect("written");
        }
        assert!(pending_stages(&plan, folder, false).expect("read").is_empty());
        let stages = pending_stages(&plan, folder, true).expect("read");
        let found: Vec<_> = stages.iter().map(|(stage, items)| (stage.name.as_str(), items.clone())).collect();
        assert_eq!(found, [("a", vec![2]), ("b", vec![0])]);
        let log = std::fs::File::create(plan.stages[0].path(folder, 2, "log")).expect("a log");
        log.lock().expect("locked");
        assert!(matches!(pending_stages(&plan, folder, true), Err(JobsError::Executing { .. })));
    }
}
