//! Output that is being written, for a process that must end at once.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::destination;

/// Temporary files and folders of all destinations that are not complete.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Remembers temporary files and folders.
pub(crate) fn add<'a>(paths: impl Iterator<Item = &'a PathBuf>) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).extend(paths.cloned());
}

/// Forgets temporary files and folders that are complete or removed.
pub(crate) fn remove<'a>(paths: impl Iterator<Item = &'a PathBuf>) {
    let paths: Vec<&PathBuf> = paths.collect();
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| !paths.contains(&path));
}

/// Removes all output that is not complete. To be followed by the end of the process: other threads
/// may still be writing to it.
pub fn discard_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // The next export to the same destination removes what is left.
        let _ = destination::remove(&path);
    }
}
