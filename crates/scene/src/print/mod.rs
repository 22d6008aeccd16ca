//! A scene as a complete file: every default written out; it reads back bit-identically.

pub(crate) mod numbers;

pub(crate) use numbers::quantity_text;

use crate::field::{Fields, Value};
use crate::schema::{Affects, Default, Key, Table};
use crate::types::Scene;
use crate::types::words::Word;

/// Column of the comments.
const COMMENT_COLUMN: usize = 40;

/// The scene as a file that can be read again.
pub fn print(scene: &Scene) -> String {
    let mut text = String::new();
    for line in document(scene).lines {
        match line {
            Line::Header(header) if text.is_empty() => text.push_str(&format!("{header}\n")),
            Line::Header(header) => text.push_str(&format!("\n{header}\n")),
            Line::Note(note) => text.push_str(&format!("# {note}\n")),
            Line::Entry { key, value, .. } => {
                let entry = format!("{} = {value}", key.name);
                text.push_str(&format!("{entry:<COMMENT_COLUMN$} # {}\n", key.doc));
            }
        }
    }
    text
}

/// The scene as lines, each entry with its dotted path.
pub(crate) fn document(scene: &Scene) -> Document<'_> {
    let mut out = Document::new(scene, Scene::TABLE);
    Fields::print(scene, &mut out);
    out
}

/// A value of the scene that is printed, for a key that no field holds.
pub(crate) fn of_scene<T>(out: &Document<'_>, value: impl FnOnce(&Scene) -> T) -> T {
    value(out.scene)
}

/// One line of a printed scene.
pub(crate) enum Line {
    Header(String),
    Note(String),
    Entry { path: String, key: &'static Key, value: String },
}

/// A value of a scene as printed.
pub(crate) struct Entry {
    /// Dotted path, as `--set` takes it.
    pub path: String,
    pub value: String,
    pub affects: Affects,
}

/// A printed scene as lines.
pub(crate) struct Document<'a> {
    /// The scene, for values that are printed by the name of something else in it.
    pub scene: &'a Scene,
    lines: Vec<Line>,
    table: &'static Table,
    variant: Option<&'static str>,
    path: String,
}

impl<'a> Document<'a> {
    pub(crate) fn new(scene: &'a Scene, table: &'static Table) -> Self {
        Self { scene, lines: Vec::new(), table, variant: None, path: String::new() }
    }

    /// The values, in order.
    pub(crate) fn entries(self) -> impl Iterator<Item = Entry> {
        self.lines.into_iter().filter_map(|line| match line {
            Line::Entry { path, key, value } => Some(Entry { path, value, affects: key.affects }),
            Line::Header(_) | Line::Note(_) => None,
        })
    }

    /// The entry of a key in the current table.
    pub(crate) fn key(&self, name: &str) -> &'static Key {
        self.table.key(name, self.variant)
    }

    /// Prints the key that selects a variant, whose keys follow.
    pub(crate) fn select<T: Word + Value>(&mut self, name: &str, kind: T) {
        self.value(name, &kind);
        self.variant = Some(kind.word());
    }

    /// A key and its value.
    pub(crate) fn value<T: Value>(&mut self, name: &str, value: &T) {
        let key = self.key(name);
        self.raw(name, value.text(key));
    }

    /// A key and its value as TOML text.
    pub(crate) fn raw(&mut self, name: &str, value: String) {
        let key = self.key(name);
        self.lines.push(Line::Entry { path: self.joined(name), key, value });
    }

    /// A comment that says what applies without a key.
    pub(crate) fn absent(&mut self, name: &str) {
        let default = match self.key(name).default {
            Default::Required(_) | Default::RequiredUnless(_) => "required",
            Default::Value(text) | Default::Derived(text) => text,
        };
        self.lines.push(Line::Note(format!("{name}: {default}")));
    }

    fn joined(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Prints a table under a header.
    fn under(&mut self, header: String, path: String, table: &'static Table, print: impl FnOnce(&mut Self)) {
        self.lines.push(Line::Header(header));
        let outer = (std::mem::replace(&mut self.path, path), self.table, self.variant.take());
        self.table = table;
        print(self);
        (self.path, self.table, self.variant) = outer;
    }

    /// A table with a header, or inline where the format has no header for it.
    pub(crate) fn nested<T: Fields>(&mut self, name: &str, value: &T) {
        if T::TABLE.has_header() {
            let path = self.joined(name);
            self.under(format!("[{path}]"), path, T::TABLE, |out| value.print(out));
        } else {
            let text = self.inline(value);
            self.raw(name, text);
        }
    }

    /// A table in a table of tables with names of the user's choice.
    pub(crate) fn named<T: Fields>(&mut self, name: &str, inner: &str, value: &T) {
        let path = self.joined(&format!("{name}.{}", bare_or_quoted(inner)));
        self.under(format!("[{path}]"), path, T::TABLE, |out| value.print(out));
    }

    /// A list of tables, with headers or inline.
    pub(crate) fn list<T: Fields>(&mut self, name: &str, values: &[T]) {
        if T::TABLE.has_header() {
            let path = self.joined(name);
            for (index, value) in values.iter().enumerate() {
                self.under(format!("[[{path}]]"), format!("{path}.{index}"), T::TABLE, |out| value.print(out));
            }
        } else if !values.is_empty() {
            let tables: Vec<String> = values.iter().map(|value| self.inline(value)).collect();
            self.raw(name, format!("[{}]", tables.join(", ")));
        }
        // At the top level, a comment would seem to belong to the section before it.
        if values.is_empty() && !self.path.is_empty() {
            self.absent(name);
        }
    }

    /// A table as an inline TOML value.
    fn inline<T: Fields>(&self, value: &T) -> String {
        let mut out = Document::new(self.scene, T::TABLE);
        value.print(&mut out);
        let entries: Vec<String> = out.entries().map(|entry| format!("{} = {}", entry.path, entry.value)).collect();
        format!("{{ {} }}", entries.join(", "))
    }
}

/// Text as a TOML string, with its quotes; the value is exactly the text.
pub fn quoted(text: &str) -> String {
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

/// A TOML key: bare where possible.
fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { quoted(key) }
}
