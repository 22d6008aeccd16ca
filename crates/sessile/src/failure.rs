//! Why a command did not do what was asked, and the exit code that says so.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// What was asked for failed: exit code 1.
    Failed(String),
    /// The command or the scene is wrong: exit code 2.
    Wrong(String),
    /// Nobody reads standard output any more, which is the reader's choice: exit code 0.
    NoReader,
}

impl Failure {
    /// What was asked for failed.
    pub fn failed(reason: impl Display) -> Self {
        Self::Failed(reason.to_string())
    }

    /// The command or the scene is wrong.
    pub fn wrong(reason: impl Display) -> Self {
        Self::Wrong(reason.to_string())
    }

    /// Says why on standard error, and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (reason, code) = match self {
            Self::Failed(reason) => (reason, 1),
            Self::Wrong(reason) => (reason, 2),
            Self::NoReader => return ExitCode::SUCCESS,
        };
        // Diagnostics of a scene bring their own heading.
        if reason.starts_with("error") || reason.is_empty() {
            eprintln!("{reason}");
        } else {
            eprintln!("error: {reason}");
        }
        ExitCode::from(code)
    }
}

/// Only standard output is written with `?`.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::NoReader
        } else {
            Self::Failed(format!("cannot write to standard output: {error}"))
        }
    }
}
