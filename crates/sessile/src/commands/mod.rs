//! One file per command (small ones share a file). Results go to standard output, everything else
//! to standard error.

pub mod bench;
mod boxes;
pub mod check;
pub mod dataset;
pub mod export;
pub mod figures;
pub mod import;
pub mod jobs;
pub mod measure;
pub mod render;
pub mod run;
pub mod scene;
pub mod schema;
pub mod shipped;
pub mod studio;
pub mod sweep;
mod threads;
pub mod validate;

use std::path::Path;

use threads::{on_threads, threads};

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
