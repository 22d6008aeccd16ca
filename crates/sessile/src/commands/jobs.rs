//! Plans of many parts: execution here or on a cluster, and `sessile jobs`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sessile_jobs::slurm::task::{TaskOutcome, requeue};
use sessile_jobs::slurm::{Profile, execute_task, submit};
use sessile_jobs::{JobsError, Local, Plan, Status, Totals, execute};

use crate::args::{Cluster, ExecutionArgs, JobsArgs, TaskArgs};
use crate::failure::Failure;
use crate::progress::coarse;
use crate::{interrupt, stderr};

/// How a plan was executed.
pub enum Executed {
    /// On this machine, with these totals.
    Here(Totals),
    /// By a cluster, which has it in its queue, unless there was nothing to do.
    Submitted,
}

/// Executes a plan on this machine or submits it; `noun` names what it counts ("runs").
pub fn execute_plan(plan: &Plan, folder: &Path, args: &ExecutionArgs, noun: &str) -> Result<Executed, Failure> {
    let (program, retry_failed) = (program()?, args.retry.is_some());
    if let Some(Cluster::Slurm(partition)) = &args.on {
        let mut profile = Profile::find(args.profile.as_deref()).map_err(failure)?;
        profile.partition = partition.clone().or(profile.partition);
        let arrays = submit(plan, folder, &profile, &program, retry_failed).map_err(failure)?;
        for array in &arrays {
            stderr::line(&format!("submitted {} as job {} with {} tasks", array.stage, array.job, array.tasks));
        }
        if arrays.is_empty() {
            stderr::line("nothing to submit: everything is done or has failed");
        }
        stderr::line(&format!("`sessile jobs {}` shows how far it is", super::quoted(&folder.to_string_lossy())));
        return Ok(Executed::Submitted);
    }
    // A signal lets the parts stop by themselves.
    interrupt::begin_work();
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let local = Local { program: &program, jobs, retry_failed, stop: interrupt::stop_flag() };
    let changed = |totals: Totals| stderr::line(&format!("{noun}: {totals}"));
    execute(plan, folder, local, &changed).map(Executed::Here).map_err(failure)
}

/// Reports failures after an execution on this machine.
pub fn check(plan: &Plan, folder: &Path, totals: Totals, noun: &str) -> Result<(), Failure> {
    let status = Status::read(plan, folder).map_err(failure)?;
    if totals.running > 0 {
        stderr::line(&format!(
            "another process is executing {} {noun}; repeat the command when it is done",
            totals.running
        ));
    }
    if status.failures.is_empty() {
        return Ok(());
    }
    let what = match totals.failed {
        0 => format!("all {noun} are done, but a later stage failed"),
        failed => format!("{failed} of {} {noun} failed", totals.total),
    };
    let failed = format!("{what}; `--retry failed` repeats what failed");
    Err(Failure::failed(format!("{failed}{}", failures(&status))))
}

/// The program's own file.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|cause| Failure::failed(format!("cannot find the program's own file: {cause}")))
}

/// Maps an error to its exit code.
pub fn failure(error: JobsError) -> Failure {
    match error {
        JobsError::OtherPlan { .. } | JobsError::NoPlan { .. } | JobsError::Profile { .. } => Failure::wrong(error),
        JobsError::StillQueued { .. }
        | JobsError::QueueUnknown { .. }
        | JobsError::Submitting { .. }
        | JobsError::Executing { .. } => Failure::Busy(error.to_string()),
        JobsError::Stopped => Failure::Stopped(error.to_string()),
        error => Failure::failed(error),
    }
}

/// The first failures with their reasons.
fn failures(status: &Status) -> String {
    let one = |failure: &sessile_jobs::Failure| {
        format!("\n{} {:05}:\n{}", failure.stage, failure.item, failure.reason.trim_end())
    };
    status.failures.iter().map(one).collect()
}

/// Prints how far a plan has come.
pub fn jobs(args: &JobsArgs) -> Result<(), Failure> {
    let plan = Plan::load(&args.folder).map_err(failure)?;
    let status = Status::read(&plan, &args.folder).map_err(failure)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let json = serde_json::to_string(&status).map_err(Failure::failed)?;
        writeln!(out, "{json}")?;
        return Ok(());
    }
    writeln!(out, "{}", status.totals)?;
    for stage in status.stages.iter().filter(|_| status.stages.len() > 1) {
        writeln!(out, "{:>9}: {}", stage.stage, stage.totals)?;
    }
    for job in &status.jobs {
        let tasks: Vec<String> = job.tasks.iter().map(|(state, count)| format!("{count} {state}")).collect();
        writeln!(out, "job {} ({}): {}", job.job, job.stage, tasks.join(", "))?;
    }
    if let Some(seconds) = status.seconds_left {
        let left = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        writeln!(out, "about {} left", coarse(left))?;
    }
    for notice in &status.notices {
        writeln!(out, "{notice}")?;
    }
    let failures = failures(&status);
    if !failures.is_empty() {
        writeln!(out, "failed:{failures}")?;
    }
    Ok(())
}

/// Executes a task of a job array; requeues it if its time is over or its files are in use.
pub fn task(args: &TaskArgs) -> Result<(), Failure> {
    let program = program()?;
    interrupt::begin_work();
    let outcome = execute_task(&args.folder, args.submission, args.task, &program, interrupt::stop_flag());
    let again = |reason: &str| {
        stderr::line(reason);
        requeue().map_err(failure)
    };
    match outcome.map_err(failure)? {
        TaskOutcome::Done => Ok(()),
        TaskOutcome::Failed(count, reason) => Err(Failure::failed(format!("{count} failed; the first one:\n{reason}"))),
        TaskOutcome::Busy => {
            again("another process is executing a part of this task; requeued")?;
            Err(Failure::Busy("requeued".to_owned()))
        }
        TaskOutcome::Stopped => {
            if interrupt::time_is_over() {
                again("the time limit is near: saved and requeued")?;
            }
            Err(Failure::Stopped("stopped; the task continues when it is executed again".to_owned()))
        }
    }
}
