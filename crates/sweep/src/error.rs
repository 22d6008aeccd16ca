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
        "`--find {argument}`: {reason}; write slides, detaches, merges, or a comparison such as \"final.height > 2e-3\" \
         or \"peak.speed_max > 0.1\" (SI units)"
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
    /// A run of a search failed.
    #[error("the run with {assignment} failed, so the search cannot continue: {reason}")]
    RunFailed {
        /// KEY=VALUE.
        assignment: String,
        /// Why it failed.
        reason: String,
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
    /// A run of the folder is executed by another process.
    #[error("another process is executing a run of {}; wait for it or stop it", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
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
