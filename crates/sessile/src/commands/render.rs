//! `sessile render`: renders images and the video of an existing run.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use sessile_frames::FrameSelection;
use sessile_render::{FramesToRender, RenderError, RenderOptions, RenderSummary, render_run};

use super::{on_threads, run_hint};
use crate::args::{RenderArgs, RenderQuality};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::StderrProgress;
use crate::stderr;

/// Renders the selected frames of a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    let mut options = RenderOptions::new(FramesToRender::Selected(args.frames.unwrap_or_default()));
    options.size = args.size;
    options.samples = args.samples.map(std::num::NonZeroU32::get);
    options.denoise = args.no_denoise.then_some(false);
    options.exr = args.exr;
    options.quality = args.quality.into();
    options.ground_truth = args.ground_truth;
    let stop = interrupt::stop_flag();
    let summary = render_images(&args.run, &options, super::threads(args.threads), stop)?;
    if summary.stopped {
        return Err(stopped(&summary, &command_for_the_rest(args, &summary)));
    }
    report(&summary, &args.run);
    Ok(())
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
pub fn report(summary: &RenderSummary, run: &Path) {
    let folder = run.join("pictures");
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
fn command_for_the_rest(args: &RenderArgs, summary: &RenderSummary) -> String {
    let mut words = vec!["sessile".to_owned(), "render".to_owned(), super::quoted(&args.run.to_string_lossy())];
    let first = summary.next.map(|next| next.to_string());
    match (first, args.frames) {
        (Some(first), Some(FrameSelection::Range(_, Some(last)))) => words.push(format!("--frames {first}..{last}")),
        (Some(first), _) => words.push(format!("--frames {first}..")),
        // All images exist; the video is written with the last one.
        (None, _) => words.push("--frames last".to_owned()),
    }
    words.extend(args.size.map(|[width, height]| format!("--size {width}x{height}")));
    words.extend(args.samples.map(|samples| format!("--samples {samples}")));
    words.extend(args.no_denoise.then(|| "--no-denoise".to_owned()));
    words.extend(args.exr.then(|| "--exr".to_owned()));
    words.extend((args.quality == RenderQuality::Preview).then(|| "--quality preview".to_owned()));
    words.extend(args.ground_truth.then(|| "--ground-truth".to_owned()));
    words.extend(args.threads.map(|threads| format!("--threads {threads}")));
    words.join(" ")
}
