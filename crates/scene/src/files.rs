//! Access to the files that a scene refers to.

use std::io::Read;
use std::path::{Path, PathBuf};

use sessile_images::{Image, ImageError};

/// Finds the files that a scene refers to.
pub trait Files {
    /// The absolute path of a name written in the scene.
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
        Path::new("/").join(name)
    }

    fn problem(&self, _path: &Path) -> Option<String> {
        None
    }
}
