//! Pictures and video of a run: from the frames in its folder to `pictures/00000.png` and `NAME.mp4`.
//!
//! The scene is the folder's own `scene.toml`. Everything that pictures share is made once: textures and environment are read, the camera
//! is placed by what stays the same in all frames, and the exposure is read off a small picture of the run's first frame. Then each
//! frame is put on stage, traced, denoised, tone-mapped and written under a temporary name that is renamed when it is whole; while
//! one picture is finished the next one is traced. All pictures use the same random numbers, so that what does not move keeps what noise is left and
//! does not shimmer. The video is made in the end, from the pictures on disk.
//!
//! The bytes of a picture depend on the frame, the scene and the settings, never on the number of threads or on which other pictures
//! were drawn with it.
//!
//! # FramesToRender is drawn
//!
//! Each picture says in itself what it was drawn with. [`FramesToRender::Missing`] draws what is not there or shows another
//! view: after a change of `[camera]`, `[lights]` or `[render]` the old pictures are drawn anew, while pictures of the same view that were drawn with
//! other options ([`FramesToRender::Frames`]) are left as they are, unless sizes would be mixed. The video follows the pictures.

mod error;
mod image_tag;
mod run_renderer;
#[cfg(feature = "video")]
mod video;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sessile_frames::{FolderError, FrameSelection, RunFolder, atomic};
use sessile_scene::types::Scene;

pub use error::RenderError;

use crate::denoise::denoise;
use crate::framebuffer::Framebuffer;
use crate::ground_truth::{GroundTruth, GroundTruthFiles, ground_truth, write_ground_truth};
use crate::image_files::{write_exr, write_png_with_text};
use crate::render_image::{ImageSettings, RenderedImage, render_image_until};
use crate::tone_map::{Exposure, to_srgb};
use image_tag::{ImageTag, KEYWORD, view_hash};
use run_renderer::RunRenderer;

/// The longest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 16384;

/// The most pixels of a picture; each takes some 250 bytes while it is drawn.
pub const MAX_PIXELS: u64 = 1 << 26;

/// Noise at which a part of a picture is done when 64 samples per pixel are asked for; see [`ImageSettings::noise`].
const NOISE: f32 = 0.01;

/// The brightest contribution of a path that has been scattered, in units of white; see [`crate::path_integrator::PathSettings`].
const CLAMP: f32 = 10.0;

/// Pixels from which on a picture gets all photons; see [`ImageSettings::photons`].
const FULL_PHOTONS: f64 = 640.0 * 360.0;

/// Which pictures to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramesToRender {
    /// Those that are not there, or show another view than the scene asks for.
    Missing,
    /// These, whether they are there or not.
    Frames(FrameSelection),
}

/// FramesToRender to draw, and how. `None` is what the scene says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Which frames.
    pub frames: FramesToRender,
    /// Columns and rows.
    pub size: Option<[u32; 2]>,
    /// Most samples per pixel.
    pub samples: Option<u32>,
    /// Whether to remove the grain of few samples.
    pub denoise: Option<bool>,
    /// Whether to write `pictures/00000.exr` too: linear light, albedo, normal, depth, drop ids; of previews the light alone.
    pub exr: bool,
    /// How light is found.
    pub quality: Quality,
    /// Whether to write `ground-truth/` too, see [`crate::ground_truth`].
    pub ground_truth: bool,
}

/// How light is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// By tracing its paths.
    #[default]
    Full,
    /// By looking it up, in a fraction of the time: see [`crate::preview`].
    Preview,
}

impl RenderOptions {
    /// As the scene says.
    pub fn new(frames: FramesToRender) -> Self {
        Self {
            frames,
            size: None,
            samples: None,
            denoise: None,
            exr: false,
            quality: Quality::Full,
            ground_truth: false,
        }
    }
}

/// FramesToRender came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderSummary {
    /// Pictures drawn.
    pub images: usize,
    /// Pictures that were to be drawn.
    pub requested: usize,
    /// Someone asked to stop before all was done.
    pub stopped: bool,
    /// The first frame whose picture was to be drawn and was not; `None` when all were.
    pub next: Option<u64>,
    /// The video, if it shows what the pictures show.
    pub video: Option<PathBuf>,
}

/// FramesToRender is being worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderPhase {
    /// Drawing.
    Images,
    /// Encoding the video.
    Video,
}

/// Told how drawing goes, from any thread. All of it is for people.
pub trait RenderProgress: Sync {
    /// Something worth a line.
    fn notice(&self, text: &str);
    /// `of` pictures are to be drawn, or encoded.
    fn begin(&self, work: RenderPhase, of: usize);
    /// `done` of them are, and this part of the next one.
    fn advance(&self, done: usize, part: f64);
    /// That was the last, or someone asked to stop.
    fn end(&self);
}

/// Says nothing.
pub struct Quiet;

impl RenderProgress for Quiet {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _work: RenderPhase, _of: usize) {}
    fn advance(&self, _done: usize, _part: f64) {}
    fn end(&self) {}
}

/// Draws pictures of the run in a folder, and its video, until done or `stop` is set. Uses the caller's thread pool.
pub fn render_run(
    run: &Path,
    options: &RenderOptions,
    progress: &dyn RenderProgress,
    stop: &AtomicBool,
) -> Result<RenderSummary, RenderError> {
    // Opened before it is claimed: a claim would make the folder.
    RunFolder::open(run)?;
    let (folder, _) = RunFolder::claim(run)?;
    let name = folder.read_info()?.name;
    let file = folder.scene_path();
    let scene = match sessile_scene::parse_file(&file, &[]) {
        Ok(parsed) => parsed.scene,
        Err(reason) => return Err(RenderError::Scene { file, reason: reason.to_string() }),
    };
    let settings = image_settings(&scene, options)?;
    let previews = options.quality == Quality::Preview;
    let denoised = options.denoise.unwrap_or(scene.render.denoise) && !previews;
    let wanted = ImageTag {
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
    let chosen = choose(&folder, &frames, options.frames, &wanted)?;
    let job = Job {
        folder: &folder,
        scene: &scene,
        frames: &frames,
        settings,
        denoised,
        exr: options.exr,
        previews,
        ground_truth: options.ground_truth,
        stamp: &wanted,
        progress,
        stop,
        written: AtomicUsize::new(0),
    };
    let next = if chosen.is_empty() { None } else { job.draw(&chosen)? };
    let video = if next.is_none() { job.make_video(&folder.video_path(&name))? } else { None };
    let stopped = stop.load(Ordering::Relaxed) && (next.is_some() || video.is_none());
    Ok(RenderSummary { images: job.written.into_inner(), requested: chosen.len(), stopped, next, video })
}

/// How each picture is traced.
fn image_settings(scene: &Scene, options: &RenderOptions) -> Result<ImageSettings, RenderError> {
    let [width, height] = options.size.unwrap_or(scene.render.size);
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    let samples = options.samples.unwrap_or(scene.render.samples).max(1);
    let mut settings = ImageSettings {
        size: [width as usize, height as usize],
        samples,
        // Noise falls with the root of the samples: who asks for more of them gets a finer picture, not one that stops as early.
        noise: NOISE * (64.0 / samples as f32).sqrt(),
        ..ImageSettings::default()
    };
    settings.paths.clamp = CLAMP;
    // Small pictures show less of a caustic, and would wait for its photons alone.
    let part = (f64::from(width) * f64::from(height) / FULL_PHOTONS).min(1.0);
    settings.photons = (f64::from(settings.photons) * part).ceil() as u32;
    Ok(settings)
}

/// The frames whose pictures are to be drawn.
fn choose(
    folder: &RunFolder,
    frames: &[u64],
    what: FramesToRender,
    wanted: &ImageTag,
) -> Result<Vec<u64>, RenderError> {
    let choice = match what {
        FramesToRender::Missing => FrameSelection::All,
        FramesToRender::Frames(choice) => choice,
    };
    let wrong = |cause| RenderError::Frames { folder: folder.root().to_owned(), cause };
    let chosen = choice.of(frames).map_err(wrong)?;
    if what != FramesToRender::Missing {
        return Ok(chosen);
    }
    let found: Vec<Option<ImageTag>> = chosen.iter().map(|&frame| ImageTag::read(&folder.image_path(frame))).collect();
    let right = |stamp: &Option<ImageTag>| stamp.as_ref().is_some_and(|stamp| stamp.view == wanted.view);
    let sizes: Vec<Option<[usize; 2]>> = found.iter().map(|stamp| stamp.as_ref().map(|stamp| stamp.size)).collect();
    let whole = found.iter().all(right) && sizes.windows(2).all(|pair| pair[0] == pair[1]);
    let keep = |stamp: &Option<ImageTag>| {
        whole || (right(stamp) && stamp.as_ref().is_some_and(|stamp| stamp.size == wanted.size))
    };
    Ok(chosen.iter().zip(&found).filter(|(_, stamp)| !keep(stamp)).map(|(&frame, _)| frame).collect())
}

/// A frame, drawn but not yet written.
struct Shot {
    frame: u64,
    rendered: RenderedImage,
    /// Its ground truth, and the clean view as sRGB bytes.
    truth: Option<(GroundTruth, Arc<Vec<u8>>)>,
}

/// FramesToRender all pictures of one call share.
struct Job<'a> {
    folder: &'a RunFolder,
    scene: &'a Scene,
    /// All frames of the run.
    frames: &'a [u64],
    settings: ImageSettings,
    denoised: bool,
    exr: bool,
    previews: bool,
    ground_truth: bool,
    stamp: &'a ImageTag,
    progress: &'a dyn RenderProgress,
    stop: &'a AtomicBool,
    /// Pictures written so far.
    written: AtomicUsize,
}

impl Job<'_> {
    /// Draws the chosen frames; the next picture is traced while the one before is finished and written. The first frame that was left
    /// out because someone asked to stop.
    fn draw(&self, chosen: &[u64]) -> Result<Option<u64>, RenderError> {
        atomic::create_folder(&self.folder.root().join("pictures")).map_err(FolderError::from)?;
        if self.ground_truth {
            atomic::create_folder(&self.folder.ground_truth_path()).map_err(FolderError::from)?;
        }
        let mut set = RunRenderer::build(self.folder, self.scene, self.settings.size)?;
        if let Some(notice) = set.notice() {
            self.progress.notice(&notice);
        }
        self.progress.begin(RenderPhase::Images, chosen.len());
        let next = self.draw_on(&mut set, chosen);
        self.progress.advance(self.written.load(Ordering::Relaxed), 0.0);
        self.progress.end();
        next
    }

    fn draw_on(&self, set: &mut RunRenderer<'_>, chosen: &[u64]) -> Result<Option<u64>, RenderError> {
        let first = self.frames.first().copied().unwrap_or_default();
        let Some(exposure) = set.exposure(first, &self.settings, self.stop)? else {
            return Ok(chosen.first().copied());
        };
        let mut waiting: Option<Shot> = None;
        let mut clean: Option<Arc<Vec<u8>>> = None;
        for &frame in chosen {
            let before = waiting.take();
            let finish = || before.map_or(Ok(()), |shot| self.finish(shot, exposure));
            let (shot, finished) = rayon::join(|| self.shoot(set, frame, exposure, &mut clean), finish);
            finished?;
            let Some(shot) = shot? else { return Ok(Some(frame)) };
            waiting = Some(shot);
        }
        if let Some(shot) = waiting {
            self.finish(shot, exposure)?;
        }
        Ok(None)
    }

    /// Draws a frame, and finds its ground truth if that is wanted; `None` when stopped. `clean` is the clean view as far as it stays
    /// the same from frame to frame.
    fn shoot(
        &self,
        set: &mut RunRenderer<'_>,
        frame: u64,
        exposure: Exposure,
        clean: &mut Option<Arc<Vec<u8>>>,
    ) -> Result<Option<Shot>, RenderError> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // A frame with ground truth is two pictures' work, unless the second one is there already.
        let parts = if self.ground_truth && clean.is_none() { 2.0 } else { 1.0 };
        let told = |before: f64| {
            move |done: usize, of: usize| {
                let part = (before + done as f64 / of as f64) / parts;
                self.progress.advance(self.written.load(Ordering::Relaxed), part);
            }
        };
        let staged = if self.previews && !self.ground_truth { None } else { Some(set.scene(frame)?) };
        let rendered = match &staged {
            Some((scene, camera)) if !self.previews => {
                render_image_until(scene, camera, &self.settings, self.stop, &told(0.0))
            }
            _ => Some(RenderedImage::noiseless(set.preview(frame, self.settings.size)?)),
        };
        let Some(rendered) = rendered else { return Ok(None) };
        let Some((scene, camera)) = staged.filter(|_| self.ground_truth) else {
            return Ok(Some(Shot { frame, rendered, truth: None }));
        };
        let clean_stage = set.clean_stage(set.shutter());
        if clean.is_none() || !set.clean_view_stays() {
            let seen = if self.previews {
                Some(RenderedImage::noiseless(set.clean_preview(frame, self.settings.size)))
            } else {
                render_image_until(&clean_stage, &camera, &self.settings, self.stop, &told(1.0))
            };
            let Some(seen) = seen else { return Ok(None) };
            *clean = Some(Arc::new(to_srgb(&self.denoise(seen), exposure)));
        }
        let truth = ground_truth(&scene, &clean_stage, &camera, self.settings.size);
        let truth = clean.clone().map(|clean| (truth, clean));
        Ok(Some(Shot { frame, rendered, truth }))
    }

    fn denoise(&self, rendered: RenderedImage) -> Framebuffer {
        let RenderedImage { image, halves: [first, second], .. } = rendered;
        let halves = (!first.is_empty()).then_some((first.as_slice(), second.as_slice()));
        if self.denoised { denoise(&image, halves) } else { image }
    }

    /// Denoises and writes a picture.
    fn finish(&self, Shot { frame, rendered, truth }: Shot, exposure: Exposure) -> Result<(), RenderError> {
        let image = self.denoise(rendered);
        let failed = |cause| RenderError::Image { frame, cause };
        let (path, layers) = (self.folder.image_path(frame), self.folder.layers_path(frame));
        if self.exr {
            write_exr(&layers, &image).map_err(failed)?;
        } else if ImageTag::read(&path).as_ref() != Some(self.stamp) {
            // Layers of a picture that is no more would be taken for those of the new one.
            atomic::remove(&layers).map_err(FolderError::from)?;
        }
        if let Some((truth, clean)) = truth {
            let files = GroundTruthFiles::of(&self.folder.ground_truth_path(), frame);
            write_ground_truth(&files, &truth, &clean).map_err(failed)?;
        }
        let rgb = to_srgb(&image, exposure);
        write_png_with_text(&path, image.width, image.height, &rgb, &[(KEYWORD, &self.stamp.text())])
            .map_err(failed)?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[cfg(not(feature = "video"))]
    fn make_video(&self, _path: &Path) -> Result<Option<PathBuf>, RenderError> {
        Ok(None)
    }

    /// Makes the video where it is missing or out of date, of all pictures of the view that have one size: that of the pictures just
    /// drawn, or of those that are there. `None` when stopped, or when there can be none.
    #[cfg(feature = "video")]
    fn make_video(&self, path: &Path) -> Result<Option<PathBuf>, RenderError> {
        let anew = self.written.load(Ordering::Relaxed) > 0;
        let found = self.frames.iter().filter_map(|&frame| {
            let image = self.folder.image_path(frame);
            ImageTag::read(&image).map(|stamp| video::Shot { frame, image, stamp })
        });
        let mut shots: Vec<video::Shot> = found.filter(|shot| shot.stamp.view == self.stamp.view).collect();
        let Some(size) = shots.first().map(|shot| if anew { self.stamp.size } else { shot.stamp.size }) else {
            return Ok(None);
        };
        shots.retain(|shot| shot.stamp.size == size);
        let fps = self.scene.render.fps;
        if let Err(reason) = crate::video::VideoWriter::create(path, size[0], size[1], fps) {
            self.progress.notice(&format!("no video: {reason}"));
            return Ok(None);
        }
        let whole = video::make(path, &shots, fps, anew, self.progress, self.stop)?;
        if whole && shots.len() < self.frames.len() {
            let (shown, all) = (shots.len(), self.frames.len());
            self.progress.notice(&format!(
                "the video shows {shown} of {all} frames: those that have a picture of this view and size"
            ));
        }
        Ok(whole.then(|| path.to_owned()))
    }
}
