//! Bounded reading of files that others wrote: regular files only, up to a size, inside a folder.
//!
//! A scene, a mesh or a run folder may come from anywhere. A device such as `/dev/zero` never ends,
//! a pipe waits forever, and a name such as `../../secret` refers to a file that its author was not
//! given. [`read`] and [`open`] accept regular files up to a limit; [`beside`] accepts only names
//! below a folder, for files that a file refers to. [`read`] also knows the files that are part of
//! the program ([`is_built_in`]). A [`Reader`] stands for either the file system or memory.
//!
//! ```
//! use std::path::Path;
//!
//! let (folder, name) = (Path::new("models"), "../../etc/passwd");
//! let error = sessile_input::beside(folder, name).unwrap_err();
//! assert!(error.to_string().contains("outside"), "{error}");
//! ```

mod built_in;
mod reader;

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path, PathBuf};

pub use built_in::is_built_in;
pub use reader::{FileSystem, InMemory, Reader};

/// Largest mesh file or buffer of one, in bytes.
pub const MAX_MESH: u64 = 4 << 30;
/// Largest image file, in bytes.
pub const MAX_IMAGE: u64 = 1 << 30;
/// Largest text file with settings (material libraries, `run.json`), in bytes.
pub const MAX_TEXT: u64 = 64 << 20;

/// Opens a regular file of at most `limit` bytes for reading.
pub fn open(path: &Path, limit: u64) -> Result<File> {
    // Checked before it is opened: opening a pipe waits for its writer.
    check(&fs::metadata(path)?, limit)?;
    let file = File::open(path)?;
    check(&file.metadata()?, limit)?;
    Ok(file)
}

/// Reads a regular file, or a built-in one, of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    if is_built_in(path) {
        let bytes = built_in::contents(path)?;
        return if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64, limit)) } else { Ok(bytes.to_vec()) };
    }
    let file = open(path, limit)?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    // It may have grown since it was opened.
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64, limit)) } else { Ok(bytes) }
}

/// Why a file cannot be read, if it cannot.
pub fn problem(path: &Path) -> Option<Error> {
    if is_built_in(path) { built_in::contents(path).err() } else { open(path, u64::MAX).err() }
}

/// Reads a file that a file in `folder` refers to by `name`; see [`beside`].
pub fn read_beside(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>> {
    read(&beside(folder, name)?, limit)
}

/// The path of a file that a file in `folder` refers to by `name`: below that folder, also after
/// following symbolic links.
pub fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    let outside = || Error::new(ErrorKind::PermissionDenied, "it is outside the folder of the file that refers to it");
    let relative = Path::new(name);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    // Names written on Windows separate folders by backslashes.
    if !plain || name.split(['/', '\\']).any(|part| part == "..") {
        return Err(outside());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let path = folder.join(relative);
    if fs::canonicalize(&path)?.starts_with(fs::canonicalize(folder)?) { Ok(path) } else { Err(outside()) }
}

fn check(found: &fs::Metadata, limit: u64) -> Result<()> {
    if found.is_dir() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a folder, not a file"));
    }
    if !found.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a device or a pipe, not a regular file"));
    }
    if found.len() > limit { Err(too_large(found.len(), limit)) } else { Ok(()) }
}

fn too_large(length: u64, limit: u64) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("it has {length} bytes; at most {limit} are read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, [7; 100]).unwrap();
        assert_eq!(read(&file, 100).unwrap(), [7; 100]);
        assert_eq!(read(&file, 99).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(read(folder.path(), 100).unwrap_err().to_string().contains("folder"));
        #[cfg(unix)]
        for device in ["/dev/zero", "/dev/null", "/dev/stdin"] {
            if fs::metadata(device).is_ok_and(|found| !found.is_file()) {
                assert!(read(Path::new(device), 100).unwrap_err().to_string().contains("regular"), "{device}");
            }
        }
    }

    #[test]
    fn names_outside_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("model");
        fs::create_dir_all(inner.join("textures")).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        fs::write(inner.join("textures/a.png"), "y").unwrap();
        assert_eq!(read_beside(&inner, "textures/a.png", 9).unwrap(), b"y");
        assert_eq!(read_beside(&inner, "./textures/a.png", 9).unwrap(), b"y");
        let absolute = folder.path().join("secret").to_string_lossy().into_owned();
        for name in ["../secret", "textures/../../secret", "..\\secret", &absolute, "/etc/passwd", ".."] {
            let error = read_beside(&inner, name, 9).unwrap_err();
            assert!(error.to_string().contains("outside"), "{name}: {error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret"), inner.join("link")).unwrap();
            assert!(read_beside(&inner, "link", 9).unwrap_err().to_string().contains("outside"));
            std::os::unix::fs::symlink("textures/a.png", inner.join("inside")).unwrap();
            assert_eq!(read_beside(&inner, "inside", 9).unwrap(), b"y");
        }
    }
}
