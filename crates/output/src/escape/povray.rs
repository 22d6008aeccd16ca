//! POV-Ray scene files.

/// A string literal with its quotes.
pub fn string(text: &str) -> String {
    super::c_string(text)
}

/// A comment line, with its line break.
pub fn comment(text: &str) -> String {
    format!("// {}\n", super::one_line(text))
}
