//! Python source code.

use std::fmt::Write;

/// A string literal with its quotes, in ASCII: the value is exactly the text.
///
/// ```
/// assert_eq!(sessile_output::escape::python::string("'a\"\n\u{e9}"), r#""'a\"\n\u00e9""#);
/// ```
pub fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            ' '..='~' => write!(out, "{c}"),
            c if u32::from(c) <= 0xffff => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "\\U{:08x}", u32::from(c)),
        };
    }
    out.push('"');
    out
}
