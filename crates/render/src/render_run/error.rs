//! Errors of rendering a run.

use std::path::PathBuf;

use sessile_appearance::{AppearanceError, RunSceneError};
use sessile_frames::FolderError;
use sessile_world::WorldError;

use crate::image_files::ImageFileError;

/// Why a run could not be rendered. Finished images are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The run folder.
    #[error(transparent)]
    Folder(FolderError),
    /// Another process writes to the run folder.
    #[error("another process is writing in {}: wait until it has finished, then render again", folder.display())]
    Busy {
        /// The run folder.
        folder: PathBuf,
    },
    /// The run's scene cannot be read, or the selected frames do not exist.
    #[error(transparent)]
    Run(#[from] RunSceneError),
    /// The scene's solids cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The liquid has a drop that cannot be shown.
    #[error(transparent)]
    Drop(#[from] sessile_frames::instances::InstanceError),
    /// A texture, the environment or the backdrop.
    #[error(transparent)]
    Appearance(#[from] AppearanceError),
    /// An image that is too large or has no pixels.
    #[error(
        "an image of {width} × {height} pixels cannot be rendered: each side must be from 1 to {}, and the number of pixels \
         at most {}; change `render.size` or `--size`",
        super::MAX_SIDE,
        super::MAX_PIXELS
    )]
    Size {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// An image that does not fit in memory.
    #[error(
        "an image of {width} × {height} pixels takes {needed_gb:.1} GB of memory, and {free_gb:.1} GB are free: choose a \
         smaller `render.size` or `--size`, or close other programs"
    )]
    Memory {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// Memory that it takes, in GB.
        needed_gb: f64,
        /// Memory that is free, in GB.
        free_gb: f64,
    },
    /// The camera is inside a drop.
    #[error(
        "the camera is inside drop {drop} in frame {frame}, where everything is a blur: move `camera.position`, or render \
         frames without it (`--frames`)"
    )]
    CameraInDrop {
        /// The drop.
        drop: u32,
        /// The frame.
        frame: u64,
    },
    /// An image could not be written.
    #[error("image {frame}: {cause}")]
    Image {
        /// Its frame.
        frame: u64,
        /// Why.
        cause: ImageFileError,
    },
    /// The video could not be written.
    #[cfg(feature = "video")]
    #[error(transparent)]
    Video(#[from] crate::video::VideoError),
    /// An image cannot be read back for the video.
    #[error("image {} cannot be read back for the video: {reason}; `sessile render` renders it again", file.display())]
    ReadBack {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

impl RenderError {
    /// Whether the command or the scene is at fault, rather than something that happened while
    /// rendering.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            Self::Folder(FolderError::NoRun { .. })
                | Self::Run(_)
                | Self::World(_)
                | Self::Appearance(_)
                | Self::Size { .. }
                | Self::Memory { .. }
                | Self::CameraInDrop { .. }
        )
    }
}

impl From<FolderError> for RenderError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Busy { folder } => Self::Busy { folder },
            other => Self::Folder(other),
        }
    }
}
