//! The run folder: where everything of a run lies, and who may write there.
//!
//! A folder belongs to a run when it holds a `run.json` that this program wrote; that file is written first and removed last. A folder with
//! anything else in it is refused, so that no one's files are lost. One process at a time holds a run folder: the lock on `.lock` is
//! the operating system's and ends with the process, however it ends.
//!
//! Frames, wet maps and measures are handed to the operating system as they come and flushed to the disk together, before the checkpoint
//! that counts on them. So a checkpoint never outlives a frame that it goes on from, and frames cost no waiting for the disk.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sessile_geometry::TriMesh;
use sessile_shapes::{Detail, Instance};

use crate::atomic::{self, Durability, FileError, is_temporary};
use crate::checkpoint::{self, Checkpoint, CheckpointError};
use crate::drops_file::{self, DropsError};
use crate::fields::{self, FieldsError, GridFields};
use crate::frame::{FrameGeometry, Surface, WetMap};
use crate::instances::{INSTANCE_THRESHOLD, surface_of};
use crate::measures::FrameMeasures;
use crate::measures_file::{self, MeasuresError};
use crate::names::{frame_file, frame_of};
use crate::ply::{self, FrameId, PlyError};
use crate::run_info::{RunInfo, RunInfoError, RunStatus};
use crate::wet::{self, WetError};

const LOCK: &str = ".lock";

/// What went wrong with a run folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A frame's surfaces.
    #[error(transparent)]
    Ply(#[from] PlyError),
    /// A frame's instances.
    #[error(transparent)]
    Drops(#[from] DropsError),
    /// A wet map.
    #[error(transparent)]
    Wet(#[from] WetError),
    /// Fields of a grid.
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
    /// The folder is not empty and not a run's.
    #[error(
        "{} is not empty and holds no run: there is {entry:?} in it. Nothing was changed; choose another folder with `--out`",
        folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// Something in it.
        entry: String,
    },
    /// Another process writes there.
    #[error("another run is writing in {}; wait until it has ended, or choose another folder with `--out`", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no run there.
    #[error("{} is not a run folder: there is no run.json in it", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The frame is not there.
    #[error("{} has no frame {frame}; it holds {held}", folder.display())]
    NoFrame {
        /// The folder.
        folder: PathBuf,
        /// The frame.
        frame: u64,
        /// What it does hold.
        held: String,
    },
}

/// A run's folder.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    /// Held while this process may write.
    lock: Option<File>,
    /// Written but not flushed yet.
    unflushed: Mutex<Vec<PathBuf>>,
}

impl RunFolder {
    /// Opens a run for reading.
    pub fn open(root: &Path) -> Result<Self, FolderError> {
        let folder = Self { root: root.to_owned(), lock: None, unflushed: Mutex::default() };
        if folder.info_path().is_file() { Ok(folder) } else { Err(FolderError::NoRun { folder: root.to_owned() }) }
    }

    /// Takes a folder for writing, made where missing, together with what is known of the run in it, if there is one.
    ///
    /// Refuses a folder that holds anything but a run, and one that another process has taken. Removes what a killed process left half
    /// written. The claim ends when the value is dropped, or the process ends.
    pub fn claim(root: &Path) -> Result<(Self, Option<RunInfo>), FolderError> {
        atomic::create_folder(root)?;
        let folder = Self { root: root.to_owned(), lock: None, unflushed: Mutex::default() };
        let has_run = folder.info_path().exists();
        if let Some(entry) = foreign_entry(root)?.filter(|_| !has_run) {
            return Err(FolderError::Foreign { folder: root.to_owned(), entry });
        }
        // Read before the lock is made: a folder with someone else's run.json stays as it is.
        if has_run {
            RunInfo::read(&folder.info_path())?;
        }
        let lock = take_lock(root)?;
        // And again under the lock, for the run that held it may have written it just now.
        let info = if folder.info_path().exists() { Some(RunInfo::read(&folder.info_path())?) } else { None };
        crate::cleanup::remove_temporaries(root)?;
        Ok((Self { lock, ..folder }, info))
    }

    /// Whether this process holds the folder for writing.
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
        self.root.join("measure.jsonl")
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

    /// `pictures/00000.png`.
    pub fn image_path(&self, frame: u64) -> PathBuf {
        self.root.join("pictures").join(frame_file(frame, "png"))
    }

    /// `pictures/00000.exr`: the same picture in linear light, with its layers.
    pub fn layers_path(&self, frame: u64) -> PathBuf {
        self.root.join("pictures").join(frame_file(frame, "exr"))
    }

    /// `ground-truth/`: what pictures of drops hide.
    pub fn ground_truth_path(&self) -> PathBuf {
        self.root.join("ground-truth")
    }

    /// `NAME.mp4`, for the name that `run.json` gives.
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

    /// Writes `run.json`; one that says that the run has ended comes after all else is on the disk.
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

    /// Writes a frame's liquid: instances of more than [`INSTANCE_THRESHOLD`] drops as `.drops`, all else as `.ply`.
    pub fn write_frame(&self, stamp: FrameId, liquid: &FrameGeometry) -> Result<(), FolderError> {
        let frames = self.frames_path();
        let [surfaces, instances] = ["ply", "drops"].map(|extension| frames.join(frame_file(stamp.frame, extension)));
        make_parent(&surfaces)?;
        let (written, other) = match liquid {
            FrameGeometry::Surfaces(surface) => {
                ply::write(&surfaces, surface, stamp, Durability::Handed)?;
                (surfaces, instances)
            }
            FrameGeometry::Instances(drops) if drops.len() > INSTANCE_THRESHOLD => {
                drops_file::write(&instances, drops, stamp, Durability::Handed)?;
                (instances, surfaces)
            }
            FrameGeometry::Instances(drops) => {
                let surface =
                    surface_of(drops).map_err(|reason| DropsError::Instance { path: surfaces.clone(), reason })?;
                ply::write(&surfaces, &surface, stamp, Durability::Handed)?;
                (surfaces, instances)
            }
        };
        atomic::remove(&other)?;
        self.note_unflushed(written);
        Ok(())
    }

    /// Writes the numbers from which a frame's surfaces were made beside the surfaces: metaballs, for programs that draw them as such.
    pub fn write_shapes(&self, stamp: FrameId, drops: &[Instance]) -> Result<(), FolderError> {
        let path = self.frames_path().join(frame_file(stamp.frame, "drops"));
        make_parent(&path)?;
        drops_file::write(&path, drops, stamp, Durability::Handed)?;
        self.note_unflushed(path);
        Ok(())
    }

    /// Reads the numbers from which a frame's surfaces were made; `None` where it was not made from any.
    pub fn read_shapes(&self, frame: u64) -> Result<Option<Vec<Instance>>, FolderError> {
        let path = self.frames_path().join(frame_file(frame, "drops"));
        if path.exists() { Ok(Some(drops_file::read(&path)?.0)) } else { Ok(None) }
    }

    /// Writes the fields of a grid.
    pub fn write_fields(&self, stamp: FrameId, grid: &GridFields) -> Result<(), FolderError> {
        let path = self.fields_path().join(frame_file(stamp.frame, "grid"));
        make_parent(&path)?;
        fields::write(&path, grid, stamp, Durability::Handed)?;
        self.note_unflushed(path);
        Ok(())
    }

    /// Reads the fields of a frame; `None` where there are none.
    pub fn read_fields(&self, frame: u64) -> Result<Option<GridFields>, FolderError> {
        let path = self.fields_path().join(frame_file(frame, "grid"));
        if path.exists() { Ok(Some(fields::read(&path)?.0)) } else { Ok(None) }
    }

    /// Writes where a solid is wet.
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

    /// Writes a checkpoint, after everything that it counts on is on the disk.
    pub fn write_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), FolderError> {
        self.flush()?;
        Ok(checkpoint::write(&self.checkpoint_path(), checkpoint)?)
    }

    /// Reads the checkpoint to go on from; `None` when there is none.
    pub fn read_checkpoint(&self) -> Result<Option<Checkpoint>, FolderError> {
        Ok(checkpoint::read(&self.checkpoint_path())?)
    }

    /// The frames on disk, rising.
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

    /// The same; those of instances are made as finely as `detail` says.
    pub fn read_frame_with(
        &self,
        frame: u64,
        detail: &(dyn Fn(&Instance) -> Detail + Sync),
    ) -> Result<(Surface, FrameId), FolderError> {
        let [surfaces, instances] =
            ["ply", "drops"].map(|extension| self.frames_path().join(frame_file(frame, extension)));
        if surfaces.exists() {
            return Ok(ply::read(&surfaces)?);
        }
        if instances.exists() {
            return Ok(drops_file::read_surface(&instances, detail)?);
        }
        let frames = self.frames()?;
        let held = match (frames.first(), frames.last()) {
            (Some(first), Some(last)) => format!("frames {first} to {last}"),
            _ => "none yet".to_owned(),
        };
        Err(FolderError::NoFrame { folder: self.root.clone(), frame, held })
    }

    /// Reads where a solid is wet; `None` when there is no map for that frame.
    pub fn read_wet(&self, name: &str, solid: usize, frame: u64) -> Result<Option<WetMap>, FolderError> {
        let path = self.wet_path(name, frame);
        if path.exists() { Ok(Some(wet::read(&path, solid)?)) } else { Ok(None) }
    }

    /// Flushes to the disk what was written since the last time.
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
            // Still owed, should the caller try again.
            self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
        }
        Ok(flushed?)
    }

    fn note_unflushed(&self, path: PathBuf) {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }

    /// Forgets files that are owed to the disk but were removed.
    pub(crate) fn forget_missing(&self) {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path.exists());
    }
}

/// Names in a folder, in order; none when it is missing.
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

/// Something in the folder that is neither the lock nor half a file of ours.
fn foreign_entry(root: &Path) -> Result<Option<String>, FileError> {
    Ok(entries(root)?.into_iter().find(|name| name != LOCK && !is_temporary(name)))
}

fn make_parent(path: &Path) -> Result<(), FileError> {
    path.parent().map_or(Ok(()), atomic::create_folder)
}

fn take_lock(root: &Path) -> Result<Option<File>, FolderError> {
    let path = root.join(LOCK);
    let failed = |cause| FileError::new("write", &path, cause);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy { folder: root.to_owned() }),
        // Some network disks have no locks; there the user minds the folder.
        Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(cause)) => Err(FileError::new("lock", &path, cause).into()),
    }
}

#[cfg(test)]
mod tests;
