//! Why pictures of a run could not be drawn.

use std::path::PathBuf;

use sessile_frames::{FolderError, FrameSelectionError};
use sessile_world::WorldError;

use crate::image_files::ImageFileError;
use sessile_appearance::AppearanceError;

/// Why pictures of a run could not be drawn. Those that were finished are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The run folder.
    #[error(transparent)]
    Folder(FolderError),
    /// Another process writes there.
    #[error("another process is writing in {}; wait until it has ended, then draw", folder.display())]
    Busy {
        /// The run folder.
        folder: PathBuf,
    },
    /// The run's scene cannot be read.
    #[error("{}, the scene of this run, cannot be read; mend it:\n{reason}", file.display())]
    Scene {
        /// `scene.toml`.
        file: PathBuf,
        /// FramesToRender is wrong with it.
        reason: String,
    },
    /// The scene's solids cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A texture or the environment.
    #[error(transparent)]
    Appearance(#[from] AppearanceError),
    /// Frames that are not there.
    #[error("{}: {cause}", folder.display())]
    Frames {
        /// The run folder.
        folder: PathBuf,
        /// FramesToRender is wrong with the choice.
        cause: FrameSelectionError,
    },
    /// A picture that is too large or has no pixels.
    #[error(
        "a image of {width} × {height} pixels cannot be drawn: each side must be from 1 to {}, and all pixels together at most {}; \
         change `render.size` or `--size`",
        super::MAX_SIDE,
        super::MAX_PIXELS
    )]
    Size {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A picture could not be written.
    #[error("picture {frame}: {cause}")]
    Image {
        /// Its frame.
        frame: u64,
        /// Why.
        cause: ImageFileError,
    },
    /// The video could not be made.
    #[cfg(feature = "video")]
    #[error(transparent)]
    Video(#[from] crate::video::VideoError),
    /// A picture cannot be read back for the video.
    #[error("picture {} cannot be read back for the video: {reason}; `sessile render` draws it again", file.display())]
    ReadBack {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

impl RenderError {
    /// Whether the command or the scene is at fault, rather than what happened while drawing.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            Self::Folder(FolderError::NoRun { .. })
                | Self::Scene { .. }
                | Self::World(_)
                | Self::Appearance(_)
                | Self::Frames { .. }
                | Self::Size { .. }
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
