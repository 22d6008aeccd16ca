//! Why a run could not be exported.

use std::io;
use std::path::PathBuf;

use sessile_appearance::AppearanceError;
use sessile_frames::measures_file::MeasuresError;
use sessile_frames::{FolderError, FrameSelectionError};
use sessile_output::OutputError;
use sessile_world::WorldError;

/// Why a run could not be exported. Nothing is left under the destination's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The run's measures.
    #[error(transparent)]
    Measures(#[from] MeasuresError),
    /// The run's scene cannot be read.
    #[error("{}, the scene of this run, cannot be read; mend it:\n{reason}", file.display())]
    Scene {
        /// `scene.toml`.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The scene's solids cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Textures or light of the scene cannot be read.
    #[error(transparent)]
    Looks(#[from] AppearanceError),
    /// Frames that are not there.
    #[error("{}: {cause}", folder.display())]
    Frames {
        /// The run folder.
        folder: PathBuf,
        /// What is wrong with the choice.
        cause: FrameSelectionError,
    },
    /// Frames are missing among those chosen.
    #[error(
        "{} lacks {} between frames {before} and {after}: export the parts with `--frames ..{before}` and `--frames {after}..`, or simulate it again with \
         `sessile run --fresh`",
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
    /// The run has no grids.
    #[error("{}: {reason}", folder.display())]
    NoFields {
        /// The run folder.
        folder: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A format of this name is not known.
    #[error("there is no format `{name}`; there are {known}")]
    UnknownFormat {
        /// As given.
        name: String,
        /// All there are.
        known: String,
    },
    /// The destination's name does not fit the format.
    #[error("{format} writes {wants}, and {} is none", path.display())]
    Name {
        /// The format.
        format: &'static str,
        /// What it writes.
        wants: String,
        /// What was given.
        path: PathBuf,
    },
    /// An option that the format does not have.
    #[error("{format} cannot {what}; {instead}")]
    Option {
        /// The format.
        format: &'static str,
        /// What was asked for.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A file of the run, or one that it names, cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// More than the format can hold.
    #[error("{format} cannot hold this: {what}")]
    TooLarge {
        /// The format.
        format: &'static str,
        /// What is too large, the bound, and what to do.
        what: String,
    },
    /// Someone asked to stop.
    #[error("stopped; nothing was written")]
    Stopped,
}

impl ExportError {
    /// Whether the command is at fault, rather than what happened while exporting.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            Self::Folder(FolderError::NoRun { .. })
                | Self::Scene { .. }
                | Self::World(_)
                | Self::Frames { .. }
                | Self::NoFields { .. }
                | Self::UnknownFormat { .. }
                | Self::Name { .. }
                | Self::Option { .. }
                | Self::Output(OutputError::Exists { .. })
        ) || matches!(self, Self::Looks(_))
    }
}

fn gap(before: u64, after: u64) -> String {
    match (before + 1, after - 1) {
        (first, last) if first == last => format!("frame {first}"),
        (first, last) => format!("frames {first} to {last}"),
    }
}
