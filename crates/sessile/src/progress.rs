//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sessile_frames::{Activity, Progress};

use crate::{interrupt, stderr};

/// Shortest time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Positions of the bar per frame.
const BAR_STEPS: f64 = 100.0;
/// Time before the remaining time is estimated.
const ESTIMATE_AFTER: Duration = Duration::from_millis(500);

/// Reports progress on standard error.
pub struct StderrProgress(Mutex<State>);

struct State {
    display: Display,
    task: Task,
}

enum Display {
    Bar(Option<ProgressBar>),
    /// Time of the last line, and the number of complete frames in it.
    Lines(Option<(Instant, usize)>),
}

/// An activity and its position.
#[derive(Clone, Copy, Debug)]
struct Task {
    activity: Activity,
    total: usize,
    started: Instant,
    /// Furthest position, in frames: reports of several threads may arrive out of order.
    position: f64,
}

impl StderrProgress {
    /// A bar if standard error is a terminal, else plain lines.
    pub fn new() -> Self {
        let display = if std::io::stderr().is_terminal() { Display::Bar(None) } else { Display::Lines(None) };
        let task = Task { activity: Activity::Render, total: 0, started: Instant::now(), position: 0.0 };
        Self(Mutex::new(State { display, task }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn show(&mut self) {
        let text = self.task.describe(self.task.started.elapsed());
        match &mut self.display {
            Display::Bar(Some(bar)) => {
                bar.set_position((BAR_STEPS * self.task.position) as u64);
                bar.set_message(text);
            }
            Display::Bar(None) => {}
            Display::Lines(last) => {
                stderr::line(&text);
                *last = Some((Instant::now(), self.task.position as usize));
            }
        }
    }
}

impl Progress for StderrProgress {
    fn notice(&self, text: &str) {
        match &self.state().display {
            Display::Bar(Some(bar)) => bar.suspend(|| stderr::line(text)),
            _ => stderr::line(text),
        }
    }

    fn begin(&self, activity: Activity, total: usize) {
        interrupt::begin_work();
        let mut state = self.state();
        let position = if let Activity::Simulate { start, .. } = activity { start } else { 0.0 };
        state.task = Task { activity, total, started: Instant::now(), position };
        if let Display::Bar(bar) = &mut state.display {
            let length = (BAR_STEPS * total as f64) as u64;
            let new = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:30.cyan/blue} {msg}");
            new.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            *bar = Some(new);
        }
        state.show();
    }

    fn advance(&self, done: usize, fraction: f64) {
        let mut state = self.state();
        let position = done as f64 + fraction.clamp(0.0, 1.0);
        state.task.position = state.task.position.max(position).min(state.task.total as f64);
        let due = match &state.display {
            Display::Bar(_) => true,
            Display::Lines(last) => last.is_none_or(|(at, _)| at.elapsed() >= LINE_INTERVAL),
        };
        if due {
            state.show();
        }
    }

    fn end(&self) {
        let mut state = self.state();
        let done = state.task.position as usize;
        match &mut state.display {
            Display::Bar(bar) => {
                if let Some(bar) = bar.take() {
                    bar.abandon();
                }
            }
            Display::Lines(last) => {
                if last.is_none_or(|(_, shown)| shown != done) {
                    state.show();
                }
            }
        }
    }
}

impl Task {
    /// For example "frame 12/300  0.12 s of 3 s  0.0600 × real time  48 s left".
    fn describe(&self, elapsed: Duration) -> String {
        let (noun, start) = match self.activity {
            Activity::Simulate { start, .. } => ("frame", start),
            Activity::Render => ("images", 0.0),
            Activity::EncodeVideo => ("video frames", 0.0),
            Activity::Export => ("frames", 0.0),
        };
        let mut text = format!("{noun} {}/{}", self.position as usize, self.total);
        let (covered, left) = (self.position - start, self.total as f64 - self.position);
        if let Activity::Simulate { interval, .. } = self.activity {
            let duration = self.total as f64 * interval;
            text +=
                &format!("  {} of {}", simulated(self.position * interval, duration), simulated(duration, duration));
            if covered > 0.0 {
                text += &format!("  {} × real time", three_digits(covered * interval / elapsed.as_secs_f64()));
            }
        }
        if covered > 0.0 && left > 0.0 && elapsed > ESTIMATE_AFTER {
            let wait = Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / covered).unwrap_or(Duration::MAX);
            text += &format!("  {} left", coarse(wait));
        }
        text
    }
}

/// A simulated time in the unit that suits the whole run.
fn simulated(time: f64, duration: f64) -> String {
    let (factor, unit) = if duration < 1e-3 {
        (1e6, "µs")
    } else if duration < 1.0 {
        (1e3, "ms")
    } else {
        (1.0, "s")
    };
    let value = format!("{:.3}", time * factor);
    format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
}

fn three_digits(value: f64) -> String {
    let places = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{value:.places$}")
}

/// A duration rounded to one or two units.
pub fn coarse(wait: Duration) -> String {
    let seconds = wait.as_secs_f64().ceil() as u64;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..5400 => format!("{} min", seconds.div_ceil(60)),
        5400..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(activity: Activity, total: usize, position: f64, seconds: u64) -> String {
        Task { activity, total, started: Instant::now(), position }.describe(Duration::from_secs(seconds))
    }

    #[test]
    fn a_simulation_shows_simulated_time_speed_and_remaining_time() {
        let simulate = |start, interval| Activity::Simulate { start, interval };
        let text = describe(simulate(0.0, 0.01), 300, 12.0, 2);
        assert_eq!(text, "frame 12/300  0.12 s of 3 s  0.0600 × real time  48 s left");
        let resumed = describe(simulate(10.0, 0.01), 300, 12.0, 2);
        assert_eq!(resumed, "frame 12/300  0.12 s of 3 s  0.0100 × real time  5 min left");
        assert_eq!(describe(simulate(0.0, 1e-3), 30, 0.0, 0), "frame 0/30  0 ms of 30 ms");
    }

    #[test]
    fn rendering_shows_complete_images_and_remaining_time() {
        assert_eq!(describe(Activity::Render, 121, 10.5, 10), "images 10/121  2 min left");
        assert_eq!(describe(Activity::Render, 121, 121.0, 10), "images 121/121");
        assert_eq!(describe(Activity::EncodeVideo, 121, 0.0, 10), "video frames 0/121");
    }

    #[test]
    fn durations_are_rounded() {
        let waits = [(0.2, "1 s"), (99.0, "99 s"), (130.0, "3 min"), (7260.0, "2 h 1 min"), (200_000.0, "3 days")];
        for (seconds, text) in waits {
            assert_eq!(coarse(Duration::from_secs_f64(seconds)), text);
        }
    }
}
