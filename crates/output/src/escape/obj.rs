//! Names in Wavefront OBJ and MTL files.

/// A name as one word: what would end it, begin a comment or continue the line becomes `_`.
pub fn name(text: &str) -> String {
    let kept = |c: char| if c.is_whitespace() || super::is_unprintable(c) || matches!(c, '#' | '\\') { '_' } else { c };
    let name: String = text.chars().map(kept).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}
