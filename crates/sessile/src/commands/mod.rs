//! One file per command (small ones share a file). Results go to standard output, everything else
//! to standard error.

pub mod bench;
pub mod check;
pub mod export;
pub mod import;
pub mod measure;
pub mod render;
pub mod run;
pub mod scene;
pub mod schema;
pub mod shipped;
pub mod sweep;
pub mod validate;

use std::num::NonZeroUsize;
use std::path::Path;

use crate::failure::Failure;
use crate::stderr;

/// The requested number of threads, at most that of the machine; a notice says so.
fn threads(requested: Option<NonZeroUsize>) -> Option<NonZeroUsize> {
    let hardware = sessile_sim::hardware_threads();
    if requested.is_some_and(|requested| requested > hardware) {
        stderr::line(&format!("this machine runs {hardware} threads at once; using {hardware}"));
    }
    requested.map(|requested| requested.min(hardware))
}

/// Runs `work` on a pool of `threads`, or of all cores.
fn on_threads<T: Send>(threads: Option<NonZeroUsize>, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    sessile_sim::thread_pool(threads).map(|pool| pool.install(work)).map_err(Failure::failed)
}

/// "; did you mean runs/X?" if `run` is not a run folder but `runs/X` is; empty otherwise.
fn run_hint(run: &Path) -> String {
    let is_run = |folder: &Path| folder.join("run.json").is_file();
    let guess = Path::new("runs").join(run);
    if !is_run(run) && is_run(&guess) { format!("; did you mean {}?", guess.display()) } else { String::new() }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
