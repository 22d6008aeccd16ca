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
//! # What is drawn
//!
//! Each picture says in itself what it was drawn with. [`What::Missing`] draws what is not there or shows another
//! view: after a change of `[camera]`, `[lights]` or `[render]` the old pictures are drawn anew, while pictures of the same view that were drawn with
//! other options ([`What::Frames`]) are left as they are, unless sizes would be mixed. The video follows the pictures.

mod error;
#[cfg(feature = "video")]
mod film;
mod props;
mod stamp;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sessile_frames::{FolderError, FrameChoice, RunFolder, atomic};
use sessile_scene::types::Scene;

pub use error::DrawError;
pub use props::Props;

use crate::denoise::denoise;
use crate::image_files::{write_exr, write_png_noted};
use crate::render_picture::{PictureSettings, Rendered, render_until};
use crate::tone_map::{Exposure, to_srgb};
use props::Set;
use stamp::{KEYWORD, PictureStamp, view_hash};

/// The longest side of a picture, in pixels.
pub const LONGEST_SIDE: u32 = 16384;

/// The most pixels of a picture; each takes some 250 bytes while it is drawn.
pub const MOST_PIXELS: u64 = 1 << 26;

/// Noise at which a part of a picture is done when 64 samples per pixel are asked for; see [`PictureSettings::noise`].
const NOISE: f32 = 0.01;

/// The brightest contribution of a path that has been scattered, in units of white; see [`crate::path::PathSettings`].
const CLAMP: f32 = 10.0;

/// Pixels from which on a picture gets all photons; see [`PictureSettings::photons`].
const FULL_PHOTONS: f64 = 640.0 * 360.0;

/// Which pictures to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Those that are not there, or show another view than the scene asks for.
    Missing,
    /// These, whether they are there or not.
    Frames(FrameChoice),
}

/// What to draw, and how. `None` is what the scene says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawOptions {
    /// Which pictures.
    pub what: What,
    /// Columns and rows.
    pub size: Option<[u32; 2]>,
    /// Most samples per pixel.
    pub samples: Option<u32>,
    /// Whether to remove the grain of few samples.
    pub denoise: Option<bool>,
    /// Whether to write `pictures/00000.exr` too: linear light, albedo, normal, depth, drop ids.
    pub exr: bool,
}

impl DrawOptions {
    /// As the scene says.
    pub fn new(what: What) -> Self {
        Self { what, size: None, samples: None, denoise: None, exr: false }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Pictures drawn.
    pub pictures: usize,
    /// Pictures that were to be drawn.
    pub wanted: usize,
    /// Someone asked to stop before all was done.
    pub stopped: bool,
    /// The first frame whose picture was to be drawn and was not; `None` when all were.
    pub next: Option<u64>,
    /// The video, if it shows what the pictures show.
    pub video: Option<PathBuf>,
}

/// What is being worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Drawing.
    Pictures,
    /// Encoding the video.
    Video,
}

/// Told how drawing goes, from any thread. All of it is for people.
pub trait DrawProgress: Sync {
    /// Something worth a line.
    fn notice(&self, text: &str);
    /// `of` pictures are to be drawn, or encoded.
    fn begin(&self, work: Work, of: usize);
    /// `done` of them are, and this part of the next one.
    fn advance(&self, done: usize, part: f64);
    /// That was the last, or someone asked to stop.
    fn end(&self);
}

/// Says nothing.
pub struct Quiet;

impl DrawProgress for Quiet {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _work: Work, _of: usize) {}
    fn advance(&self, _done: usize, _part: f64) {}
    fn end(&self) {}
}

/// Draws pictures of the run in a folder, and its video, until done or `stop` is set. Uses the caller's thread pool.
pub fn draw_run(
    run: &Path,
    options: &DrawOptions,
    progress: &dyn DrawProgress,
    stop: &AtomicBool,
) -> Result<Drawn, DrawError> {
    // Opened before it is claimed: a claim would make the folder.
    RunFolder::open(run)?;
    let (folder, _) = RunFolder::claim(run)?;
    let name = folder.read_info()?.name;
    let file = folder.scene_path();
    let scene = match sessile_scene::parse_file(&file, &[]) {
        Ok(parsed) => parsed.scene,
        Err(reason) => return Err(DrawError::Scene { file, reason: reason.to_string() }),
    };
    let settings = picture_settings(&scene, options)?;
    let denoised = options.denoise.unwrap_or(scene.render.denoise);
    let wanted = PictureStamp {
        view: view_hash(&scene),
        size: settings.size,
        how: format!("{} samples, {}", settings.samples, if denoised { "denoised" } else { "raw" }),
    };
    let frames = folder.frames()?;
    let chosen = choose(&folder, &frames, options.what, &wanted)?;
    let job = Job {
        folder: &folder,
        scene: &scene,
        frames: &frames,
        settings,
        denoised,
        exr: options.exr,
        stamp: &wanted,
        progress,
        stop,
        written: AtomicUsize::new(0),
    };
    let next = if chosen.is_empty() { None } else { job.draw(&chosen)? };
    let video = if next.is_none() { job.make_video(&folder.video_path(&name))? } else { None };
    let stopped = stop.load(Ordering::Relaxed) && (next.is_some() || video.is_none());
    Ok(Drawn { pictures: job.written.into_inner(), wanted: chosen.len(), stopped, next, video })
}

/// How each picture is traced.
fn picture_settings(scene: &Scene, options: &DrawOptions) -> Result<PictureSettings, DrawError> {
    let [width, height] = options.size.unwrap_or(scene.render.size);
    let sides = 1..=LONGEST_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) || u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(DrawError::Size { width, height });
    }
    let samples = options.samples.unwrap_or(scene.render.samples).max(1);
    let mut settings = PictureSettings {
        size: [width as usize, height as usize],
        samples,
        // Noise falls with the root of the samples: who asks for more of them gets a finer picture, not one that stops as early.
        noise: NOISE * (64.0 / samples as f32).sqrt(),
        ..PictureSettings::default()
    };
    settings.paths.clamp = CLAMP;
    // Small pictures show less of a caustic, and would wait for its photons alone.
    let part = (f64::from(width) * f64::from(height) / FULL_PHOTONS).min(1.0);
    settings.photons = (f64::from(settings.photons) * part).ceil() as u32;
    Ok(settings)
}

/// The frames whose pictures are to be drawn.
fn choose(folder: &RunFolder, frames: &[u64], what: What, wanted: &PictureStamp) -> Result<Vec<u64>, DrawError> {
    let choice = match what {
        What::Missing => FrameChoice::All,
        What::Frames(choice) => choice,
    };
    let wrong = |cause| DrawError::Frames { folder: folder.root().to_owned(), cause };
    let chosen = choice.of(frames).map_err(wrong)?;
    if what != What::Missing {
        return Ok(chosen);
    }
    let found: Vec<Option<PictureStamp>> =
        chosen.iter().map(|&frame| PictureStamp::read(&folder.picture_path(frame))).collect();
    let right = |stamp: &Option<PictureStamp>| stamp.as_ref().is_some_and(|stamp| stamp.view == wanted.view);
    let sizes: Vec<Option<[usize; 2]>> = found.iter().map(|stamp| stamp.as_ref().map(|stamp| stamp.size)).collect();
    let whole = found.iter().all(right) && sizes.windows(2).all(|pair| pair[0] == pair[1]);
    let keep = |stamp: &Option<PictureStamp>| {
        whole || (right(stamp) && stamp.as_ref().is_some_and(|stamp| stamp.size == wanted.size))
    };
    Ok(chosen.iter().zip(&found).filter(|(_, stamp)| !keep(stamp)).map(|(&frame, _)| frame).collect())
}

/// What all pictures of one call share.
struct Job<'a> {
    folder: &'a RunFolder,
    scene: &'a Scene,
    /// All frames of the run.
    frames: &'a [u64],
    settings: PictureSettings,
    denoised: bool,
    exr: bool,
    stamp: &'a PictureStamp,
    progress: &'a dyn DrawProgress,
    stop: &'a AtomicBool,
    /// Pictures written so far.
    written: AtomicUsize,
}

impl Job<'_> {
    /// Draws the chosen frames; the next picture is traced while the one before is finished and written. The first frame that was left
    /// out because someone asked to stop.
    fn draw(&self, chosen: &[u64]) -> Result<Option<u64>, DrawError> {
        atomic::create_folder(&self.folder.root().join("pictures")).map_err(FolderError::from)?;
        let mut set = Set::build(self.folder, self.scene, self.settings.size)?;
        if let Some(notice) = set.notice() {
            self.progress.notice(&notice);
        }
        self.progress.begin(Work::Pictures, chosen.len());
        let next = self.draw_on(&mut set, chosen);
        self.progress.advance(self.written.load(Ordering::Relaxed), 0.0);
        self.progress.end();
        next
    }

    fn draw_on(&self, set: &mut Set<'_>, chosen: &[u64]) -> Result<Option<u64>, DrawError> {
        let first = self.frames.first().copied().unwrap_or_default();
        let Some(exposure) = set.exposure(first, &self.settings, self.stop)? else {
            return Ok(chosen.first().copied());
        };
        let mut waiting: Option<(u64, Rendered)> = None;
        for &frame in chosen {
            let before = waiting.take();
            let finish = || before.map_or(Ok(()), |(frame, rendered)| self.finish(frame, rendered, exposure));
            let (rendered, finished) = rayon::join(|| self.trace(set, frame), finish);
            finished?;
            let Some(rendered) = rendered? else { return Ok(Some(frame)) };
            waiting = Some((frame, rendered));
        }
        if let Some((frame, rendered)) = waiting {
            self.finish(frame, rendered, exposure)?;
        }
        Ok(None)
    }

    /// Traces a frame; `None` when stopped.
    fn trace(&self, set: &mut Set<'_>, frame: u64) -> Result<Option<Rendered>, DrawError> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (stage, camera) = set.stage(frame)?;
        let told = |done: usize, of: usize| {
            self.progress.advance(self.written.load(Ordering::Relaxed), done as f64 / of as f64);
        };
        Ok(render_until(&stage, &camera, &self.settings, self.stop, &told))
    }

    /// Denoises and writes a picture.
    fn finish(&self, frame: u64, rendered: Rendered, exposure: Exposure) -> Result<(), DrawError> {
        let Rendered { picture, halves: [first, second], .. } = rendered;
        let halves = (!first.is_empty()).then_some((first.as_slice(), second.as_slice()));
        let picture = if self.denoised { denoise(&picture, halves) } else { picture };
        let failed = |cause| DrawError::Picture { frame, cause };
        let (path, layers) = (self.folder.picture_path(frame), self.folder.layers_path(frame));
        if self.exr {
            write_exr(&layers, &picture).map_err(failed)?;
        } else if PictureStamp::read(&path).as_ref() != Some(self.stamp) {
            // Layers of a picture that is no more would be taken for those of the new one.
            atomic::remove(&layers).map_err(FolderError::from)?;
        }
        let rgb = to_srgb(&picture, exposure);
        write_png_noted(&path, picture.width, picture.height, &rgb, &[(KEYWORD, &self.stamp.text())])
            .map_err(failed)?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[cfg(not(feature = "video"))]
    fn make_video(&self, _path: &Path) -> Result<Option<PathBuf>, DrawError> {
        Ok(None)
    }

    /// Makes the video where it is missing or out of date, of all pictures of the view that have one size: that of the pictures just
    /// drawn, or of those that are there. `None` when stopped, or when there can be none.
    #[cfg(feature = "video")]
    fn make_video(&self, path: &Path) -> Result<Option<PathBuf>, DrawError> {
        let anew = self.written.load(Ordering::Relaxed) > 0;
        let found = self.frames.iter().filter_map(|&frame| {
            let picture = self.folder.picture_path(frame);
            PictureStamp::read(&picture).map(|stamp| film::Shot { frame, picture, stamp })
        });
        let mut shots: Vec<film::Shot> = found.filter(|shot| shot.stamp.view == self.stamp.view).collect();
        let Some(size) = shots.first().map(|shot| if anew { self.stamp.size } else { shot.stamp.size }) else {
            return Ok(None);
        };
        shots.retain(|shot| shot.stamp.size == size);
        let fps = self.scene.render.fps;
        if let Err(reason) = crate::video::VideoWriter::create(path, size[0], size[1], fps) {
            self.progress.notice(&format!("no video: {reason}"));
            return Ok(None);
        }
        let whole = film::make(path, &shots, fps, anew, self.progress, self.stop)?;
        if whole && shots.len() < self.frames.len() {
            let (shown, all) = (shots.len(), self.frames.len());
            self.progress.notice(&format!(
                "the video shows {shown} of {all} frames: those that have a picture of this view and size"
            ));
        }
        Ok(whole.then(|| path.to_owned()))
    }
}
