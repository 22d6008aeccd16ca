//! An export in progress: the run, the destination, and the frames one at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use sessile_output::Destination;

use crate::error::ExportError;
use crate::source::{LoadedFrame, Source};

/// Receives the progress of an export, for display.
pub trait ExportProgress: Sync {
    /// Shows a message.
    fn notice(&self, text: &str);
    /// Called before the first of `total` frames.
    fn begin(&self, total: usize);
    /// Called when `done` frames have been written.
    fn advance(&self, done: usize);
    /// Called when the export has ended, successfully or not.
    fn end(&self);
}

/// Shows no progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl ExportProgress for Quiet {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _total: usize) {}
    fn advance(&self, _done: usize) {}
    fn end(&self) {}
}

/// An export in progress.
pub struct Job<'a> {
    /// The run.
    pub source: &'a Source,
    /// The output.
    pub destination: &'a Destination,
    /// Whether each drop gets a file of its own.
    pub split: bool,
    /// Receives the progress.
    pub progress: &'a dyn ExportProgress,
    /// Set to cancel the export.
    pub stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Calls `write` for every frame, in order, while the next one is read: at most two are in memory.
    pub fn for_each_frame(
        &self,
        mut write: impl FnMut(LoadedFrame) -> Result<(), ExportError> + Send,
    ) -> Result<(), ExportError> {
        let frames = &self.source.frames;
        let mut next = frames.first().map(|&frame| self.source.read_frame(frame)).transpose()?;
        for done in 0..frames.len() {
            self.check_stop()?;
            let Some(frame) = next.take() else { break };
            let ahead = || frames.get(done + 1).map(|&frame| self.source.read_frame(frame)).transpose();
            let (read, written) = rayon::join(ahead, || write(frame));
            written?;
            next = read?;
            self.progress.advance(done + 1);
        }
        Ok(())
    }

    /// Writes a file of the destination or companion folder.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let mut file = self.destination.inside(name)?;
        file.put(bytes)?;
        Ok(file.finish()?)
    }

    /// Returns an error if the export has been canceled.
    pub fn check_stop(&self) -> Result<(), ExportError> {
        if self.stop.load(Ordering::Relaxed) { Err(ExportError::Stopped) } else { Ok(()) }
    }
}
