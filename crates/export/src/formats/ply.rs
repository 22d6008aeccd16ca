//! PLY: one binary file per frame or drop, with the properties of the run folder's frames
//! (`docs/run-folder.md`); solids with texture coordinates.

use sessile_frames::names::frame_file;
use sessile_frames::{Durability, FolderError, FrameId, ply};
use sessile_geometry::files::write_ply;
use sessile_output::OutputError;

use super::solid_meshes;
use crate::drops::split_by_drop;
use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    solid_meshes::write(job, "ply", |_, mesh| write_ply(mesh))?;
    job.for_each_frame(|frame| {
        let id = FrameId { frame: frame.number, time: frame.time };
        let parts = if job.split { split_by_drop(&frame.liquid) } else { vec![(None, frame.liquid)] };
        for (drop, surface) in parts {
            let name = match drop {
                Some(drop) => format!("{:05}/drop-{drop:05}.ply", frame.shown),
                None => frame_file(frame.shown, "ply"),
            };
            let (staged, path) = job.destination.staged_path(&name)?;
            ply::write(&staged, &surface, id, Durability::Handed).map_err(|error| match error {
                ply::PlyError::File(error) => ExportError::from(OutputError::Write { path, cause: error.cause }),
                other => FolderError::from(other).into(),
            })?;
        }
        Ok(())
    })
}
