//! Writes the frames of a run in the file formats of other programs.
//!
//! [`export_run`] reads a run folder frame by frame and writes one of the formats of [`Format`];
//! each format has a module. The output appears under its final name only when it is complete
//! (`sessile_output`). Nothing here depends on which model made the frames.
//!
//! Lengths are in meters, y is up and coordinates are right-handed in every file, unless the format
//! demands otherwise. `docs/export.md` lists what each format contains and how it represents time.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//! use sessile_export::{ExportOptions, Format, export_run};
//! use sessile_frames::NoProgress;
//!
//! let options = ExportOptions::default();
//! let (run, file) = (Path::new("runs/window"), Path::new("window.usdc"));
//! let exported = export_run(run, Format::Usd, file, &options, &NoProgress, &AtomicBool::new(false))?;
//! assert!(exported.frames > 0);
//! # Ok::<(), sessile_export::ExportError>(())
//! ```

mod drops;
mod environment_file;
mod error;
mod format;
mod formats;
mod job;
mod left_out;
mod materials;
mod render_assets;
mod render_mesh;
mod source;
mod usd;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sessile_frames::{Activity, FrameSelection, Progress};
use sessile_output::Destination;

pub use error::ExportError;
pub use format::Format;

use job::Job;
use source::Source;

/// Options of an export.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// The frames to export.
    pub frames: FrameSelection,
    /// Whether each drop gets a file of its own (PLY, OBJ and STL).
    pub split: bool,
    /// Whether an existing destination is replaced.
    pub force: bool,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Number of frames written.
    pub frames: usize,
    /// The file or folder.
    pub path: PathBuf,
}

/// Exports frames of the run in a folder to `path`, all or nothing.
///
/// Runs on the caller's thread pool; setting `stop` cancels the export.
pub fn export_run(
    run: &Path,
    format: Format,
    path: &Path,
    options: &ExportOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Exported, ExportError> {
    format.check_destination(path)?;
    if options.split && !matches!(format, Format::Ply | Format::Obj | Format::Stl) {
        return Err(ExportError::CannotSplit { format: format.name() });
    }
    let mut notices = Vec::new();
    let source = Source::open(run, options.frames, &mut notices)?;
    notices.extend(left_out::notices(format, &source.scene));
    notices.iter().for_each(|notice| progress.notice(notice));
    let destination = Destination::new(path, format.layout(), options.force)?;
    let job = Job { source: &source, destination: &destination, split: options.split, progress, stop };
    progress.begin(Activity::Export, source.frames.len());
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
