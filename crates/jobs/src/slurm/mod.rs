//! Execution of a plan on a Slurm cluster.
//!
//! Every stage becomes one job array, or several where it has more tasks than the cluster allows
//! in one (`MaxArraySize`); a task executes one or several items of the plan, one after the other.
//! A stage depends on the arrays of the stage before it (`afterany`). Tasks are requeued when
//! their node is lost (`--requeue`), when the files of an item are in use by another process, and
//! when their time is over: a minute before, Slurm sends SIGXCPU, the item saves a checkpoint, and
//! the requeued task continues from it.
//!
//! Only `sbatch`, `squeue` and `scontrol` are used, with options and formats that are the same in
//! all versions; the cluster needs nothing but the program and a file system that all nodes share.

pub mod profile;
pub mod queue;
pub(crate) mod submission;
pub mod submit;
pub mod task;

use std::process::{Command, Stdio};

pub use profile::Profile;
pub use submit::{Submitted, submit};
pub use task::execute_task;

use crate::error::JobsError;

/// Runs a program of Slurm and returns what it prints.
fn call(program: &str, arguments: &[String]) -> Result<String, JobsError> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => JobsError::NoSlurm { program: program.to_owned() },
        _ => JobsError::Start { program: program.to_owned(), cause },
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(JobsError::Slurm { program: program.to_owned(), message })
}
