//! USD text layers (`.usda`).

/// A string literal with its quotes.
pub fn string(text: &str) -> String {
    super::c_string(text)
}

/// An asset path with its delimiters. A path has no control characters (see `Destination`).
pub fn asset(path: &str) -> String {
    let path = super::one_line(path);
    if path.contains('@') { format!("@@@{}@@@", path.replace("@@@", "\\@@@")) } else { format!("@{path}@") }
}
