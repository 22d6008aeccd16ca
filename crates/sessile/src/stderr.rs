//! Messages on standard error. No message can fail a command: a closed pipe or a full disk behind
//! standard error loses the message, not the run.

use std::io::{Write, stderr};

/// Writes lines. Control characters of scenes and file names, which could drive the terminal,
/// become spaces.
pub fn line(text: &str) {
    let clean: String =
        text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c }).chain(['\n']).collect();
    // There is nowhere to report this.
    let _ = stderr().lock().write_all(clean.as_bytes());
}
