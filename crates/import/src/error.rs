//! Why a model could not be imported.

use std::io;
use std::path::PathBuf;

use sessile_geometry::files::MeshFileError;
use sessile_output::OutputError;

use crate::usd::UsdError;

/// Why a model could not be turned into a scene. Nothing is left under the scene's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file name does not end in a known extension.
    #[error("cannot import {}: expected a file ending in .obj, .glb, .gltf, .usda, .usdc, .usd, .usdz, .abc, \
             .ply or .stl", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A USD layer cannot be read.
    #[error("{}: {cause}", path.display())]
    Usd {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: UsdError,
    },
    /// An Alembic file cannot be read.
    #[error("{}: {problem}", path.display())]
    Alembic {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file of a sequence cannot belong to it.
    #[error("{}: {problem}", path.display())]
    Sequence {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The JSON document of a glTF file is malformed.
    #[error("{}: malformed glTF document: {cause}", path.display())]
    Gltf {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// A mesh of the file is malformed.
    #[error(transparent)]
    Mesh(#[from] MeshFileError),
    /// The model has no triangles.
    #[error("{}: contains no mesh that could become a solid", path.display())]
    NoMesh {
        /// The file.
        path: PathBuf,
    },
    /// The scene could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}
