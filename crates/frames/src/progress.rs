//! Progress reports for the user: simulation, rendering, video encoding and export share one trait.

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// Simulating up to the last frame.
    Simulate {
        /// Position at which this process started, in frames since the initial state.
        start: f64,
        /// Simulated time between two frames, in s.
        interval: f64,
    },
    /// Rendering images.
    Render,
    /// Encoding the video.
    EncodeVideo,
    /// Exporting frames to another format.
    Export,
}

/// Receives progress reports, possibly from several threads. Nothing here changes results.
pub trait Progress: Sync {
    /// A message worth a line: where a run resumes, what was repaired or left out.
    fn notice(&self, text: &str);

    /// An activity over `total` frames begins.
    fn begin(&self, activity: Activity, total: usize);

    /// `done` frames are complete, and `fraction` (0 to 1) of the next one.
    fn advance(&self, done: usize, fraction: f64);

    /// The activity ended, complete or not.
    fn end(&self);
}

/// Discards all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _activity: Activity, _total: usize) {}
    fn advance(&self, _done: usize, _fraction: f64) {}
    fn end(&self) {}
}
