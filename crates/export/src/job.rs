//! What every format gets: the run, the destination, and frames one at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::ExportError;
use crate::source::{Shot, Source};
use sessile_output::Destination;

/// Told how an export goes. All of it is for people.
pub trait ExportProgress: Sync {
    /// Something worth a line.
    fn notice(&self, text: &str);
    /// `of` frames are to be written.
    fn begin(&self, of: usize);
    /// `done` of them are.
    fn advance(&self, done: usize);
    /// That was the last, or it failed.
    fn end(&self);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl ExportProgress for Quiet {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _of: usize) {}
    fn advance(&self, _done: usize) {}
    fn end(&self) {}
}

/// An export under way.
pub struct Job<'a> {
    /// The run.
    pub source: &'a Source,
    /// Where it goes.
    pub destination: &'a Destination,
    /// Each drop in a file, or part, of its own.
    pub split: bool,
    /// Who is told.
    pub progress: &'a dyn ExportProgress,
    /// Set when someone asks to stop.
    pub stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Hands every frame to `take`, in order; the next one is read meanwhile, so two are in memory at most.
    pub fn each_shot(&self, mut take: impl FnMut(Shot) -> Result<(), ExportError> + Send) -> Result<(), ExportError> {
        let frames = &self.source.frames;
        let mut next = frames.first().map(|&frame| self.source.shot(frame)).transpose()?;
        for done in 0..frames.len() {
            self.check_stop()?;
            let Some(shot) = next.take() else { break };
            let ahead = || frames.get(done + 1).map(|&frame| self.source.shot(frame)).transpose();
            let (read, taken) = rayon::join(ahead, || take(shot));
            taken?;
            next = read?;
            self.progress.advance(done + 1);
        }
        Ok(())
    }

    /// Fails when someone asked to stop.
    pub fn check_stop(&self) -> Result<(), ExportError> {
        if self.stop.load(Ordering::Relaxed) { Err(ExportError::Stopped) } else { Ok(()) }
    }
}
