//! What was submitted: one file per job array.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_frames::{FileError, atomic};

use crate::error::JobsError;
use crate::plan::{read_json, write_json};

/// A job array and its items; the contents of `jobs/submissions/00000.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Submission {
    /// Name of the stage.
    pub stage: String,
    /// Number of items of a task.
    pub per_task: usize,
    /// All items; task n executes the n-th `per_task` of them.
    pub items: Vec<usize>,
    /// Name of the job, unique to this submission: a submission that was interrupted before it
    /// could record the id is found again by it.
    #[serde(default)]
    pub name: String,
    /// Id of the job; none before Slurm has accepted it.
    pub job: Option<u64>,
}

/// A name for a job that no other one has.
pub(crate) fn unique_name(stage: &str, number: usize) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("sessile-{stage}-{:x}-{:x}-{number}", now.as_micros(), std::process::id())
}

/// Locks the submissions of a plan; `None` while another process submits it.
pub(crate) fn lock(folder: &Path) -> Result<Option<File>, JobsError> {
    let path = folder.join("jobs").join("submit.lock");
    atomic::create_folder(&folder.join("jobs"))?;
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|cause| FileError::new("write", &path, cause))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // Some network file systems have no locks.
        Err(TryLockError::Error(cause)) if cause.kind() != std::io::ErrorKind::Unsupported => {
            Err(FileError::new("lock", &path, cause).into())
        }
        _ => Ok(Some(file)),
    }
}

/// The folder of submissions.
pub(crate) fn folder_of(folder: &Path) -> PathBuf {
    folder.join("jobs").join("submissions")
}

/// A file of a submission, by what follows its number.
pub(crate) fn path(folder: &Path, number: usize, ending: &str) -> PathBuf {
    folder_of(folder).join(format!("{number:05}{ending}"))
}

impl Submission {
    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.items.len().div_ceil(self.per_task.max(1))
    }

    /// The items of a task.
    pub fn items_of(&self, task: usize) -> &[usize] {
        self.items.chunks(self.per_task.max(1)).nth(task).unwrap_or_default()
    }

    /// Reads a submission.
    pub fn load(folder: &Path, number: usize) -> Result<Self, JobsError> {
        read_json(&path(folder, number, ".json"))
    }

    /// Writes a submission.
    pub fn save(&self, folder: &Path, number: usize) -> Result<(), JobsError> {
        atomic::create_folder(&folder_of(folder))?;
        write_json(&path(folder, number, ".json"), self)
    }
}

/// Numbers of all submissions, in order.
pub(crate) fn numbers(folder: &Path) -> Result<Vec<usize>, JobsError> {
    let path = folder_of(folder);
    let failed = |cause| FileError::new("read", &path, cause);
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(failed(cause).into()),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let number: Option<usize> =
            name.to_str().and_then(|name| name.strip_suffix(".json")).and_then(|number| number.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Forgets all submissions.
pub(crate) fn clear(folder: &Path) -> Result<(), JobsError> {
    match std::fs::remove_dir_all(folder_of(folder)) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new("remove", &folder_of(folder), cause).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_share_the_items() {
        let submission =
            Submission { stage: "s".into(), per_task: 3, items: vec![1, 2, 4, 7, 8], name: "n".into(), job: Some(12) };
        assert_eq!(submission.tasks(), 2);
        assert_eq!((submission.items_of(0), submission.items_of(1)), (&[1, 2, 4][..], &[7, 8][..]));
        assert!(submission.items_of(2).is_empty());
        let folder = tempfile::tempdir().expect("a folder");
        assert!(numbers(folder.path()).expect("none").is_empty());
        submission.save(folder.path(), 4).expect("saved");
        assert_eq!(numbers(folder.path()).expect("one"), [4]);
        assert_eq!(Submission::load(folder.path(), 4).expect("loaded"), submission);
        clear(folder.path()).expect("cleared");
        clear(folder.path()).expect("nothing to clear");
        assert!(numbers(folder.path()).expect("none").is_empty());
    }
}
