//! What a run tells those who wait for it.

use std::path::Path;
use std::time::Duration;

/// Told how a run goes. All of it is for people; nothing here changes results.
pub trait Progress {
    /// Something worth a line: where it goes on from, what was repaired, what is left out.
    fn notice(&mut self, text: &str);

    /// Stepping begins (or goes on) behind frame `status.frame`.
    fn begin(&mut self, out: &Path, status: &Status);

    /// A step was made, or a frame was written.
    fn advance(&mut self, status: &Status);

    /// Stepping has ended, for whatever reason.
    fn end(&mut self, status: &Status);
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn notice(&mut self, _text: &str) {}
    fn begin(&mut self, _out: &Path, _status: &Status) {}
    fn advance(&mut self, _status: &Status) {}
    fn end(&mut self, _status: &Status) {}
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// The last frame that was written.
    pub frame: u32,
    /// The frame at the scene's duration.
    pub last_frame: u32,
    /// Simulated time, in s.
    pub time: f64,
    /// Simulated time in all, in s.
    pub duration: f64,
    /// Simulated time that this process has covered, in s.
    pub simulated: f64,
    /// Wall time that this process has spent on it.
    pub wall: Duration,
}

impl Status {
    /// Simulated seconds per second of wall time; `None` before the first step.
    pub fn speed(&self) -> Option<f64> {
        let wall = self.wall.as_secs_f64();
        (self.simulated > 0.0 && wall > 0.0).then(|| self.simulated / wall)
    }

    /// Wall time left at the mean speed so far; `None` before the first step.
    pub fn time_left(&self) -> Option<Duration> {
        let left = (self.duration - self.time).max(0.0);
        self.speed().and_then(|speed| Duration::try_from_secs_f64(left / speed).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_and_time_left_come_from_what_this_process_did() {
        let status = Status {
            frame: 9,
            last_frame: 10,
            time: 9.0,
            duration: 10.0,
            simulated: 1.0,
            wall: Duration::from_secs(4),
        };
        assert_eq!(status.speed(), Some(0.25));
        assert_eq!(status.time_left(), Some(Duration::from_secs(4)));
        assert_eq!(Status { simulated: 0.0, ..status }.time_left(), None);
    }
}
