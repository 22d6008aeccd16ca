//! Reading and printing of each value type.

use std::path::PathBuf;

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::field::Value as FieldValue;
use crate::print::numbers::{number_text, quantity_text, vector_text};
use crate::print::quoted;
use crate::reader::Section;
use crate::schema::{Key, Range};
use crate::tree::{Node, Value, shortened};
use crate::types::words::Word;
use crate::types::{EnvironmentMap, Follow, Keyed, Texture};
use crate::units::is_sensible;

impl FieldValue for bool {
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        let help = match &node.value {
            Value::Text(t) if t == "true" || t == "false" => Some("write it without quotes".to_owned()),
            _ => None,
        };
        let message = format!("`{}` must be true or false, but this is {}", key.name, node.value.kind());
        section.cx.error(Diagnostic::new(&node.place, message).label("expected true or false").maybe_help(help));
        None
    }

    fn text(&self, _key: &Key) -> String {
        self.to_string()
    }

    fn placeholder() -> Self {
        false
    }
}

impl FieldValue for f64 {
    /// A quantity in SI units, or a number without unit.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        if let Some((kind, range)) = key.value.quantity() {
            return section.quantity(key.name, node, kind, range);
        }
        let range = key.value.number().unwrap_or(Range::Any);
        let value = number(section, key, node)?;
        if range.contains(value, |bound| bound) {
            return Some(value);
        }
        let requirement = range.requirement("");
        section.cx.error(
            Diagnostic::new(&node.place, format!("`{}` must be {requirement}, but it is {value}", key.name))
                .label(format!("expected {requirement}")),
        );
        None
    }

    fn text(&self, key: &Key) -> String {
        match key.value.quantity() {
            Some((kind, _)) => quoted(&quantity_text(*self, kind)),
            None => number_text(*self),
        }
    }

    fn placeholder() -> Self {
        1.0
    }
}

/// A number without unit, finite.
pub(crate) fn number(section: &Section<'_>, key: &Key, node: &Node) -> Option<f64> {
    let name = key.name;
    let Some(value) = node.value.number() else {
        let help = match &node.value {
            Value::Text(text) if !text.trim().is_empty() => {
                Some(format!("`{name}` has no unit: write it without quotes"))
            }
            _ => None,
        };
        let message = format!("`{name}` must be a plain number, but this is {}", node.value.kind());
        section.cx.error(Diagnostic::new(&node.place, message).label("expected a number").maybe_help(help));
        return None;
    };
    if is_sensible(value) {
        return Some(value);
    }
    section.cx.error(
        Diagnostic::new(&node.place, format!("`{name}` is out of range"))
            .label("expected 0, or a magnitude from 1e-40 to 1e15"),
    );
    None
}

impl FieldValue for u64 {
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        integer(section, key, node)
    }

    fn text(&self, _key: &Key) -> String {
        self.to_string()
    }

    fn placeholder() -> Self {
        1
    }
}

impl FieldValue for u32 {
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        integer(section, key, node).and_then(|n| Self::try_from(n).ok())
    }

    fn text(&self, _key: &Key) -> String {
        self.to_string()
    }

    fn placeholder() -> Self {
        1
    }
}

fn integer(section: &Section<'_>, key: &Key, node: &Node) -> Option<u64> {
    let (low, high) = key.value.integer().unwrap_or((0, i64::MAX as u64));
    let written = || format!("it is {}", shortened(section.cx.sources.text(&node.place)));
    let problem = match &node.value {
        Value::Integer { digits, radix } => {
            let digits = digits.strip_prefix('+').unwrap_or(digits);
            match u64::from_str_radix(digits, *radix) {
                Ok(n) if (low..=high).contains(&n) => return Some(n),
                _ => written(),
            }
        }
        Value::Float(_) => written(),
        other => format!("this is {}", other.kind()),
    };
    section.cx.error(
        Diagnostic::new(&node.place, format!("`{}` must be an integer from {low} to {high}, but {problem}", key.name))
            .label("expected an integer"),
    );
    None
}

impl FieldValue for [u32; 2] {
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        match &node.value {
            Value::List(list) if list.len() == 2 => {
                let [a, b] = [0, 1].map(|i| u32::read(section, key, &list[i]));
                Some([a?, b?])
            }
            other => {
                let message = format!("`{}` must be two integers, but this is {}", key.name, described(other));
                section.cx.error(Diagnostic::new(&node.place, message).label("expected two integers, e.g. [640, 360]"));
                None
            }
        }
    }

    fn text(&self, _key: &Key) -> String {
        format!("[{}, {}]", self[0], self[1])
    }

    fn placeholder() -> Self {
        [1; 2]
    }
}

/// A value in words: "a number", "a list of 2".
fn described(value: &Value) -> String {
    match value {
        Value::List(list) => format!("a list of {}", list.len()),
        other => other.kind().to_owned(),
    }
}

impl FieldValue for [f64; 2] {
    /// Two positive lengths with one unit.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let (kind, _) = key.value.quantity()?;
        let size = section.numbers::<2>(key.name, node, kind)?;
        if size.iter().all(|s| *s > 0.0) {
            return Some(size);
        }
        section.cx.error(
            Diagnostic::new(&node.place, format!("both numbers of `{}` must be more than zero", key.name))
                .label("expected two positive lengths"),
        );
        None
    }

    fn text(&self, key: &Key) -> String {
        key.value.quantity().map_or_else(String::new, |(kind, _)| quoted(&vector_text(self, kind)))
    }

    fn placeholder() -> Self {
        [1.0; 2]
    }
}

/// Three numbers without unit.
fn triple(section: &Section<'_>, key: &Key, node: &Node, example: &str) -> Option<[f64; 3]> {
    if let Value::List(list) = &node.value
        && list.len() == 3
    {
        let [x, y, z] = [0, 1, 2].map(|i| number(section, key, &list[i]));
        return Some([x?, y?, z?]);
    }
    let message = format!("`{}` must be three plain numbers, but this is {}", key.name, described(&node.value));
    let mut diagnostic = Diagnostic::new(&node.place, message).label(format!("expected three numbers, e.g. {example}"));
    if matches!(&node.value, Value::Text(t) if t.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))) {
        diagnostic = diagnostic.help("directions and factors have no unit");
    }
    section.cx.error(diagnostic);
    None
}

impl FieldValue for DVec3 {
    /// A vector with a unit, or a direction, which is normalized.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        match key.value.quantity() {
            Some((kind, _)) => section.numbers::<3>(key.name, node, kind).map(Self::from_array),
            None => direction(section, key, node),
        }
    }

    fn text(&self, key: &Key) -> String {
        match key.value.quantity() {
            Some((kind, _)) => quoted(&vector_text(&self.to_array(), kind)),
            None => numbers(&self.to_array()),
        }
    }

    fn placeholder() -> Self {
        Self::ZERO
    }
}

fn numbers(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(|v| number_text(*v)).collect::<Vec<_>>().join(", "))
}

/// A direction, normalized unless it already has unit length to rounding.
fn direction(section: &Section<'_>, key: &Key, node: &Node) -> Option<DVec3> {
    let v = DVec3::from_array(triple(section, key, node, "[0, 1, 0]")?);
    let largest = v.abs().max_element();
    if largest == 0.0 {
        section.cx.error(
            Diagnostic::new(&node.place, format!("`{}` must not be the zero vector", key.name))
                .label("all three numbers are zero"),
        );
        return None;
    }
    const ROUNDING: f64 = 4e-15;
    if (v.length_squared() - 1.0).abs() <= ROUNDING {
        return Some(v);
    }
    let unit = (v / largest).normalize();
    Some(DVec3::from_array(unit.to_array().map(|c| if is_sensible(c) { c } else { 0.0 })))
}

impl FieldValue for [f64; 3] {
    /// A color: three numbers that are not negative, or one for all three channels.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let color = match node.value {
            Value::Integer { .. } | Value::Float(_) => [number(section, key, node)?; 3],
            _ => triple(section, key, node, "[1.0, 0.9, 0.8]")?,
        };
        if color.iter().any(|c| *c < 0.0) {
            section.cx.error(
                Diagnostic::new(&node.place, format!("`{}` must not be negative", key.name))
                    .label("expected 0 or more in each channel"),
            );
            return None;
        }
        Some(color)
    }

    fn text(&self, _key: &Key) -> String {
        numbers(self)
    }

    fn placeholder() -> Self {
        [1.0; 3]
    }
}

impl FieldValue for String {
    /// Text. From `--set`, where the shell removes quotes, a bare number or word counts as text
    /// too.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer { .. } | Value::Float(_) | Value::Bool(_)
                if (1..usize::MAX).contains(&node.place.source) =>
            {
                Some(section.cx.sources.text(&node.place).to_owned())
            }
            other => {
                let message = format!("`{}` must be text in quotes, but this is {}", key.name, other.kind());
                section.cx.error(Diagnostic::new(&node.place, message).label("expected \"…\""));
                None
            }
        }
    }

    fn text(&self, _key: &Key) -> String {
        quoted(self)
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

/// One value of an enum.
pub(crate) fn word<T: Word>(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<T> {
    let text = String::read(section, key, node)?;
    let found = T::from_word(&text);
    if found.is_none() {
        section.unknown_word(key.name, &text, &format!("`{}`", key.name), T::NAMES.iter().copied(), "");
    }
    found
}

impl FieldValue for PathBuf {
    /// The absolute path of a file that must exist.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let name = String::read(section, key, node)?;
        let key = key.name;
        if name.trim().is_empty() || name.contains('\0') {
            section.cx.error(
                Diagnostic::new(&node.place, format!("`{key}` must be the name of a file"))
                    .label("empty, or not a name"),
            );
            return None;
        }
        let path = section.cx.files.resolve(&name);
        let Some(problem) = section.cx.files.problem(&path) else { return Some(path) };
        section.cx.error(
            Diagnostic::new(&node.place, format!("`{key}`: {problem}"))
                .label("file names are relative to the scene file")
                .help(format!("the full path is {}", shortened(&path.to_string_lossy()))),
        );
        None
    }

    fn text(&self, _key: &Key) -> String {
        quoted(&self.to_string_lossy())
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

/// Whether text names a file rather than a built-in: it has an extension or a folder.
fn names_file(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text.contains(['.', '/', '\\']))
}

/// Implements the value of an enum that is a built-in, by its word, or an image file.
macro_rules! built_in_or_image {
    ($enum:ident, $built_in:ident) => {
        impl FieldValue for $enum {
            fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
                if names_file(node) {
                    return PathBuf::read(section, key, node).map(Self::Image);
                }
                word(section, key, node).map(Self::$built_in)
            }

            fn text(&self, key: &Key) -> String {
                match self {
                    Self::$built_in(built_in) => built_in.text(key),
                    Self::Image(file) => file.text(key),
                }
            }

            fn placeholder() -> Self {
                Self::Image(PathBuf::new())
            }
        }
    };
}

built_in_or_image!(Texture, Pattern);
built_in_or_image!(EnvironmentMap, Preset);

impl FieldValue for Follow {
    /// The id of a drop, or `"largest"`.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "largest" => Some(Self::Largest),
            Value::Text(text) => {
                section.unknown_word(key.name, text, &format!("`{}`", key.name), ["largest"].into_iter(), "");
                None
            }
            _ => u32::read(section, key, node).map(Self::Drop),
        }
    }

    fn text(&self, _key: &Key) -> String {
        match self {
            Self::Drop(id) => id.to_string(),
            Self::Largest => quoted("largest"),
        }
    }

    fn placeholder() -> Self {
        Self::Largest
    }
}

impl<T: FieldValue + Copy> FieldValue for Keyed<T> {
    /// One value, or a list of keys in order of increasing time.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        let is_list = matches!(&node.value, Value::List(list)
            if list.is_empty() || list.iter().any(|n| matches!(n.value, Value::Table(_))));
        if !is_list {
            return T::read(section, key, node).map(|value| Self { keys: vec![(0.0, value)] });
        }
        let mut keys: Vec<(f64, T)> = Vec::new();
        let sections = section.sections(key.name);
        if sections.is_empty() {
            section.complain(key.name, format!("`{}` needs at least one key", key.name), "an empty list");
        }
        for inner in &sections {
            let (at, value) = (inner.get::<f64>("at"), inner.get("value"));
            if let Some(at) = at {
                increasing(inner, keys.last().map(|k| k.0), at);
                keys.push((at, value.unwrap_or_else(T::placeholder)));
            }
            inner.finish();
        }
        (!keys.is_empty()).then_some(Self { keys })
    }

    fn text(&self, key: &Key) -> String {
        match (&self.keys[..], key.value.table()) {
            ([(at, value)], _) if at.to_bits() == 0 => value.text(key),
            (keys, Some(table)) => {
                let inner = |(at, value): &(f64, T)| {
                    let (at, value) = (at.text(table.key("at", None)), value.text(table.key("value", None)));
                    format!("{{ at = {at}, value = {value} }}")
                };
                format!("[{}]", keys.iter().map(inner).collect::<Vec<_>>().join(", "))
            }
            (_, None) => String::new(),
        }
    }

    fn placeholder() -> Self {
        Self { keys: vec![(0.0, T::placeholder())] }
    }
}

/// Records a key whose time is not after that of the key before it.
pub(crate) fn increasing(key: &Section<'_>, before: Option<f64>, at: f64) {
    let Some(before) = before.filter(|before| at <= *before) else { return };
    let Some((kind, _)) = key.key("at").value.quantity() else { return };
    key.complain(
        "at",
        "the times of keys must increase",
        format!("not after the previous key, at {}", quantity_text(before, kind)),
    );
}
