//! The runs of a sweep.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_frames::{Durability, atomic};
use sessile_jobs::{ItemState, Stage, StageState};

use crate::axis::Axis;
use crate::error::SweepError;
use crate::report;

/// The largest number of runs of a sweep.
const MAX_RUNS: usize = 1_000_000;

/// What is varied, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Keys and values.
    pub axes: Vec<Axis>,
    /// Whether the n-th values of all keys belong together, instead of all combinations.
    pub zip: bool,
}

/// The scene and the values of every run; the contents of `plan.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The scene, as given on the command line.
    pub scene: PathBuf,
    /// Hash of the scene file.
    pub scene_hash: String,
    /// Overrides of all runs.
    pub sets: Vec<String>,
    /// The swept keys.
    pub keys: Vec<String>,
    /// The values of the keys, for each run.
    pub runs: Vec<Vec<String>>,
}

impl Plan {
    /// Lists the runs; the last key varies fastest.
    pub fn new(scene: &Path, sets: &[String], sweep: &Sweep) -> Result<Self, SweepError> {
        let axes = &sweep.axes;
        for (n, axis) in axes.iter().enumerate() {
            if axes[..n].iter().any(|earlier| earlier.key == axis.key) {
                return Err(SweepError::RepeatedKey { key: axis.key.clone() });
            }
        }
        let Some(first) = axes.first() else { return Err(SweepError::Nothing) };
        let runs = if sweep.zip {
            if let Some(other) = axes.iter().find(|axis| axis.values.len() != first.values.len()) {
                return Err(SweepError::Zip {
                    first: first.key.clone(),
                    first_count: first.values.len(),
                    other: other.key.clone(),
                    other_count: other.values.len(),
                });
            }
            (0..first.values.len()).map(|n| axes.iter().map(|axis| axis.values[n].clone()).collect()).collect()
        } else {
            let count = axes.iter().map(|axis| axis.values.len() as u128).fold(1, u128::saturating_mul);
            if count > MAX_RUNS as u128 {
                return Err(SweepError::TooMany { count, limit: MAX_RUNS });
            }
            combinations(axes)
        };
        let keys = axes.iter().map(|axis| axis.key.clone()).collect();
        Ok(Self { scene: scene.to_owned(), scene_hash: scene_hash(scene)?, sets: sets.to_vec(), keys, runs })
    }

    /// Makes sure that the scene file has not changed since the sweep was planned.
    pub fn check_scene(&self) -> Result<(), SweepError> {
        check_hash(&self.scene, &self.scene_hash)
    }

    /// The run that an image of the report shows, and the folder of the image.
    pub fn image(&self, folder: &Path, index: usize) -> (usize, PathBuf) {
        let run = report::run_of_image(index, self.runs.len());
        (run, report::image_folder(folder, run))
    }

    /// The overrides of a run: those of all runs, then its own.
    pub fn overrides(&self, run: usize) -> Vec<String> {
        let own = self.keys.iter().zip(&self.runs[run]).map(|(key, value)| format!("{key}={value}"));
        self.sets.iter().cloned().chain(own).collect()
    }

    /// The stages that execute the plan; `seconds` is the estimated CPU time of a run.
    pub fn jobs(&self, seconds: f64) -> sessile_jobs::Plan {
        let images = report::images(self.runs.len());
        let stages = vec![
            simulate(self.runs.len()).taking(seconds),
            Stage::new("render", ["sweep-part", "{folder}", "image", "{first}"], 0..images as u64).uncounted(),
            Stage::new("gather", ["sweep-part", "{folder}", "gather", "0"], 0..1).uncounted(),
        ];
        sessile_jobs::Plan::new("sweep", stages)
    }

    /// The path of the plan in a folder.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("plan.json")
    }

    /// Writes the plan; an existing plan must be the same.
    pub fn save(&self, folder: &Path) -> Result<(), SweepError> {
        let path = Self::path(folder);
        if path.exists() {
            let existing = Self::load(folder)?;
            if existing == *self {
                return Ok(());
            }
            if (Self { scene_hash: self.scene_hash.clone(), ..existing }) == *self {
                return Err(SweepError::OtherScene { scene: self.scene.clone() });
            }
            return Err(SweepError::OtherPlan { folder: folder.to_owned() });
        }
        self.replace(folder)
    }

    /// Writes the plan in place of an earlier one.
    pub(crate) fn replace(&self, folder: &Path) -> Result<(), SweepError> {
        atomic::create_folder(&folder.join("runs"))?;
        write_json(&Self::path(folder), self)
    }

    /// Reads the plan of a folder.
    pub fn load(folder: &Path) -> Result<Self, SweepError> {
        let path = Self::path(folder);
        if !path.is_file() {
            return Err(SweepError::NoPlan { folder: folder.to_owned() });
        }
        let damaged = |reason: String| SweepError::DamagedPlan { path: path.clone(), reason };
        let plan: Self = serde_json::from_slice(&atomic::read(&path)?).map_err(|error| damaged(error.to_string()))?;
        if plan.runs.iter().any(|values| values.len() != plan.keys.len()) || plan.runs.len() > MAX_RUNS {
            return Err(damaged("its runs do not match its keys".into()));
        }
        Ok(plan)
    }
}

/// The stage that executes the runs of a sweep.
fn simulate(runs: usize) -> Stage {
    let command = ["sweep-part", "{folder}", "run", "{first}"];
    Stage::new("simulate", command, 0..runs as u64).writing("runs/{item}/run.json")
}

/// Hash of a scene file; empty if it cannot be read, e.g. because it ships with the program.
pub(crate) fn scene_hash(scene: &Path) -> Result<String, SweepError> {
    match sessile_input::read(scene, sessile_input::MAX_TEXT) {
        Ok(bytes) => Ok(blake3::hash(&bytes).to_hex()[..16].to_owned()),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(cause) => Err(sessile_frames::FileError::new("read", scene, cause).into()),
    }
}

/// Makes sure that a scene file has this hash.
pub(crate) fn check_hash(scene: &Path, hash: &str) -> Result<(), SweepError> {
    if scene_hash(scene)? == hash { Ok(()) } else { Err(SweepError::OtherScene { scene: scene.to_owned() }) }
}

/// The states of all runs of a sweep or search, by the stages of its plan.
pub(crate) fn run_states(folder: &Path) -> Result<Vec<ItemState>, SweepError> {
    let mut states = Vec::new();
    for stage in sessile_jobs::Plan::load(folder)?.stages.iter().filter(|stage| stage.counted) {
        states.extend(StageState::read(folder, stage)?.items);
    }
    Ok(states)
}

/// The run folder of a run.
pub fn run_path(folder: &Path, run: usize) -> PathBuf {
    folder.join("runs").join(format!("{run:05}"))
}

/// Writes a value as indented JSON.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), SweepError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| SweepError::DamagedPlan { path: path.to_owned(), reason: error.to_string() })?;
    Ok(atomic::write(path, (text + "\n").as_bytes(), Durability::Flushed)?)
}

fn combinations(axes: &[Axis]) -> Vec<Vec<String>> {
    let mut runs: Vec<Vec<String>> = vec![Vec::new()];
    for axis in axes {
        runs = runs
            .iter()
            .flat_map(|values| axis.values.iter().map(|value| values.iter().cloned().chain([value.clone()]).collect()))
            .collect();
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Vec<Axis> {
        ["a=1,2", "b=x,y"].map(|argument| Axis::parse(argument, 0).expect("values")).to_vec()
    }

    fn plan(zip: bool) -> Plan {
        Plan::new(Path::new("s.toml"), &["seed=1".into()], &Sweep { axes: axes(), zip }).expect("a plan")
    }

    #[test]
    fn all_combinations_or_pairs() {
        assert_eq!(plan(false).runs, [["1", "x"], ["1", "y"], ["2", "x"], ["2", "y"]]);
        assert_eq!(plan(true).runs, [["1", "x"], ["2", "y"]]);
        assert_eq!(plan(false).overrides(1), ["seed=1", "a=1", "b=y"]);
    }

    #[test]
    fn contradictory_sweeps_are_errors() {
        let sweep = |axes: Vec<&str>, zip| {
            let axes = axes.into_iter().map(|argument| Axis::parse(argument, 0).expect("values")).collect();
            Plan::new(Path::new("s"), &[], &Sweep { axes, zip })
        };
        assert!(matches!(sweep(vec![], false), Err(SweepError::Nothing)));
        assert!(matches!(sweep(vec!["a=1", "a=2"], false), Err(SweepError::RepeatedKey { .. })));
        assert!(matches!(sweep(vec!["a=1,2", "b=1"], true), Err(SweepError::Zip { .. })));
        assert!(matches!(sweep(vec!["a=0..1/2000", "b=0..1/2000"], false), Err(SweepError::TooMany { .. })));
    }

    #[test]
    fn a_folder_keeps_its_plan() {
        let folder = tempfile::tempdir().expect("a folder");
        plan(false).save(folder.path()).expect("saved");
        plan(false).save(folder.path()).expect("the same plan again");
        assert_eq!(Plan::load(folder.path()).expect("a plan"), plan(false));
        assert!(matches!(plan(true).save(folder.path()), Err(SweepError::OtherPlan { .. })));
    }
}
