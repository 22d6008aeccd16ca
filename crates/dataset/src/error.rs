//! Errors of datasets.

use std::path::PathBuf;

use sessile_frames::atomic::FileError;
use sessile_scene::Diagnostics;

/// Why a sample could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The scene that was drawn is not valid.
    #[error("the scene that was drawn is not valid:\n{0}")]
    Scene(#[from] Diagnostics),
    /// A value of the recipe is not valid.
    #[error("{0}")]
    Recipe(String),
    /// The solid of the drops does not exist.
    #[error("the scene has no solid that drops could be on")]
    NoSolid,
    /// The solids cannot be built.
    #[error(transparent)]
    World(#[from] sessile_world::WorldError),
    /// The model cannot be built.
    #[error(transparent)]
    Build(#[from] sessile_sim::BuildError),
    /// The simulation failed.
    #[error("the simulation failed: {0}")]
    Step(#[from] sessile_model::StepError),
    /// A texture, the environment or the backdrop cannot be read.
    #[error(transparent)]
    Appearance(#[from] sessile_appearance::AppearanceError),
    /// An image could not be rendered.
    #[error(transparent)]
    Render(#[from] sessile_render::RenderError),
    /// An image could not be written.
    #[error(transparent)]
    Image(#[from] sessile_render::ImageFileError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Why a dataset could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The spec is wrong.
    #[error("{0}")]
    Spec(#[from] Diagnostics),
    /// The folder holds samples of another spec.
    #[error(
        "{} holds samples of another spec or program version; give another --out, or remove the folder",
        folder.display()
    )]
    OtherSpec {
        /// The folder.
        folder: PathBuf,
    },
    /// A line of a list of samples is missing or wrong.
    #[error("{}: {reason}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A sample could not be made.
    #[error("sample {sample:06}: {cause}")]
    Sample {
        /// Its number.
        sample: u64,
        /// Why.
        cause: SampleError,
    },
    /// A file of a sample cannot be read back.
    #[error("{} cannot be read: {reason}; remove the folder and repeat the command", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}
