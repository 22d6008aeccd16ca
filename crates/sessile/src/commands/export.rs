//! `sessile export`: writes a run in the formats of other programs.

use sessile_export::{ExportError, ExportOptions, export_run};

use super::{on_threads, run_hint};
use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::StderrProgress;
use crate::stderr;

/// Exports the selected frames of a run.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let options = ExportOptions { frames: args.frames.unwrap_or_default(), split: args.split, force: args.force };
    let (stop, progress) = (interrupt::stop_flag(), StderrProgress::new());
    let done = on_threads(None, || export_run(&args.run, args.to, &args.dest, &options, &progress, stop))?
        .map_err(|error| failure(&error, args))?;
    let frames = if done.frames == 1 { "1 frame".to_owned() } else { format!("{} frames", done.frames) };
    stderr::line(&format!("exported {frames} as {} to {}", args.to.name(), done.path.display()));
    Ok(())
}

/// Exit code of an error, with a hint if the run is in `runs/`.
fn failure(error: &ExportError, args: &ExportArgs) -> Failure {
    match error {
        ExportError::Stopped => Failure::Stopped(error.to_string()),
        error if error.is_wrong_request() => Failure::wrong(format!("{error}{}", run_hint(&args.run))),
        error => Failure::failed(error),
    }
}
