//! Commands whose turn has not come: they say so, rather than being unknown.

use crate::args::{ExportArgs, RenderArgs};
use crate::failure::Failure;

/// `sessile render`.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    Err(not_yet("draws no pictures", args.run.display()))
}

/// `sessile export`.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    Err(not_yet("exports nothing", args.run.display()))
}

fn not_yet(what: &str, run: impl std::fmt::Display) -> Failure {
    Failure::wrong(format!(
        "this version {what} yet; the frames in {run}/frames are PLY files that most programs open, and `sessile measure {run}` prints the numbers"
    ))
}
