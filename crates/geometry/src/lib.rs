//! Triangle meshes, mesh files, distances and isosurfaces.
//!
//! Everything here is about shape alone and knows nothing about liquids: reading mesh files
//! ([`files`]), repairing meshes ([`repair`]), signed distances ([`mesh_distance`]), isosurfaces
//! ([`isosurface`]), short-edge collapse ([`edge_collapse`]) and texture coordinates ([`unwrap`]).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bvh;
pub mod connectivity;
mod distance;
pub mod edge_collapse;
pub mod files;
pub mod isosurface;
mod mesh;
pub mod mesh_distance;
pub mod predicates;
pub mod repair;
pub mod surface_modes;
pub mod unwrap;
pub mod winding;

pub use distance::{Closest, Distance};
pub use mesh::TriMesh;
