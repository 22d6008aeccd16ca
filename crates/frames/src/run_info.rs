//! `run.json`: what a run is, how far it came, and where the time went.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability, FileError};

/// The contents of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the program.
    pub version: String,
    /// The scene file's stem; the video is called after it.
    pub name: String,
    /// Of all random choices.
    pub seed: u64,
    /// Threads that the last part of the run had.
    pub threads: usize,
    /// How it stands.
    pub status: RunStatus,
    /// Whether it stopped because everything had come to rest.
    pub settled: bool,
    /// Frames on disk, the initial state included.
    pub frames: u64,
    /// How often it went on from a checkpoint.
    pub resumes: u64,
    /// Seconds spent, by stage, over all parts of the run.
    pub stages: BTreeMap<String, StageSeconds>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How a run stands. One that was killed still says `running`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Not at its end yet.
    Running,
    /// Complete.
    Done,
    /// Stopped by an error.
    Failed,
}

/// Time spent in a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSeconds {
    /// On the clock, in s.
    pub wall_seconds: f64,
    /// On all cores together, in s.
    pub cpu_seconds: f64,
}

/// A `run.json` that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunInfoError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not ours, or edited until it is none.
    #[error("{} is not one that sessile wrote: {reason}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
}

impl RunInfo {
    /// Reads a `run.json`.
    pub fn read(path: &Path) -> Result<Self, RunInfoError> {
        let bytes = atomic::read(path)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| RunInfoError::Contents { path: path.to_owned(), reason: error.to_string() })
    }

    /// Writes a `run.json`, all or nothing.
    ///
    /// # Panics
    /// Never: the contents are plain data.
    pub fn write(&self, path: &Path, durability: Durability) -> Result<(), FileError> {
        let mut text = serde_json::to_string_pretty(self).expect("run information is plain data");
        text.push('\n');
        atomic::write(path, text.as_bytes(), durability)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn sample() -> RunInfo {
        RunInfo {
            version: "0.1.0".into(),
            name: "leaf".into(),
            seed: 1,
            threads: 2,
            status: RunStatus::Running,
            settled: false,
            frames: 31,
            resumes: 2,
            stages: BTreeMap::from([("move".into(), StageSeconds { wall_seconds: 1.5, cpu_seconds: 2.75 })]),
            error: None,
        }
    }

    #[test]
    fn it_is_json_that_a_script_can_ask_for_each_promised_field() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        sample().write(&path, Durability::Handed).unwrap();
        assert_eq!(RunInfo::read(&path).unwrap(), sample());
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((&json["version"], &json["status"]), (&"0.1.0".into(), &"running".into()));
        for field in ["seed", "threads", "settled", "frames", "resumes"] {
            assert!(!json[field].is_null(), "{field}");
        }
        assert_eq!(json["stages"]["move"]["cpu_seconds"], 2.75);
    }

    #[test]
    fn another_programs_run_json_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, r#"{"scripts": {"start": "run"}}"#).unwrap();
        let error = RunInfo::read(&path).unwrap_err().to_string();
        assert!(error.contains("run.json is not one that sessile wrote: missing field"), "{error}");
    }
}
