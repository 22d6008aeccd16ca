//! The run folder: paths, reading and writing of all files of a run, and the lock on it.
//!
//! A folder is a run folder if it contains a `run.json` that this program wrote; that file is
//! written first and removed last. A folder with any other contents is refused, so that no
//! unrelated files are lost. One process at a time may write: the operating system's lock on
//! `.lock` is released when the process ends for any reason.
//!
//! Frames, wet maps and measures are handed to the operating system as they are produced and
//! flushed to the disk together, before the checkpoint that depends on them. A checkpoint therefore
//! never exists without its frames, and frames do not wait for the disk.

use std::borrow::Cow;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sessile_geometry::TriMesh;
use sessile_shapes::{Detail, Instance};

use crate::atomic::{self, Durability, FileError, is_temporary};
use crate::checkpoint::{self, Checkpoint, CheckpointError};
use crate::claimed;
use crate::drops_file::{self, DropsError};
use crate::fields::{self, FieldsError, GridFields};
use crate::frame::{FrameGeometry, Surface, WetMap};
use crate::instances::{stored_as_instances, surface_of};
use crate::measures::FrameMeasures;
use crate::measures_file::{self, MeasuresError};
use crate::names::{frame_file, frame_of};
use crate::ply::{self, FrameId, PlyError};
use crate::run_info::{RunInfo, RunInfoError, RunStatus};
use crate::wet::{self, WetError};

const LOCK: &str = ".lock";
const MEASURES: &str = "measure.jsonl";

/// Subfolders of a run folder.
pub(crate) const PARTS: [&str; 8] =
    ["frames", "solids", "wet", "fields", "checkpoint", "pictures", "ground-truth", "renders"];

/// Why an operation on a run folder failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Surfaces of a frame.
    #[error(transparent)]
    Ply(#[from] PlyError),
    /// Instances of a frame.
    #[error(transparent)]
    Drops(#[from] DropsError),
    /// A wet map.
    #[error(transparent)]
    Wet(#[from] WetError),
    /// Grid fields.
    #[error(transparent)]
    Fields(#[from] FieldsError),
    /// The measures.
    #[error(transparent)]
    Measures(#[from] MeasuresError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// `run.json`.
    #[error(transparent)]
    Info(#[from] RunInfoError),
    /// The folder is not empty and not a run folder.
    #[error(
        "{} is not empty and is not a run folder: it contains {entry:?}. Nothing was changed; choose another folder with `--out`",
        folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// An entry in it.
        entry: String,
    },
    /// Another process is writing to it.
    #[error("another run is writing to {}; wait until it has ended, or choose another folder with `--out`", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// A part of it is a symbolic link, through which files elsewhere would be written or removed.
    #[error(
        "{} is a symbolic link: files are neither written nor removed through it. Nothing was changed; replace it by \
         what it refers to, or choose another folder with `--out`",
        path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file that is written in place is none.
    #[error("{} is not a regular file. Nothing was changed; remove it, or choose another folder with `--out`", path.display())]
    NotAFile {
        /// What is in place of the file.
        path: PathBuf,
    },
    /// It is not a run folder.
    #[error("{} is not a run folder: it contains no run.json", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The frame does not exist.
    #[error("{} has no frame {frame}; it has {available}", folder.display())]
    NoFrame {
        /// The folder.
        folder: PathBuf,
        /// The frame.
        frame: u64,
        /// The frames that exist.
        available: String,
    },
}

/// A run folder.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    /// The lock, while this process may write.
    lock: Option<File>,
    /// Files written but not flushed to the disk.
    unflushed: Mutex<Vec<PathBuf>>,
}

impl RunFolder {
    /// Opens a run folder for reading.
    pub fn open(root: &Path) -> Result<Self, FolderError> {
        let folder = Self { root: root.to_owned(), lock: None, unflushed: Mutex::default() };
        let path = folder.info_path();
        match fs::metadata(&path) {
            Ok(found) if found.is_file() => Ok(folder),
            // A folder without permission to enter it may well be a run folder.
            Err(cause) if !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(FileError::new("read", &path, cause).into())
            }
            _ => Err(FolderError::NoRun { folder: root.to_owned() }),
        }
    }

    /// Locks a folder for writing, created if missing; also returns the `run.json` of the run in
    /// it, if any.
    ///
    /// Fails for a folder with other contents and for one that another process has locked. Removes
    /// partially written files that a killed process left. The lock is released when the value is
    /// dropped or the process ends.
    pub fn claim(root: &Path) -> Result<(Self, Option<RunInfo>), FolderError> {
        atomic::create_folder(root)?;
        let mut folder = Self { root: root.to_owned(), lock: None, unflushed: Mutex::default() };
        let failed = |cause| FileError::new("read", &folder.info_path(), cause);
        let has_run = folder.info_path().try_exists().map_err(failed)?;
        if let Some(entry) = foreign_entry(root)?.filter(|_| !has_run) {
            return Err(FolderError::Foreign { folder: root.to_owned(), entry });
        }
        // Read before the lock file is created: a folder with another program's run.json stays
        // unchanged.
        if has_run {
            RunInfo::read(&folder.info_path())?;
        }
        refuse_links(root)?;
        let lock = take_lock(root, File::try_lock)?;
        // Read again under the lock: the process that held it may have written it in between.
        let info = if folder.info_path().exists() { Some(RunInfo::read(&folder.info_path())?) } else { None };
        crate::cleanup::remove_temporaries(root)?;
        claimed::add(&folder.info_path());
        folder.lock = lock;
        Ok((folder, info))
    }

    /// Locks the folder of a run for adding files next to other processes that do the same.
    ///
    /// Fails while another process has claimed the folder for itself, and keeps it from doing so.
    /// Temporary files stay: they may be those of the other processes.
    pub fn share(root: &Path) -> Result<Self, FolderError> {
        let mut folder = Self::open(root)?;
        refuse_links(root)?;
        folder.lock = take_lock(root, File::try_lock_shared)?;
        Ok(folder)
    }

    /// Whether some process has locked the folder for writing.
    pub fn is_busy(root: &Path) -> bool {
        let lock = sessile_input::open(&root.join(LOCK), u64::MAX);
        lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether this process has locked the folder for writing.
    pub fn is_claimed(&self) -> bool {
        self.lock.is_some()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `scene.toml`: the scene as run.
    pub fn scene_path(&self) -> PathBuf {
        self.root.join("scene.toml")
    }

    /// `run.json`.
    pub fn info_path(&self) -> PathBuf {
        self.root.join("run.json")
    }

    /// `measure.jsonl`.
    pub fn measures_path(&self) -> PathBuf {
        self.root.join(MEASURES)
    }

    /// `frames`.
    pub fn frames_path(&self) -> PathBuf {
        self.root.join("frames")
    }

    /// `solids/NAME.ply`; the name as [`crate::names::safe_names`] gives it.
    pub fn solid_path(&self, name: &str) -> PathBuf {
        self.root.join("solids").join(format!("{name}.ply"))
    }

    /// `wet/NAME/00000.png`; the name as [`crate::names::safe_names`] gives it.
    pub fn wet_path(&self, name: &str, frame: u64) -> PathBuf {
        self.root.join("wet").join(name).join(frame_file(frame, "png"))
    }

    /// `fields`.
    pub fn fields_path(&self) -> PathBuf {
        self.root.join("fields")
    }

    /// `checkpoint`.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    /// `pictures/`: the images of the whole run.
    pub fn pictures_path(&self) -> PathBuf {
        self.root.join("pictures")
    }

    /// `renders/`: folders with images of some frames or with other settings.
    pub fn renders_path(&self) -> PathBuf {
        self.root.join("renders")
    }

    /// `pictures/00000.png`; images are numbered from the scene's `time.start_frame`.
    pub fn image_path(&self, frame: u64) -> PathBuf {
        self.pictures_path().join(frame_file(frame, "png"))
    }

    /// `pictures/00000.exr`: the same image in linear color, with its layers.
    pub fn layers_path(&self, frame: u64) -> PathBuf {
        self.pictures_path().join(frame_file(frame, "exr"))
    }

    /// `ground-truth/`: clean views, masks, ids, depth and refraction flow.
    pub fn ground_truth_path(&self) -> PathBuf {
        self.root.join("ground-truth")
    }

    /// `NAME.mp4`, where `name` is that in `run.json`.
    pub fn video_path(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.mp4"))
    }

    /// Writes `scene.toml`.
    pub fn write_scene(&self, text: &str) -> Result<(), FolderError> {
        Ok(atomic::write(&self.scene_path(), text.as_bytes(), Durability::Flushed)?)
    }

    /// Reads `run.json`.
    pub fn read_info(&self) -> Result<RunInfo, FolderError> {
        Ok(RunInfo::read(&self.info_path())?)
    }

    /// Writes `run.json`; with an end status, only after all other files are on the disk.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), FolderError> {
        let durability = if info.status == RunStatus::Running { Durability::Handed } else { Durability::Flushed };
        if durability == Durability::Flushed {
            self.flush()?;
        }
        Ok(info.write(&self.info_path(), durability)?)
    }

    /// Writes a solid's mesh.
    pub fn write_solid(&self, name: &str, mesh: &TriMesh) -> Result<(), FolderError> {
        let path = self.solid_path(name);
        make_parent(&path)?;
        Ok(atomic::write(&path, &sessile_geometry::files::write_ply(mesh), Durability::Handed)?)
    }

    /// Writes the geometry of a frame: surfaces as `.ply`, instances as `.drops`, both where it has
    /// both.
    ///
    /// Instances that are few enough (see [`stored_as_instances`]) are written with their surfaces.
    /// A file of the other kind that an earlier version of the frame left is removed.
    pub fn write_frame(&self, id: FrameId, liquid: &FrameGeometry) -> Result<(), FolderError> {
        let [ply_path, drops_path] = self.frame_paths(id.frame);
        make_parent(&ply_path)?;
        let (surface, instances) = match liquid {
            FrameGeometry::Surfaces(surface) => (Some(Cow::Borrowed(surface)), None),
            FrameGeometry::Tessellated { surface, instances } => (Some(Cow::Borrowed(surface)), Some(instances)),
            FrameGeometry::Instances(instances) if stored_as_instances(instances.len()) => (None, Some(instances)),
            FrameGeometry::Instances(instances) => {
                let invalid = |reason| DropsError::Instance { path: ply_path.clone(), reason };
                (Some(Cow::Owned(surface_of(instances).map_err(invalid)?)), Some(instances))
            }
        };
        match surface {
            Some(surface) => {
                ply::write(&ply_path, &surface, id, Durability::Handed)?;
                self.note_unflushed(ply_path);
            }
            None => atomic::remove(&ply_path)?,
        }
        match instances {
            Some(instances) => {
                drops_file::write(&drops_path, instances, id, Durability::Handed)?;
                self.note_unflushed(drops_path);
            }
            None => atomic::remove(&drops_path)?,
        }
        Ok(())
    }

    /// `frames/00000.ply` and `frames/00000.drops`.
    fn frame_paths(&self, frame: u64) -> [PathBuf; 2] {
        ["ply", "drops"].map(|extension| self.frames_path().join(frame_file(frame, extension)))
    }

    /// Reads the instances from which a frame's surfaces were made; `None` if there are none.
    pub fn read_instances(&self, frame: u64) -> Result<Option<Vec<Instance>>, FolderError> {
        let [_, path] = self.frame_paths(frame);
        if path.exists() { Ok(Some(drops_file::read(&path)?.0)) } else { Ok(None) }
    }

    /// Writes grid fields.
    pub fn write_fields(&self, id: FrameId, grid: &GridFields) -> Result<(), FolderError> {
        let path = self.fields_path().join(frame_file(id.frame, "grid"));
        make_parent(&path)?;
        fields::write(&path, grid, id, Durability::Handed)?;
        self.note_unflushed(path);
        Ok(())
    }

    /// Reads the grid fields of a frame; `None` if there are none.
    pub fn read_fields(&self, frame: u64) -> Result<Option<GridFields>, FolderError> {
        let path = self.fields_path().join(frame_file(frame, "grid"));
        if path.exists() { Ok(Some(fields::read(&path)?.0)) } else { Ok(None) }
    }

    /// Writes the wet map of a solid.
    pub fn write_wet(&self, name: &str, frame: u64, map: &WetMap) -> Result<(), FolderError> {
        let path = self.wet_path(name, frame);
        make_parent(&path)?;
        wet::write(&path, map, Durability::Handed)?;
        self.note_unflushed(path);
        Ok(())
    }

    /// Appends a frame's line to `measure.jsonl`.
    pub fn append_measures(&self, measures: &FrameMeasures) -> Result<(), FolderError> {
        measures_file::append(&self.measures_path(), measures)?;
        self.note_unflushed(self.measures_path());
        Ok(())
    }

    /// Writes a checkpoint, after flushing everything that it depends on.
    pub fn write_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), FolderError> {
        self.flush()?;
        Ok(checkpoint::write(&self.checkpoint_path(), checkpoint)?)
    }

    /// Reads the checkpoint to resume from; `None` if there is none.
    pub fn read_checkpoint(&self) -> Result<Option<Checkpoint>, FolderError> {
        Ok(checkpoint::read(&self.checkpoint_path())?)
    }

    /// Numbers of the frames on disk, increasing.
    pub fn frames(&self) -> Result<Vec<u64>, FolderError> {
        let mut frames = Vec::new();
        for name in entries(&self.frames_path())? {
            frames.extend(frame_of(&name, "ply").or_else(|| frame_of(&name, "drops")));
        }
        frames.sort_unstable();
        frames.dedup();
        Ok(frames)
    }

    /// Reads a frame's surfaces, whichever way they were written.
    pub fn read_frame(&self, frame: u64) -> Result<(Surface, FrameId), FolderError> {
        self.read_frame_with(frame, &|_| Detail::default())
    }

    /// Reads a frame; instances are tessellated at the resolution that `detail` returns.
    pub fn read_frame_with(
        &self,
        frame: u64,
        detail: &(dyn Fn(&Instance) -> Detail + Sync),
    ) -> Result<(Surface, FrameId), FolderError> {
        let [ply_path, drops_path] = self.frame_paths(frame);
        if ply_path.exists() {
            return Ok(ply::read(&ply_path)?);
        }
        if drops_path.exists() {
            return Ok(drops_file::read_surface(&drops_path, detail)?);
        }
        let frames = self.frames()?;
        let available = match (frames.first(), frames.last()) {
            (Some(first), Some(last)) => format!("frames {first} to {last}"),
            _ => "none yet".to_owned(),
        };
        Err(FolderError::NoFrame { folder: self.root.clone(), frame, available })
    }

    /// Reads the wet map of a solid; `None` if there is none for that frame.
    pub fn read_wet(&self, name: &str, solid: usize, frame: u64) -> Result<Option<WetMap>, FolderError> {
        let path = self.wet_path(name, frame);
        if path.exists() { Ok(Some(wet::read(&path, solid)?)) } else { Ok(None) }
    }

    /// Flushes all files written since the last call to the disk.
    pub fn flush(&self) -> Result<(), FolderError> {
        let mut paths = std::mem::take(&mut *self.unflushed.lock().unwrap_or_else(PoisonError::into_inner));
        paths.sort();
        paths.dedup();
        let flushed = paths.iter().try_for_each(|path| atomic::sync_file(path)).and_then(|()| {
            let mut folders: Vec<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
            folders.dedup();
            folders.iter().try_for_each(|folder| atomic::sync_folder_of(&folder.join("any")))
        });
        if flushed.is_err() {
            // Kept for another attempt.
            self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
        }
        Ok(flushed?)
    }

    fn note_unflushed(&self, path: PathBuf) {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }

    /// Forgets unflushed files that were removed.
    pub(crate) fn forget_missing(&self) {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path.exists());
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.lock.is_some() {
            claimed::remove(&self.info_path());
        }
    }
}

/// Returns an error if a part of a run folder that is written in place is a symbolic link, a device
/// or a pipe.
fn refuse_links(root: &Path) -> Result<(), FolderError> {
    let parents = [root.join("wet"), root.join("renders")];
    let parts = PARTS.iter().map(|part| root.join(part)).chain([root.join(LOCK), root.join(MEASURES)]);
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if let Some(path) = parts.into_iter().find(|path| is_link(path)) {
        return Err(FolderError::Link { path });
    }
    let is_other = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    if let Some(path) = [LOCK, MEASURES].map(|name| root.join(name)).into_iter().find(|path| is_other(path)) {
        return Err(FolderError::NotAFile { path });
    }
    for parent in parents {
        if let Some(path) = entries(&parent)?.into_iter().map(|name| parent.join(name)).find(|path| is_link(path)) {
            return Err(FolderError::Link { path });
        }
    }
    Ok(())
}

/// Names of the entries of a folder, sorted; none if it does not exist.
pub(crate) fn entries(folder: &Path) -> Result<Vec<String>, FileError> {
    let failed = |cause| FileError::new("list", folder, cause);
    let listing = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in listing {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// An entry of the folder that is neither the lock nor a temporary file.
fn foreign_entry(root: &Path) -> Result<Option<String>, FileError> {
    Ok(entries(root)?.into_iter().find(|name| name != LOCK && !is_temporary(name)))
}

fn make_parent(path: &Path) -> Result<(), FileError> {
    path.parent().map_or(Ok(()), atomic::create_folder)
}

fn take_lock(root: &Path, try_lock: fn(&File) -> Result<(), TryLockError>) -> Result<Option<File>, FolderError> {
    let path = root.join(LOCK);
    let failed = |cause| FileError::new("write", &path, cause);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match try_lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy { folder: root.to_owned() }),
        // Some network file systems have no locks; exclusive use is then up to the user.
        Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(cause)) => Err(FileError::new("lock", &path, cause).into()),
    }
}

#[cfg(test)]
mod tests;
