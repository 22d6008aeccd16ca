//! Errors of writing output.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why output could not be written. Nothing is left under the destination's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The destination exists.
    #[error("{} already exists; remove it, choose another name, or replace it with `--force`", path.display())]
    Exists {
        /// The destination.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write {}: {}; no partial output was left", path.display(), explain(cause))]
    Write {
        /// Its final path.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A file to be copied could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

impl OutputError {
    /// Makes an error of a failed write to `path`, for `map_err`.
    pub fn writing(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |cause| Self::Write { path: path.to_owned(), cause }
    }
}

/// The cause, with what to do about it where something can be done.
fn explain(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::StorageFull => "the disk is full; free some space and try again".into(),
        ErrorKind::QuotaExceeded => "the disk quota is exceeded; free some space and try again".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another folder".into(),
        ErrorKind::PermissionDenied => "permission denied; choose another folder".into(),
        ErrorKind::NotFound => "no such folder; create it first".into(),
        _ => cause.to_string(),
    }
}
