//! Signals: the first one saves and stops, the second one quits immediately.
//!
//! Before there is anything to save, during setup, the first signal quits. Afterwards a command has
//! a limited time to finish what it is doing; then the process ends anyway, the run resumes from
//! its last checkpoint, and unfinished exports are removed. The exit code is 128 plus the number of
//! the signal.
//!
//! On Unix the signals are blocked in all threads and received by a thread of their own, which may
//! therefore do anything. SIGXFSZ is ignored: a file that grows beyond the limit is then an error
//! of the write, with a message, like a full disk.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use crate::stderr;

/// Number of SIGINT, for systems without signals.
const SIGINT: i32 = 2;
/// Number of SIGTERM.
const SIGTERM: i32 = 15;

/// Number of SIGXCPU.
const SIGXCPU: i32 = 24;

/// Time to finish after SIGTERM; with the time to end the process it stays below two seconds.
const AFTER_SIGTERM: Duration = Duration::from_millis(1400);
/// Time to finish after other signals, such as Ctrl-C.
const AFTER_OTHERS: Duration = Duration::from_secs(10);

static STOP: AtomicBool = AtomicBool::new(false);
/// The first signal; 0 before it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// What a command does when it is asked to stop; not set while there is nothing to save.
static STOPPING: OnceLock<&str> = OnceLock::new();

/// A flag that is set when the program is asked to stop.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Says that from now on there is something to save before the program ends.
pub fn begin_work() {
    begin_work_that_ends_by("saving a checkpoint, then stopping");
}

/// The same, for a command that does something else when it is asked to stop.
pub fn begin_work_that_ends_by(stopping: &'static str) {
    // A command says it once.
    let _ = STOPPING.set(stopping);
}

/// Exit code of a command that was stopped: 128 plus the number of the signal.
pub fn exit_code() -> u8 {
    let signal = match SIGNAL.load(Ordering::SeqCst) {
        0 => SIGINT,
        signal => signal,
    };
    u8::try_from(128 + signal).unwrap_or(1)
}

/// Whether the first signal was SIGXCPU, with which batch systems announce that the time is over.
pub fn time_is_over() -> bool {
    SIGNAL.load(Ordering::SeqCst) == SIGXCPU
}

/// Reacts to a signal.
fn receive(signal: i32) {
    let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    STOP.store(true, Ordering::SeqCst);
    let Some(stopping) = STOPPING.get().filter(|_| first) else { quit() };
    let wait = if signal == SIGTERM { AFTER_SIGTERM } else { AFTER_OTHERS };
    thread::spawn(move || {
        thread::sleep(wait);
        quit();
    });
    stderr::line(&format!("\n{stopping}; press Ctrl-C again to quit immediately"));
}

/// Ends the process now. Completed frames and the last checkpoint are kept.
fn quit() -> ! {
    sessile_frames::mark_stopped();
    sessile_output::discard_unfinished();
    process::exit(i32::from(exit_code()))
}

/// Starts to receive signals. To be called before any other thread starts.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library has no signals")]
pub fn install() {
    let mut signals = vec![libc::SIGINT, libc::SIGTERM, libc::SIGXCPU];
    // SAFETY: plain calls with valid pointers to local values; no handler is installed.
    let set = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        // `nohup` ignores SIGHUP, and a blocked signal would arrive nevertheless.
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut before);
        if before.sa_sigaction != libc::SIG_IGN {
            signals.push(libc::SIGHUP);
        }
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for &signal in &signals {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        set
    };
    thread::spawn(move || {
        loop {
            let mut signal = 0;
            // SAFETY: both point to local values, and the signals are blocked in all threads.
            if unsafe { libc::sigwait(&raw const set, &raw mut signal) } == 0 {
                receive(signal);
            }
        }
    });
}

/// Starts to receive Ctrl-C.
#[cfg(not(unix))]
pub fn install() {
    if let Err(error) = ctrlc::set_handler(|| receive(SIGINT)) {
        stderr::line(&format!("warning: cannot handle Ctrl-C ({error}); it ends a run without a final checkpoint"));
    }
}
