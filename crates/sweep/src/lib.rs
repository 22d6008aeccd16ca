//! Many runs of one scene: sweeps over parameters and searches for a threshold.
//!
//! A [`Plan`] lists the runs: every combination of the values of its axes ([`Axis`]).
//! [`Plan::jobs`] turns it into stages that `sessile-jobs` executes: the runs, images of their last
//! frames, and [`results`], which gathers the measures into one table. A [`Search`] divides the range
//! of a key, in rounds of runs, to find the value at which a condition becomes true.
//!
//! Everything is kept in one folder:
//!
//! ```text
//! sweeps/window/
//!   plan.json           the scene, its overrides, the swept keys and the values of every run
//!   jobs.json, jobs/    stages, states and messages of the runs (see `sessile-jobs`)
//!   runs/00000/         run folders, in the order of the plan
//!   thumbnails/         images of last frames
//!   results.csv, results.parquet, timings.csv, report.html
//! ```
//!
//! The folder is enough to continue: a repeated command executes only the runs that are not done.

mod axis;
mod condition;
mod error;
mod expression;
mod find;
mod plan;
mod report;
pub mod results;
mod theory;

pub use axis::{Axis, Between};
pub use condition::Condition;
pub use error::SweepError;
pub use expression::Expression;
pub use find::{Bracket, RUNS as SEARCH_RUNS, Search};
pub use plan::{Plan, Sweep, run_path};
