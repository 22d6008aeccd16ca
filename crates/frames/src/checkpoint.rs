//! `checkpoint/`: everything needed to resume a run after a kill, a full disk or a power cut.
//!
//! `current` is the newest checkpoint, `previous` the one before it. A new one is written beside
//! them and flushed; then `current` is renamed to `previous` and the new one to `current`. At every
//! instant at least one valid checkpoint exists.
//!
//! Both are sealed files (see [`crate::container`]) with a checksum over every byte. A damaged one
//! is always an error, because a disk that lost a byte may have lost more: reading fails with a
//! message that names the file and says how to continue. After deleting a damaged `current`, the
//! run resumes from `previous`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability, FileError};
use crate::container::{self, Block, Format, SealError};

/// Format of the file. Version 2 adds the block of step totals; version 1 can be read.
pub const FORMAT: Format = Format { magic: *b"SESSCKPT", version: 2 };
/// File name of the newest checkpoint.
pub const CURRENT: &str = "current";
/// File name of the one before it.
pub const PREVIOUS: &str = "previous";
const NEW: &str = "next";

/// The state of a run between two time steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Position of the run.
    pub at: RunPosition,
    /// Named parts of the state: the model's, the run's own.
    pub blocks: Vec<Block>,
}

impl Checkpoint {
    /// The bytes of the block called `name`.
    pub fn block(&self, name: &str) -> Option<&[u8]> {
        self.blocks.iter().find(|block| block.name == name).map(|block| block.bytes.as_slice())
    }
}

/// Position of a run in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPosition {
    /// Version of the program.
    pub program: String,
    /// Last frame on disk; later frames are removed on resume.
    pub frame: u64,
    /// Simulated time, in s; later than that frame's for a checkpoint between two frames.
    pub time: f64,
}

/// A checkpoint that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is damaged.
    #[error("checkpoint {} {reason}; nothing was changed. {advice}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How the damage was detected.
        reason: SealError,
        /// What to do.
        advice: String,
    },
    /// Written by another version of the program.
    #[error("checkpoint {} {reason}; resume with the version that wrote it, or start over with `--fresh`", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Both versions.
        reason: SealError,
    },
}

/// Writes a checkpoint into the folder, flushed to the disk, and keeps the one before as
/// `previous`.
pub fn write(folder: &Path, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
    atomic::create_folder(folder)?;
    let [current, previous, new] = [CURRENT, PREVIOUS, NEW].map(|name| folder.join(name));
    let bytes = container::seal(FORMAT, &checkpoint.at, &checkpoint.blocks);
    atomic::write(&new, &bytes, Durability::Flushed)?;
    if current.exists() {
        atomic::rename(&current, &previous)?;
    }
    atomic::rename(&new, &current)?;
    atomic::sync_folder_of(&current)?;
    Ok(())
}

/// Reads the checkpoint to resume from; `None` if there is none.
///
/// That is `current`, or `previous` if `current` does not exist: deleted because it was damaged, or
/// the process was killed between the two renames of [`write()`]. Both are verified, so that damage
/// is reported early.
pub fn read(folder: &Path) -> Result<Option<Checkpoint>, CheckpointError> {
    let [current, previous] = [CURRENT, PREVIOUS].map(|name| folder.join(name));
    let previous_state = read_one(&previous);
    let newest = match read_one(&current) {
        Err(CheckpointError::Damaged { path, reason, .. }) => {
            let advice = match &previous_state {
                Ok(Some(good)) => format!(
                    "Delete that file to resume from the checkpoint before it (frame {}), or start over with `--fresh`",
                    good.at.frame
                ),
                _ => "There is no intact checkpoint before it: start over with `--fresh`".to_owned(),
            };
            return Err(CheckpointError::Damaged { path, reason, advice });
        }
        newest => newest?,
    };
    match (newest, previous_state) {
        (Some(_), Err(CheckpointError::Damaged { path, reason, .. })) => {
            let advice =
                format!("Delete that file: {} is newer and intact, and the run resumes from it", current.display());
            Err(CheckpointError::Damaged { path, reason, advice })
        }
        // A readable `current` is enough, whatever the version of `previous`.
        (Some(newest), _) => Ok(Some(newest)),
        (None, previous) => previous,
    }
}

fn read_one(path: &Path) -> Result<Option<Checkpoint>, CheckpointError> {
    if !path.exists() {
        return Ok(None);
    }
    match container::unseal_versions(FORMAT, 1, &atomic::read(path)?) {
        Ok((at, blocks)) => Ok(Some(Checkpoint { at, blocks })),
        Err(reason @ SealError::Version { .. }) => Err(CheckpointError::Version { path: path.to_owned(), reason }),
        Err(reason) => {
            let advice = "Start over with `--fresh`".to_owned();
            Err(CheckpointError::Damaged { path: path.to_owned(), reason, advice })
        }
    }
}

/// Removes all checkpoint files from the folder.
pub fn remove(folder: &Path) -> Result<(), FileError> {
    [CURRENT, PREVIOUS, NEW].iter().try_for_each(|name| atomic::remove(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sample(frame: u64) -> Checkpoint {
        let model = (0..2000).map(|i: u64| ((i * frame) % 251) as u8).collect();
        Checkpoint {
            at: RunPosition { program: "0.1.0".into(), frame, time: 1e-3 * frame as f64 },
            blocks: vec![Block { name: "model".into(), bytes: model }, Block { name: "run".into(), bytes: vec![] }],
        }
    }

    fn flip(path: &Path, at: usize) {
        let mut bytes = fs::read(path).unwrap();
        bytes[at] ^= 0x10;
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn the_newest_checkpoint_is_read_and_the_one_before_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for frame in 1..=3 {
            write(folder.path(), &sample(frame)).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(sample(frame)));
        }
        assert_eq!(sample(3).block("model").unwrap().len(), 2000);
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["current", "previous"]);
        fs::remove_file(folder.path().join(CURRENT)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(2)));
    }

    #[test]
    fn a_flipped_byte_anywhere_stops_with_the_file_and_the_advice() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &sample(4)).unwrap();
        let current = folder.path().join(CURRENT);
        let whole = fs::read(&current).unwrap();
        for at in 0..whole.len() {
            flip(&current, at);
            let damaged = fs::read(&current).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("current is damaged (checksum ") && error.contains("--fresh"), "byte {at}: {error}");
            assert_eq!(fs::read(&current).unwrap(), damaged, "reading changes nothing");
            fs::write(&current, &whole).unwrap();
        }
    }

    #[test]
    fn a_damaged_newest_checkpoint_can_be_deleted_to_resume_from_the_previous() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &sample(4)).unwrap();
        write(folder.path(), &sample(5)).unwrap();
        flip(&folder.path().join(CURRENT), 30);
        let error = read(folder.path()).unwrap_err().to_string();
        let advice = "nothing was changed. Delete that file to resume from the checkpoint before it (frame 4), or start over with `--fresh`";
        assert!(error.ends_with(advice), "{error}");
        fs::remove_file(folder.path().join(CURRENT)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(4)));
    }

    #[test]
    fn a_damaged_previous_checkpoint_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &sample(4)).unwrap();
        write(folder.path(), &sample(5)).unwrap();
        flip(&folder.path().join(PREVIOUS), 30);
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("previous is damaged") && error.contains("the run resumes from it"), "{error}");
        fs::remove_file(folder.path().join(PREVIOUS)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(5)));
    }

    #[test]
    fn another_format_version_is_distinguished_from_damage() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = container::seal(Format { version: 9, ..FORMAT }, &sample(1).at, &[]);
        fs::write(folder.path().join(CURRENT), bytes).unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(matches!(error, CheckpointError::Version { .. }), "{error}");
        assert!(error.to_string().contains("has format version 9, and this program reads version 2"), "{error}");
    }

    #[test]
    fn checkpoints_of_the_previous_format_version_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = container::seal(Format { version: 1, ..FORMAT }, &sample(4).at, &sample(4).blocks);
        fs::write(folder.path().join(CURRENT), bytes).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(4)));
    }

    /// The process may be killed after any file operation of a write; a valid checkpoint is
    /// readable after each.
    #[test]
    fn a_valid_checkpoint_exists_between_any_two_file_operations_of_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let [current, previous, new] = [CURRENT, PREVIOUS, NEW].map(|name| folder.path().join(name));
        write(folder.path(), &sample(1)).unwrap();
        write(folder.path(), &sample(2)).unwrap();
        fs::write(folder.path().join(".next.part"), b"half").unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(2)));
        fs::write(&new, container::seal(FORMAT, &sample(3).at, &sample(3).blocks)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(2)));
        fs::rename(&current, &previous).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(2)));
        fs::rename(&new, &current).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(sample(3)));
    }
}
