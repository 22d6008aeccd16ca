//! Images and video of a run: from the frames in its folder to `pictures/00000.png` and `NAME.mp4`.
//!
//! The scene is the folder's own `scene.toml`. What images share is computed once: textures and
//! environment are read, the camera is framed by what is the same in all frames, and the exposure
//! is measured on a small image of the run's first frame. Then each frame is traced, denoised,
//! tone-mapped and written under a temporary name that is renamed when it is complete; while one
//! image is finished the next one is traced. All images use the same random numbers, so that
//! residual noise on static parts does not flicker. The video is encoded at the end, from the
//! images on disk.
//!
//! An image depends on the frame, the scene and the settings only; it is bit-identical for any
//! number of threads and any selection of frames.
//!
//! # Which images are rendered
//!
//! Each image carries a tag of what it was rendered with. [`FramesToRender::Missing`] renders
//! frames that have no image or one of another view: after a change of `[camera]`, `[lights]` or
//! `[render]` all images are rendered again, while images of the same view with other options
//! ([`FramesToRender::Selected`]) are kept, unless sizes would be mixed. The video is updated with
//! the images. [`RenderOptions::images`] puts images and video elsewhere; [`separate_folder`] names
//! a place for a part of the run and for other settings.

mod destination;
mod error;
mod image_tag;
mod options;
mod run_renderer;
#[cfg(feature = "video")]
mod video;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use sessile_appearance::{frames_of_run, scene_of_run};
use sessile_frames::{Activity, FolderError, FrameSelection, Progress, RunFolder, atomic};
use sessile_scene::types::Scene;

use destination::Destination;
pub use destination::separate_folder;
pub use error::RenderError;
pub use options::{FramesToRender, Quality, RenderOptions, RenderPart, RenderSummary};

use crate::denoise::denoise;
use crate::framebuffer::Framebuffer;
use crate::ground_truth::{GroundTruth, GroundTruthFiles, ground_truth, write_ground_truth};
use crate::image_files::{write_exr, write_jpeg, write_png_with_text};
use crate::render_image::{ImageSettings, RenderedImage, render_image_until};
use crate::tone_map::{Exposure, to_srgb};
use image_tag::{ImageTag, KEYWORD, view_hash};
use run_renderer::RunRenderer;
pub(crate) use run_renderer::drop_detail;

/// The longest side of an image, in pixels.
const MAX_SIDE: u32 = 16384;

/// Maximum number of pixels of an image, and the memory that each takes while it is rendered and
/// the image before is finished, in bytes.
const MAX_PIXELS: u64 = 1 << 26;
const PIXEL_BYTES: f64 = 500.0;

/// Noise target of an image with 64 samples per pixel; see [`ImageSettings::noise`].
const NOISE: f32 = 0.01;

/// Clamp on indirect samples, in units of white; see [`crate::path_integrator::PathSettings`].
const CLAMP: f32 = 10.0;

/// Quality of JPEG files, of 100.
const JPEG_QUALITY: u8 = 90;

/// Number of pixels from which an image gets all photons; see [`ImageSettings::photons`].
const FULL_PHOTONS: f64 = 640.0 * 360.0;

/// Renders images of the run in a folder, and its video, until done or `stop` is set. Uses the
/// caller's thread pool.
pub fn render_run(
    run: &Path,
    options: &RenderOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RenderSummary, RenderError> {
    let folder = if options.part == RenderPart::Images {
        RunFolder::share(run)?
    } else {
        // Opened before it is claimed, because claiming creates the folder.
        RunFolder::open(run)?;
        RunFolder::claim(run)?.0
    };
    let name = folder.read_info()?.name;
    let scene = scene_of_run(&folder)?;
    let settings = image_settings(&scene, options)?;
    let previews = options.quality == Quality::Preview;
    let denoised = options.denoise.unwrap_or(scene.render.denoise) && !previews;
    let tag = ImageTag {
        view: view_hash(&scene),
        size: settings.size,
        how: match options.quality {
            Quality::Full => {
                format!("{} samples, {}", settings.samples, if denoised { "denoised" } else { "raw" })
            }
            Quality::Preview => "preview".to_owned(),
        },
    };
    let frames = folder.frames()?;
    let destination = Destination::new(&folder, &scene, &name, options.images.as_deref());
    let selected = match options.part {
        RenderPart::Video => Vec::new(),
        RenderPart::All | RenderPart::Images => select_frames(&folder, &destination, &frames, options.frames, &tag)?,
    };
    let job = Job {
        folder: &folder,
        scene: &scene,
        frames: &frames,
        settings,
        denoised,
        exr: options.exr,
        jpeg: options.jpeg,
        previews,
        ground_truth: options.ground_truth,
        part: options.part,
        destination: &destination,
        tag: &tag,
        progress,
        stop,
        written: AtomicUsize::new(0),
        exposure: OnceLock::new(),
    };
    let next = if selected.is_empty() { None } else { job.render(&selected)? };
    if options.part != RenderPart::Images && destination.whole_run {
        job.record_exposure()?;
    }
    let wanted = options.part != RenderPart::Images;
    let video = if next.is_none() && wanted { job.write_video(&destination.video)? } else { None };
    let stopped = stop.load(Ordering::Relaxed) && (next.is_some() || (wanted && video.is_none()));
    let images = job.written.into_inner();
    Ok(RenderSummary { images, requested: selected.len(), stopped, next, video, folder: destination.images })
}

/// How each image is rendered.
pub(crate) fn image_settings(scene: &Scene, options: &RenderOptions) -> Result<ImageSettings, RenderError> {
    let [width, height] = options.size.unwrap_or(scene.render.size);
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    check_memory(width, height, free_memory())?;
    let samples = options.samples.unwrap_or(scene.render.samples).max(1);
    let mut settings = ImageSettings {
        size: [width as usize, height as usize],
        samples,
        // Noise falls with the square root of the samples: more of them make a better image, not
        // one that stops as early.
        noise: NOISE * (64.0 / samples as f32).sqrt(),
        ..ImageSettings::default()
    };
    settings.paths.clamp = CLAMP;
    // Small images resolve less of a caustic, and photons would dominate their cost.
    let fraction = (f64::from(width) * f64::from(height) / FULL_PHOTONS).min(1.0);
    settings.photons = (f64::from(settings.photons) * fraction).ceil() as u32;
    Ok(settings)
}

/// Returns an error if an image of this size does not fit in the memory that is free, in bytes.
fn check_memory(width: u32, height: u32, free: Option<f64>) -> Result<(), RenderError> {
    let needed = PIXEL_BYTES * f64::from(width) * f64::from(height);
    match free {
        Some(free) if needed > free => {
            Err(RenderError::Memory { width, height, needed_gb: needed / 1e9, free_gb: free / 1e9 })
        }
        _ => Ok(()),
    }
}

/// Memory that the system can still provide, in bytes; `None` where it does not tell.
fn free_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// The frames to be rendered.
fn select_frames(
    folder: &RunFolder,
    destination: &Destination,
    frames: &[u64],
    to_render: FramesToRender,
    tag: &ImageTag,
) -> Result<Vec<u64>, RenderError> {
    let selection = match to_render {
        FramesToRender::Missing => FrameSelection::All,
        FramesToRender::Selected(selection) | FramesToRender::MissingOf(selection) => selection,
    };
    let selected = frames_of_run(folder, selection, frames)?;
    let read_tag = |&frame: &u64| ImageTag::read(&destination.image(frame));
    match to_render {
        FramesToRender::Missing => {}
        FramesToRender::Selected(_) => return Ok(selected),
        FramesToRender::MissingOf(_) => {
            return Ok(selected.into_iter().filter(|frame| read_tag(frame).as_ref() != Some(tag)).collect());
        }
    }
    let found: Vec<Option<ImageTag>> = selected.iter().map(read_tag).collect();
    let same_view = |found: &Option<ImageTag>| found.as_ref().is_some_and(|found| found.view == tag.view);
    let sizes: Vec<Option<[usize; 2]>> = found.iter().map(|found| found.as_ref().map(|found| found.size)).collect();
    let complete = found.iter().all(same_view) && sizes.windows(2).all(|pair| pair[0] == pair[1]);
    let keep = |found: &Option<ImageTag>| {
        complete || (same_view(found) && found.as_ref().is_some_and(|found| found.size == tag.size))
    };
    Ok(selected.iter().zip(&found).filter(|(_, found)| !keep(found)).map(|(&frame, _)| frame).collect())
}

/// A frame that is rendered but not yet written.
struct RenderedFrame {
    frame: u64,
    rendered: RenderedImage,
    /// Its ground truth, and the clean view as sRGB bytes.
    truth: Option<(GroundTruth, Arc<Vec<u8>>)>,
}

/// What all images of one call share.
struct Job<'a> {
    folder: &'a RunFolder,
    scene: &'a Scene,
    /// All frames of the run.
    frames: &'a [u64],
    settings: ImageSettings,
    denoised: bool,
    exr: bool,
    jpeg: bool,
    previews: bool,
    ground_truth: bool,
    part: RenderPart,
    destination: &'a Destination,
    tag: &'a ImageTag,
    progress: &'a dyn Progress,
    stop: &'a AtomicBool,
    /// Number of images written so far.
    written: AtomicUsize,
    /// The exposure, once it is measured.
    exposure: OnceLock<Exposure>,
}

impl Job<'_> {
    /// Renders the selected frames; returns the first one that was not rendered because of `stop`.
    fn render(&self, selected: &[u64]) -> Result<Option<u64>, RenderError> {
        atomic::create_folder(&self.destination.images).map_err(FolderError::from)?;
        if self.ground_truth {
            atomic::create_folder(&self.destination.ground_truth).map_err(FolderError::from)?;
        }
        let mut renderer = RunRenderer::build(self.folder, self.scene, self.settings.size)?;
        if let Some(notice) = renderer.notice() {
            self.progress.notice(&notice);
        }
        self.progress.begin(Activity::Render, selected.len());
        let next = self.render_frames(&mut renderer, selected);
        self.progress.advance(self.written.load(Ordering::Relaxed), 0.0);
        self.progress.end();
        next
    }

    /// Records the exposure of the images in `run.json`. Images that other processes rendered have
    /// the exposure that is measured here again.
    fn record_exposure(&self) -> Result<(), RenderError> {
        let mut info = self.folder.read_info()?;
        let measured = match self.exposure.get() {
            None if self.part == RenderPart::Video && info.exposure.is_none() => {
                let first = self.frames.first().copied().unwrap_or_default();
                RunRenderer::build(self.folder, self.scene, self.settings.size)?.exposure(
                    first,
                    &self.settings,
                    self.stop,
                )?
            }
            measured => measured.copied(),
        };
        // As the shortest decimal number of its 32 bits.
        let factor = measured.and_then(|exposure| exposure.factor().to_string().parse().ok());
        if factor.is_some() && factor != info.exposure {
            info.exposure = factor;
            self.folder.write_info(&info)?;
        }
        Ok(())
    }

    /// Traces each frame while the one before is denoised and written.
    fn render_frames(&self, renderer: &mut RunRenderer<'_>, selected: &[u64]) -> Result<Option<u64>, RenderError> {
        let first = self.frames.first().copied().unwrap_or_default();
        let Some(exposure) = renderer.exposure(first, &self.settings, self.stop)? else {
            return Ok(selected.first().copied());
        };
        // Set once per call, so that it cannot be set already.
        let _ = self.exposure.set(exposure);
        let mut pending: Option<RenderedFrame> = None;
        let mut clean: Option<Arc<Vec<u8>>> = None;
        for &frame in selected {
            let before = pending.take();
            let write = || before.map_or(Ok(()), |before| self.write_frame(before, exposure));
            let (rendered, written) = rayon::join(|| self.render_frame(renderer, frame, exposure, &mut clean), write);
            written?;
            let Some(rendered) = rendered? else { return Ok(Some(frame)) };
            pending = Some(rendered);
        }
        if let Some(pending) = pending {
            self.write_frame(pending, exposure)?;
        }
        Ok(None)
    }

    /// Renders a frame, with its ground truth if requested; `None` when stopped. `clean` caches the
    /// clean view as long as it is the same in all frames.
    fn render_frame(
        &self,
        renderer: &mut RunRenderer<'_>,
        frame: u64,
        exposure: Exposure,
        clean: &mut Option<Arc<Vec<u8>>>,
    ) -> Result<Option<RenderedFrame>, RenderError> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // Ground truth takes a second image, unless the clean view is cached.
        let parts = if self.ground_truth && clean.is_none() { 2.0 } else { 1.0 };
        let report = |before: f64| {
            move |done: usize, of: usize| {
                let fraction = (before + done as f64 / of as f64) / parts;
                self.progress.advance(self.written.load(Ordering::Relaxed), fraction);
            }
        };
        let traced = if self.previews && !self.ground_truth { None } else { Some(renderer.render_scene(frame)?) };
        let rendered = match &traced {
            Some((scene, camera)) if !self.previews => {
                render_image_until(scene, camera, &self.settings, self.stop, &report(0.0))
            }
            _ => Some(RenderedImage::noiseless(renderer.preview(frame, self.settings.size)?)),
        };
        let Some(rendered) = rendered else { return Ok(None) };
        let Some((scene, camera)) = traced.filter(|_| self.ground_truth) else {
            return Ok(Some(RenderedFrame { frame, rendered, truth: None }));
        };
        let clean_scene = renderer.clean_scene(renderer.shutter());
        if clean.is_none() || !renderer.clean_view_is_static() {
            let rendered = if self.previews {
                Some(RenderedImage::noiseless(renderer.clean_preview(frame, self.settings.size)))
            } else {
                render_image_until(&clean_scene, &camera, &self.settings, self.stop, &report(1.0))
            };
            let Some(rendered) = rendered else { return Ok(None) };
            *clean = Some(Arc::new(to_srgb(&self.denoise(rendered), exposure, self.scene.render.view)));
        }
        let truth = ground_truth(&scene, &clean_scene, &camera, self.settings.size);
        let truth = clean.clone().map(|clean| (truth, clean));
        Ok(Some(RenderedFrame { frame, rendered, truth }))
    }

    fn denoise(&self, rendered: RenderedImage) -> Framebuffer {
        let RenderedImage { image, halves: [first, second], .. } = rendered;
        let halves = (!first.is_empty()).then_some((first.as_slice(), second.as_slice()));
        if self.denoised { denoise(&image, halves) } else { image }
    }

    /// Denoises and writes a frame's image and ground truth.
    fn write_frame(&self, rendered: RenderedFrame, exposure: Exposure) -> Result<(), RenderError> {
        let RenderedFrame { frame, rendered, truth } = rendered;
        let image = self.denoise(rendered);
        let failed = |cause| RenderError::Image { frame, cause };
        let [path, jpeg, layers] =
            [self.destination.image(frame), self.destination.jpeg(frame), self.destination.layers(frame)];
        // Other files of a replaced image would be mistaken for those of the new one.
        let replaced = ImageTag::read(&path).as_ref() != Some(self.tag);
        if self.exr {
            write_exr(&layers, &image).map_err(failed)?;
        } else if replaced {
            atomic::remove(&layers).map_err(FolderError::from)?;
        }
        if let Some((truth, clean)) = truth {
            let files = GroundTruthFiles::of(&self.destination.ground_truth, self.destination.shown(frame));
            write_ground_truth(&files, &truth, &clean).map_err(failed)?;
        }
        let rgb = to_srgb(&image, exposure, self.scene.render.view);
        if self.jpeg {
            write_jpeg(&jpeg, image.width, image.height, &rgb, JPEG_QUALITY).map_err(failed)?;
        } else if replaced {
            atomic::remove(&jpeg).map_err(FolderError::from)?;
        }
        write_png_with_text(&path, image.width, image.height, &rgb, &[(KEYWORD, &self.tag.text())]).map_err(failed)?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[cfg(not(feature = "video"))]
    fn write_video(&self, _path: &Path) -> Result<Option<PathBuf>, RenderError> {
        Ok(None)
    }

    /// Encodes the video where it is missing or outdated, from all images of the view that have one
    /// size: that of the images just rendered, or of those on disk. `None` when stopped, or without
    /// a video.
    #[cfg(feature = "video")]
    fn write_video(&self, path: &Path) -> Result<Option<PathBuf>, RenderError> {
        let force = self.written.load(Ordering::Relaxed) > 0 || self.part == RenderPart::Video;
        let found = self.frames.iter().filter_map(|&number| {
            let image = self.destination.image(number);
            ImageTag::read(&image).map(|tag| video::VideoFrame { number, image, tag })
        });
        let mut frames: Vec<video::VideoFrame> = found.filter(|frame| frame.tag.view == self.tag.view).collect();
        let Some(size) = frames.first().map(|frame| if force { self.tag.size } else { frame.tag.size }) else {
            return Ok(None);
        };
        frames.retain(|frame| frame.tag.size == size);
        let whole_run = self.destination.whole_run;
        if !whole_run {
            // Images of one kind: those of other settings may be in a folder that the user named.
            frames.retain(|frame| frame.tag.how == self.tag.how);
            if frames.len() < 2 {
                return Ok(None);
            }
        }
        let fps = self.scene.render.fps;
        if let Err(reason) = crate::video::VideoWriter::create(path, size[0], size[1], fps) {
            self.progress.notice(&format!("no video: {reason}"));
            return Ok(None);
        }
        let complete = video::write(path, &frames, fps, force, self.progress, self.stop)?;
        if complete && whole_run && frames.len() < self.frames.len() {
            let (shown, all) = (frames.len(), self.frames.len());
            self.progress.notice(&format!(
                "the video shows {shown} of {all} frames: those that have an image of this view and size"
            ));
        }
        Ok(complete.then(|| path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_does_not_fit_in_memory_is_an_error_that_says_what_to_do() {
        assert!(check_memory(640, 360, Some(1e9)).is_ok() && check_memory(8192, 8192, None).is_ok());
        let message = check_memory(8192, 8192, Some(4e9)).unwrap_err().to_string();
        assert!(message.contains("33.6 GB") && message.contains("4.0 GB are free"), "{message}");
        assert!(message.contains("smaller `render.size` or `--size`"), "{message}");
    }
}
