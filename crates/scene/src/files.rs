//! Access to the files that a scene refers to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Finds the files that a scene refers to.
pub trait Files {
    /// The absolute path of a name written in the scene; the name itself for built-in files.
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
        let built_in = Path::new(name);
        if sessile_input::is_built_in(built_in) { built_in.to_owned() } else { self.base.join(name) }
    }

    fn problem(&self, path: &Path) -> Option<String> {
        let error = sessile_input::problem(path)?;
        Some(match error.kind() {
            ErrorKind::InvalidInput => error.to_string(),
            ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        })
    }
}

/// No file system: every file counts as present.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn resolve(&self, name: &str) -> PathBuf {
        let built_in = Path::new(name);
        if sessile_input::is_built_in(built_in) { built_in.to_owned() } else { Path::new("/").join(name) }
    }

    fn problem(&self, _path: &Path) -> Option<String> {
        None
    }
}
