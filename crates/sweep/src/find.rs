//! Search for the value of a key at which a condition becomes true.
//!
//! The range is divided in rounds. The runs of a round are independent, so that they can be
//! executed at the same time; their values follow from the runs of the rounds before. The first
//! round has both ends and the quarter points of the range, the next two divide the bracket in
//! four, the last one halves it: 12 runs reduce the range to 1/128 of its width, in the time of
//! four runs on four cores.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_frames::{RunFolder, RunInfo, RunStatus, atomic};
use sessile_jobs::Stage;

use crate::axis::Between;
use crate::condition::Condition;
use crate::error::SweepError;
use crate::plan::{Plan, run_path, scene_hash, write_json};

/// Number of runs of each round.
const ROUNDS: [usize; 4] = [5, 3, 3, 1];
/// Number of runs of a search.
pub const RUNS: usize = 12;

/// A bracket: the condition differs between its ends. The contents of `found.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bracket {
    /// The key.
    pub key: String,
    /// Lower end, in `unit`.
    pub low: f64,
    /// Upper end, in `unit`.
    pub high: f64,
    /// Unit of the ends; empty for a pure number.
    pub unit: String,
    /// The condition.
    pub condition: String,
    /// Whether the condition holds at the upper end; it is the opposite at the lower end.
    pub holds_above: bool,
    /// Number of runs.
    pub runs: usize,
}

/// A search: the scene with its overrides, a range and a condition. The contents of `search.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The scene, as given on the command line.
    pub scene: PathBuf,
    /// Hash of the scene file.
    scene_hash: String,
    /// Overrides of all runs.
    pub sets: Vec<String>,
    /// The key and its range.
    pub between: Between,
    condition: String,
}

/// What the first rounds of a search have found.
#[derive(Clone, Debug, PartialEq)]
struct Narrowed {
    /// The values of their runs, and whether the condition holds.
    evaluated: Vec<(f64, bool)>,
    /// The ends of the bracket.
    ends: [f64; 2],
}

/// The values of a round's runs, for the bracket that the round starts with.
fn values(round: usize, [low, high]: [f64; 2]) -> Vec<f64> {
    let between = |parts: usize, part: usize| low + (high - low) * part as f64 / parts as f64;
    match ROUNDS[round] {
        5 => vec![low, between(4, 1), between(4, 2), between(4, 3), high],
        runs => (1..=runs).map(|part| between(runs + 1, part)).collect(),
    }
}

/// Executes the first `rounds` rounds; `holds` tells whether the condition holds in a run with a
/// value.
fn narrow(
    ends: [f64; 2],
    rounds: usize,
    mut holds: impl FnMut(usize, f64) -> Result<bool, SweepError>,
    same: impl Fn(bool) -> SweepError,
) -> Result<Narrowed, SweepError> {
    let mut found = Narrowed { evaluated: Vec::new(), ends };
    for round in 0..rounds {
        for value in values(round, found.ends) {
            let truth = holds(found.evaluated.len(), value)?;
            found.evaluated.push((value, truth));
        }
        let mut sorted = found.evaluated.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let in_bracket: Vec<(f64, bool)> =
            sorted.into_iter().filter(|(value, _)| (found.ends[0]..=found.ends[1]).contains(value)).collect();
        let below = in_bracket.first().is_some_and(|(_, truth)| *truth);
        if in_bracket.last().is_some_and(|(_, truth)| *truth == below) {
            return Err(same(below));
        }
        // Of several changes, the lowest.
        let change = in_bracket.windows(2).find(|pair| pair[1].1 != below);
        found.ends = change.map_or(found.ends, |pair| [pair[0].0, pair[1].0]);
    }
    Ok(found)
}

impl Search {
    /// A search.
    pub fn new(scene: &Path, sets: &[String], between: Between, condition: &Condition) -> Result<Self, SweepError> {
        Ok(Self {
            scene: scene.to_owned(),
            scene_hash: scene_hash(scene)?,
            sets: sets.to_vec(),
            between,
            condition: condition.to_string(),
        })
    }

    fn path(folder: &Path) -> PathBuf {
        folder.join("search.json")
    }

    /// Writes the search; the folder must be new or hold the same search.
    pub fn save(&self, folder: &Path) -> Result<(), SweepError> {
        let path = Self::path(folder);
        let other = || SweepError::OtherPlan { folder: folder.to_owned() };
        if path.exists() {
            return if Self::load(folder)? == *self { Ok(()) } else { Err(other()) };
        }
        if Plan::path(folder).exists() {
            return Err(other());
        }
        atomic::create_folder(&folder.join("runs"))?;
        write_json(&path, self)
    }

    /// Reads the search of a folder.
    pub fn load(folder: &Path) -> Result<Self, SweepError> {
        let path = Self::path(folder);
        let damaged = |reason: String| SweepError::DamagedPlan { path: path.clone(), reason };
        serde_json::from_slice(&atomic::read(&path)?).map_err(|error| damaged(error.to_string()))
    }

    /// The stages that execute the search; `seconds` is the estimated CPU time of a run.
    pub fn jobs(&self, seconds: f64) -> sessile_jobs::Plan {
        let mut first = 0;
        let mut stages: Vec<Stage> = Vec::new();
        for (round, runs) in ROUNDS.into_iter().enumerate() {
            let command = ["sweep-part", "{folder}", "probe", "{first}"];
            let stage = Stage::new(&format!("round-{}", round + 1), command, first..first + runs as u64);
            stages.push(stage.taking(seconds).writing("runs/{unit}/run.json"));
            first += runs as u64;
        }
        stages.push(Stage::new("gather", ["sweep-part", "{folder}", "found", "0"], 0..1).uncounted());
        sessile_jobs::Plan::new("search", stages)
    }

    /// The first `rounds` rounds of the search in a folder.
    fn narrowed(&self, folder: &Path, rounds: usize) -> Result<Narrowed, SweepError> {
        let condition = Condition::parse(&self.condition)?;
        let holds = |run: usize, value: f64| -> Result<bool, SweepError> {
            let root = run_path(folder, run);
            let done = RunInfo::read(&root.join("run.json")).is_ok_and(|info| info.status == RunStatus::Done);
            if !done {
                let assignment = format!("{}={}", self.between.key, self.between.value(value));
                return Err(SweepError::RunFailed { run, assignment });
            }
            condition.holds(&RunFolder::open(&root)?)
        };
        let same = |truth: bool| SweepError::SameAtBothEnds {
            condition: self.condition.clone(),
            truth,
            low: self.between.value(self.between.low),
            high: self.between.value(self.between.high),
        };
        narrow([self.between.low, self.between.high], rounds, holds, same)
    }

    /// The overrides of a run; the runs of the rounds before must be done.
    pub fn overrides(&self, folder: &Path, run: usize) -> Result<Vec<String>, SweepError> {
        let (mut round, mut first) = (0, 0);
        while round + 1 < ROUNDS.len() && run >= first + ROUNDS[round] {
            first += ROUNDS[round];
            round += 1;
        }
        let narrowed = self.narrowed(folder, round)?;
        let values = values(round, narrowed.ends);
        let value = values.get(run - first).ok_or(SweepError::NoRun { run, runs: RUNS })?;
        let own = format!("{}={}", self.between.key, self.between.value(*value));
        Ok(self.sets.iter().cloned().chain([own]).collect())
    }

    /// Makes sure that the scene file has not changed.
    pub fn check_scene(&self) -> Result<(), SweepError> {
        crate::plan::check_hash(&self.scene, &self.scene_hash)
    }

    /// The bracket of a complete search, and the values of its runs with whether the condition
    /// holds, from the lowest value to the highest.
    pub fn found(&self, folder: &Path) -> Result<(Bracket, Vec<(String, bool)>), SweepError> {
        let Narrowed { mut evaluated, ends: [low, high] } = self.narrowed(folder, ROUNDS.len())?;
        let runs = evaluated.len();
        let holds_above = evaluated.iter().any(|&(value, truth)| value == high && truth);
        evaluated.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Between { key, unit, .. } = self.between.clone();
        let condition = self.condition.clone();
        let bracket = Bracket { key, low, high, unit, condition, holds_above, runs };
        Ok((bracket, evaluated.into_iter().map(|(value, truth)| (self.between.value(value), truth)).collect()))
    }

    /// Writes `found.json` and the plan of the runs, for their table of results.
    pub fn write(&self, folder: &Path) -> Result<Plan, SweepError> {
        let (bracket, _) = self.found(folder)?;
        let evaluated = self.narrowed(folder, ROUNDS.len())?.evaluated;
        let runs = evaluated.iter().map(|&(value, _)| vec![self.between.value(value)]).collect();
        let keys = vec![self.between.key.clone()];
        let (scene, scene_hash) = (self.scene.clone(), self.scene_hash.clone());
        let plan = Plan { scene, scene_hash, sets: self.sets.clone(), keys, runs };
        plan.replace(folder)?;
        write_json(&folder.join("found.json"), &bracket)?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(ends: [f64; 2], rounds: usize, truth: impl Fn(f64) -> bool) -> Result<Narrowed, SweepError> {
        narrow(ends, rounds, |_, value| Ok(truth(value)), |_| SweepError::Nothing)
    }

    #[test]
    fn the_bracket_contains_the_threshold_and_is_a_128th_of_the_range() {
        for threshold in [0.01, 1.0, 17.3, 63.99, 64.01, 100.0, 127.9] {
            for above in [true, false] {
                let found =
                    search([0.0, 128.0], ROUNDS.len(), |value| (value > threshold) == above).expect("a bracket");
                let [low, high] = found.ends;
                assert!(low <= threshold && threshold < high && high - low == 1.0, "{threshold}: {low}..{high}");
                assert_eq!(found.evaluated.len(), RUNS);
            }
        }
    }

    #[test]
    fn the_lowest_of_several_changes_is_found() {
        let found = search([0.0, 128.0], ROUNDS.len(), |value| (30.5..50.0).contains(&value) || value > 90.0);
        assert_eq!(found.expect("a bracket").ends, [30.0, 31.0]);
    }

    #[test]
    fn equal_ends_are_an_error() {
        assert!(matches!(search([0.0, 1.0], 1, |_| true), Err(SweepError::Nothing)));
    }

    #[test]
    fn the_stages_have_all_runs() {
        let between = Between::parse("k=1..2 mm").expect("a range");
        let search = Search {
            scene: "s.toml".into(),
            scene_hash: String::new(),
            sets: vec![],
            between,
            condition: "slides".into(),
        };
        let plan = search.jobs(2.0);
        let units: u64 = plan.stages.iter().filter(|stage| stage.counted).map(|stage| stage.units).sum();
        assert_eq!(units, RUNS as u64);
        assert_eq!(ROUNDS.iter().sum::<usize>(), RUNS);
        let arguments = plan.stages[1].arguments(Path::new("f"), 2, 1);
        assert_eq!(arguments.last().and_then(|word| word.to_str()), Some("7"));
    }
}
