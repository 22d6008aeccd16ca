//! Errors of plans.

use std::path::PathBuf;

use sessile_frames::FileError;

/// Why a plan could not be read or executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// The folder holds no plan.
    #[error("{} holds no plan: it has no jobs.json", folder.display())]
    NoPlan {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds another plan.
    #[error("{} holds another plan; choose another folder with `--out`, or remove it", folder.display())]
    OtherPlan {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the plan is damaged.
    #[error("{}: {reason}; remove the file and start the command again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A program of Slurm is missing.
    #[error("`{program}` was not found: submit from a login node of a Slurm cluster, or leave out `--on slurm`")]
    NoSlurm {
        /// The program.
        program: String,
    },
    /// A program of Slurm failed.
    #[error("`{program}` failed: {message}")]
    Slurm {
        /// The program.
        program: String,
        /// What it printed.
        message: String,
    },
    /// Jobs of the plan are still queued.
    #[error(
        "{} is still queued or running as job {jobs}; wait for it, or end it with `scancel {jobs}`, then repeat the \
         command", folder.display()
    )]
    StillQueued {
        /// The folder.
        folder: PathBuf,
        /// Ids of the jobs, separated by spaces.
        jobs: String,
    },
    /// Slurm does not tell whether jobs of the plan are queued.
    #[error(
        "jobs of {} may be queued or running, and Slurm does not tell: {problem}; repeat the command when it responds",
        folder.display()
    )]
    QueueUnknown {
        /// The folder.
        folder: PathBuf,
        /// What its program printed.
        problem: String,
    },
    /// Another process submits the plan.
    #[error("another process is submitting the plan in {}", folder.display())]
    Submitting {
        /// The folder.
        folder: PathBuf,
    },
    /// A process on this machine executes the plan.
    #[error("another process is executing the plan in {}; stop it or wait for it first", folder.display())]
    Executing {
        /// The folder.
        folder: PathBuf,
    },
    /// The profile of the cluster is wrong.
    #[error("{}: {reason}", path.display())]
    Profile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A stage before this one is not complete.
    #[error("stage `{stage}` cannot start: {left} items of the stages before it are not done; repeat the command")]
    Incomplete {
        /// The stage that was to start.
        stage: String,
        /// Number of items that are missing.
        left: usize,
    },
    /// The execution was stopped.
    #[error("stopped; the same command continues")]
    Stopped,
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
}
