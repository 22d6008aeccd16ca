//! Commands whose turn has not come: they say so, rather than being unknown.

use crate::args::ExportArgs;
use crate::failure::Failure;

/// `sessile export`.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let run = args.run.display();
    Err(Failure::wrong(format!(
        "this version exports nothing yet; the frames in {run}/frames are PLY files that most programs open, and `sessile measure {run}` prints the numbers"
    )))
}
