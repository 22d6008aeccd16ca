//! `--threads`: at most the threads of the machine, and the pool that work runs on.

use std::num::NonZeroUsize;

use crate::failure::Failure;
use crate::stderr;

/// The requested number of threads, at most that of the machine; a notice says so.
pub fn threads(requested: Option<NonZeroUsize>) -> Option<NonZeroUsize> {
    let hardware = sessile_sim::hardware_threads();
    if requested.is_some_and(|requested| requested > hardware) {
        stderr::line(&format!("this machine runs {hardware} threads at once; using {hardware}"));
    }
    requested.map(|requested| requested.min(hardware))
}

/// Runs `work` on a pool of `threads`, or of all cores.
pub fn on_threads<T: Send>(threads: Option<NonZeroUsize>, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    sessile_sim::thread_pool(threads).map(|pool| pool.install(work)).map_err(Failure::failed)
}
