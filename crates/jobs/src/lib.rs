//! Plans of many tasks, executed on one machine or on a Slurm cluster with identical results.
//!
//! A [`Plan`] is a list of stages; a [`Stage`] produces units of work (runs, frames, samples), in
//! items of one or several units. The command of an item is the program itself with other
//! arguments, made from the stage's template. A stage starts when all items of the stages before
//! it are done or have failed.
//!
//! Everything is in the folder of the plan:
//!
//! ```text
//! DIR/jobs.json                       the plan
//! DIR/jobs/STAGE/00000.log            messages of an item; locked while the item is executed
//! DIR/jobs/STAGE/00000.done           the item is complete
//! DIR/jobs/STAGE/00000.failed         the item has failed, with its last messages
//! DIR/jobs/submissions/00000.json     what was submitted to Slurm: stage, items, id of the job
//! DIR/jobs/submissions/00000.sh       the job script; 00000-N.out has the messages of its task N
//! ```
//!
//! # Adding a command
//!
//! A command that does much work in parts writes a plan and executes it:
//!
//! ```no_run
//! # use std::{num::NonZeroUsize, path::Path, sync::atomic::AtomicBool};
//! use sessile_jobs::{Local, Plan, Stage, execute};
//!
//! let plan = Plan::new(
//!     "dataset",
//!     vec![
//!         // 1000 samples in items of 20: `dataset-samples DIR 0 19`, `dataset-samples DIR 20 39` …
//!         Stage::new("samples", ["dataset-samples", "{folder}", "{first}", "{last}"], 0..1000)
//!             .in_blocks_of(20)
//!             .taking(30.0),
//!         // One item when all samples are there; it is not counted in the totals.
//!         Stage::new("gather", ["dataset-gather", "{folder}"], 0..1).uncounted(),
//!     ],
//! );
//! let folder = Path::new("samples");
//! plan.save(folder)?;
//! let stop = AtomicBool::new(false);
//! let local = Local { program: Path::new("sessile"), jobs: NonZeroUsize::MIN, retry_failed: false, stop: &stop };
//! let status = execute(&plan, folder, local, &|totals| eprintln!("{totals}"))?;
//! # Ok::<(), sessile_jobs::JobsError>(())
//! ```
//!
//! [`slurm::submit()`] submits the same plan to a cluster; both can be used in turn on one folder.
//!
//! Rules for the commands of items:
//!
//! - **Idempotent and resumable.** An item may be executed again after a kill, or a second time
//!   when it is complete. It writes under temporary names and renames, and continues from what is
//!   there. Two processes never execute one item at the same time, where the file system has locks.
//! - **Independent.** Items of one stage may run in any order and at the same time, on any node.
//! - **Deterministic.** What is written depends on the plan only, not on where or how often the
//!   item was executed.
//! - **Exit codes.** 0: complete. 75: something is in use, try again later. 128 + N: stopped by
//!   signal N, to be continued. Anything else: failed; the last messages are kept.
//!
//! When an item of a stage is executed again, the later stages are repeated.

mod error;
mod item;
mod local;
mod plan;
pub mod slurm;
mod state;
mod status;

pub use error::JobsError;
pub use item::{Item, Outcome};
pub use local::{Local, execute};
pub use plan::{Plan, Stage};
pub use state::{ItemState, StageState, Totals};
pub use status::{Failure, StageStatus, Status};

/// Exit code of a command whose files another process is using: `EX_TEMPFAIL` of `sysexits.h`.
pub const TRY_AGAIN: u8 = 75;
