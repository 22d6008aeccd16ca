//! Mesh files of the solids: one for a solid at rest, one per frame for a moving solid.

use std::sync::Arc;

use sessile_geometry::TriMesh;
use sessile_world::{Pose, Solid};

use crate::error::ExportError;
use crate::job::Job;

/// The mesh of a solid in world coordinates.
pub fn world_mesh(solid: &Solid) -> TriMesh {
    let pose: &Pose = solid.world_from_rest();
    let rest: &Arc<TriMesh> = solid.mesh();
    TriMesh {
        positions: rest.positions.iter().map(|p| pose.apply(*p)).collect(),
        triangles: rest.triangles.clone(),
        corner_uvs: rest.corner_uvs.clone(),
    }
}

/// Writes each solid to `solids/NAME.EXTENSION`, and each moving one to
/// `solids/NAME-00000.EXTENSION` for every frame.
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
                format!("solids/{name}-{:05}.{extension}", source.shown(frame))
            } else {
                format!("solids/{name}.{extension}")
            };
            job.write_file(&file, &encode(solid.name(), &world_mesh(solid)))?;
        }
    }
    Ok(())
}
