//! Errors while a world is built or changed.

use std::path::PathBuf;

/// A world could not be built from a scene, or not be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A value set by hand is not one that a scene may have.
    #[error("{reason}")]
    ByHand {
        /// The problem.
        reason: String,
    },
    /// A solid refers to a material that the scene does not have.
    #[error(
        "solid `{solid}`: unknown material `{material}`; define it under [materials] or use one of `sessile materials`"
    )]
    UnknownMaterial {
        /// The solid.
        solid: String,
        /// The unknown name.
        material: String,
    },
    /// A solid's shape is invalid.
    #[error("solid `{solid}`: {reason}")]
    Shape {
        /// The solid.
        solid: String,
        /// The problem and its remedy.
        reason: String,
    },
    /// A mesh file could not be read.
    #[error("{user}: {reason}")]
    MeshRead {
        /// Where it is used: "solid `bunny`", "drops.0".
        user: String,
        /// The file.
        file: PathBuf,
        /// Error of the reader.
        reason: String,
    },
    /// A mesh does not bound a body.
    #[error("{user}: mesh {}: {reason}", file.display())]
    MeshBroken {
        /// Where it is used.
        user: String,
        /// The file.
        file: PathBuf,
        /// The problem and its place.
        reason: String,
    },
    /// An image could not be read.
    #[error("material `{material}`, `{key}`: cannot read image {}: {reason} (supported: PNG, JPEG)", file.display())]
    Image {
        /// The material.
        material: String,
        /// Key of the material.
        key: &'static str,
        /// The file.
        file: PathBuf,
        /// Error of the reader.
        reason: String,
    },
    /// The shape of an initial drop is invalid.
    #[error("drops.{index}: {reason}")]
    Drop {
        /// Index in the scene.
        index: usize,
        /// The problem and its remedy.
        reason: String,
    },
    /// The solid has no room for a cap.
    #[error(
        "drops.{index}: no spherical cap of that volume and `contact_angle` fits on `{solid}` there; reduce its volume \
         or move it"
    )]
    NoCap {
        /// Index in the scene.
        index: usize,
        /// The solid.
        solid: String,
    },
    /// An emitter is invalid.
    #[error("emitters.{index}: {reason}")]
    Emitter {
        /// Index in the scene.
        index: usize,
        /// The problem and its remedy.
        reason: String,
    },
    /// There is no solid with this index.
    #[error("solid {index} does not exist: the scene has {count} solids")]
    NoSuchSolid {
        /// The requested index.
        index: usize,
        /// Number of solids.
        count: usize,
    },
    /// A requested pose is not rigid or not finite.
    #[error("solid `{solid}`: {reason}")]
    Pose {
        /// The solid.
        solid: String,
        /// The problem.
        reason: String,
    },
    /// A saved state belongs to another scene.
    #[error("the saved state has {found} solids, but the scene has {expected}")]
    StateMismatch {
        /// Solids in the scene.
        expected: usize,
        /// Solids in the state.
        found: usize,
    },
}
