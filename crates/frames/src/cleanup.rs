//! Removal of files from a run folder: later frames on resume, a whole run, temporary files of a
//! killed process.
//!
//! Only files that the format defines are removed, by exact name; other files stay, and so do the
//! subfolders that contain them. Nothing is removed through a symbolic link: a folder that has one
//! cannot be locked for writing.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::atomic::{self, FileError, is_temporary};
use crate::checkpoint;
use crate::folder::{FolderError, PARTS, RunFolder, entries};
use crate::measures_file;
use crate::names::frame_of;

/// Name endings of images.
const IMAGES: [&str; 3] = ["png", "jpg", "exr"];

/// Name endings in `ground-truth/`.
const GROUND_TRUTH: [&str; 7] = ["clean.png", "mask.png", "id.png", "id.exr", "depth.exr", "flow.exr", "flow.flo"];

impl RunFolder {
    /// Removes the frames after `last` (all if `None`) with their wet maps, fields, measures and
    /// images, and the videos. Images are numbered from `start_frame`; others are removed too.
    pub fn remove_after(&self, last: Option<u64>, start_frame: u64) -> Result<(), FolderError> {
        let removed = |frame: u64| last.is_none_or(|last| frame > last);
        measures_file::truncate_after(&self.measures_path(), last)?;
        self.remove_frame_files(removed, |shown| shown.checked_sub(start_frame).is_none_or(removed))?;
        if let Ok(info) = self.read_info() {
            self.remove_videos(&info.name)?;
        }
        self.forget_missing();
        Ok(())
    }

    /// Removes the whole run and keeps the lock. `run.json` is removed last, so that the folder
    /// remains a run folder if the process is killed in between.
    pub fn remove_run(&self) -> Result<(), FolderError> {
        let name = self.read_info().ok().map(|info| info.name);
        self.remove_frame_files(|_| true, |_| true)?;
        let solids = self.root().join("solids");
        for entry in entries(&solids)?.iter().filter(|entry| entry.ends_with(".ply")) {
            atomic::remove(&solids.join(entry))?;
        }
        checkpoint::remove(&self.checkpoint_path())?;
        remove_temporaries(self.root())?;
        if let Some(name) = name {
            self.remove_videos(&name)?;
        }
        for folder in subfolders(&self.renders_path())? {
            remove_if_empty(&folder)?;
        }
        for folder in PARTS {
            remove_if_empty(&self.root().join(folder))?;
        }
        for path in [self.measures_path(), self.scene_path(), self.info_path()] {
            atomic::remove(&path)?;
        }
        self.forget_missing();
        Ok(())
    }

    /// Removes the video of the run, and those of its parts.
    fn remove_videos(&self, name: &str) -> Result<(), FileError> {
        atomic::remove(&self.video_path(name))?;
        for folder in subfolders(&self.renders_path())? {
            atomic::remove(&folder.join(format!("{name}.mp4")))?;
        }
        Ok(())
    }

    /// Removes the numbered files of the frames for which `removed` is true, and the images for
    /// which `removed_image` is.
    fn remove_frame_files(
        &self,
        removed: impl Fn(u64) -> bool,
        removed_image: impl Fn(u64) -> bool,
    ) -> Result<(), FileError> {
        let root = self.root();
        remove_numbered(&root.join("frames"), &["ply", "drops"], &removed)?;
        remove_numbered(&self.pictures_path(), &IMAGES, &removed_image)?;
        remove_numbered(&self.ground_truth_path(), &GROUND_TRUTH, &removed_image)?;
        for folder in subfolders(&self.renders_path())? {
            remove_numbered(&folder, &IMAGES, &removed_image)?;
            let truth = folder.join("ground-truth");
            remove_numbered(&truth, &GROUND_TRUTH, &removed_image)?;
            remove_if_empty(&truth)?;
        }
        let fields = root.join("fields");
        for entry in entries(&fields)? {
            // In any format: only the frame number counts.
            let number = entry.split_once('.').and_then(|(_, extension)| frame_of(&entry, extension));
            if number.is_some_and(&removed) {
                atomic::remove(&fields.join(entry))?;
            }
        }
        for maps in subfolders(&root.join("wet"))? {
            remove_numbered(&maps, &["png"], &removed)?;
            remove_if_empty(&maps)?;
        }
        Ok(())
    }
}

fn remove_numbered(folder: &Path, extensions: &[&str], removed: impl Fn(u64) -> bool) -> Result<(), FileError> {
    for entry in entries(folder)? {
        if extensions.iter().find_map(|extension| frame_of(&entry, extension)).is_some_and(&removed) {
            atomic::remove(&folder.join(entry))?;
        }
    }
    Ok(())
}

/// Removes temporary files of unfinished writes from the folder and its subfolders.
pub(crate) fn remove_temporaries(root: &Path) -> Result<(), FileError> {
    let remove_in = |folder: &Path| -> Result<(), FileError> {
        for entry in entries(folder)?.iter().filter(|entry| is_temporary(entry)) {
            atomic::remove(&folder.join(entry))?;
        }
        Ok(())
    };
    remove_in(root)?;
    for folder in PARTS {
        remove_in(&root.join(folder))?;
    }
    for maps in subfolders(&root.join("wet"))? {
        remove_in(&maps)?;
    }
    for folder in subfolders(&root.join("renders"))? {
        remove_in(&folder)?;
        remove_in(&folder.join("ground-truth"))?;
    }
    Ok(())
}

/// The folders in a folder, sorted.
fn subfolders(parent: &Path) -> Result<Vec<PathBuf>, FileError> {
    Ok(entries(parent)?.into_iter().map(|name| parent.join(name)).filter(|path| path.is_dir()).collect())
}

fn remove_if_empty(folder: &Path) -> Result<(), FileError> {
    match fs::remove_dir(folder) {
        Err(cause) if !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
            Err(FileError::new("remove", folder, cause))
        }
        _ => Ok(()),
    }
}
