//! XML 1.0, HTML and SVG.

/// Text for element contents and for attributes in quotes. Characters that XML cannot represent
/// become U+FFFD.
///
/// ```
/// assert_eq!(sessile_output::escape::xml::text("<\"&\u{1}"), "&lt;&quot;&amp;\u{fffd}");
/// ```
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            c if super::is_unprintable(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A comment with its delimiters: on one line, without the `--` that would end it.
pub fn comment(text: &str) -> String {
    let mut inner = String::new();
    for c in super::one_line(text).chars() {
        if c == '-' && inner.ends_with('-') {
            inner.push(' ');
        }
        inner.push(c);
    }
    format!("<!-- {inner} -->")
}
