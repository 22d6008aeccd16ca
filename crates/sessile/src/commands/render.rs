//! `sessile render`: renders images and the video of an existing run.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sessile_appearance::{frames_of_run, scene_of_run};
use sessile_frames::RunFolder;
use sessile_jobs::{Plan, Stage};
use sessile_render::{
    FramesToRender, RenderError, RenderOptions, RenderPart, RenderSummary, render_run, separate_folder,
};

use super::{on_threads, run_hint};
use crate::args::{RenderArgs, RenderOnly, RenderQuality};
use crate::commands::jobs::{self, Executed};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::StderrProgress;
use crate::stderr;

/// Frames of an item of a plan, for the path tracer and for previews: each item loads the scene and
/// measures the exposure.
const FRAMES_PER_ITEM: [u64; 2] = [4, 16];
/// CPU time of an image of 640 × 360 pixels, in s: with 64 samples, and as a preview.
const IMAGE_SECONDS: [f64; 2] = [12.0, 0.5];
/// Folder of the images of a whole run.
const PICTURES: &str = "pictures";

/// Renders the selected frames of a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    if args.execution.on.is_some() || args.execution.jobs.is_some() {
        return render_in_parts(args);
    }
    let options = RenderOptions { images: Some(destination(args)?), ..options(args) };
    let stop = interrupt::stop_flag();
    let summary = render_images(&args.run, &options, super::threads(args.threads), stop)?;
    if summary.stopped {
        return Err(stopped(&summary, &command_for_the_rest(args)));
    }
    report(&summary);
    Ok(())
}

/// What to render, and how, as the arguments specify.
fn options(args: &RenderArgs) -> RenderOptions {
    let frames = args.frames.unwrap_or_default();
    let frames = if args.missing { FramesToRender::MissingOf(frames) } else { FramesToRender::Selected(frames) };
    RenderOptions {
        size: args.size,
        samples: args.samples.map(NonZeroU32::get),
        denoise: args.no_denoise.then_some(false),
        exr: args.exr,
        jpeg: args.jpeg,
        quality: args.quality.into(),
        ground_truth: args.ground_truth,
        part: match args.only {
            None => RenderPart::All,
            Some(RenderOnly::Images) => RenderPart::Images,
            Some(RenderOnly::Video) => RenderPart::Video,
        },
        ..RenderOptions::new(frames)
    }
}

/// The folder of the images: `--out`, or that of the run, or a separate one for a part of the run
/// or other settings.
fn destination(args: &RenderArgs) -> Result<PathBuf, Failure> {
    match (&args.out, &args.place) {
        (Some(out), _) => Ok(out.clone()),
        (None, Some(place)) => Ok(args.run.join(place)),
        (None, None) => Ok(args.run.join(default_place(args)?)),
    }
}

/// The default folder of the images, relative to the run folder.
fn default_place(args: &RenderArgs) -> Result<PathBuf, Failure> {
    let separate = separate_folder(&args.run, &options(args)).map_err(|error| failure(&error, &args.run))?;
    Ok(separate.unwrap_or_else(|| PathBuf::from(PICTURES)))
}

/// Renders groups of frames at the same time, each in a process of its own, here or on a cluster.
fn render_in_parts(args: &RenderArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run).map_err(|error| failure(&error.into(), &args.run))?;
    let read = || -> Result<(Vec<u64>, [u32; 2], u32), RenderError> {
        let scene = scene_of_run(&folder)?;
        let frames = frames_of_run(&folder, args.frames.unwrap_or_default(), &folder.frames()?)?;
        Ok((frames, args.size.unwrap_or(scene.render.size), scene.render.samples))
    };
    let (frames, [width, height], samples) = read().map_err(|error| failure(&error, &args.run))?;
    let samples = args.samples.map_or(samples, NonZeroU32::get);
    let (Some(&first), Some(&last)) = (frames.first(), frames.last()) else {
        return Err(Failure::wrong(format!("{} has no frames to render", args.run.display())));
    };
    let preview = args.quality == RenderQuality::Preview;
    let pixels = f64::from(width) * f64::from(height) / (640.0 * 360.0);
    let effort = if preview { pixels } else { pixels * f64::from(samples) / 64.0 };
    let block = FRAMES_PER_ITEM[usize::from(preview)];
    let place = match &args.out {
        Some(out) => std::path::absolute(out).map_err(Failure::failed)?,
        None => default_place(args)?,
    };
    let mut options = option_words(args);
    options.extend(["--place".to_owned(), place.to_string_lossy().into_owned()]);
    options.extend(args.missing.then(|| "--missing".to_owned()));
    let words = |only: &'static [&'static str]| {
        ["render", "{folder}", "--threads", "{threads}", "--only"].into_iter().chain(only.iter().copied())
    };
    let images = words(&["images", "--frames", "{first}..{last}"]).chain(options.iter().map(String::as_str));
    let video = words(&["video"]).chain(options.iter().map(String::as_str));
    let seconds = block as f64 * effort * IMAGE_SECONDS[usize::from(preview)];
    let stages = vec![
        Stage::new("render", images, first..last + 1).in_blocks_of(block).taking(seconds),
        Stage::new("gather", video, 0..1).uncounted(),
    ];
    let plan = Plan::new("render", stages);
    plan.save_or_replace(&args.run).map_err(jobs::failure)?;
    let place = args.run.join(place);
    match jobs::execute_plan(&plan, &args.run, &args.execution, "frames")? {
        Executed::Submitted => {
            stderr::line(&format!("images and video will be in {}", place.display()));
            Ok(())
        }
        Executed::Here(totals) => {
            jobs::check(&plan, &args.run, totals, "frames")?;
            stderr::line(&format!("the images are in {}", place.display()));
            Ok(())
        }
    }
}

/// Renders images of a run and reports progress on standard error.
pub fn render_images(
    run: &Path,
    options: &RenderOptions,
    threads: Option<NonZeroUsize>,
    stop: &AtomicBool,
) -> Result<RenderSummary, Failure> {
    let progress = StderrProgress::new();
    on_threads(threads, || render_run(run, options, &progress, stop))?.map_err(|error| failure(&error, run))
}

/// Maps an error to its exit code, with a hint if the run is in `runs/`.
fn failure(error: &RenderError, run: &Path) -> Failure {
    match error {
        RenderError::Busy { .. } => Failure::Busy(error.to_string()),
        error if error.is_wrong_request() => Failure::wrong(format!("{error}{}", run_hint(run))),
        error => Failure::failed(error),
    }
}

/// Prints where images and video are.
pub fn report(summary: &RenderSummary) {
    let folder = &summary.folder;
    let images = if summary.images == 1 { "1 image".to_owned() } else { format!("{} images", summary.images) };
    match &summary.video {
        Some(video) => stderr::line(&format!("rendered {images} to {}, video {}", folder.display(), video.display())),
        None => stderr::line(&format!("rendered {images} to {}", folder.display())),
    }
}

/// The error after an interruption, with the command that renders the rest.
pub fn stopped(summary: &RenderSummary, command: &str) -> Failure {
    Failure::Stopped(format!(
        "stopped after {} of {} images; `{command}` renders the rest",
        summary.images, summary.requested
    ))
}

/// The command that renders what is left.
fn command_for_the_rest(args: &RenderArgs) -> String {
    let mut words = vec!["sessile".to_owned(), "render".to_owned(), super::quoted(&args.run.to_string_lossy())];
    words.extend(args.frames.map(|frames| format!("--frames {frames}")));
    words.extend(option_words(args));
    words.extend(args.out.iter().map(|out| format!("--out {}", super::quoted(&out.to_string_lossy()))));
    words.push("--missing".to_owned());
    words.extend(args.threads.map(|threads| format!("--threads {threads}")));
    words.join(" ")
}

/// The options that determine how images are rendered.
fn option_words(args: &RenderArgs) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(args.size.map(|[width, height]| format!("--size={width}x{height}")));
    words.extend(args.samples.map(|samples| format!("--samples={samples}")));
    words.extend(args.no_denoise.then(|| "--no-denoise".to_owned()));
    words.extend(args.exr.then(|| "--exr".to_owned()));
    words.extend(args.jpeg.then(|| "--jpeg".to_owned()));
    words.extend((args.quality == RenderQuality::Preview).then(|| "--quality=preview".to_owned()));
    words.extend(args.ground_truth.then(|| "--ground-truth".to_owned()));
    words
}
