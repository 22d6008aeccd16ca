//! PLY: one binary file per frame in the layout of the run folder (`docs/run-folder.md`), or one per drop; solids with texture coordinates.

use sessile_frames::names::frame_file;
use sessile_frames::{Durability, FolderError, FrameId, ply};
use sessile_geometry::files::write_ply;
use sessile_output::OutputError;

use super::solid_files;
use crate::drops::split;
use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    solid_files::write(job, "ply", |_, mesh| write_ply(mesh))?;
    job.each_shot(|shot| {
        let stamp = FrameId { frame: shot.frame, time: shot.time };
        let parts = if job.split { split(&shot.liquid) } else { vec![(None, shot.liquid)] };
        for (drop, surface) in parts {
            let name = match drop {
                Some(id) => format!("{:05}/drop-{id:05}.ply", shot.frame),
                None => frame_file(shot.frame, "ply"),
            };
            let (staged, path) = job.destination.staged_path(&name)?;
            ply::write(&staged, &surface, stamp, Durability::Handed).map_err(|error| match error {
                ply::PlyError::File(error) => ExportError::from(OutputError::Write { path, cause: error.cause }),
                other => FolderError::from(other).into(),
            })?;
        }
        Ok(())
    })
}
