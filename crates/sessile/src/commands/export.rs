//! `sessile export`: a run's frames as files for other programs.

use sessile_export::{ExportError, ExportOptions, export_run};

use super::on_threads;
use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::{exporting, interrupt};

/// Exports the chosen frames of a run.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let options = ExportOptions { frames: args.frames.unwrap_or_default(), split: args.split, force: args.force };
    let (stop, progress) = (interrupt::stop_flag(), exporting::for_stderr());
    let done = on_threads(None, || export_run(&args.run, args.to, &args.dest, &options, &progress, &stop))?
        .map_err(|error| failure(&error, args))?;
    let frames = if done.frames == 1 { "1 frame".to_owned() } else { format!("{} frames", done.frames) };
    eprintln!("exported: {frames} as {} to {}", args.to.name(), done.path.display());
    Ok(())
}

/// Whose fault an error is, and where the run may be if it is not where it was looked for.
fn failure(error: &ExportError, args: &ExportArgs) -> Failure {
    if !error.is_wrong_request() {
        return Failure::failed(error);
    }
    let guess = std::path::Path::new("runs").join(&args.run);
    if !args.run.join("run.json").is_file() && guess.join("run.json").is_file() {
        return Failure::wrong(format!("{error}; did you mean {}?", guess.display()));
    }
    Failure::wrong(error)
}
