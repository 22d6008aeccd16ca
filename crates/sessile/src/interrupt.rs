//! Ctrl-C and the terminating signals: the first asks the run to stop and save, the second ends the program at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set when someone asks the program to stop.
///
/// Where no handler can be set, signals end the program at once, and the last checkpoint is what is left.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&flag);
    let handler = move || {
        if asked.swap(true, Ordering::SeqCst) {
            eprintln!("\nquit at once; what was written is kept, and the last checkpoint");
            process::exit(1);
        }
        eprintln!("\nstopping as soon as it is saved; again to quit at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: cannot catch Ctrl-C ({error}); it will end the run without a last checkpoint");
    }
    flag
}
