//! `sessile sweep`: many runs of one scene.

use std::io::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

use sessile_frames::{CostEstimate, FrameSelection, RunInfo, RunStatus};
use sessile_render::{FramesToRender, Quality, RenderOptions, RenderPart};
use sessile_sim::{Estimate, bytes_text, time_text};
use sessile_sweep::{
    Axis, Between, Bracket, Condition, Plan, SEARCH_RUNS, Search, Sweep, SweepError, results, run_path,
};

use crate::args::{RenderQuality, RunArgs, SceneArgs, SweepArgs, SweepPart, SweepPartArgs};
use crate::commands::jobs::{self, Executed};
use crate::commands::{render, run, scene};
use crate::failure::Failure;
use crate::{interrupt, stderr};

/// Width of the images in the report, in pixels.
const IMAGE_WIDTH: u32 = 240;
/// Wall time between checkpoints of a run, in s.
const CHECKPOINT_SECONDS: f64 = 30.0;

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
    let (mut seconds, mut bytes) = (0.0, 0.0);
    for run in 0..plan.runs.len() {
        let scene = scene::read(&args.scene.scene, &plan.overrides(run))?.scene;
        let cost = Estimate::new(&scene, 1).cost;
        seconds += cost.wall_seconds;
        bytes += cost.disk_bytes;
    }
    let mut out = std::io::stdout().lock();
    if args.dry_run {
        return Ok(write_estimate(&mut out, plan.runs.len(), seconds, bytes)?);
    }
    plan.save(folder).map_err(wrong)?;
    let jobs_plan = plan.jobs(seconds / plan.runs.len() as f64);
    jobs_plan.save(folder).map_err(|error| failed(error.into()))?;
    let Executed::Here(totals) = jobs::execute_plan(&jobs_plan, folder, &args.execution, "runs")? else {
        writeln!(out, "{}", folder.display())?;
        return Ok(());
    };
    writeln!(out, "{}", folder.join("results.csv").display())?;
    jobs::check(&jobs_plan, folder, totals, "runs")
}

/// Prints the number of runs and what they are expected to need.
fn write_estimate(out: &mut impl Write, runs: usize, seconds: f64, bytes: f64) -> std::io::Result<()> {
    writeln!(out, "{runs} runs\nestimate: {} of CPU time, {} on disk", time_text(seconds), bytes_text(bytes))
}

/// Executes a part of a sweep or search: a run, an image of its last frame, or gathering.
pub fn part(args: &SweepPartArgs) -> Result<(), Failure> {
    let (folder, number) = (&args.folder, args.number);
    match args.part {
        SweepPart::Probe => {
            let search = Search::load(folder).map_err(wrong)?;
            search.check_scene().map_err(wrong)?;
            run_one(&search.scene, search.overrides(folder, number).map_err(failed)?, folder, number)
        }
        SweepPart::Found => {
            let plan = Search::load(folder).and_then(|search| search.write(folder)).map_err(failed)?;
            results::write(&plan, folder).map_err(failed)
        }
        SweepPart::Run => {
            let plan = Plan::load(folder).map_err(wrong)?;
            plan.check_scene().map_err(wrong)?;
            if number >= plan.runs.len() {
                return Err(wrong(SweepError::NoRun { run: number, runs: plan.runs.len() }));
            }
            run_one(&plan.scene, plan.overrides(number), folder, number)
        }
        SweepPart::Image => image(&Plan::load(folder).map_err(wrong)?, folder, number),
        SweepPart::Gather => results::write(&Plan::load(folder).map_err(wrong)?, folder).map_err(failed),
    }
}

/// Renders the last frame of a run for the report. A run that has failed has no image.
fn image(plan: &Plan, folder: &Path, index: usize) -> Result<(), Failure> {
    let (run, images) = plan.image(folder, index);
    let out = run_path(folder, run);
    let Ok(RunInfo { status: RunStatus::Done, frames, .. }) = RunInfo::read(&out.join("run.json")) else {
        return Ok(());
    };
    if images.join(format!("{:05}.png", frames.saturating_sub(1))).is_file() {
        return Ok(());
    }
    let [width, height] = scene::read(&out.join("scene.toml"), &[])?.scene.render.size;
    let scaled = (f64::from(IMAGE_WIDTH) * f64::from(height) / f64::from(width)).round();
    let options = RenderOptions {
        size: Some([IMAGE_WIDTH, (scaled as u32).clamp(1, 4 * IMAGE_WIDTH)]),
        quality: Quality::Preview,
        part: RenderPart::Images,
        images: Some(images),
        ..RenderOptions::new(FramesToRender::Selected(FrameSelection::Last))
    };
    render::render_images(&out, &options, Some(NonZeroUsize::MIN), interrupt::stop_flag()).map(|_| ())
}

/// Executes or resumes one run. One that failed with another version of the program starts over.
fn run_one(scene: &Path, sets: Vec<String>, folder: &Path, run: usize) -> Result<(), Failure> {
    let out = run_path(folder, run);
    let before = RunInfo::read(&out.join("run.json")).ok();
    let fresh =
        before.is_some_and(|info| info.status == RunStatus::Failed && info.version != env!("CARGO_PKG_VERSION"));
    run::run(&RunArgs {
        scene: SceneArgs { scene: scene.to_owned(), model: None, sets },
        out: Some(out),
        threads: Some(NonZeroUsize::MIN),
        fresh,
        no_pictures: true,
        quality: RenderQuality::default(),
        checkpoint: CHECKPOINT_SECONDS,
    })
}

/// The plan that the arguments describe, or the scene's `[sweep]` table; arguments override it.
fn plan(args: &SweepArgs) -> Result<Plan, Failure> {
    let sets = scene::overrides(&args.scene);
    let parsed = scene::read(&args.scene.scene, &sets)?;
    let (seed, table) = (parsed.scene.seed, parsed.sweep.unwrap_or_default());
    let given: Vec<String> = if args.over.is_empty() {
        table.over.iter().map(|(key, values)| format!("{key}={values}")).collect()
    } else {
        args.over.clone()
    };
    let axes = given.iter().map(|argument| Axis::parse(argument, seed));
    let mut axes = axes.collect::<Result<Vec<Axis>, SweepError>>().map_err(wrong)?;
    if let Some(seeds) = args.seeds.map(NonZeroU32::get).or(table.seeds) {
        let values = (0..u64::from(seeds)).map(|n| seed.wrapping_add(n).to_string()).collect();
        axes.push(Axis { key: "seed".into(), values });
    }
    let zip = args.zip || (args.over.is_empty() && table.zip);
    Plan::new(&args.scene.scene, &sets, &Sweep { axes, zip }).map_err(wrong)
}

fn search(args: &SweepArgs, condition: &str, between: &str, folder: &Path) -> Result<(), Failure> {
    let (condition, between) = (Condition::parse(condition).map_err(wrong)?, Between::parse(between).map_err(wrong)?);
    let sets = scene::overrides(&args.scene);
    let mut ends = Vec::new();
    for end in [between.low, between.high] {
        let end = format!("{}={}", between.key, between.value(end));
        let sets: Vec<String> = sets.iter().cloned().chain([end]).collect();
        ends.push(Estimate::new(&scene::read(&args.scene.scene, &sets)?.scene, 1).cost);
    }
    // The runs are between the two ends.
    let mean = |cost: fn(&CostEstimate) -> f64| 0.5 * ends.iter().map(cost).sum::<f64>();
    let (seconds, bytes) = (mean(|cost| cost.wall_seconds), mean(|cost| cost.disk_bytes));
    if args.dry_run {
        let runs = SEARCH_RUNS as f64;
        return Ok(write_estimate(&mut std::io::stdout(), SEARCH_RUNS, runs * seconds, runs * bytes)?);
    }
    let search = Search::new(&args.scene.scene, &sets, between, &condition).map_err(wrong)?;
    search.save(folder).map_err(wrong)?;
    let plan = search.jobs(seconds);
    plan.save(folder).map_err(jobs::failure)?;
    let Executed::Here(totals) = jobs::execute_plan(&plan, folder, &args.execution, "runs")? else {
        writeln!(std::io::stdout(), "{}", folder.display())?;
        return Ok(());
    };
    match search.found(folder) {
        Ok((bracket, evaluated)) => {
            write_found(&bracket, &evaluated, folder)?;
            jobs::check(&plan, folder, totals, "runs")
        }
        Err(error @ SweepError::SameAtBothEnds { .. }) => Err(failed(error)),
        // The reasons of the runs that failed tell more.
        Err(error) => jobs::check(&plan, folder, totals, "runs").and(Err(failed(error))),
    }
}

/// Prints the result of a search.
fn write_found(found: &Bracket, evaluated: &[(String, bool)], folder: &Path) -> Result<(), Failure> {
    let unit = if found.unit.is_empty() { String::new() } else { format!(" {}", found.unit) };
    let Bracket { key, low, high, condition, .. } = found;
    for (value, holds) in evaluated {
        stderr::line(&format!("{key}={value}: {condition} is {holds}"));
    }
    let [middle, half] = [0.5 * (low + high), 0.5 * (high - low)];
    writeln!(std::io::stdout(), "{key}={low}..{high}{unit}")?;
    let side = if found.holds_above { "above" } else { "below" };
    let file = folder.join("found.json");
    stderr::line(&format!("{condition} {side} {middle} ± {half}{unit} ({} runs); see {}", found.runs, file.display()));
    Ok(())
}

fn wrong(error: SweepError) -> Failure {
    Failure::wrong(error)
}

fn failed(error: SweepError) -> Failure {
    match error {
        SweepError::OtherPlan { .. } | SweepError::NoPlan { .. } | SweepError::OtherScene { .. } => {
            Failure::wrong(error)
        }
        SweepError::Jobs(error) => jobs::failure(error),
        _ => Failure::failed(error),
    }
}
