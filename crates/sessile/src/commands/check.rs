//! `sessile check`: validates a scene.

use std::io::{Write, stdout};

use sessile_appearance::SceneAssets;
use sessile_sim::{Estimate, build, hardware_threads};

use crate::args::CheckArgs;
use crate::commands::boxes::{NamedBox, boxes};
use crate::commands::scene;
use crate::failure::Failure;
use crate::stderr;

/// Reads the scene and its image files, builds its solids and its model, and prints a summary and
/// the bounding boxes of the solids.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = scene::load(&args.scene)?;
    let estimate = Estimate::new(&scene, hardware_threads().get());
    estimate.check_memory().map_err(Failure::wrong)?;
    estimate.warnings.iter().for_each(|warning| stderr::line(warning));
    let built = build(&scene).map_err(Failure::wrong)?;
    built.notices.iter().for_each(|notice| stderr::line(notice));
    SceneAssets::load(&scene).map_err(Failure::wrong)?;
    writeln!(
        stdout(),
        "{} is valid: {} model, {} frames, {} s",
        args.scene.scene.display(),
        scene.model.name(),
        scene.time.last_frame(),
        scene.time.duration
    )?;
    let solids = built.model.world().solids();
    let named: Vec<NamedBox> =
        solids.iter().map(|solid| (solid.name().to_owned(), solid.bounds().map(|corner| corner.to_array()))).collect();
    write!(stdout(), "{}", boxes(&named))?;
    Ok(())
}
