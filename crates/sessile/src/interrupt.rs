//! Ctrl-C and termination signals: the first one saves and stops, the second one quits immediately.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that is set when the program is asked to stop.
///
/// Without a handler, signals end the program immediately and the last checkpoint remains.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let requested = Arc::clone(&flag);
    let handler = move || {
        if requested.swap(true, Ordering::SeqCst) {
            eprintln!("\nquit; completed frames and the last checkpoint are kept");
            process::exit(1);
        }
        eprintln!("\nsaving a checkpoint, then stopping; press Ctrl-C again to quit immediately");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: cannot handle Ctrl-C ({error}); it will end the run without a final checkpoint");
    }
    flag
}
