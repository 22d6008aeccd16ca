//! Text in generated files: one escaping function per language.
//!
//! Titles, names and file names come from scenes and models that others wrote. They enter scripts
//! and scene files only through the functions of this module, so that no text can end its string or
//! comment and become code. Each submodule is one language; its tests read the result back.

pub mod obj;
pub mod pbrt;
pub mod povray;
pub mod python;
#[cfg(test)]
mod tests;
pub mod usda;
pub mod xml;

/// Whether a character must not appear literally in any generated file: control characters, line
/// separators, and the invisible characters that reorder text on the screen.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// The text on one line: unprintable characters become spaces.
///
/// ```
/// assert_eq!(sessile_output::escape::one_line("a\r\n\u{1b}[31mb"), "a   [31mb");
/// ```
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect()
}

/// A string literal in double quotes with C's escapes, as pbrt, POV-Ray and USD have it.
fn c_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in one_line(text).chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
