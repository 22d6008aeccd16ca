//! `sessile render`: pictures and the video of a run, drawn again.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use sessile_frames::FrameSelection;
use sessile_render::{FramesToRender, RenderError, RenderOptions, RenderSummary, render_run};

use super::on_threads;
use crate::args::{RenderArgs, RenderQuality};
use crate::failure::Failure;
use crate::{drawing, interrupt};

/// Draws the chosen frames of a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    let mut options = RenderOptions::new(FramesToRender::Selected(args.frames.unwrap_or_default()));
    options.size = args.size;
    options.samples = args.samples.map(std::num::NonZeroU32::get);
    options.denoise = args.no_denoise.then_some(false);
    options.exr = args.exr;
    options.quality = args.quality.into();
    options.ground_truth = args.ground_truth;
    let stop = interrupt::stop_flag();
    let drawn = draw(&args.run, &options, args.threads, &stop).map_err(|failure| with_guess(failure, &args.run))?;
    if drawn.stopped {
        return Err(stopped(&drawn, &again(args, &drawn)));
    }
    tell(&drawn, &args.run);
    Ok(())
}

/// Draws pictures of a run and shows how it goes.
pub fn draw(
    run: &Path,
    options: &RenderOptions,
    threads: Option<NonZeroUsize>,
    stop: &AtomicBool,
) -> Result<RenderSummary, Failure> {
    let progress = drawing::for_stderr();
    on_threads(threads, || render_run(run, options, progress.as_ref(), stop))?.map_err(failure)
}

/// Whose fault an error is, as an exit code.
pub fn failure(error: RenderError) -> Failure {
    if error.is_wrong_request() { Failure::wrong(error) } else { Failure::failed(error) }
}

/// Says where pictures and video are.
pub fn tell(drawn: &RenderSummary, run: &Path) {
    let pictures = match drawn.images {
        1 => "1 picture".to_owned(),
        count => format!("{count} pictures"),
    };
    match &drawn.video {
        Some(video) => eprintln!("drawn: {pictures} in {}, video {}", run.join("pictures").display(), video.display()),
        None => eprintln!("drawn: {pictures} in {}", run.join("pictures").display()),
    }
}

/// Why there are not all pictures, and what goes on from there.
pub fn stopped(drawn: &RenderSummary, command: &str) -> Failure {
    Failure::failed(format!(
        "stopped after {} of {} pictures; `{command}` goes on from here",
        drawn.images, drawn.requested
    ))
}

/// The command that draws what is left.
fn again(args: &RenderArgs, drawn: &RenderSummary) -> String {
    let mut words = vec!["sessile".to_owned(), "render".to_owned(), super::quoted(&args.run.to_string_lossy())];
    let first = drawn.next.map(|next| next.to_string());
    match (first, args.frames) {
        (Some(first), Some(FrameSelection::Range(_, Some(last)))) => words.push(format!("--frames {first}..{last}")),
        (Some(first), _) => words.push(format!("--frames {first}..")),
        // All pictures are there; the video comes with the last of them.
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

/// Adds where the run may be to an error that says that it is not here.
fn with_guess(failure: Failure, run: &Path) -> Failure {
    let guess = Path::new("runs").join(run);
    match failure {
        Failure::Wrong(reason) if !run.join("run.json").is_file() && guess.join("run.json").is_file() => {
            Failure::Wrong(format!("{reason}; did you mean {}?", guess.display()))
        }
        other => other,
    }
}
