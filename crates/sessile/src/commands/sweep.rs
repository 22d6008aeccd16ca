//! `sessile sweep` and `sessile jobs`: many runs of one scene.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sessile_sweep::execute::{Options, execute};
use sessile_sweep::find::{Search, find};
use sessile_sweep::{Axis, Between, Condition, Plan, RunState, Sweep, SweepError, Totals, results};

use crate::args::{JobsArgs, SceneArgs, SweepArgs};
use crate::commands::{run, scene};
use crate::failure::Failure;
use crate::{interrupt, stderr};

/// Number of failed runs whose reasons are printed.
const SHOWN_FAILURES: usize = 5;

/// Plans a sweep or search and executes it.
pub fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    let folder = args.out.clone().unwrap_or_else(|| Path::new("sweeps").join(run::stem(&args.scene.scene)));
    match (&args.find, &args.between) {
        (Some(condition), Some(between)) => search(args, condition, between, &folder),
        _ => run_all(args, &folder),
    }
}

fn run_all(args: &SweepArgs, folder: &Path) -> Result<(), Failure> {
    let plan = plan(args)?;
    for run in 0..plan.runs.len() {
        check(&args.scene, &plan.overrides(run))?;
    }
    let mut out = std::io::stdout().lock();
    if args.dry_run {
        writeln!(out, "{} runs", plan.runs.len())?;
        return Ok(());
    }
    plan.save(folder).map_err(wrong)?;
    let (program, stop) = (program()?, interrupt::stop_flag());
    // A signal lets the runs stop by themselves.
    interrupt::begin_work();
    let mut options = options(args, folder, &program, stop);
    options.retry_failed = args.retry.is_some();
    stderr::line(&describe(Totals::of(folder, plan.runs.len())));
    let totals = execute(&plan, options, &|totals| stderr::line(&describe(totals))).map_err(failed)?;
    results::write(&plan, folder).map_err(failed)?;
    writeln!(out, "{}", folder.join("results.csv").display())?;
    if totals.failed == 0 {
        return Ok(());
    }
    Err(Failure::failed(failures(folder, &plan, totals)))
}

/// The plan that the arguments describe.
fn plan(args: &SweepArgs) -> Result<Plan, Failure> {
    let sets = scene::overrides(&args.scene);
    let seed = scene::read(&args.scene.scene, &sets)?.scene.seed;
    let axes = args.over.iter().map(|argument| Axis::parse(argument, seed));
    let mut axes = axes.collect::<Result<Vec<Axis>, SweepError>>().map_err(wrong)?;
    if let Some(seeds) = args.seeds {
        let values = (0..u64::from(seeds.get())).map(|n| seed.wrapping_add(n).to_string()).collect();
        axes.push(Axis { key: "seed".into(), values });
    }
    Plan::new(&args.scene.scene, &sets, &Sweep { axes, zip: args.zip }).map_err(wrong)
}

fn check(args: &SceneArgs, sets: &[String]) -> Result<(), Failure> {
    scene::read(&args.scene, sets).map(|_| ())
}

fn search(args: &SweepArgs, condition: &str, between: &str, folder: &Path) -> Result<(), Failure> {
    let (condition, between) = (Condition::parse(condition).map_err(wrong)?, Between::parse(between).map_err(wrong)?);
    let sets = scene::overrides(&args.scene);
    for end in [between.low, between.high] {
        let end = format!("{}={}", between.key, between.value(end));
        check(&args.scene, &sets.iter().cloned().chain([end]).collect::<Vec<_>>())?;
    }
    if args.dry_run {
        writeln!(std::io::stdout(), "9 runs")?;
        return Ok(());
    }
    let (program, stop) = (program()?, interrupt::stop_flag());
    // A signal lets the runs stop by themselves.
    interrupt::begin_work();
    let options = options(args, folder, &program, stop);
    let search = Search { scene: &args.scene.scene, sets: &sets, between: &between, condition: &condition };
    let evaluated = |value: &str, holds: bool| {
        stderr::line(&format!("{}={value}: {condition} is {holds}", between.key));
    };
    let found = find(&search, options, &evaluated).map_err(failed)?;
    results::write(&Plan::load(folder).map_err(failed)?, folder).map_err(failed)?;
    let unit = if found.unit.is_empty() { String::new() } else { format!(" {}", found.unit) };
    let (key, low, high) = (&found.key, found.low, found.high);
    let [middle, half] = [0.5 * (low + high), 0.5 * (high - low)];
    writeln!(std::io::stdout(), "{key}={low}..{high}{unit}")?;
    let side = if found.holds_above { "above" } else { "below" };
    stderr::line(&format!(
        "{condition} {side} {middle} ± {half}{unit} ({} runs); see {}",
        found.runs,
        folder.join("found.json").display()
    ));
    Ok(())
}

fn options<'a>(args: &SweepArgs, folder: &'a Path, program: &'a Path, stop: &'a AtomicBool) -> Options<'a> {
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    Options { program, folder, jobs, retry_failed: false, stop }
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|cause| Failure::failed(format!("cannot find the program's own file: {cause}")))
}

fn describe(totals: Totals) -> String {
    let Totals { total, done, running, waiting, failed } = totals;
    let mut text = format!("{done} of {total} runs done");
    for (count, state) in [(running, "running"), (waiting, "waiting"), (failed, "failed")] {
        if count > 0 {
            text += &format!(", {count} {state}");
        }
    }
    text
}

/// The first failed runs with their reasons, and what to do.
fn failures(folder: &Path, plan: &Plan, totals: Totals) -> String {
    let mut text = format!("{} of {} runs failed; `--retry failed` repeats them", totals.failed, totals.total);
    let failed = (0..plan.runs.len()).filter_map(|run| match RunState::of(folder, run) {
        RunState::Failed(reason) => Some((run, reason)),
        _ => None,
    });
    for (run, reason) in failed.take(SHOWN_FAILURES) {
        let values = plan.keys.iter().zip(&plan.runs[run]).map(|(key, value)| format!("{key}={value}"));
        text += &format!("\nrun {run:05} ({}):\n{reason}", values.collect::<Vec<_>>().join(", "));
    }
    text
}

fn wrong(error: SweepError) -> Failure {
    Failure::wrong(error)
}

fn failed(error: SweepError) -> Failure {
    match error {
        SweepError::OtherPlan { .. } | SweepError::NoPlan { .. } => Failure::wrong(error),
        _ => Failure::failed(error),
    }
}

/// Prints how far a sweep has come.
pub fn jobs(args: &JobsArgs) -> Result<(), Failure> {
    let plan = Plan::load(&args.folder).map_err(wrong)?;
    let totals = Totals::of(&args.folder, plan.runs.len());
    let mut out = std::io::stdout().lock();
    if args.json {
        let json = serde_json::to_string(&totals).map_err(Failure::failed)?;
        writeln!(out, "{json}")?;
        return Ok(());
    }
    writeln!(out, "{}", describe(totals))?;
    if totals.failed > 0 {
        writeln!(out, "{}", failures(&args.folder, &plan, totals))?;
    }
    Ok(())
}
