//! Why a figure could not be made.

use std::path::PathBuf;

use sessile_frames::{FileError, FolderError};
use sessile_images::ImageError;
use sessile_render::RenderError;
use sessile_scene::Diagnostics;
use sessile_sim::RunError;
use sessile_sim::scenes::UnknownScene;

/// An error while a figure is made, or while the page is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A panel names a scene that does not ship.
    #[error(transparent)]
    UnknownScene(#[from] UnknownScene),
    /// A panel's overrides do not fit its scene.
    #[error("{0}")]
    Scene(Diagnostics),
    /// The simulation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Rendering failed.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The run folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A rendered image cannot be read.
    #[error("{}: {cause}", file.display())]
    Image {
        /// The image.
        file: PathBuf,
        /// What is wrong with it.
        cause: ImageError,
    },
    /// An image cannot be written.
    #[error("{}: cannot write the image: {cause}", file.display())]
    Encode {
        /// The image.
        file: PathBuf,
        /// Why.
        cause: sessile_render::ImageFileError,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A record is not valid JSON.
    #[error("{}: {cause}; delete it, and the figure is made again", file.display())]
    Record {
        /// The record.
        file: PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// Stopped by the user.
    #[error("stopped; the same command resumes")]
    Stopped,
}
