//! Access to the files that a scene refers to.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use sessile_images::{Image, ImageError};

/// Finds the files that a scene refers to.
pub trait Files {
    /// The absolute path of a name written in the scene; the name itself for built-in files.
    fn resolve(&self, name: &str) -> PathBuf;

    /// Why the file cannot be used, if it cannot.
    fn problem(&self, path: &Path) -> Option<String>;

    /// Why the file cannot be shown as an image, if it cannot.
    fn image_problem(&self, _path: &Path) -> Option<String> {
        None
    }
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

    fn image_problem(&self, path: &Path) -> Option<String> {
        match Image::read(path) {
            Ok(_) => None,
            // The renderer reads EXR files.
            Err(ImageError::Format) if is_exr(path) => None,
            Err(ImageError::Format) => {
                Some("it is neither a PNG, a JPEG nor an EXR image; convert it to one".to_owned())
            }
            Err(ImageError::Damaged(reason)) => Some(format!("the image is damaged ({reason}); save it again")),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Whether a file starts like an OpenEXR image.
fn is_exr(path: &Path) -> bool {
    const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];
    let mut start = [0; 4];
    let read = sessile_input::open(path, sessile_input::MAX_IMAGE).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == MAGIC
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
