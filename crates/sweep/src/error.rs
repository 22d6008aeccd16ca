//! Errors of sweeps.

use std::path::PathBuf;

use sessile_frames::{FileError, FolderError};
use sessile_output::OutputError;

/// Why a sweep could not be planned or executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The values of a key are not understood.
    #[error(
        "`--over {argument}`: {reason}; write KEY=\"a,b,c unit\", KEY=\"a..b unit / n\", KEY=\"a..b unit log / n\" \
         or KEY=\"uniform(a, b) unit * n\" (also normal, loguniform, choice)"
    )]
    Values {
        /// The argument.
        argument: String,
        /// What is wrong.
        reason: String,
    },
    /// The range of a search is not understood.
    #[error("`--between {argument}`: {reason}; write KEY=\"a..b unit\"")]
    Between {
        /// The argument.
        argument: String,
        /// What is wrong.
        reason: String,
    },
    /// The condition of a search is not understood.
    #[error(
        "`--find {argument}`: {reason}; write slides, detaches, merges, or an expression such as \"final.height > 2e-3\" \
         or \"peak.speed_max > 0.1 and final.drops < 2\" (SI units)"
    )]
    Condition {
        /// The argument.
        argument: String,
        /// What is wrong.
        reason: String,
    },
    /// Two axes have the same key.
    #[error("`{key}` is varied twice")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// Axes of different lengths cannot be paired.
    #[error("`--zip` pairs the values of all keys, but {first} has {first_count} and {other} has {other_count}")]
    Zip {
        /// A key.
        first: String,
        /// Its number of values.
        first_count: usize,
        /// Another key.
        other: String,
        /// Its number of values.
        other_count: usize,
    },
    /// Nothing is varied.
    #[error("nothing is varied: give `--over KEY=VALUES` or `--seeds N`, or add a [sweep] table to the scene")]
    Nothing,
    /// Too many runs.
    #[error("the sweep has {count} runs, more than the {limit} allowed; split it")]
    TooMany {
        /// Number of runs.
        count: u128,
        /// The limit.
        limit: usize,
    },
    /// The folder holds another sweep.
    #[error("{} holds another sweep; choose another folder with `--out`, or remove it", folder.display())]
    OtherPlan {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds no sweep.
    #[error("{} holds no sweep: it has no plan.json", folder.display())]
    NoPlan {
        /// The folder.
        folder: PathBuf,
    },
    /// `plan.json` is damaged.
    #[error("{}: {reason}; remove the folder and start the sweep again", path.display())]
    DamagedPlan {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The scene has changed since the sweep was planned.
    #[error(
        "{} has changed since the sweep was planned; restore it, or start a new sweep in another folder", scene.display()
    )]
    OtherScene {
        /// The scene.
        scene: PathBuf,
    },
    /// There is no such run.
    #[error("there is no run {run}: the sweep has {runs} runs")]
    NoRun {
        /// Number of the run.
        run: usize,
        /// Number of runs.
        runs: usize,
    },
    /// A run of a search is not done.
    #[error("run {run:05} with {assignment} is not done, so the search cannot continue")]
    RunFailed {
        /// Number of the run.
        run: usize,
        /// KEY=VALUE.
        assignment: String,
    },
    /// The condition has the same truth at both ends of the range.
    #[error(
        "`{condition}` is {truth} at both {low} and {high}, so there is nothing to bisect; widen the range of `--between`"
    )]
    SameAtBothEnds {
        /// The condition.
        condition: String,
        /// Its truth.
        truth: bool,
        /// Lower end.
        low: String,
        /// Upper end.
        high: String,
    },
    /// Measures of a run are missing or damaged.
    #[error("{reason}")]
    Measures {
        /// What is wrong.
        reason: String,
    },
    /// The execution of the runs.
    #[error(transparent)]
    Jobs(#[from] sessile_jobs::JobsError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A run folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The table of results.
    #[error(transparent)]
    Output(#[from] OutputError),
}
