//! Files that are part of the program, for scenes that must run from any folder.
//!
//! A scene names one as `builtin:bunny.obj` wherever it could name a file of its own. The name is
//! kept as it is in `scene.toml` of a run, so the run can be moved to another machine.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// What the name of a built-in file begins with.
pub const PREFIX: &str = "builtin:";

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../assets/", $name)))),*]
    };
}

/// The files by name; `assets/README.md` tells where they come from.
const FILES: &[(&str, &[u8])] = embedded![
    "affinity.png",
    "bunny.obj",
    "dawn.hdr",
    "figurine.obj",
    "lotus-leaf.jpg",
    "lotus-leaf.obj",
    "mask.obj",
    "studio.hdr"
];

/// Whether a path is the name of a built-in file, known or not.
pub fn is_built_in(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.starts_with(PREFIX))
}

/// The contents of a built-in file.
pub(crate) fn contents(path: &Path) -> Result<&'static [u8]> {
    let name = path.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
    let found = FILES.iter().find(|(file, _)| *file == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        let names: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
        Error::new(
            ErrorKind::InvalidInput,
            format!("no built-in file is called `{name}`; there are {}", names.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_files_are_read_by_name_and_other_names_are_listed() {
        let bunny = crate::read(Path::new("builtin:bunny.obj"), 1 << 20).unwrap();
        assert!(bunny.starts_with(b"v ") || bunny.starts_with(b"#"), "an OBJ file");
        let error = crate::read(Path::new("builtin:rabbit.obj"), 1 << 20).unwrap_err();
        assert!(error.to_string().contains("bunny.obj, dawn.hdr"), "{error}");
        assert_eq!(crate::read(Path::new("builtin:bunny.obj"), 9).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
