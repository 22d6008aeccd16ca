//! Where images and video are written.
//!
//! `pictures/` and `NAME.mp4` of a run folder show the whole run as its scene specifies. Images of
//! some frames only, or with other settings, have a folder of their own in `renders/`, named after
//! what is different, so that they replace neither the run's images nor each other:
//! `renders/frames-100-120_1920x1080_256-samples`.

use std::path::{Path, PathBuf};

use sessile_appearance::{frames_of_run, scene_of_run};
use sessile_frames::{FrameSelection, RunFolder};
use sessile_scene::types::Scene;

use super::options::{FramesToRender, Quality, RenderOptions};
use super::{RenderError, image_settings};

/// The files of a call.
pub(super) struct Destination {
    /// Folder of the images.
    pub images: PathBuf,
    /// Folder of the ground truth.
    pub ground_truth: PathBuf,
    /// The video.
    pub video: PathBuf,
    /// Whether this is the run's own place.
    pub whole_run: bool,
    /// Number of the first frame: the scene's in the run folder, 0 in folders of other programs.
    start_frame: u64,
}

impl Destination {
    /// The run's own place, or another folder. `name` is that of the run.
    pub fn new(folder: &RunFolder, scene: &Scene, name: &str, images: Option<&Path>) -> Self {
        let own = folder.pictures_path();
        let start_frame = u64::from(scene.time.start_frame);
        match images.filter(|images| !same_folder(images, &own)) {
            None => Self {
                images: own,
                ground_truth: folder.ground_truth_path(),
                video: folder.video_path(name),
                whole_run: true,
                start_frame,
            },
            Some(images) => Self {
                images: images.to_owned(),
                ground_truth: images.join("ground-truth"),
                video: images.join(format!("{name}.mp4")),
                whole_run: false,
                start_frame: if images.starts_with(folder.root()) { start_frame } else { 0 },
            },
        }
    }

    /// Number of a frame in file names.
    pub fn shown(&self, frame: u64) -> u64 {
        frame + self.start_frame
    }

    /// The image of a frame.
    pub fn image(&self, frame: u64) -> PathBuf {
        self.images.join(format!("{:05}.png", self.shown(frame)))
    }

    /// The JPEG file of a frame.
    pub fn jpeg(&self, frame: u64) -> PathBuf {
        self.images.join(format!("{:05}.jpg", self.shown(frame)))
    }

    /// The layers of a frame.
    pub fn layers(&self, frame: u64) -> PathBuf {
        self.images.join(format!("{:05}.exr", self.shown(frame)))
    }
}

fn same_folder(a: &Path, b: &Path) -> bool {
    let absolute = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    matches!((absolute(a), absolute(b)), (Ok(a), Ok(b)) if a == b)
}

/// The folder for images that are not those of the whole run as its scene specifies; `None` if
/// they are. It is relative to the run folder.
pub fn separate_folder(run: &Path, options: &RenderOptions) -> Result<Option<PathBuf>, RenderError> {
    let folder = RunFolder::open(run)?;
    let scene = scene_of_run(&folder)?;
    let all = folder.frames()?;
    let selection = match options.frames {
        FramesToRender::Missing => FrameSelection::All,
        FramesToRender::Selected(selection) | FramesToRender::MissingOf(selection) => selection,
    };
    let selected = frames_of_run(&folder, selection, &all)?;
    let mut words = Vec::new();
    if let (Some(first), Some(last), true) = (selected.first(), selected.last(), selected.len() < all.len()) {
        words.push(if first == last { format!("frame-{first}") } else { format!("frames-{first}-{last}") });
    }
    let as_scene = RenderOptions::new(FramesToRender::Missing);
    let [settings, own] = [image_settings(&scene, options)?, image_settings(&scene, &as_scene)?];
    if settings.size != own.size {
        words.push(format!("{}x{}", settings.size[0], settings.size[1]));
    }
    match options.quality {
        Quality::Preview => words.push("preview".to_owned()),
        Quality::Full => {
            if settings.samples != own.samples {
                words.push(format!("{}-samples", settings.samples));
            }
            if let Some(denoise) = options.denoise.filter(|&denoise| denoise != scene.render.denoise) {
                words.push(if denoise { "denoised" } else { "raw" }.to_owned());
            }
        }
    }
    Ok((!words.is_empty()).then(|| Path::new("renders").join(words.join("_"))))
}
