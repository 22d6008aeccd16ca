//! Typed reading of one table: looks up keys, checks them, collects every problem.
//!
//! Types, ranges and defaults come from the table of the section in [`crate::schema`]. A getter
//! returns `None` both when a key is absent and when it is wrong (which is then recorded), so that
//! callers can continue with a placeholder and find the next problem. A scene with recorded
//! problems is never returned.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use crate::diagnostics::Diagnostic;
use crate::field::Value as FieldValue;
use crate::files::Files;
use crate::resolve::Scope;
use crate::schema::{Default, Key, Table as Schema, tables_with};
use crate::source::{Place, Sources};
use crate::suggest::nearest;
use crate::tree::{Entry, Node, Table, Value, parse_value, shortened};
use crate::types::words::Word;

/// Maximum number of unknown keys of one table that are examined.
const MOST_UNKNOWN: usize = 200;

/// State shared while one scene is read.
pub(crate) struct Context<'a> {
    pub sources: &'a Sources,
    pub files: &'a dyn Files,
    /// What has been read and later sections refer to.
    pub scope: Scope,
    pub errors: RefCell<Vec<Diagnostic>>,
    pub warnings: RefCell<Vec<Diagnostic>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sources: &'a Sources, files: &'a dyn Files) -> Self {
        Self { sources, files, scope: Scope::default(), errors: RefCell::default(), warnings: RefCell::default() }
    }

    pub(crate) fn error(&self, diagnostic: Diagnostic) {
        self.errors.borrow_mut().push(diagnostic);
    }

    /// Where errors are recorded, for checks that leave out the consequences of one.
    pub(crate) fn error_places(&self) -> BTreeSet<Place> {
        self.errors.borrow().iter().map(|error| error.place.clone()).collect()
    }

    pub(crate) fn warn(&self, diagnostic: Diagnostic) {
        self.warnings.borrow_mut().push(diagnostic);
    }
}

/// One table being read; absent tables read as empty ones.
pub(crate) struct Section<'a> {
    pub cx: &'a Context<'a>,
    pub schema: &'static Schema,
    /// The table's header, or its braces.
    pub place: Place,
    /// Position in a list of tables.
    pub index: usize,
    /// Name in a table of tables.
    pub name: &'a str,
    table: Option<&'a Table>,
    variant: Cell<Option<&'static str>>,
    /// The value is not a table; keys that it lacks are not reported.
    broken: bool,
}

impl<'a> Section<'a> {
    pub(crate) fn new(cx: &'a Context<'a>, schema: &'static Schema, place: Place, table: Option<&'a Table>) -> Self {
        Self { cx, schema, place, index: 0, name: "", table, variant: Cell::new(None), broken: false }
    }

    /// Whether the scene has this table at all.
    pub(crate) fn present(&self) -> bool {
        self.table.is_some()
    }

    /// The schema's entry of a key.
    pub(crate) fn key(&self, name: &str) -> &'static Key {
        self.schema.key(name, self.variant.get())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(
            self.schema.keys_of(None).any(|k| k.name == key),
            "{key} is not listed for {}",
            self.schema.title
        );
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

    /// The value of a key, or its default; `None` if it is absent without a default value, or
    /// wrong.
    ///
    /// Records a missing key that is required, and anything wrong with the value.
    pub(crate) fn get<T: FieldValue>(&self, name: &str) -> Option<T> {
        let key = self.key(name);
        match (self.node(name), key.default) {
            (Some(node), _) => T::read(self, key, node),
            (None, Default::Value(_)) => self.default_value(key),
            (None, Default::Required(example)) => {
                self.require(name, example);
                None
            }
            (None, Default::Derived(_) | Default::RequiredUnless(_)) => None,
        }
    }

    /// The value of a key, its default, or, after a recorded problem, a placeholder.
    pub(crate) fn value<T: FieldValue>(&self, name: &str) -> T {
        self.get(name).or_else(|| self.default_value(self.key(name))).unwrap_or_else(T::placeholder)
    }

    /// The value of a key that is given and right, without recording problems a second time.
    pub(crate) fn given<T: FieldValue>(&self, name: &str) -> Option<T> {
        let recorded = self.cx.errors.borrow().len();
        let value = self.node(name).and_then(|node| T::read(self, self.key(name), node));
        self.cx.errors.borrow_mut().truncate(recorded);
        value
    }

    /// The default value in the schema.
    fn default_value<T: FieldValue>(&self, key: &'static Key) -> Option<T> {
        let Default::Value(text) = key.default else { return None };
        T::read(self, key, &parse_value(text, usize::MAX, 0)?)
    }

    /// Reads the key that selects the section's variant, and selects it.
    pub(crate) fn select<T: Word + FieldValue>(&self, name: &str) -> Option<T> {
        let kind: T = self.get(name)?;
        self.variant.set(Some(kind.word()));
        Some(kind)
    }

    /// Records a missing key, unless it is present but misspelled.
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
            .filter(|e| !self.schema.keys_of(None).any(|k| k.name == e.key))
            .any(|e| nearest(&e.key, self.names()) == Some(key))
    }

    /// Names of the keys that are valid here.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.schema.keys_of(self.variant.get()).map(|key| key.name)
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

    /// Of keys that exclude one another, the one to use: two given are a problem, except that one
    /// given by `--set` replaces those in the file.
    pub(crate) fn one_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        let given: Vec<(&'static str, &Entry)> = keys.iter().filter_map(|k| self.entry(k).map(|e| (*k, e))).collect();
        let latest = given.iter().map(|(_, e)| e.node.place.source).max()?;
        let candidates: Vec<_> = given.iter().filter(|(_, e)| latest == 0 || e.node.place.source == latest).collect();
        let (first, entry) = candidates.iter().min_by_key(|(_, e)| &e.key_place)?;
        let last = candidates.iter().max_by_key(|(_, e)| &e.key_place);
        if let Some((second, other)) = last.filter(|(key, _)| key != first) {
            self.cx.error(
                Diagnostic::new(&other.key_place, format!("`{first}` and `{second}` exclude each other"))
                    .label("second key")
                    .other(&entry.key_place, "first key")
                    .help("keep one of them"),
            );
        }
        Some(first)
    }

    /// The schema of the table that a key's value may be.
    ///
    /// # Panics
    ///
    /// If the schema says that the value is never a table.
    fn inner_schema(&self, key: &str) -> &'static Schema {
        self.key(key).value.table().unwrap_or_else(|| panic!("`{key}` of {} is no table", self.schema.title))
    }

    /// A table inside this one; reads as empty when absent.
    pub(crate) fn section(&self, key: &str) -> Section<'a> {
        let schema = self.inner_schema(key);
        let absent = || Section::new(self.cx, schema, self.place.clone(), None);
        let Some(entry) = self.entry(key) else { return absent() };
        match &entry.node.value {
            Value::Table(table) => Section::new(self.cx, schema, entry.node.place.clone(), Some(table)),
            other => {
                let help = match other {
                    Value::List(_) if schema.has_header() => {
                        format!("there is one {key}: write {} with single brackets", schema.title)
                    }
                    _ if schema.has_header() => format!("write {} and its keys below", schema.title),
                    _ => {
                        let names: Vec<&str> = schema.keys().map(|key| key.name).collect();
                        format!("write {key} = {{ {} = … }}", names.join(" = …, "))
                    }
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
    pub(crate) fn sections(&self, key: &str) -> Vec<Section<'a>> {
        let schema = self.inner_schema(key);
        let Some(entry) = self.entry(key) else { return Vec::new() };
        let Value::List(list) = &entry.node.value else {
            let help = if schema.has_header() {
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
                Value::Table(table) => {
                    let section = Section::new(self.cx, schema, node.place.clone(), Some(table));
                    sections.push(Section { index: sections.len(), ..section });
                }
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

    /// Records that a word is not among those known; `many` says where to find them when there are
    /// too many to list.
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
        let list = (1..=12).contains(&known.len()).then(|| {
            let list: Vec<String> = known.iter().map(|k| format!("\"{}\"", shortened(k))).collect();
            format!("expected {}", alternatives(&list))
        });
        let help = match (near, list) {
            (Some(near), Some(list)) if known.len() > 1 => Some(format!("{near} {list}")),
            (Some(near), _) => Some(near),
            (None, Some(list)) => Some(list),
            (None, None) if many.is_empty() => None,
            (None, None) => Some(many.to_owned()),
        };
        self.cx.error(
            Diagnostic::new(&self.place_of(key), format!("{what} cannot be \"{}\"", shortened(word)))
                .label("unknown name")
                .maybe_help(help),
        );
    }

    /// Records every key that the table does not have.
    pub(crate) fn finish(&self) {
        let Some(table) = self.table else { return };
        let unknown = |entry: &&Entry| !self.names().any(|name| name == entry.key);
        for entry in table.entries.iter().filter(unknown).take(MOST_UNKNOWN) {
            self.cx.error(self.unknown_key(entry));
        }
    }

    fn unknown_key(&self, entry: &Entry) -> Diagnostic {
        let key = shortened(&entry.key);
        let whose = match self.variant.get() {
            Some(v) => format!("{} of {} \"{v}\"", self.schema.title, self.schema.variant_key),
            None => self.schema.title.to_owned(),
        };
        let unknown = Diagnostic::new(&entry.key_place, format!("{whose} has no key `{key}`"));
        let variants = self.schema.variants_with(&entry.key);
        if !variants.is_empty() {
            let which = variants.iter().map(|v| format!("\"{v}\"")).collect::<Vec<_>>().join(" or ");
            return unknown.label(format!("belongs to {} = {which}", self.schema.variant_key));
        }
        if let Some(near) = nearest(&entry.key, self.names()) {
            return unknown.label("unknown key").help(format!("did you mean `{near}`?"));
        }
        let elsewhere = tables_with(&entry.key, self.schema);
        if !elsewhere.is_empty() && elsewhere.len() <= 4 {
            return unknown.label(format!("belongs in {}", elsewhere.join(" or ")));
        }
        let mut keys: Vec<&str> = Vec::new();
        for key in self.names() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        unknown.label("unknown key").help(format!("its keys are {}", keys.join(", ")))
    }
}

/// "a, b or c".
fn alternatives(list: &[String]) -> String {
    match list {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => list.join(""),
    }
}
