//! Typed reading of one table: asks for keys, checks them, collects every problem.
//!
//! Getters return `None` both when a key is absent and when it is wrong (which is then on record), so callers can go on
//! with a default and find the next problem. A scene with problems on record is never returned.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;

use crate::diagnostics::Diagnostic;
use crate::files::Files;
use crate::schema::{TableSchema, tables_with};
use crate::source::{Place, Sources};
use crate::suggest::nearest;
use crate::tree::{Entry, Node, Table, Value, shortened};
use crate::types::words::Word;
use crate::units::is_sensible;

/// Unknown keys of one table that are looked at; who has more has no scene.
const MOST_UNKNOWN: usize = 200;

/// What is shared while one scene is read.
pub(crate) struct Context<'a> {
    pub sources: &'a Sources,
    pub files: &'a dyn Files,
    pub errors: RefCell<Vec<Diagnostic>>,
    pub warnings: RefCell<Vec<Diagnostic>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sources: &'a Sources, files: &'a dyn Files) -> Self {
        Self { sources, files, errors: RefCell::default(), warnings: RefCell::default() }
    }

    pub(crate) fn error(&self, diagnostic: Diagnostic) {
        self.errors.borrow_mut().push(diagnostic);
    }

    pub(crate) fn warn(&self, diagnostic: Diagnostic) {
        self.warnings.borrow_mut().push(diagnostic);
    }
}

/// One table being read; absent tables read as empty ones.
pub(crate) struct Section<'a> {
    pub cx: &'a Context<'a>,
    pub schema: &'static TableSchema,
    /// Where the table is announced: its header, or its braces.
    pub place: Place,
    table: Option<&'a Table>,
    variant: Cell<Option<&'static str>>,
    /// It was given, but not as a table: what it lacks need not be said too.
    broken: bool,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        cx: &'a Context<'a>,
        schema: &'static TableSchema,
        place: Place,
        table: Option<&'a Table>,
    ) -> Self {
        Self { cx, schema, place, table, variant: Cell::new(None), broken: false }
    }

    /// Whether the scene has this table at all.
    pub(crate) fn present(&self) -> bool {
        self.table.is_some()
    }

    pub(crate) fn set_variant(&self, variant: &'static str) {
        self.variant.set(Some(variant));
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(self.schema.valid(None).any(|k| k == key), "{key} is not listed for {}", self.schema.title);
        self.table?.get(key)
    }

    pub(crate) fn node(&self, key: &str) -> Option<&'a Node> {
        self.entry(key).map(|e| &e.node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Where a key's value is; the table's place if it is absent.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.node(key).map_or_else(|| self.place.clone(), |n| n.place.clone())
    }

    /// Records a problem with a key's value.
    pub(crate) fn complain(&self, key: &str, message: impl Into<String>, label: impl Into<String>) {
        self.cx.error(Diagnostic::new(&self.place_of(key), message).label(label));
    }

    /// Records that a key must be given, unless it is, if only misspelt.
    pub(crate) fn require(&self, key: &str, example: &str) {
        if !self.has(key) && !self.misspelt(key) {
            self.missing(&format!("`{key}`"), &format!("{key} = {example}"));
        }
    }

    /// Whether an unknown key of the table will be reported with `key` as its correction.
    fn misspelt(&self, key: &str) -> bool {
        let entries = self.table.map_or(&[][..], |t| &t.entries);
        entries
            .iter()
            .take(MOST_UNKNOWN)
            .filter(|e| !self.schema.valid(None).any(|k| k == e.key))
            .any(|e| nearest(&e.key, self.schema.valid(self.variant.get())) == Some(key))
    }

    /// Records that something must be given.
    pub(crate) fn missing(&self, what: &str, example: &str) {
        if self.broken {
            return;
        }
        let whose = match self.variant.get() {
            Some(variant) => format!("{} = \"{variant}\"", self.schema.variant_key),
            None => self.schema.title.to_owned(),
        };
        self.cx.error(
            Diagnostic::new(&self.place, format!("{whose} needs {what}"))
                .label("missing here")
                .help(format!("add {example}")),
        );
    }

    /// Of keys that exclude one another, the one to use: all but one given is a problem, except that one given by `--set`
    /// replaces those in the file.
    pub(crate) fn one_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        let given: Vec<(&'static str, &Entry)> = keys.iter().filter_map(|k| self.entry(k).map(|e| (*k, e))).collect();
        let latest = given.iter().map(|(_, e)| e.node.place.source).max()?;
        let candidates: Vec<_> = given.iter().filter(|(_, e)| latest == 0 || e.node.place.source == latest).collect();
        let (first, entry) = candidates.iter().min_by_key(|(_, e)| &e.key_place)?;
        let last = candidates.iter().max_by_key(|(_, e)| &e.key_place);
        if let Some((second, other)) = last.filter(|(key, _)| key != first) {
            self.cx.error(
                Diagnostic::new(&other.key_place, format!("`{first}` and `{second}` exclude each other"))
                    .label("and this")
                    .other(&entry.key_place, "both this")
                    .help("keep one of them"),
            );
        }
        Some(first)
    }

    /// A table inside this one.
    pub(crate) fn section(&self, key: &str, schema: &'static TableSchema) -> Section<'a> {
        let absent = || Section::new(self.cx, schema, self.place.clone(), None);
        let Some(entry) = self.entry(key) else { return absent() };
        match &entry.node.value {
            Value::Table(table) => Section::new(self.cx, schema, entry.node.place.clone(), Some(table)),
            other => {
                let help = match other {
                    Value::List(_) if schema.title.starts_with('[') => {
                        format!("there is one {key}: write {} with single brackets", schema.title)
                    }
                    _ if schema.title.starts_with('[') => format!("write {} and its keys below", schema.title),
                    _ => format!("write {key} = {{ {} = … }}", schema.keys.join(" = …, ")),
                };
                self.cx.error(
                    Diagnostic::new(
                        &entry.node.place,
                        format!("`{key}` must be a table, but this is {}", other.kind()),
                    )
                    .label("expected a table")
                    .help(help),
                );
                Section { broken: true, ..absent() }
            }
        }
    }

    /// The tables of a list; empty when absent.
    pub(crate) fn sections(&self, key: &str, schema: &'static TableSchema) -> Vec<Section<'a>> {
        let Some(entry) = self.entry(key) else { return Vec::new() };
        let Value::List(list) = &entry.node.value else {
            let help = if schema.title.starts_with("[[") {
                format!("there can be many: write {} with double brackets", schema.title)
            } else {
                format!("write {key} = [{{ … }}, {{ … }}]")
            };
            self.cx.error(
                Diagnostic::new(
                    &entry.node.place,
                    format!("`{key}` must be a list of tables, but this is {}", entry.node.value.kind()),
                )
                .label("expected a list")
                .help(help),
            );
            return Vec::new();
        };
        let mut sections = Vec::new();
        for node in list {
            match &node.value {
                Value::Table(table) => sections.push(Section::new(self.cx, schema, node.place.clone(), Some(table))),
                other => self.cx.error(
                    Diagnostic::new(
                        &node.place,
                        format!("each of `{key}` must be a table, but this is {}", other.kind()),
                    )
                    .label("expected { … }"),
                ),
            }
        }
        sections
    }

    /// A plain number, finite.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let node = self.node(key)?;
        self.number_of(key, node)
    }

    fn number_of(&self, key: &str, node: &Node) -> Option<f64> {
        let Some(value) = node.value.number() else {
            let help = match &node.value {
                Value::Text(text) if !text.trim().is_empty() => {
                    Some(format!("`{key}` has no unit: write it without quotes"))
                }
                _ => None,
            };
            self.cx.error(
                Diagnostic::new(
                    &node.place,
                    format!("`{key}` must be a plain number, but this is {}", node.value.kind()),
                )
                .label("expected a number")
                .maybe_help(help),
            );
            return None;
        };
        if is_sensible(value) {
            return Some(value);
        }
        self.cx.error(
            Diagnostic::new(&node.place, format!("`{key}` must be a finite number of sensible size"))
                .label("expected 0, or a magnitude from 1e-40 to 1e15"),
        );
        None
    }

    /// A plain number inside a range that `requirement` describes.
    pub(crate) fn number_where(&self, key: &str, requirement: &str, ok: impl Fn(f64) -> bool) -> Option<f64> {
        let value = self.number(key)?;
        if ok(value) {
            return Some(value);
        }
        self.complain(
            key,
            format!("`{key}` must be {requirement}, but it is {value}"),
            format!("expected {requirement}"),
        );
        None
    }

    /// A whole number in a range.
    pub(crate) fn count(&self, key: &str, range: &RangeInclusive<u64>) -> Option<u64> {
        self.count_of(key, self.node(key)?, range)
    }

    fn count_of(&self, key: &str, node: &Node, range: &RangeInclusive<u64>) -> Option<u64> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let problem = match &node.value {
            Value::Integer { digits, radix } => {
                let digits = digits.strip_prefix('+').unwrap_or(digits);
                match u64::from_str_radix(digits, *radix) {
                    Ok(n) if range.contains(&n) => return Some(n),
                    _ => format!("it is {}", shortened(self.cx.sources.text(&node.place))),
                }
            }
            Value::Float(_) => format!("it is {}", shortened(self.cx.sources.text(&node.place))),
            other => format!("this is {}", other.kind()),
        };
        self.cx.error(
            Diagnostic::new(&node.place, format!("`{key}` must be {wanted}, but {problem}"))
                .label("expected a whole number"),
        );
        None
    }

    /// Two whole numbers.
    pub(crate) fn count_pair(&self, key: &str, range: &RangeInclusive<u64>) -> Option<[u64; 2]> {
        let node = self.node(key)?;
        match &node.value {
            Value::List(list) if list.len() == 2 => {
                let [a, b] = [0, 1].map(|i| self.count_of(key, &list[i], range));
                Some([a?, b?])
            }
            _ => {
                self.complain(key, format!("`{key}` must be two whole numbers"), "expected such as [640, 360]");
                None
            }
        }
    }

    /// Three plain numbers.
    fn triple(&self, key: &str, example: &str) -> Option<[f64; 3]> {
        let node = self.node(key)?;
        if let Value::List(list) = &node.value
            && list.len() == 3
        {
            let [x, y, z] = [0, 1, 2].map(|i| self.number_of(key, &list[i]));
            return Some([x?, y?, z?]);
        }
        let found = match &node.value {
            Value::List(list) => format!("a list of {}", list.len()),
            other => other.kind().to_owned(),
        };
        let mut diagnostic =
            Diagnostic::new(&node.place, format!("`{key}` must be three plain numbers, but this is {found}"))
                .label(format!("expected such as {example}"));
        if matches!(&node.value, Value::Text(t) if t.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))) {
            diagnostic = diagnostic.help("directions and factors have no unit");
        }
        self.cx.error(diagnostic);
        None
    }

    /// A direction, made unit length; one that already is, to rounding, stays as it is.
    pub(crate) fn direction(&self, key: &str) -> Option<glam::DVec3> {
        let v = glam::DVec3::from_array(self.triple(key, "[0, 1, 0]")?);
        let largest = v.abs().max_element();
        if largest == 0.0 {
            self.complain(key, format!("`{key}` must point somewhere"), "all three numbers are zero");
            return None;
        }
        const ROUNDING: f64 = 4e-15;
        if (v.length_squared() - 1.0).abs() <= ROUNDING {
            return Some(v);
        }
        let unit = (v / largest).normalize();
        Some(glam::DVec3::from_array(unit.to_array().map(|c| if is_sensible(c) { c } else { 0.0 })))
    }

    /// A color: three numbers, none negative, or one for all three.
    pub(crate) fn color(&self, key: &str) -> Option<[f64; 3]> {
        let color = match self.node(key)?.value {
            Value::Integer { .. } | Value::Float(_) => [self.number(key)?; 3],
            _ => self.triple(key, "[1.0, 0.9, 0.8]")?,
        };
        if color.iter().any(|c| *c < 0.0) {
            self.complain(key, format!("`{key}` must not be negative"), "expected 0 or more in each channel");
            return None;
        }
        Some(color)
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        let node = self.node(key)?;
        if let Value::Bool(value) = node.value {
            return Some(value);
        }
        let help = match &node.value {
            Value::Text(t) if t == "true" || t == "false" => Some("write it without quotes".to_owned()),
            _ => None,
        };
        self.cx.error(
            Diagnostic::new(&node.place, format!("`{key}` must be true or false, but this is {}", node.value.kind()))
                .label("expected true or false")
                .maybe_help(help),
        );
        None
    }

    /// Text. From `--set`, whose quotes the shell eats, a bare number or word counts as text too.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let node = self.node(key)?;
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer { .. } | Value::Float(_) | Value::Bool(_) if node.place.source > 0 => {
                Some(self.cx.sources.text(&node.place).to_owned())
            }
            other => {
                self.complain(
                    key,
                    format!("`{key}` must be text in quotes, but this is {}", other.kind()),
                    "expected \"…\"",
                );
                None
            }
        }
    }

    /// One value of an enum.
    pub(crate) fn word<T: Word>(&self, key: &str) -> Option<T> {
        let text = self.text(key)?;
        let found = T::from_word(&text);
        if found.is_none() {
            self.unknown_word(key, &text, &format!("`{key}`"), T::NAMES.iter().copied(), "");
        }
        found
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, choices: &[(&'static str, T)]) -> Option<(&'static str, T)> {
        let text = self.text(key)?;
        if let Some(found) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*found);
        }
        self.unknown_word(key, &text, &format!("`{key}`"), choices.iter().map(|(name, _)| *name), "");
        None
    }

    /// Records that a word is not among those known; `many` says where to look when there are too many to list.
    pub(crate) fn unknown_word<'w>(
        &self,
        key: &str,
        word: &str,
        what: &str,
        known: impl Iterator<Item = &'w str>,
        many: &str,
    ) {
        let known: Vec<&str> = known.collect();
        let near = nearest(word, known.iter().copied()).map(|n| format!("did you mean \"{}\"?", shortened(n)));
        let few = (1..=8).contains(&known.len()).then(|| {
            let list: Vec<String> = known.iter().map(|k| format!("\"{}\"", shortened(k))).collect();
            format!("known: {}", list.join(", "))
        });
        let help = match (near, few) {
            (Some(near), Some(few)) if known.len() > 1 => Some(format!("{near} {few}")),
            (Some(near), _) => Some(near),
            (None, Some(few)) => Some(few),
            (None, None) if many.is_empty() => None,
            (None, None) => Some(many.to_owned()),
        };
        self.cx.error(
            Diagnostic::new(&self.place_of(key), format!("{what} cannot be \"{}\"", shortened(word)))
                .label("not known")
                .maybe_help(help),
        );
    }

    /// Whether a key's text names a file rather than a built-in: it has an extension or a folder.
    pub(crate) fn names_file(&self, key: &str) -> bool {
        matches!(self.node(key).map(|node| &node.value), Some(Value::Text(text)) if text.contains(['.', '/', '\\']))
    }

    /// A file named by a key: its absolute path, checked to be there.
    pub(crate) fn file(&self, key: &str) -> Option<std::path::PathBuf> {
        let name = self.text(key)?;
        if name.trim().is_empty() || name.contains('\0') {
            self.complain(key, format!("`{key}` must be the name of a file"), "empty, or not a name");
            return None;
        }
        let path = self.cx.files.resolve(&name);
        let Some(problem) = self.cx.files.problem(&path) else { return Some(path) };
        self.cx.error(
            Diagnostic::new(&self.place_of(key), format!("`{key}`: {problem}"))
                .label("looked for it relative to the scene file")
                .help(format!("the full path is {}", shortened(&path.to_string_lossy()))),
        );
        None
    }

    /// Records every key that the table does not have.
    pub(crate) fn finish(&self) {
        let Some(table) = self.table else { return };
        let variant = self.variant.get();
        let unknown = |entry: &&Entry| !self.schema.valid(variant).any(|k| k == entry.key);
        for entry in table.entries.iter().filter(unknown).take(MOST_UNKNOWN) {
            self.cx.error(self.unknown_key(entry, variant));
        }
    }

    fn unknown_key(&self, entry: &Entry, variant: Option<&str>) -> Diagnostic {
        let key = shortened(&entry.key);
        let whose = match variant {
            Some(v) => format!("{} of {} \"{v}\"", self.schema.title, self.schema.variant_key),
            None => self.schema.title.to_owned(),
        };
        let unknown = Diagnostic::new(&entry.key_place, format!("{whose} has no key `{key}`"));
        let variants = self.schema.variants_with(&entry.key);
        if !variants.is_empty() {
            let which = variants.iter().map(|v| format!("\"{v}\"")).collect::<Vec<_>>().join(" or ");
            return unknown.label(format!("belongs to {} = {which}", self.schema.variant_key));
        }
        if let Some(near) = nearest(&entry.key, self.schema.valid(variant)) {
            return unknown.label("unknown key").help(format!("did you mean `{near}`?"));
        }
        let elsewhere = tables_with(&entry.key, self.schema);
        if !elsewhere.is_empty() && elsewhere.len() <= 4 {
            return unknown.label(format!("belongs in {}", elsewhere.join(" or ")));
        }
        let mut keys: Vec<&str> = Vec::new();
        for key in self.schema.valid(variant) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        unknown.label("unknown key").help(format!("its keys are {}", keys.join(", ")))
    }
}
