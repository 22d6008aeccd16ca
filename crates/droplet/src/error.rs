//! Errors of scenes that the droplet model does not support.

use crate::surface_mesh::MeshError;

/// Why a scene does not run on the droplet model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DropletError {
    /// There is no solid.
    #[error("the droplet model needs a solid and this scene has none: add a [[solids]] entry")]
    NoSolid,
    /// A two-dimensional run.
    #[error("world.planar = true is for the volume model; the droplet model is three-dimensional: remove it")]
    Planar,
    /// A side of the domain that this model does not support.
    #[error(
        "domain.{axis} = \"{side}\": the droplet model supports only open sides: set it to \"open\", and add a plane to the \
         solids for a wall"
    )]
    Side {
        /// x, y or z.
        axis: char,
        /// wall, symmetry or periodic.
        side: &'static str,
    },
    /// A mesh that droplets cannot slide on.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}
