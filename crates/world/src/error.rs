//! What can go wrong while a scene is built.

use std::path::PathBuf;

/// Why a scene could not be built, or a world not be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A solid names a material that the scene does not hold.
    #[error(
        "solid `{solid}`: there is no material `{material}`; name one under [materials] or one of `sessile materials`"
    )]
    UnknownMaterial {
        /// The solid.
        solid: String,
        /// The name that it uses.
        material: String,
    },
    /// A solid's numbers describe no body.
    #[error("solid `{solid}`: {reason}")]
    Shape {
        /// The solid.
        solid: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A mesh file could not be read.
    #[error("{user}: {reason}")]
    MeshRead {
        /// Who uses it: "solid `bunny`", "drops\[0\]".
        user: String,
        /// The file.
        file: PathBuf,
        /// What the reader says.
        reason: String,
    },
    /// A mesh cannot be made into a body.
    #[error("{user}: mesh {}: {reason}", file.display())]
    MeshBroken {
        /// Who uses it.
        user: String,
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// An image could not be read.
    #[error("material `{material}`, `{key}`: cannot read image {}: {reason}; PNG and JPEG are read", file.display())]
    Image {
        /// The material.
        material: String,
        /// Which of its quantities.
        key: &'static str,
        /// The file.
        file: PathBuf,
        /// What the reader says.
        reason: String,
    },
    /// An initial drop has no shape.
    #[error("drops.{index}: {reason}")]
    Drop {
        /// Its place in the scene.
        index: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// An emitter cannot work.
    #[error("emitters.{index}: {reason}")]
    Emitter {
        /// Its place in the scene.
        index: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// There is no solid with this index.
    #[error("there is no solid {index}: the scene has {count}")]
    NoSuchSolid {
        /// The index asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A solid was asked to take a pose that is not rigid or not finite.
    #[error("solid `{solid}`: {reason}")]
    Pose {
        /// The solid.
        solid: String,
        /// What is wrong.
        reason: String,
    },
    /// A saved state belongs to another scene.
    #[error("the saved state holds {found} solids, the scene {expected}")]
    StateMismatch {
        /// Solids in the scene.
        expected: usize,
        /// Solids in the state.
        found: usize,
    },
}
