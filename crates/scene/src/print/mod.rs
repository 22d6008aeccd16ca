//! A scene written back as a complete scene file: every default is there, and it reads to the same bits.

mod numbers;
mod parts;
mod shapes;

pub(crate) use numbers::quantity_text;

use glam::DVec3;

use crate::quantities::Kind;
use crate::types::Scene;

/// The scene as a file, ready to be read again.
pub fn print(scene: &Scene) -> String {
    let mut text = String::new();
    for line in document(scene).lines {
        match line {
            Line::Header(header) if text.is_empty() => text.push_str(&format!("{header}\n")),
            Line::Header(header) => text.push_str(&format!("\n{header}\n")),
            Line::Note(note) => text.push_str(&format!("# {note}\n")),
            Line::Entry { key, value, comment: "", .. } => {
                text.push_str(&format!("{key} = {value}\n"));
            }
            Line::Entry { key, value, comment, .. } => {
                let entry = format!("{key} = {value}");
                text.push_str(&format!("{entry:<40} # {comment}\n"));
            }
        }
    }
    text
}

/// The scene as lines, each entry with its dotted path.
pub(crate) fn document(scene: &Scene) -> Document {
    let mut out = Document::default();
    parts::general(&mut out, scene);
    parts::materials(&mut out, scene);
    shapes::solids(&mut out, scene);
    shapes::drops(&mut out, scene);
    shapes::emitters(&mut out, scene);
    parts::knobs(&mut out, scene);
    parts::pictures(&mut out, scene);
    out
}

/// One line of a printed scene.
pub(crate) enum Line {
    Header(String),
    Note(String),
    Entry { path: String, key: &'static str, value: String, comment: &'static str },
}

/// A printed scene as lines.
#[derive(Default)]
pub(crate) struct Document {
    pub lines: Vec<Line>,
    table: String,
}

impl Document {
    /// Starts a table: its header as written and its dotted path.
    fn table(&mut self, header: String, path: String) {
        self.lines.push(Line::Header(header));
        self.table = path;
    }

    fn note(&mut self, note: &str) {
        self.lines.push(Line::Note(note.to_owned()));
    }

    fn entry(&mut self, key: &'static str, value: String, comment: &'static str) {
        let path = if self.table.is_empty() { key.to_owned() } else { format!("{}.{key}", self.table) };
        self.lines.push(Line::Entry { path, key, value, comment });
    }

    fn text(&mut self, key: &'static str, value: &str, comment: &'static str) {
        self.entry(key, quoted(value), comment);
    }

    fn quantity(&mut self, key: &'static str, value: f64, kind: &Kind, comment: &'static str) {
        self.entry(key, quoted(&quantity_text(value, kind)), comment);
    }

    fn vector(&mut self, key: &'static str, value: DVec3, kind: &Kind, comment: &'static str) {
        self.entry(key, quoted(&numbers::vector_text(&value.to_array(), kind)), comment);
    }

    fn pair(&mut self, key: &'static str, value: [f64; 2], kind: &Kind, comment: &'static str) {
        self.entry(key, quoted(&numbers::vector_text(&value, kind)), comment);
    }

    fn direction(&mut self, key: &'static str, value: DVec3, comment: &'static str) {
        self.plain(key, &value.to_array(), comment);
    }

    fn plain(&mut self, key: &'static str, values: &[f64], comment: &'static str) {
        let texts: Vec<String> = values.iter().map(|v| numbers::number(*v)).collect();
        self.entry(key, format!("[{}]", texts.join(", ")), comment);
    }

    fn number(&mut self, key: &'static str, value: f64, comment: &'static str) {
        self.entry(key, numbers::number(value), comment);
    }

    fn optional(&mut self, key: &'static str, value: Option<f64>, kind: &Kind, comment: &'static str) {
        if let Some(value) = value {
            self.quantity(key, value, kind, comment);
        }
    }
}

/// A TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A key as TOML wants it: bare where it can be.
fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { quoted(key) }
}
