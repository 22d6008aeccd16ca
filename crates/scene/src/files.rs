//! Access to the files that a scene refers to.

use std::path::{Path, PathBuf};

/// Finds the files that a scene refers to.
pub trait Files {
    /// The absolute path of a name written in the scene.
    fn resolve(&self, name: &str) -> PathBuf;

    /// Why the file cannot be used, if it cannot.
    fn problem(&self, path: &Path) -> Option<String>;
}

/// Files relative to a folder.
#[derive(Clone, Debug)]
pub struct Folder {
    base: PathBuf,
}

impl Folder {
    /// Names are relative to `base`, which should be absolute.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }
}

impl Files for Folder {
    fn resolve(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    fn problem(&self, path: &Path) -> Option<String> {
        match sessile_input::open(path, u64::MAX) {
            Ok(_) => None,
            Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => Some(e.to_string()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Some("there is no such file".to_owned()),
            Err(e) => Some(format!("the file cannot be read: {e}")),
        }
    }
}

/// No file system: every file counts as present.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn resolve(&self, name: &str) -> PathBuf {
        Path::new("/").join(name)
    }

    fn problem(&self, _path: &Path) -> Option<String> {
        None
    }
}
