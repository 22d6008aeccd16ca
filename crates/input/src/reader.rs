//! Where the files of a scene come from: the file system, or memory where there is none.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};

use crate::{built_in, is_built_in, too_large};

/// Reads the files that a scene refers to.
pub trait Reader {
    /// Reads a file, or a built-in one, of at most `limit` bytes.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>>;

    /// Reads a file that a file in `folder` refers to by `name`: below that folder.
    fn read_beside(&self, folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>>;
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Reader for FileSystem {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        crate::read(path, limit)
    }

    fn read_beside(&self, folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>> {
        crate::read_beside(folder, name, limit)
    }
}

/// Files in memory, by path.
///
/// ```
/// use std::path::Path;
///
/// use sessile_input::{InMemory, Reader as _};
///
/// let mut files = InMemory::default();
/// files.insert("models/cup.obj", b"v 0 0 0".to_vec());
/// assert_eq!(files.read(Path::new("./models/cup.obj"), 100).unwrap(), b"v 0 0 0");
/// assert!(files.read(Path::new("models/pot.obj"), 100).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl InMemory {
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>) {
        self.files.insert(plain(path.as_ref()), bytes);
    }

    /// Whether there is a file, or a built-in one.
    pub fn contains(&self, path: &Path) -> bool {
        if is_built_in(path) { built_in::contents(path).is_ok() } else { self.files.contains_key(&plain(path)) }
    }
}

impl Reader for InMemory {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let missing = || Error::new(ErrorKind::NotFound, "it is not among the files that were given");
        let bytes = match is_built_in(path) {
            true => built_in::contents(path)?,
            false => self.files.get(&plain(path)).ok_or_else(missing)?,
        };
        if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64, limit)) } else { Ok(bytes.to_vec()) }
    }

    fn read_beside(&self, folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>> {
        self.read(&folder.join(name), limit)
    }
}

/// A path without `.` parts and without a leading `/`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir | Component::RootDir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_by_path_and_bounded() {
        let mut files = InMemory::default();
        files.insert("a/b.bin", vec![1; 10]);
        assert_eq!(files.read(Path::new("/a/./b.bin"), 10).unwrap(), [1; 10]);
        assert_eq!(files.read_beside(Path::new("a"), "b.bin", 10).unwrap(), [1; 10]);
        assert_eq!(files.read(Path::new("a/b.bin"), 9).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(files.read(Path::new("b.bin"), 10).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(files.contains(Path::new("a/b.bin")) && !files.contains(Path::new("a")));
    }
}
