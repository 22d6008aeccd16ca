//! The video of a run, from its pictures on disk.
//!
//! The video shows, in order, the pictures that are of one view and one size. A note in the file says which ones; so a video that was
//! made of other pictures, or at another rate, is known.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::image_tag::ImageTag;
use super::{RenderError, RenderPhase, RenderProgress};
use crate::video::{VideoWriter, read_note};

/// A picture to be shown.
pub(super) struct Shot {
    /// Its frame.
    pub frame: u64,
    /// Its file.
    pub image: PathBuf,
    /// FramesToRender it was drawn with.
    pub stamp: ImageTag,
}

/// Makes the video of some pictures of one size, unless it is there already; `false` when stopped.
pub(super) fn make(
    path: &Path,
    shots: &[Shot],
    fps: f64,
    anew: bool,
    progress: &dyn RenderProgress,
    stop: &AtomicBool,
) -> Result<bool, RenderError> {
    let Some([width, height]) = shots.first().map(|shot| shot.stamp.size) else { return Ok(true) };
    let note = note(shots, fps);
    if !anew && read_note(path).as_ref() == Some(&note) {
        return Ok(true);
    }
    progress.begin(RenderPhase::Video, shots.len());
    let mut writer = VideoWriter::create(path, width, height, fps)?;
    for (done, shot) in shots.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            progress.end();
            return Ok(false);
        }
        writer.push(&read_picture(&shot.image)?)?;
        progress.advance(done + 1, 0.0);
    }
    writer.finish(&note)?;
    progress.end();
    Ok(true)
}

/// FramesToRender the video is made of, in one word.
fn note(shots: &[Shot], fps: f64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&fps.to_le_bytes());
    for shot in shots {
        hasher.update(format!("{} {}\n", shot.frame, shot.stamp.text()).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn read_picture(file: &Path) -> Result<Vec<u8>, RenderError> {
    let unreadable = |reason: String| RenderError::ReadBack { file: file.to_owned(), reason };
    let image = image::open(file).map_err(|error| unreadable(error.to_string()))?;
    Ok(image.into_rgb8().into_raw())
}
