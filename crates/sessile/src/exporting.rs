//! How an export goes, on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sessile_export::ExportProgress;

use crate::progress::LINE_INTERVAL;

/// The reporter that suits standard error.
pub fn for_stderr() -> impl ExportProgress {
    Exporting(Mutex::new(State { bar: None, of: 0, told: Instant::now() }))
}

struct Exporting(Mutex<State>);

struct State {
    bar: Option<ProgressBar>,
    of: usize,
    /// When the last plain line was printed.
    told: Instant,
}

impl Exporting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExportProgress for Exporting {
    fn notice(&self, text: &str) {
        match &self.state().bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    fn begin(&self, of: usize) {
        let mut state = self.state();
        (state.of, state.told) = (of, Instant::now());
        if stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:30.cyan/blue} frames {pos}/{len}  {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            state.bar = Some(bar);
        }
    }

    fn advance(&self, done: usize) {
        let mut state = self.state();
        match &state.bar {
            Some(bar) => bar.set_position(done as u64),
            None if state.told.elapsed() >= LINE_INTERVAL => {
                eprintln!("frames {done}/{}", state.of);
                state.told = Instant::now();
            }
            None => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }
}
