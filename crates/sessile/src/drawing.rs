//! How drawing goes, on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sessile_render::{RenderPhase, RenderProgress};

use crate::progress::{LINE_INTERVAL, coarse};

/// The reporter that suits standard error.
pub fn for_stderr() -> Box<dyn RenderProgress> {
    let shown = if stderr().is_terminal() { Shown::Bar(None) } else { Shown::Lines { last: None } };
    Box::new(Drawing(Mutex::new(State { shown, work: RenderPhase::Images, of: 0, start: Instant::now(), best: 0.0 })))
}

struct Drawing(Mutex<State>);

struct State {
    shown: Shown,
    work: RenderPhase,
    of: usize,
    start: Instant,
    /// The most that was done so far, in pictures: reports from several threads may overtake one
    /// another.
    best: f64,
}

enum Shown {
    Bar(Option<ProgressBar>),
    /// When the last line was printed, and for how many pictures.
    Lines {
        last: Option<(Instant, usize)>,
    },
}

/// Steps of the bar per picture.
const STEPS: f64 = 100.0;

impl Drawing {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// "picture 12/121  34 s left".
    fn describe(&self) -> String {
        let work = match self.work {
            RenderPhase::Images => "pictures",
            RenderPhase::Video => "video: pictures",
        };
        let mut text = format!("{work} {}/{}", self.best as usize, self.of);
        let left = self.of as f64 - self.best;
        let elapsed = self.start.elapsed().as_secs_f64();
        if self.best > 0.0 && left > 0.0 && elapsed > 0.5 {
            let wait = Duration::try_from_secs_f64(elapsed * left / self.best).unwrap_or(Duration::MAX);
            text += &format!("  {} left", coarse(wait));
        }
        text
    }

    fn show(&mut self) {
        let text = self.describe();
        match &mut self.shown {
            Shown::Bar(bar) => {
                if let Some(bar) = bar {
                    bar.set_position((STEPS * self.best) as u64);
                    bar.set_message(text);
                }
            }
            Shown::Lines { last } => {
                eprintln!("{text}");
                *last = Some((Instant::now(), self.best as usize));
            }
        }
    }
}

impl RenderProgress for Drawing {
    fn notice(&self, text: &str) {
        match &self.state().shown {
            Shown::Bar(Some(bar)) => bar.suspend(|| eprintln!("{text}")),
            _ => eprintln!("{text}"),
        }
    }

    fn begin(&self, work: RenderPhase, of: usize) {
        let mut state = self.state();
        (state.work, state.of, state.start, state.best) = (work, of, Instant::now(), 0.0);
        if let Shown::Bar(bar) = &mut state.shown {
            let length = (STEPS * of as f64) as u64;
            let new = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:30.cyan/blue} {msg}");
            new.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            *bar = Some(new);
        }
        state.show();
    }

    fn advance(&self, done: usize, part: f64) {
        let mut state = self.state();
        let now = done as f64 + part.clamp(0.0, 1.0);
        state.best = state.best.max(now).min(state.of as f64);
        let due = match &state.shown {
            Shown::Bar(_) => true,
            Shown::Lines { last } => last.is_none_or(|(at, _)| at.elapsed() >= LINE_INTERVAL),
        };
        if due {
            state.show();
        }
    }

    fn end(&self) {
        let mut state = self.state();
        let done = state.best as usize;
        match &mut state.shown {
            Shown::Bar(bar) => {
                if let Some(bar) = bar.take() {
                    bar.abandon();
                }
            }
            Shown::Lines { last } => {
                if last.is_none_or(|(_, shown)| shown != done) {
                    state.show();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_done_and_time_left_are_told() {
        let start = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let mut state = State { shown: Shown::Bar(None), work: RenderPhase::Images, of: 121, start, best: 10.5 };
        assert_eq!(state.describe(), "pictures 10/121  2 min left");
        state.best = 121.0;
        assert_eq!(state.describe(), "pictures 121/121");
        (state.work, state.best) = (RenderPhase::Video, 0.0);
        assert_eq!(state.describe(), "video: pictures 0/121");
    }
}
