//! Atomic replacement of files.
//!
//! A file is written under a temporary name in the same folder and renamed, so that a reader or a
//! resumed run never sees a partial file. The rename alone survives the end of the process. To
//! survive a power cut, the contents must be flushed to the disk first ([`Durability::Flushed`]),
//! which takes milliseconds; frames leave that to the checkpoint that follows them (see
//! [`crate::RunFolder`]).

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What is guaranteed when a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The operating system has the contents: they survive a kill, not a power cut.
    Handed,
    /// The disk has the contents and the folder entry.
    Flushed,
}

/// A failed file operation, with advice for the user.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {}", path.display(), explain(cause))]
pub struct FileError {
    /// The operation: "write", "read", "rename" …
    pub operation: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's error. Part of the message, hence not a `source`.
    pub cause: io::Error,
}

impl FileError {
    /// Adds the operation and the path to a system error.
    pub fn new(operation: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { operation, path: path.to_owned(), cause }
    }

    /// Whether the disk is full or the user's quota is exhausted.
    pub fn disk_full(&self) -> bool {
        is_disk_full(&self.cause)
    }
}

fn is_disk_full(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The cause, with advice where there is any.
fn explain(cause: &io::Error) -> String {
    const RETRY: &str = "then run the same command again: it resumes from the last checkpoint";
    match cause.kind() {
        ErrorKind::StorageFull => format!("the disk is full; free some space, {RETRY}"),
        ErrorKind::QuotaExceeded => {
            format!("your disk quota is used up; free some space or have it raised, {RETRY}")
        }
        ErrorKind::FileTooLarge => {
            format!("the file grew beyond what this disk or account allows; use another disk (`--out`), {RETRY}")
        }
        ErrorKind::ReadOnlyFilesystem => {
            "the disk is read-only; choose a folder on another disk with `--out`, or make this one writable".into()
        }
        ErrorKind::PermissionDenied => {
            "permission denied; choose another folder with `--out`, or change the permissions of this one".into()
        }
        ErrorKind::NotFound => "there is no such file or folder".into(),
        _ => cause.to_string(),
    }
}

/// Prefix and suffix of temporary file names.
const TEMPORARY: (&str, &str) = (".", ".part");

/// Whether a file name is that of a temporary file of [`write()`].
pub fn is_temporary(name: &str) -> bool {
    name.len() > TEMPORARY.0.len() + TEMPORARY.1.len() && name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(TEMPORARY.0);
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMPORARY.1);
    path.with_file_name(name)
}

/// Atomically replaces the file at `path` by `bytes`. The folder must exist.
pub fn write(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), FileError> {
    write_with(path, durability, |file| file.write_all(bytes))
}

/// Replaces the file at `path` by what `fill` writes, all or nothing. The folder must exist.
///
/// When anything fails the temporary file is removed, which also gives its space back to a full
/// disk.
pub fn write_with(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let temporary = temporary_path(path);
    // A file of that name is the rest of a killed process. It is never written through: it may be a
    // link.
    let created = remove(&temporary).map_err(|error| error.cause).and_then(|()| File::create_new(&temporary));
    let filled = created.and_then(|mut file| {
        fill(&mut file)?;
        if durability == Durability::Flushed {
            file.sync_all()?;
        }
        Ok(())
    });
    let renamed = filled.and_then(|()| fs::rename(&temporary, path));
    if let Err(cause) = renamed {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(FileError::new("write", path, cause));
    }
    if durability == Durability::Flushed {
        sync_folder_of(path)?;
    }
    Ok(())
}

/// Flushes an existing file to the disk.
pub fn sync_file(path: &Path) -> Result<(), FileError> {
    // Windows requires write access for flushing.
    let opened = File::options().read(true).write(cfg!(windows)).open(path);
    opened.and_then(|file| file.sync_all()).map_err(|cause| FileError::new("flush", path, cause))
}

/// Flushes the entries of the folder of `path`, so that a rename in it survives a power cut.
pub fn sync_folder_of(path: &Path) -> Result<(), FileError> {
    // Other systems do not open folders as files, and journal renames.
    if cfg!(unix) {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        sync_file(folder)?;
    }
    Ok(())
}

/// Renames a file.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(|cause| FileError::new("replace", to, cause))
}

/// Creates a folder and its parents, if missing.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|cause| FileError::new("create the folder", path, cause))
}

/// Reads a whole regular file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    sessile_input::read(path, u64::MAX - 1).map_err(|cause| FileError::new("read", path, cause))
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(FileError::new("remove", path, cause)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"a longer first version", Durability::Flushed).unwrap();
        write(&path, b"second", Durability::Handed).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the file itself is left");
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old", Durability::Handed).unwrap();
        let error = write_with(&path, Durability::Handed, |file| {
            file.write_all(b"half of the new")?;
            Err(ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert!(error.disk_full());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// `/dev/full` fails every write with ENOSPC, like a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_error_of_a_full_device_says_that_the_disk_is_full_and_what_to_do() {
        let device = Path::new("/dev/full");
        let cause = File::options().write(true).open(device).and_then(|mut file| file.write_all(b"x")).unwrap_err();
        let error = FileError::new("write", Path::new("runs/leaf/frames/00007.ply"), cause);
        assert!(error.disk_full());
        assert_eq!(
            error.to_string(),
            "cannot write runs/leaf/frames/00007.ply: the disk is full; free some space, then run the same command again: \
             it resumes from the last checkpoint"
        );
    }

    #[test]
    fn errors_that_a_user_can_fix_say_how() {
        for (kind, words) in [
            (ErrorKind::StorageFull, "free some space, then run the same command again"),
            (ErrorKind::QuotaExceeded, "quota"),
            (ErrorKind::ReadOnlyFilesystem, "read-only"),
            (ErrorKind::PermissionDenied, "--out"),
        ] {
            let text = FileError::new("write", Path::new("run/x"), kind.into()).to_string();
            assert!(text.starts_with("cannot write run/x: ") && text.contains(words), "{kind:?} gave {text:?}");
        }
    }

    #[test]
    fn only_temporary_files_are_recognized_as_such() {
        let name = temporary_path(Path::new("frames/00001.ply"));
        assert_eq!(name, Path::new("frames/.00001.ply.part"));
        assert!(is_temporary(".00001.ply.part"));
        for name in [".part", "00001.ply.part", ".00001.ply", "x"] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
