//! A folder for the files of one thread, in memory where the system has such a place.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        made.expect("a scratch folder can be created")
    };
}

/// Path of a file in this thread's scratch folder.
pub fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// Writes a file into this thread's scratch folder; returns its path.
pub fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).expect("the scratch folder is writable");
    }
    std::fs::write(&path, bytes).expect("the scratch folder is writable");
    path
}
