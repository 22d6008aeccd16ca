//! `run.json`: identity, status and cost of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability, FileError};
use crate::claimed;
use crate::names::is_file_stem;

/// Largest number of frames: frames are numbered by 32 bits.
const MAX_FRAMES: u64 = 1 << 32;

/// The contents of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the program.
    pub version: String,
    /// Stem of the scene file; also that of the video.
    pub name: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of threads of the last part of the run.
    pub threads: usize,
    /// Status.
    pub status: RunStatus,
    /// Whether the run stopped because all drops had come to rest.
    pub settled: bool,
    /// Number of frames on disk, including the initial state.
    pub frames: u64,
    /// Number of times the run was resumed from a checkpoint.
    pub resumes: u64,
    /// Time steps up to the last frame, or up to where the run stopped.
    #[serde(default)]
    pub steps: StepTotals,
    /// Time spent per stage, summed over all parts of the run.
    pub stages: BTreeMap<String, StageSeconds>,
    /// What the run was expected to need, before it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<CostEstimate>,
    /// Factor from the scene's radiance to what its images show, before the view transform; `None`
    /// until the run is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f64>,
    /// Error message of a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Status of a run. A run that was killed without notice still has status `running`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Not finished.
    Running,
    /// Complete.
    Done,
    /// Stopped by an error.
    Failed,
    /// Stopped by a signal; it can be resumed.
    Stopped,
}

/// What a run is expected to need, without images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostEstimate {
    /// Largest amount of memory, in bytes.
    pub memory_bytes: f64,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// Size of the run folder, in bytes.
    pub disk_bytes: f64,
}

/// Time spent in a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSeconds {
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// CPU time of all threads, in s.
    pub cpu_seconds: f64,
}

/// Time steps of a run: their number, their lengths, and what their stages reported.
///
/// All of it is deterministic: it does not depend on the number of threads, nor on how often the
/// run was resumed.
///
/// ```
/// use sessile_frames::{StageValue, StepTotals};
///
/// let mut totals = StepTotals::default();
/// for (dt, residual) in [(2e-3, 1e-9), (1e-3, 3e-9)] {
///     let iterations = ("pressure.iterations", StageValue::Total(12));
///     let residual = ("pressure.residual", StageValue::Largest(residual));
///     totals.record(dt, [iterations, residual]);
/// }
/// assert_eq!((totals.count, totals.smallest_dt, totals.largest_dt), (2, Some(1e-3), Some(2e-3)));
/// assert_eq!(totals.stages["pressure.iterations"], StageValue::Total(24));
/// assert_eq!(totals.stages["pressure.residual"], StageValue::Largest(3e-9));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTotals {
    /// Number of steps.
    pub count: u64,
    /// Shortest step, in s, including those shortened to end at a frame; `None` before the first.
    pub smallest_dt: Option<f64>,
    /// Longest step, in s; `None` before the first.
    pub largest_dt: Option<f64>,
    /// Accumulated values of the stages, by `stage.quantity`.
    pub stages: BTreeMap<String, StageValue>,
}

/// A value that a stage of a time step reports. In JSON it is a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StageValue {
    /// A count, summed over a run.
    Total(u64),
    /// A measured value, of which a run keeps the largest.
    Largest(f64),
}

impl StageValue {
    /// Sum or maximum with a later value of the same kind; a value of the other kind replaces this
    /// one.
    #[must_use]
    pub fn combined(self, later: Self) -> Self {
        match (self, later) {
            (Self::Total(total), Self::Total(count)) => Self::Total(total.saturating_add(count)),
            (Self::Largest(largest), Self::Largest(value)) => Self::Largest(largest.max(value)),
            (_, later) => later,
        }
    }

    /// Whether JSON can represent the value.
    fn is_finite(self) -> bool {
        match self {
            Self::Total(_) => true,
            Self::Largest(value) => value.is_finite(),
        }
    }
}

impl StepTotals {
    /// Adds a step of length `dt`, in s. Stage values that are not finite are left out.
    pub fn record<'a>(&mut self, dt: f64, stages: impl IntoIterator<Item = (&'a str, StageValue)>) {
        self.count = self.count.saturating_add(1);
        self.smallest_dt = Some(self.smallest_dt.map_or(dt, |smallest| smallest.min(dt)));
        self.largest_dt = Some(self.largest_dt.map_or(dt, |largest| largest.max(dt)));
        for (name, value) in stages.into_iter().filter(|(_, value)| value.is_finite()) {
            match self.stages.get_mut(name) {
                Some(total) => *total = total.combined(value),
                None => {
                    self.stages.insert(name.to_owned(), value);
                }
            }
        }
    }
}

/// A `run.json` that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunInfoError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Written by another program, or edited until invalid.
    #[error("{} was not written by sessile: {reason}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
}

impl RunInfo {
    /// Reads a `run.json`.
    pub fn read(path: &Path) -> Result<Self, RunInfoError> {
        let bytes =
            sessile_input::read(path, sessile_input::MAX_TEXT).map_err(|cause| FileError::new("read", path, cause))?;
        let invalid = |reason: String| RunInfoError::Contents { path: path.to_owned(), reason };
        let info: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        info.validate().map_err(invalid)?;
        Ok(info)
    }

    /// Checks what serde cannot: a run folder may come from someone else, and its name becomes that
    /// of a file.
    fn validate(&self) -> Result<(), String> {
        if !is_file_stem(&self.name) {
            return Err(format!("`name` must be the stem of a file name, found {:?}", self.name));
        }
        let known = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        if self.version.is_empty() || self.version.len() > 64 || !self.version.chars().all(known) {
            return Err(format!("`version` must be a version number, found {:?}", self.version));
        }
        if self.frames > MAX_FRAMES {
            return Err(format!("`frames` must be at most {MAX_FRAMES}, found {}", self.frames));
        }
        Ok(())
    }

    /// Writes a `run.json` atomically.
    ///
    /// # Panics
    /// Never: the contents are plain data.
    pub fn write(&self, path: &Path, durability: Durability) -> Result<(), FileError> {
        let _writing = claimed::writing();
        self.write_locked(path, durability)
    }

    /// Writes a `run.json` while [`claimed::writing`] is held.
    pub(crate) fn write_locked(&self, path: &Path, durability: Durability) -> Result<(), FileError> {
        let mut text = serde_json::to_string_pretty(self).expect("run information is plain data");
        text.push('\n');
        atomic::write(path, text.as_bytes(), durability)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn sample() -> RunInfo {
        let mut steps = StepTotals::default();
        let stages = [("pressure.iterations", StageValue::Total(31)), ("pressure.residual", StageValue::Largest(2.0))];
        steps.record(0.1 + 0.2, stages);
        RunInfo {
            version: "0.1.0".into(),
            name: "leaf".into(),
            seed: 1,
            threads: 2,
            status: RunStatus::Running,
            settled: false,
            frames: 31,
            resumes: 2,
            steps,
            stages: BTreeMap::from([("move".into(), StageSeconds { wall_seconds: 1.5, cpu_seconds: 2.75 })]),
            estimate: Some(CostEstimate { memory_bytes: 2e7, wall_seconds: 3.5, disk_bytes: 1e6 }),
            exposure: Some(0.75),
            error: None,
        }
    }

    #[test]
    fn run_json_has_all_documented_fields_and_reads_back_unchanged() {
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
        assert_eq!(json["steps"]["count"], 1);
        assert_eq!(json["steps"]["smallest_dt"].as_f64(), Some(0.1 + 0.2));
        assert_eq!(json["steps"]["stages"]["pressure.iterations"], 31);
    }

    #[test]
    fn names_that_are_no_file_stems_and_numbers_out_of_range_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let wrong = |key: &str, value: serde_json::Value| {
            let mut json = serde_json::to_value(sample()).unwrap();
            json[key] = value;
            std::fs::write(&path, json.to_string()).unwrap();
            let error = RunInfo::read(&path).unwrap_err().to_string();
            assert!(error.contains("was not written by sessile"), "{key}: {error}");
        };
        let long = "n".repeat(300);
        for name in ["../x", "/tmp/x", "a/b", "a\\b", "", ".", "..", "a\0b", "a\nb", "\u{1b}[2J", long.as_str()] {
            wrong("name", name.into());
        }
        for version in ["", "1;a=b", "1\n2"] {
            wrong("version", version.into());
        }
        wrong("frames", 1_000_000_000_000_000_000_u64.into());
        wrong("frames", 1e18.into());
        wrong("frames", (-1).into());
        for name in ["leaf", "Blatt grün", "it's \"quoted\"", "...", "-x"] {
            RunInfo { name: name.into(), ..sample() }.write(&path, Durability::Handed).unwrap();
            assert_eq!(RunInfo::read(&path).unwrap().name, name);
        }
    }

    #[test]
    fn a_run_json_without_step_totals_is_read() {
        let mut json = serde_json::to_value(sample()).unwrap();
        json.as_object_mut().unwrap().remove("steps");
        let read: RunInfo = serde_json::from_value(json).unwrap();
        assert_eq!(read, RunInfo { steps: StepTotals::default(), ..sample() });
    }

    #[test]
    fn stage_values_that_are_not_finite_are_left_out() {
        let mut totals = StepTotals::default();
        for value in [f64::NAN, f64::INFINITY, 0.5, f64::NAN] {
            totals.record(1e-3, [("pressure.residual", StageValue::Largest(value))]);
        }
        assert_eq!(totals.stages["pressure.residual"], StageValue::Largest(0.5));
        assert_eq!(totals.count, 4);
    }

    #[test]
    fn a_run_json_of_another_program_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, r#"{"scripts": {"start": "run"}}"#).unwrap();
        let error = RunInfo::read(&path).unwrap_err().to_string();
        assert!(error.contains("run.json was not written by sessile: missing field"), "{error}");
    }
}
