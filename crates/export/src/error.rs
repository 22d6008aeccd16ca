//! Why a run could not be exported.

use std::path::PathBuf;

use sessile_appearance::{AppearanceError, RunSceneError};
use sessile_frames::FolderError;
use sessile_frames::measures_file::MeasuresError;
use sessile_output::OutputError;
use sessile_world::WorldError;

/// Why a run could not be exported. Nothing is left under the destination's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The measures cannot be read.
    #[error(transparent)]
    Measures(#[from] MeasuresError),
    /// The run's scene cannot be read, or the selected frames do not exist.
    #[error(transparent)]
    Run(#[from] RunSceneError),
    /// The scene's solids cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Textures or environment of the scene cannot be read.
    #[error(transparent)]
    Appearance(#[from] AppearanceError),
    /// Frames are missing among the selected ones.
    #[error(
        "{} lacks {} between frames {before} and {after}: export the parts with `--frames ..{before}` and \
         `--frames {after}..`, or simulate it again with `sessile run --fresh`",
        folder.display(),
        gap(*before, *after)
    )]
    Gap {
        /// The run folder.
        folder: PathBuf,
        /// Last frame before the gap.
        before: u64,
        /// First frame after it.
        after: u64,
    },
    /// The run has no grid fields.
    #[error("{}: {reason}", folder.display())]
    NoFields {
        /// The run folder.
        folder: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// The scene has no plane.
    #[error(
        "{}: `maps` writes maps of planes, and the scene has none; `gltf` has the wetness of any solid",
        folder.display()
    )]
    NoPlane {
        /// The run folder.
        folder: PathBuf,
    },
    /// The format is unknown.
    #[error("unknown format `{name}`: expected one of {known}")]
    UnknownFormat {
        /// The name given.
        name: String,
        /// All formats.
        known: String,
    },
    /// The destination's name does not fit the format.
    #[error("{format} output must be {expected} (got {})", path.display())]
    DestinationName {
        /// The format.
        format: &'static str,
        /// What it writes.
        expected: String,
        /// The destination given.
        path: PathBuf,
    },
    /// The format cannot be split by drops.
    #[error("{format} output cannot be split by drops: drop ids distinguish them (ply, obj and stl can be split)")]
    CannotSplit {
        /// The format.
        format: &'static str,
    },
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The output exceeds a limit of the format.
    #[error("the output is too large for {format}: {what}")]
    TooLarge {
        /// The format.
        format: &'static str,
        /// What is too large, the limit, and what to do.
        what: String,
    },
    /// The export was canceled.
    #[error("canceled; nothing was written")]
    Stopped,
}

impl ExportError {
    /// Whether the command or the scene is wrong, as opposed to a failure during the export.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            Self::Folder(FolderError::NoRun { .. })
                | Self::Run(_)
                | Self::World(_)
                | Self::Appearance(_)
                | Self::NoFields { .. }
                | Self::NoPlane { .. }
                | Self::UnknownFormat { .. }
                | Self::DestinationName { .. }
                | Self::CannotSplit { .. }
                | Self::Output(OutputError::Exists { .. })
        )
    }
}

fn gap(before: u64, after: u64) -> String {
    match (before + 1, after - 1) {
        (first, last) if first == last => format!("frame {first}"),
        (first, last) => format!("frames {first} to {last}"),
    }
}
