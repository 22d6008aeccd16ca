//! Makes a figure: simulates its panels, renders their strips, evaluates its measures.
//!
//! Everything that is finished is kept: a run that is done is not repeated, an interrupted one
//! resumes from its checkpoint.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sessile_frames::{FolderError, FrameMeasures, FrameSelection, NoProgress, RunFolder, atomic, measures_file};
use sessile_images::Image;
use sessile_render::{FramesToRender, Quality, RenderOptions, render_run, write_jpeg};
use sessile_scene::types::{Fidelity, Scene};
use sessile_scene::{NoFiles, parse_str};
use sessile_sim::scenes::ShippedScene;
use sessile_sim::{RunOptions, RunOutcome, run, thread_pool};

use crate::catalog::{Check, Figure, Panel};
use crate::error::FigureError;
use crate::measures::PanelRun;
use crate::record::{FigureRecord, MeasureRecord, PanelRecord};

/// Width of the images on the page, in pixels.
const WIDTH: u32 = 480;
/// Width with `quick`.
const QUICK_WIDTH: u32 = 320;
/// Largest number of samples per pixel.
const SAMPLES: u32 = 64;
/// Quality of the JPEG images.
const JPEG_QUALITY: u8 = 86;

/// How figures are made. Threads do not change results.
#[derive(Clone, Copy, Debug)]
pub struct MakeOptions<'a> {
    /// Folder of the page.
    pub folder: &'a Path,
    /// Reduced resolution and duration, and preview images.
    pub quick: bool,
    /// Number of threads; `None` for all cores.
    pub threads: Option<NonZeroUsize>,
}

/// Makes a figure and writes its record, also if it fails.
///
/// A record of the same kind that has no error is returned without making the figure again.
pub fn make(figure: &Figure, options: MakeOptions<'_>, stop: &AtomicBool) -> Result<FigureRecord, FigureError> {
    if let Some(record) = FigureRecord::read(options.folder, figure.name)?
        && record.error.is_none()
        && record.quick == options.quick
    {
        return Ok(record);
    }
    let mut record = FigureRecord { figure: figure.name.to_owned(), quick: options.quick, ..FigureRecord::default() };
    match make_panels(figure, options, stop) {
        Ok((panels, runs, fidelities)) => {
            record.panels = panels;
            record.measures = measure(figure, &runs, &fidelities);
        }
        Err(FigureError::Stopped) => return Err(FigureError::Stopped),
        Err(error) => record.error = Some(error.to_string()),
    }
    record.write(options.folder)?;
    Ok(record)
}

type Panels = (Vec<PanelRecord>, Vec<PanelRun>, Vec<Fidelity>);

fn make_panels(figure: &Figure, options: MakeOptions<'_>, stop: &AtomicBool) -> Result<Panels, FigureError> {
    let mut panels = (Vec::new(), Vec::new(), Vec::new());
    for panel in figure.panels {
        let scene = panel_scene(panel, options.quick)?;
        let name = format!("{}-{}{}", figure.name, file_name(panel.name), if options.quick { "-quick" } else { "" });
        let run = simulate(&scene, &options.folder.join("runs").join(&name), options.threads, stop)?;
        panels.0.push(render_strip(panel, &scene, &run, &name, options, stop)?);
        panels.1.push(run);
        panels.2.push(scene.fidelity);
    }
    Ok(panels)
}

/// The name of a panel as part of a file name: letters, digits, dots and hyphens.
fn file_name(panel: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    panel.split(|c: char| !plain(c)).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The scene of a panel with its overrides.
pub fn panel_scene(panel: &Panel, quick: bool) -> Result<Scene, FigureError> {
    let shipped = ShippedScene::find(panel.scene)?;
    let quick = if quick { panel.quick } else { &[] };
    let sets: Vec<String> = panel.sets.iter().chain(quick).map(|&set| set.to_owned()).collect();
    Ok(parse_str(panel.scene, shipped.text, &sets, &NoFiles).map_err(FigureError::Scene)?.scene)
}

fn simulate(
    scene: &Scene,
    out: &Path,
    threads: Option<NonZeroUsize>,
    stop: &AtomicBool,
) -> Result<PanelRun, FigureError> {
    let options = RunOptions { threads, command: "sessile figures".into(), ..RunOptions::new(out) };
    if let RunOutcome::Stopped { .. } = run(scene, &options, &NoProgress, stop)? {
        return Err(FigureError::Stopped);
    }
    let folder = RunFolder::open(out)?;
    let frames: Vec<FrameMeasures> = measures_file::read_all(&folder.measures_path()).map_err(FolderError::from)?;
    Ok(PanelRun { folder, frames })
}

fn render_strip(
    panel: &Panel,
    scene: &Scene,
    run: &PanelRun,
    name: &str,
    options: MakeOptions<'_>,
    stop: &AtomicBool,
) -> Result<PanelRecord, FigureError> {
    let [columns, rows] = scene.render.size;
    let width = if options.quick { QUICK_WIDTH } else { WIDTH };
    let size = [width, (width * rows).div_ceil(columns.max(1)).next_multiple_of(2)];
    let pool = thread_pool(options.threads)?;
    let info = run.folder.read_info()?;
    let mut record = PanelRecord {
        name: panel.name.to_owned(),
        images: Vec::new(),
        times: Vec::new(),
        size,
        cpu_seconds: info.stages.values().map(|stage| stage.cpu_seconds).sum(),
    };
    for (number, frame) in strip_frames(run.frames.len(), panel.strip).into_iter().enumerate() {
        let frame = &run.frames[frame];
        let to_render = FramesToRender::Selected(FrameSelection::Range(Some(frame.frame), Some(frame.frame)));
        let render = RenderOptions {
            size: Some(size),
            samples: Some(scene.render.samples.min(SAMPLES)),
            quality: if options.quick { Quality::Preview } else { Quality::Full },
            ..RenderOptions::new(to_render)
        };
        let summary = pool.install(|| render_run(run.folder.root(), &render, &NoProgress, stop))?;
        if summary.stopped || stop.load(Ordering::Relaxed) {
            return Err(FigureError::Stopped);
        }
        let image = format!("{name}-{number}.jpg");
        store_as_jpeg(&run.folder.image_path(frame.frame), &options.folder.join("images").join(&image))?;
        record.images.push(image);
        record.times.push(frame.time);
    }
    Ok(record)
}

/// Indices of `count` frames, evenly spaced from the first to the last; the last one alone if
/// `count` is 1.
fn strip_frames(frames: usize, count: usize) -> Vec<usize> {
    let last = frames.saturating_sub(1);
    let count = count.min(frames);
    match count {
        0 => Vec::new(),
        1 => vec![last],
        _ => (0..count).map(|k| (k * last + (count - 1) / 2) / (count - 1)).collect(),
    }
}

fn store_as_jpeg(png: &Path, jpeg: &Path) -> Result<(), FigureError> {
    let image = Image::read(png).map_err(|cause| FigureError::Image { file: png.to_owned(), cause })?;
    atomic::create_folder(jpeg.parent().unwrap_or(Path::new("")))?;
    write_jpeg(jpeg, image.width(), image.height(), &image.rgb_bytes(), JPEG_QUALITY)
        .map_err(|cause| FigureError::Encode { file: jpeg.to_owned(), cause })
}

fn measure(figure: &Figure, runs: &[PanelRun], fidelities: &[Fidelity]) -> Vec<MeasureRecord> {
    let record = |check: &Check| {
        let value = (check.value)(runs).filter(|value| value.is_finite());
        MeasureRecord {
            figure: figure.name.to_owned(),
            paper: figure.paper.key().to_owned(),
            fidelity: fidelities[check.panel].name().to_owned(),
            measure: check.measure.to_owned(),
            value,
            min: check.bound.min(),
            max: check.bound.max(),
            ok: value.is_some_and(|value| check.bound.contains(value)),
        }
    };
    figure.checks.iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_spaces() {
        assert_eq!(file_name("light from the right, 60°"), "light-from-the-right-60");
        assert_eq!(file_name("gamma-0.05"), "gamma-0.05");
    }

    #[test]
    fn strips_begin_with_the_first_frame_and_end_with_the_last() {
        assert_eq!(strip_frames(61, 4), [0, 20, 40, 60]);
        assert_eq!(strip_frames(3, 5), [0, 1, 2]);
        assert_eq!(strip_frames(10, 1), [9]);
        assert_eq!(strip_frames(0, 3), [0usize; 0]);
    }
}
