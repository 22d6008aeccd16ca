//! Taking things out of a run folder: frames to be computed again, a whole run, leftovers of a kill.
//!
//! Only what the format itself writes is ever removed, by exact name; anything else in the folder stays, and so does a subfolder that holds it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::atomic::{self, FileError, is_temporary};
use crate::checkpoint;
use crate::folder::{FolderError, RunFolder, entries};
use crate::measures_file;
use crate::names::frame_of;

/// How names in `ground-truth/` end.
const GROUND_TRUTH: [&str; 7] = ["clean.png", "mask.png", "id.png", "id.exr", "depth.exr", "flow.exr", "flow.flo"];

impl RunFolder {
    /// Drops the frames after `last` (all of them when `None`) with their wet maps, fields, measures and pictures, and the video, which
    /// shows frames that are gone or misses some that will come.
    pub fn drop_after(&self, last: Option<u64>) -> Result<(), FolderError> {
        let dropped = |frame: u64| last.is_none_or(|last| frame > last);
        measures_file::truncate_after(&self.measures_path(), last)?;
        self.remove_frame_files(dropped)?;
        if let Ok(info) = self.read_info() {
            atomic::remove(&self.video_path(&info.name))?;
        }
        self.forget_missing();
        Ok(())
    }

    /// Removes the whole run; the claim on the folder stays. `run.json` goes last, so that a kill in between leaves a run folder.
    pub fn remove_run(&self) -> Result<(), FolderError> {
        let name = self.read_info().ok().map(|info| info.name);
        self.remove_frame_files(|_| true)?;
        let solids = self.root().join("solids");
        for entry in entries(&solids)?.iter().filter(|entry| entry.ends_with(".ply")) {
            atomic::remove(&solids.join(entry))?;
        }
        checkpoint::remove(&self.checkpoint_path())?;
        remove_temporaries(self.root())?;
        for folder in ["frames", "solids", "wet", "fields", "checkpoint", "pictures", "ground-truth"] {
            remove_if_empty(&self.root().join(folder))?;
        }
        if let Some(name) = name {
            atomic::remove(&self.video_path(&name))?;
        }
        for path in [self.measures_path(), self.scene_path(), self.info_path()] {
            atomic::remove(&path)?;
        }
        self.forget_missing();
        Ok(())
    }

    /// Removes the numbered files of the frames that `dropped` says.
    fn remove_frame_files(&self, dropped: impl Fn(u64) -> bool) -> Result<(), FileError> {
        let root = self.root();
        remove_numbered(&root.join("frames"), &["ply", "drops"], &dropped)?;
        remove_numbered(&root.join("pictures"), &["png", "exr"], &dropped)?;
        remove_numbered(&self.ground_truth_path(), &GROUND_TRUTH, &dropped)?;
        let fields = root.join("fields");
        for entry in entries(&fields)? {
            // Whatever the format: the number is what counts.
            let number = entry.split_once('.').and_then(|(_, extension)| frame_of(&entry, extension));
            if number.is_some_and(&dropped) {
                atomic::remove(&fields.join(entry))?;
            }
        }
        let wet = root.join("wet");
        for solid in entries(&wet)? {
            let maps = wet.join(solid);
            if maps.is_dir() {
                remove_numbered(&maps, &["png"], &dropped)?;
                remove_if_empty(&maps)?;
            }
        }
        Ok(())
    }
}

fn remove_numbered(folder: &Path, extensions: &[&str], dropped: impl Fn(u64) -> bool) -> Result<(), FileError> {
    for entry in entries(folder)? {
        if extensions.iter().find_map(|extension| frame_of(&entry, extension)).is_some_and(&dropped) {
            atomic::remove(&folder.join(entry))?;
        }
    }
    Ok(())
}

/// Removes what unfinished writes left in the folder and its subfolders.
pub(crate) fn remove_temporaries(root: &Path) -> Result<(), FileError> {
    let remove_in = |folder: &Path| -> Result<(), FileError> {
        for entry in entries(folder)?.iter().filter(|entry| is_temporary(entry)) {
            atomic::remove(&folder.join(entry))?;
        }
        Ok(())
    };
    remove_in(root)?;
    for folder in ["frames", "solids", "fields", "checkpoint", "pictures", "ground-truth"] {
        remove_in(&root.join(folder))?;
    }
    let wet = root.join("wet");
    for solid in entries(&wet)? {
        let maps = wet.join(solid);
        if maps.is_dir() {
            remove_in(&maps)?;
        }
    }
    Ok(())
}

fn remove_if_empty(folder: &Path) -> Result<(), FileError> {
    match fs::remove_dir(folder) {
        Err(cause) if !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
            Err(FileError::new("remove", folder, cause))
        }
        _ => Ok(()),
    }
}
