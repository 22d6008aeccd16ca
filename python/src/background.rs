//! Long work on a thread of its own, while the calling thread reports progress and listens for
//! Ctrl-C.
//!
//! The interpreter's lock is held only during the callbacks. An interrupt sets the stop flag, so
//! that a run writes its checkpoint and a rendering finishes its image, and is raised after that.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use sessile_export::{ExportOptions, Format, export_run};
use sessile_frames::{Activity, FrameSelection, Progress};
use sessile_render::{FramesToRender, Quality, RenderOptions, RenderPart, render_run};
use sessile_sim::{RunOptions, RunOutcome, run, thread_pool};

use crate::errors::{failed, wrong};
use crate::scene::Scene;

/// Time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// What the working thread reports.
#[derive(Clone, Default)]
struct Report {
    activity: &'static str,
    done: usize,
    fraction: f64,
    total: usize,
    notices: Vec<String>,
}

/// Keeps the last report for the calling thread.
#[derive(Default)]
struct Shared(Mutex<Report>);

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Report)) {
        change(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// The last report; its notices are not reported again.
    fn take(&self) -> Report {
        let mut taken = Report::default();
        self.change(|report| {
            taken = report.clone();
            report.notices.clear();
        });
        taken
    }
}

impl Progress for Shared {
    fn notice(&self, text: &str) {
        self.change(|report| report.notices.push(text.to_owned()));
    }

    fn begin(&self, activity: Activity, total: usize) {
        let name = match activity {
            Activity::Simulate { .. } => "simulate",
            Activity::Render => "render",
            Activity::Export => "export",
            _ => "write",
        };
        self.change(|report| {
            (report.activity, report.total, report.done, report.fraction) = (name, total, 0, 0.0);
        });
    }

    fn advance(&self, done: usize, fraction: f64) {
        self.change(|report| (report.done, report.fraction) = (done, fraction));
    }

    fn end(&self) {}
}

/// Runs `work` on another thread. `callback(activity, done, total, notices)` is called every tenth
/// of a second and at the end; an exception in it, or a signal, stops the work.
fn in_background<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress, &AtomicBool) -> PyResult<T> + Send,
) -> PyResult<T> {
    let callback = callback.map(|callback| callback.clone().unbind());
    let (shared, stop) = (Shared::default(), AtomicBool::new(false));
    let report = |py: Python<'_>| -> PyResult<()> {
        let report = shared.take();
        if let Some(callback) = &callback {
            let done = report.done as f64 + report.fraction;
            callback.call1(py, (report.activity, done, report.total, report.notices))?;
        }
        py.check_signals()
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (finished, wait) = channel();
            let (shared, stop) = (&shared, &stop);
            let worker = scope.spawn(move || {
                let result = work(shared, stop);
                let _ = finished.send(());
                result
            });
            let mut interruption = None;
            loop {
                let ended = wait.recv_timeout(REPORT) != Err(RecvTimeoutError::Timeout);
                if interruption.is_none()
                    && let Err(raised) = Python::attach(&report)
                {
                    stop.store(true, Ordering::SeqCst);
                    interruption = Some(raised);
                }
                if ended {
                    break;
                }
            }
            let result = worker.join().unwrap_or_else(|_| Err(failed("an internal error; please report it")));
            interruption.map_or(result, Err)
        })
    })
}

/// Simulates a scene into a run folder, or resumes its run. Returns the outcome (`done`, `settled`,
/// `already done` or `stopped`) and the last frame.
#[pyfunction]
#[pyo3(signature = (scene, out, name, threads=None, fresh=false, checkpoint=30.0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn simulate(
    py: Python<'_>,
    scene: &Bound<'_, Scene>,
    out: PathBuf,
    name: String,
    threads: Option<NonZeroUsize>,
    fresh: bool,
    checkpoint: f64,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(&'static str, u32)> {
    let scene = &scene.get().scene;
    let options = RunOptions {
        name,
        fresh,
        threads,
        checkpoint_seconds: checkpoint,
        command: "the same call".to_owned(),
        ..RunOptions::new(out)
    };
    let outcome = in_background(py, callback, |progress, stop| {
        run(scene, &options, progress, stop).map_err(|error| {
            // Messages name options of the command line.
            let text = error.to_string().replace("`--fresh`", "fresh=True").replace("`--out`", "out=");
            if error.is_wrong_scene() { wrong(text) } else { failed(text) }
        })
    })?;
    Ok(match outcome {
        RunOutcome::Done { frame, settled: true } => ("settled", frame),
        RunOutcome::Done { frame, settled: false } => ("done", frame),
        RunOutcome::AlreadyDone { frame, .. } => ("already done", frame),
        RunOutcome::Stopped { frame } => ("stopped", frame),
    })
}

/// Renders one frame (or those without an image) of a run, and its video if asked for. Returns the
/// video's path.
#[pyfunction]
#[pyo3(signature = (run, frame=None, size=None, samples=None, preview=false, video=false, images=None, threads=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn render(
    py: Python<'_>,
    run: PathBuf,
    frame: Option<u64>,
    size: Option<[u32; 2]>,
    samples: Option<u32>,
    preview: bool,
    video: bool,
    images: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<PathBuf>> {
    let frames = match frame {
        Some(frame) => FramesToRender::Selected(FrameSelection::Range(Some(frame), Some(frame))),
        None => FramesToRender::Missing,
    };
    let options = RenderOptions {
        size,
        samples,
        quality: if preview { Quality::Preview } else { Quality::Full },
        part: if video { RenderPart::All } else { RenderPart::Images },
        images,
        ..RenderOptions::new(frames)
    };
    let summary = in_background(py, callback, |progress, stop| {
        let pool = thread_pool(threads).map_err(failed)?;
        pool.install(|| render_run(&run, &options, progress, stop))
            .map_err(|error| if error.is_wrong_request() { wrong(error) } else { failed(error) })
    })?;
    Ok(summary.video)
}

/// Writes files for other programs. Returns their path and the number of frames.
#[pyfunction]
#[pyo3(signature = (run, format, path, first=None, last=None, force=false, threads=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn export(
    py: Python<'_>,
    run: PathBuf,
    format: &str,
    path: PathBuf,
    first: Option<u64>,
    last: Option<u64>,
    force: bool,
    threads: Option<NonZeroUsize>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PathBuf, usize)> {
    let format: Format = format.parse().map_err(wrong)?;
    let frames =
        if first.is_none() && last.is_none() { FrameSelection::All } else { FrameSelection::Range(first, last) };
    let options = ExportOptions { frames, split: false, force };
    let exported = in_background(py, callback, |progress, stop| {
        let pool = thread_pool(threads).map_err(failed)?;
        pool.install(|| export_run(&run, format, &path, &options, progress, stop)).map_err(failed)
    })?;
    Ok((exported.path, exported.frames))
}

/// Creates a scene file from a model. Returns its path and what the user should know.
#[pyfunction]
#[pyo3(signature = (file, scene, force=false))]
pub fn import_model(py: Python<'_>, file: PathBuf, scene: PathBuf, force: bool) -> PyResult<(PathBuf, Vec<String>)> {
    let imported = py.detach(|| sessile_import::import_model(&file, &scene, force)).map_err(wrong)?;
    Ok((imported.scene, imported.notices))
}
