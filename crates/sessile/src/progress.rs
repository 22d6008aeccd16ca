//! A run's progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sessile_sim::{Progress, Status};

/// Least time between two plain lines.
pub const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The reporter that suits standard error.
pub fn for_stderr() -> Box<dyn Progress + Send> {
    if stderr().is_terminal() { Box::new(Bar::default()) } else { Box::new(Lines::default()) }
}

/// A bar that redraws itself.
#[derive(Default)]
struct Bar {
    bar: Option<ProgressBar>,
}

impl Progress for Bar {
    fn notice(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    fn begin(&mut self, _out: &Path, status: &Status) {
        let bar =
            ProgressBar::with_draw_target(Some(u64::from(status.last_frame)), ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("{bar:30.cyan/blue} frame {pos}/{len}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_position(u64::from(status.frame));
        self.bar = Some(bar);
    }

    fn advance(&mut self, status: &Status) {
        if let Some(bar) = &self.bar {
            bar.set_position(u64::from(status.frame));
            bar.set_message(describe(status));
        }
    }

    fn end(&mut self, status: &Status) {
        self.advance(status);
        if let Some(bar) = self.bar.take() {
            bar.abandon();
        }
    }
}

/// A line now and then; the first and the last always.
#[derive(Default)]
struct Lines {
    last: Option<(Instant, u32)>,
}

impl Lines {
    fn print(&mut self, status: &Status) {
        eprintln!("frame {}/{}  {}", status.frame, status.last_frame, describe(status));
        self.last = Some((Instant::now(), status.frame));
    }
}

impl Progress for Lines {
    fn notice(&mut self, text: &str) {
        eprintln!("{text}");
    }

    fn begin(&mut self, _out: &Path, status: &Status) {
        self.print(status);
    }

    fn advance(&mut self, status: &Status) {
        if self.last.is_none_or(|(at, _)| at.elapsed() >= LINE_INTERVAL) {
            self.print(status);
        }
    }

    fn end(&mut self, status: &Status) {
        if self.last.is_none_or(|(_, frame)| frame != status.frame) {
            self.print(status);
        }
    }
}

/// "0.120 of 3 s  0.52 × real time  5 s left".
fn describe(status: &Status) -> String {
    let mut text =
        format!("{} of {}", simulated(status.time, status.duration), simulated(status.duration, status.duration));
    if let (Some(speed), Some(left)) = (status.speed(), status.time_left()) {
        text += &format!("  {} × real time", three_digits(speed));
        if status.frame < status.last_frame {
            text += &format!("  {} left", coarse(left));
        }
    }
    text
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

/// A wait, as one says it.
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

    #[test]
    fn status_reads_as_a_person_would_say_it() {
        let status = Status {
            frame: 12,
            last_frame: 300,
            time: 0.12,
            duration: 3.0,
            simulated: 0.12,
            wall: Duration::from_secs(2),
        };
        assert_eq!(describe(&status), "0.12 s of 3 s  0.0600 × real time  48 s left");
        assert_eq!(describe(&Status { simulated: 0.0, time: 0.0, duration: 0.03, ..status }), "0 ms of 30 ms");
    }

    #[test]
    fn waits_are_rounded_to_what_matters() {
        let waits = [(0.2, "1 s"), (99.0, "99 s"), (130.0, "3 min"), (7260.0, "2 h 1 min"), (200_000.0, "3 days")];
        for (seconds, text) in waits {
            assert_eq!(coarse(Duration::from_secs_f64(seconds)), text);
        }
    }
}
