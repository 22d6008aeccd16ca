//! Bodies from mesh files: read, scaled, repaired, given texture coordinates, ready for distances.

use std::path::Path;
use std::sync::Arc;

use sessile_geometry::{Distance, TriMesh};
use sessile_scene::types::MeshScale;

use crate::error::WorldError;

/// A body from a file, in metres about the file's origin.
pub(crate) struct Body {
    pub distance: Arc<dyn Distance>,
    pub mesh: TriMesh,
}

/// Reads `file` for `user` ("solid `bunny`"); repairs are added to `notices`.
pub(crate) fn body(user: &str, file: &Path, _scale: MeshScale, _notices: &mut Vec<String>) -> Result<Body, WorldError> {
    Err(WorldError::MeshRead { user: user.into(), file: file.into(), reason: "mesh solids are being built".into() })
}
