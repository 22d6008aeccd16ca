//! The scene and the frames of a run folder, for all that is made from it.

use std::path::PathBuf;

use sessile_frames::{FrameSelection, FrameSelectionError, RunFolder};
use sessile_scene::types::Scene;

/// Why the scene or the selected frames of a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunSceneError {
    /// The run's scene cannot be read.
    #[error("cannot read the scene of this run, {}:\n{reason}", file.display())]
    Scene {
        /// `scene.toml`.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The selected frames do not exist.
    #[error("{}: {cause}", folder.display())]
    Frames {
        /// The run folder.
        folder: PathBuf,
        /// What is wrong with the selection.
        cause: FrameSelectionError,
    },
}

/// Reads the scene of a run.
pub fn scene_of_run(folder: &RunFolder) -> Result<Scene, RunSceneError> {
    let file = folder.scene_path();
    match sessile_scene::parse_file(&file, &[]) {
        Ok(parsed) => Ok(parsed.scene),
        Err(reason) => Err(RunSceneError::Scene { file, reason: reason.to_string() }),
    }
}

/// The selected ones of a run's frames.
pub fn frames_of_run(folder: &RunFolder, selection: FrameSelection, frames: &[u64]) -> Result<Vec<u64>, RunSceneError> {
    selection.of(frames).map_err(|cause| RunSceneError::Frames { folder: folder.root().to_owned(), cause })
}
