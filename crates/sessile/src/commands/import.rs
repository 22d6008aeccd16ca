//! `sessile import`: converts a 3D model to a scene.

use sessile_import::{ImportError, import_files};
use sessile_output::OutputError;

use crate::args::ImportArgs;
use crate::commands::boxes::boxes;
use crate::failure::Failure;
use crate::stderr;

/// Converts a model file to a scene file.
pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let done = import_files(&args.files, args.fps, &args.scene, args.force).map_err(|error| match error {
        ImportError::Output(OutputError::Write { .. }) => Failure::failed(error),
        other => Failure::wrong(other),
    })?;
    done.notices.iter().for_each(|notice| stderr::line(notice));
    let solids = if done.solids == 1 { "1 solid".to_owned() } else { format!("{} solids", done.solids) };
    boxes(&done.boxes).lines().for_each(stderr::line);
    let scene = super::quoted(&done.scene.to_string_lossy());
    stderr::line(&format!(
        "imported {solids} to {scene}; check it with `sessile check {scene}`, run it with `sessile run {scene}`"
    ));
    Ok(())
}
