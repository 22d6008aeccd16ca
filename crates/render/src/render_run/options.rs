//! Options and result of rendering a run.

use std::path::PathBuf;

use sessile_frames::FrameSelection;

/// Which frames to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramesToRender {
    /// Those without an image of the view that the scene asks for.
    Missing,
    /// These, whether they have an image or not.
    Selected(FrameSelection),
    /// Those of these without an image of the same view and settings.
    MissingOf(FrameSelection),
}

/// What to render, and how. `None` means as the scene specifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Which frames.
    pub frames: FramesToRender,
    /// Columns and rows.
    pub size: Option<[u32; 2]>,
    /// Maximum number of samples per pixel.
    pub samples: Option<u32>,
    /// Whether to denoise.
    pub denoise: Option<bool>,
    /// Whether to write `pictures/00000.exr` too: linear radiance, albedo, normal, depth, drop ids;
    /// for previews radiance only.
    pub exr: bool,
    /// Whether to write `pictures/00000.jpg` too.
    pub jpeg: bool,
    /// The renderer.
    pub quality: Quality,
    /// Whether to write `ground-truth/` too, see [`crate::ground_truth`].
    pub ground_truth: bool,
    /// Images, video or both.
    pub part: RenderPart,
    /// Folder of images, their ground truth and their video; `None` for the run's own places.
    pub images: Option<PathBuf>,
}

/// What a call writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenderPart {
    /// Images, then the video.
    #[default]
    All,
    /// Images only, next to other processes that render other frames of the same run.
    Images,
    /// The video only, of the images on disk.
    Video,
}

/// The renderer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Path tracing.
    #[default]
    Full,
    /// Rasterization with precomputed light: see [`crate::Preview`].
    Preview,
}

impl RenderOptions {
    /// As the scene specifies.
    pub fn new(frames: FramesToRender) -> Self {
        Self {
            frames,
            size: None,
            samples: None,
            denoise: None,
            exr: false,
            jpeg: false,
            quality: Quality::Full,
            ground_truth: false,
            part: RenderPart::All,
            images: None,
        }
    }
}

/// The result of rendering a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderSummary {
    /// Number of images rendered.
    pub images: usize,
    /// Number of images requested.
    pub requested: usize,
    /// Whether it was stopped before it was finished.
    pub stopped: bool,
    /// The first requested frame that was not rendered; `None` when all were.
    pub next: Option<u64>,
    /// The video, if it is up to date.
    pub video: Option<PathBuf>,
    /// Folder of the images.
    pub folder: PathBuf,
}
