//! Many runs of one scene: sweeps over parameters and searches for a threshold.
//!
//! A [`Plan`] lists the runs: every combination of the values of its axes ([`Axis`]). [`execute`]
//! runs what is missing, each run in a process of its own, and [`results`] gathers the measures
//! into one table. [`find`] bisects for the value of a key at which a condition becomes true.
//!
//! Everything is kept in one folder:
//!
//! ```text
//! sweeps/window/
//!   plan.json           the scene, its overrides, the swept keys and the values of every run
//!   runs/00000/         run folders, in the order of the plan
//!   runs/00000.log      messages of the run
//!   runs/00000.failed   why the run failed, if it did
//!   results.csv, results.parquet
//! ```
//!
//! The folder is enough to continue: a repeated command executes only the runs that are not done.

mod axis;
mod condition;
mod error;
pub mod execute;
pub mod find;
mod plan;
pub mod results;
mod state;

pub use axis::{Axis, Between};
pub use condition::Condition;
pub use error::SweepError;
pub use plan::{Plan, Sweep};
pub use state::{RunState, Totals};
