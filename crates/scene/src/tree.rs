//! A scene, or another file of the user, as a tree of TOML values with their positions.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Place, line_around};

/// A value and its position.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its position.
    pub place: Place,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// As written, without underscores.
    Integer {
        /// The digits, with a sign.
        digits: String,
        /// 10 for everything but `0x`, `0o` and `0b` integers.
        radix: u32,
    },
    /// As written.
    Float(String),
    /// A boolean.
    Bool(bool),
    /// A date or time.
    Date,
    /// An array.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// Keys in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Every key once.
    pub entries: Vec<Entry>,
}

/// One key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its position.
    pub key_place: Place,
    /// Its value.
    pub node: Node,
}

impl Table {
    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|e| e.key == key)
    }
}

impl Value {
    /// "a number", for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer { .. } | Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The number, if it is one; not necessarily finite.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer { digits, radix: 10 } => digits.parse().ok(),
            Self::Integer { digits, radix } => i64::from_str_radix(digits, *radix).ok().map(|n| n as f64),
            Self::Float(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// The top table of a file's text, or its syntax errors; `name` is the file's name in messages.
pub fn parse_document(name: &str, text: &str) -> Result<Table, Diagnostics> {
    let (root, syntax) = parse_file(text);
    match root.value {
        Value::Table(table) if syntax.is_empty() => Ok(table),
        _ => Err(Diagnostics::errors(name, text, merge(syntax, Vec::new(), text))),
    }
}

/// The tree of a file's text, and its syntax errors.
pub(crate) fn parse_file(text: &str) -> (Node, Vec<SyntaxError>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let value = convert_table(table.get_ref(), 0, 0);
    let node = Node { value: Value::Table(value), place: Place::new(0, 0..0) };
    let errors = errors.iter().map(|e| syntax_error(e, text)).collect();
    (node, errors)
}

/// The tree of one value at byte `offset` of source `source`; `None` if it is not a TOML value.
pub(crate) fn parse_value(text: &str, source: usize, offset: usize) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    Some(convert(&value, source, offset))
}

fn convert(value: &toml::Spanned<DeValue<'_>>, source: usize, offset: usize) -> Node {
    let span = value.span();
    let place = Place::new(source, span.start + offset..span.end + offset);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => Value::Integer { digits: n.as_str().to_owned(), radix: n.radix() },
        DeValue::Float(n) => Value::Float(n.as_str().to_owned()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(list) => Value::List(list.iter().map(|v| convert(v, source, offset)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, source, offset)),
    };
    Node { value, place }
}

fn convert_table(table: &DeTable<'_>, source: usize, offset: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| {
            let span = key.span();
            Entry {
                key: key.get_ref().to_string(),
                key_place: Place::new(source, span.start + offset..span.end + offset),
                node: convert(value, source, offset),
            }
        })
        .collect();
    entries.sort_by(|a, b| a.key_place.cmp(&b.key_place));
    Table { entries }
}

/// A syntax error, and whether the text after it was still read as intended.
pub(crate) struct SyntaxError {
    pub diagnostic: Diagnostic,
    pub local: bool,
}

fn syntax_error(error: &toml::de::Error, text: &str) -> SyntaxError {
    let span = error.span().unwrap_or(0..0);
    let place = Place::new(0, span.clone());
    let found = text.get(span).unwrap_or("").trim();
    let message = error.message().lines().next().unwrap_or("this is not TOML");
    if message.starts_with("string values must be quoted") {
        let diagnostic = if found.is_empty() {
            Diagnostic::new(&place, "missing value").label("expected a value")
        } else {
            Diagnostic::new(&place, "text must be quoted")
                .label("not a number, true, false, list or table")
                .help(format!("write \"{}\"", shortened(found)))
        };
        return SyntaxError { diagnostic, local: true };
    }
    let (what, label) = message.split_once(", expected ").map_or((message, String::new()), |(what, expected)| {
        let expected = if expected == "nothing" { "nothing more" } else { expected };
        (what, format!("expected {expected}"))
    });
    let local = message.starts_with("duplicate key");
    let diagnostic = Diagnostic::new(&place, what).label(if local { "second occurrence".to_owned() } else { label });
    SyntaxError { diagnostic, local }
}

/// Removes problems on the lines of syntax errors, and all but the first syntax error of a line.
pub(crate) fn merge(syntax: Vec<SyntaxError>, other: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
    const MOST_LINES: usize = 100;
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut kept = Vec::new();
    let on = |lines: &[Range<usize>], place: &Place| {
        place.source == 0 && lines.iter().any(|line| (line.start..=line.end).contains(&place.start))
    };
    for diagnostic in syntax.into_iter().map(|e| e.diagnostic) {
        if lines.len() < MOST_LINES && !on(&lines, &diagnostic.place) {
            lines.push(line_around(text, diagnostic.place.start));
            kept.push(diagnostic);
        }
    }
    kept.extend(other.into_iter().filter(|d| !on(&lines, &d.place)));
    kept
}

/// Text short enough for a message, on one line.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let clean: String = text.chars().take(LONGEST + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() > LONGEST {
        let cut: String = clean.chars().take(LONGEST).collect();
        format!("{cut}…")
    } else {
        clean
    }
}
