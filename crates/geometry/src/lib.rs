//! Triangle meshes, mesh files, distances and isosurfaces: everything about shape that knows nothing of water.

pub mod distance;
pub mod isosurface;
pub mod mesh;

pub use distance::{Closest, Distance};
pub use mesh::TriMesh;
