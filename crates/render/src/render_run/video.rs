//! The video of a run, from its images on disk.
//!
//! The video shows, in order, the images of one view and one size. A note in the file identifies
//! them, so that a video of other images or with another frame rate is recognized as outdated.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::image_tag::ImageTag;
use sessile_frames::{Activity, Progress};
use sessile_images::Image;

use super::RenderError;
use crate::video::{VideoWriter, read_note};

/// An image to be shown.
pub(super) struct VideoFrame {
    /// Its frame.
    pub number: u64,
    /// Its file.
    pub image: PathBuf,
    /// What it was rendered with.
    pub tag: ImageTag,
}

/// Writes the video of some images of one size, unless it is up to date; `false` when stopped.
pub(super) fn write(
    path: &Path,
    frames: &[VideoFrame],
    fps: f64,
    force: bool,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<bool, RenderError> {
    let Some([width, height]) = frames.first().map(|frame| frame.tag.size) else { return Ok(true) };
    let note = note(frames, fps);
    if !force && read_note(path).as_ref() == Some(&note) {
        return Ok(true);
    }
    progress.begin(Activity::EncodeVideo, frames.len());
    let mut writer = VideoWriter::create(path, width, height, fps)?;
    for (done, frame) in frames.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            progress.end();
            return Ok(false);
        }
        writer.push(&read_image(&frame.image)?)?;
        progress.advance(done + 1, 0.0);
    }
    writer.finish(&note)?;
    progress.end();
    Ok(true)
}

/// A hash of what the video is made of.
fn note(frames: &[VideoFrame], fps: f64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&fps.to_le_bytes());
    for frame in frames {
        hasher.update(format!("{} {}\n", frame.number, frame.tag.text()).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn read_image(file: &Path) -> Result<Vec<u8>, RenderError> {
    let image = Image::read(file)
        .map_err(|error| RenderError::ReadBack { file: file.to_owned(), reason: error.to_string() })?;
    Ok(image.rgb_bytes())
}
