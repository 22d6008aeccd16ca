//! `sessile check`: validates a scene.

use std::io::{Write, stdout};

use sessile_appearance::SceneAssets;
use sessile_sim::{Estimate, build, hardware_threads};

use crate::args::CheckArgs;
use crate::commands::scene;
use crate::failure::Failure;
use crate::stderr;

/// Reads the scene and its image files, builds its solids and its model, and prints a summary.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = scene::load(&args.scene)?;
    let estimate = Estimate::new(&scene, hardware_threads().get());
    estimate.check_memory().map_err(Failure::wrong)?;
    estimate.warnings.iter().for_each(|warning| stderr::line(warning));
    match build(&scene) {
        Ok(built) => built.notices.iter().for_each(|notice| stderr::line(notice)),
        Err(error) => return Err(Failure::wrong(error)),
    }
    SceneAssets::load(&scene).map_err(Failure::wrong)?;
    writeln!(
        stdout(),
        "{} is valid: {} model, {} frames, {} s",
        args.scene.scene.display(),
        scene.model.name(),
        scene.time.last_frame(),
        scene.time.duration
    )?;
    Ok(())
}
