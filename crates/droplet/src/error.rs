//! What a scene can ask that the droplet model cannot do.

use crate::surface_mesh::MeshError;

/// Why a scene does not run on the droplet model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DropletError {
    /// There is nothing to run on.
    #[error("the droplet model runs over solids, and this scene has none: add a [[solids]]")]
    NoSolid,
    /// A two-dimensional run.
    #[error("world.planar = true is for the volume model; droplets run over surfaces in space: remove it")]
    Planar,
    /// A domain with sides that this model has not.
    #[error(
        "domain.{axis} = \"{side}\": the droplet model knows only open sides of the domain, over which liquid is lost: set it to \"open\", and put a plane among \
         the solids where a wall should be"
    )]
    Side {
        /// x, y or z.
        axis: char,
        /// wall, symmetry or periodic.
        side: &'static str,
    },
    /// A mesh that cannot be run on.
    #[error(transparent)]
    SurfaceMesh(#[from] MeshError),
    /// The paper's droplet with one level cannot close.
    #[error("droplet.levels must be at least 1 and droplet.slices at least 3, got {levels} and {slices}")]
    Springs {
        /// As asked.
        levels: u32,
        /// As asked.
        slices: u32,
    },
}
