//! Solids as mesh files of their own: one for a solid that stays, one per frame for a solid that moves.

use std::sync::Arc;

use sessile_geometry::TriMesh;
use sessile_world::{Pose, Solid};

use crate::error::ExportError;
use crate::job::Job;

/// A solid's mesh where it is now.
pub fn placed_mesh(solid: &Solid) -> TriMesh {
    let pose: &Pose = solid.world_from_rest();
    let rest: &Arc<TriMesh> = solid.mesh();
    TriMesh {
        positions: rest.positions.iter().map(|p| pose.apply(*p)).collect(),
        triangles: rest.triangles.clone(),
        corner_uvs: rest.corner_uvs.clone(),
    }
}

/// Writes each solid to `solids/NAME.EXTENSION`, those that move to `solids/NAME-00000.EXTENSION` for every frame.
pub fn write(job: &Job<'_>, extension: &str, encode: impl Fn(&str, &TriMesh) -> Vec<u8>) -> Result<(), ExportError> {
    let source = job.source;
    for (index, name) in source.solids.iter().enumerate() {
        let moves = source.world.solids()[index].moves();
        let frames = if moves { source.frames.as_slice() } else { &source.frames[..1] };
        for &frame in frames {
            job.check_stop()?;
            let world = source.world_at(source.time_of(frame));
            let solid = &world.solids()[index];
            let file = if moves {
                format!("solids/{name}-{frame:05}.{extension}")
            } else {
                format!("solids/{name}.{extension}")
            };
            let mut sink = job.destination.inside(&file)?;
            sink.put(&encode(solid.name(), &placed_mesh(solid)))?;
            sink.finish()?;
        }
    }
    Ok(())
}
