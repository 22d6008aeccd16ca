//! Triangle meshes, mesh files, distances and isosurfaces: everything about shape that knows nothing of water.

pub mod bvh;
pub mod connectivity;

pub mod distance;
pub mod edge_collapse;
pub mod files;
pub mod isosurface;
pub mod mesh;
pub mod mesh_distance;
pub mod predicates;
pub mod repair;
pub mod unwrap;
pub mod winding;

pub use distance::{Closest, Distance};
pub use mesh::TriMesh;
