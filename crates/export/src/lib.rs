//! A run's frames as files for other programs, and other programs' models as scenes.
//!
//! [`export_run`] reads a run folder, frame by frame, and writes one of the formats of [`Format`]; each has a file of its own here. Nothing appears under the
//! destination's name before all of it is written ([`destination`]). [`import_model`] goes the other way: it turns a model
//! with its materials and camera into a scene file that is ready to edit.
//!
//! Lengths are meters in every file, y is up, and coordinates are right-handed, unless a format has it otherwise; what each carries and how
//! time is told is written in `docs/export.md`.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//! use sessile_export::{ExportOptions, Format, Quiet, export_run};
//!
//! let options = ExportOptions::default();
//! let done = export_run(Path::new("runs/window"), Format::Usd, Path::new("window.usdc"), &options, &Quiet, &AtomicBool::new(false))?;
//! assert!(done.frames > 0);
//! # Ok::<(), sessile_export::ExportError>(())
//! ```

mod drawn;
mod drops;
mod error;
mod format;
mod formats;
mod job;
mod looks;
mod sky;
mod source;
mod stagecraft;
mod usd;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sessile_frames::FrameSelection;

pub use error::ExportError;
pub use format::Format;
pub use job::{ExportProgress, Quiet};

use job::Job;
use sessile_output::Destination;
use source::Source;

/// What to export, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// Which frames.
    pub frames: FrameSelection,
    /// Each drop in a file of its own, for formats of single meshes.
    pub split: bool,
    /// Replace what is there.
    pub force: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Frames written.
    pub frames: usize,
    /// The file or folder.
    pub path: PathBuf,
}

/// Exports frames of the run in a folder to `path`, all or nothing. Uses the caller's thread pool.
pub fn export_run(
    run: &Path,
    format: Format,
    path: &Path,
    options: &ExportOptions,
    progress: &dyn ExportProgress,
    stop: &AtomicBool,
) -> Result<Exported, ExportError> {
    format.check_name(path)?;
    if options.split && !matches!(format, Format::Ply | Format::Obj | Format::Stl) {
        let instead = "the drops' ids tell them apart; ply, obj and stl can be split";
        return Err(ExportError::Option { format: format.name(), what: "be split by drops", instead });
    }
    let mut notices = Vec::new();
    let source = Source::open(run, options.frames, &mut notices)?;
    notices.iter().for_each(|notice| progress.notice(notice));
    let destination = Destination::new(path, format.layout(), options.force)?;
    let job = Job { source: &source, destination: &destination, split: options.split, progress, stop };
    progress.begin(source.frames.len());
    let written = formats::write(format, &job);
    progress.end();
    written?;
    job.check_stop()?;
    let path = destination.path().to_owned();
    destination.commit()?;
    Ok(Exported { frames: source.frames.len(), path })
}

#[cfg(test)]
mod tests;
