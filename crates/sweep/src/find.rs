//! Bisection for the value of a key at which a condition becomes true.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_frames::{RunFolder, atomic};
use sessile_jobs::{Item, JobsError, Local, Outcome};

use crate::axis::Between;
use crate::condition::Condition;
use crate::error::SweepError;
use crate::plan::{Plan, run_path, simulate, write_json};

/// Number of bisections: the bracket is 1/128 of the range.
const BISECTIONS: usize = 7;
/// Number of runs of a search: both ends of the range, and the bisections.
pub const RUNS: usize = 2 + BISECTIONS;

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

/// A search: the scene with its overrides, a range and a condition.
pub struct Search<'a> {
    /// The scene, as given on the command line.
    pub scene: &'a Path,
    /// Overrides of all runs.
    pub sets: &'a [String],
    /// The key and its range.
    pub between: &'a Between,
    /// The condition.
    pub condition: &'a Condition,
}

/// The contents of `search.json`: what the runs of a folder were made for.
#[derive(PartialEq, Serialize, Deserialize)]
struct Purpose {
    scene: PathBuf,
    sets: Vec<String>,
    between: Between,
    condition: String,
}

impl Search<'_> {
    /// Makes sure that the folder is new or holds this search.
    fn claim(&self, folder: &Path) -> Result<(), SweepError> {
        let purpose = Purpose {
            scene: self.scene.to_owned(),
            sets: self.sets.to_vec(),
            between: self.between.clone(),
            condition: self.condition.to_string(),
        };
        let path = folder.join("search.json");
        let other = || SweepError::OtherPlan { folder: folder.to_owned() };
        if path.exists() {
            let existing: Purpose = serde_json::from_slice(&atomic::read(&path)?).map_err(|_| other())?;
            return if existing == purpose { Ok(()) } else { Err(other()) };
        }
        if Plan::path(folder).exists() {
            return Err(other());
        }
        atomic::create_folder(folder)?;
        write_json(&path, &purpose)
    }
}

/// Bisects; `evaluated` is called with each value and whether the condition holds there.
///
/// The runs are in `runs/00000`, `00001`, … in the order of their execution. A repeated search
/// uses the runs that are done.
pub fn find(
    search: &Search<'_>,
    folder: &Path,
    local: Local<'_>,
    evaluated: &dyn Fn(&str, bool),
) -> Result<Bracket, SweepError> {
    search.claim(folder)?;
    let Between { key, low, high, unit } = search.between;
    let stage = simulate(RUNS);
    sessile_jobs::Plan::new("search", vec![stage.clone()]).save(folder)?;
    let mut plan =
        Plan { scene: search.scene.to_owned(), sets: search.sets.to_vec(), keys: vec![key.clone()], runs: vec![] };
    let mut evaluate = |number: f64| -> Result<bool, SweepError> {
        let value = search.between.value(number);
        plan.runs.push(vec![value.clone()]);
        plan.replace(folder)?;
        let item = plan.runs.len() - 1;
        match (Item { folder, stage: &stage, item }).execute(local.program, 1, local.stop)? {
            Outcome::Done => {}
            Outcome::Failed(reason) => {
                return Err(SweepError::RunFailed { assignment: format!("{key}={value}"), reason });
            }
            Outcome::Busy => return Err(SweepError::Busy { folder: folder.to_owned() }),
            Outcome::Stopped => return Err(JobsError::Stopped.into()),
        }
        let holds = search.condition.holds(&RunFolder::open(&run_path(folder, item))?)?;
        evaluated(&value, holds);
        Ok(holds)
    };
    let [below, above] = [evaluate(*low)?, evaluate(*high)?];
    if below == above {
        return Err(SweepError::SameAtBothEnds {
            condition: search.condition.to_string(),
            truth: below,
            low: search.between.value(*low),
            high: search.between.value(*high),
        });
    }
    let (mut low, mut high) = (*low, *high);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if evaluate(middle)? == below { low = middle } else { high = middle }
    }
    let bracket = Bracket {
        key: key.clone(),
        low,
        high,
        unit: unit.clone(),
        condition: search.condition.to_string(),
        holds_above: above,
        runs: plan.runs.len(),
    };
    write_json(&folder.join("found.json"), &bracket)?;
    Ok(bracket)
}
