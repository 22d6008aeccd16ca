//! An export in progress: the run, the destination, and the frames one at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use sessile_frames::Progress;
use sessile_output::Destination;

use crate::error::ExportError;
use crate::source::{LoadedFrame, Source};

/// An export in progress.
pub struct Job<'a> {
    /// The run.
    pub source: &'a Source,
    /// The output.
    pub destination: &'a Destination,
    /// Whether each drop gets a file of its own.
    pub split: bool,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// Set to cancel the export.
    pub stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Calls `write` for every frame, in order, while the next one is read: at most two are in
    /// memory.
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
            self.progress.advance(done + 1, 0.0);
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
