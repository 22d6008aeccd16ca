//! Errors of commands and their exit codes.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The run failed: exit code 1.
    Failed(String),
    /// The command or the scene is invalid: exit code 2.
    Wrong(String),
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
            Self::BrokenPipe => return ExitCode::SUCCESS,
        };
        // Scene diagnostics already start with `error`.
        if reason.starts_with("error") || reason.is_empty() {
            eprintln!("{reason}");
        } else {
            eprintln!("error: {reason}");
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
