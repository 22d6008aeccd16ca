//! Errors of commands and the exit code of each, a stop by a signal included.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::{interrupt, stderr};

/// Exit code of a run folder that is in use: `EX_TEMPFAIL` of `sysexits.h`, try again later.
const TRY_AGAIN: u8 = 75;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The run failed: exit code 1.
    Failed(String),
    /// The command or the scene is invalid: exit code 2.
    Wrong(String),
    /// Another process is writing to the run folder: exit code 75.
    Busy(String),
    /// A signal stopped it: exit code 128 plus its number.
    Stopped(String),
    /// The reader of standard output closed it (a broken pipe): exit code 0.
    BrokenPipe,
}

impl Failure {
    /// The run failed.
    pub fn failed(reason: impl Display) -> Self {
        Self::Failed(reason.to_string())
    }

    /// The command or the scene is invalid.
    pub fn wrong(reason: impl Display) -> Self {
        Self::Wrong(reason.to_string())
    }

    /// Prints the reason to standard error and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (reason, code) = match self {
            Self::Failed(reason) => (reason, 1),
            Self::Wrong(reason) => (reason, 2),
            Self::Busy(reason) => (reason, TRY_AGAIN),
            Self::Stopped(reason) => {
                stderr::line(&reason);
                return ExitCode::from(interrupt::exit_code());
            }
            Self::BrokenPipe => return ExitCode::SUCCESS,
        };
        // Scene diagnostics already start with `error`.
        if reason.starts_with("error") || reason.is_empty() {
            stderr::line(&reason);
        } else {
            stderr::line(&format!("error: {reason}"));
        }
        ExitCode::from(code)
    }
}

/// Conversion for writes to standard output, the only I/O that uses `?` here.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::Failed(format!("cannot write to standard output: {error}"))
        }
    }
}
