//! The scene format as data: one table per section, one entry per key.
//!
//! An entry states a key's type, range, default, meaning and what it affects. The reader checks
//! values against it, the printer takes its comments from it, `docs/scene.md` and the JSON Schema
//! are generated from it, and [`crate::same_run`] uses it to tell which changes need a new
//! simulation. The entries stand beside the fields of [`crate::types`]; [`crate::declare`] says how
//! to add one.

mod json;
#[cfg(test)]
mod reference;

pub use json::json_schema;

use crate::field::Fields;
use crate::quantities::QuantityKind;
use crate::types::Scene;

/// A section of a scene: a TOML table and its keys.
pub(crate) struct Table {
    /// Name in messages: `[time]`, `[[solids]]`, "an image".
    pub title: &'static str,
    /// Keys that are valid in every variant, by the field that they belong to.
    pub fields: &'static [&'static [Key]],
    /// Name of the key that selects a variant; empty for a table without variants.
    pub variant_key: &'static str,
    /// Additional keys of each variant.
    pub variants: &'static [Variant],
}

/// A variant of a section, e.g. a solid's shape.
pub(crate) struct Variant {
    pub name: &'static str,
    /// Keys, by the field that they belong to.
    pub fields: &'static [&'static [Key]],
}

/// A section without variants, by the keys of each field.
pub(crate) const fn table(title: &'static str, fields: &'static [&'static [Key]]) -> Table {
    Table { title, fields, variant_key: "", variants: &[] }
}

/// A key that the simulation depends on. The declaration of its field names it.
pub(crate) const fn key(value: ValueType, default: Default, doc: &'static str) -> Key {
    Key { name: "", value, default, doc, affects: Affects::Simulation }
}

/// A key that only images depend on.
pub(crate) const fn image_key(value: ValueType, default: Default, doc: &'static str) -> Key {
    Key { affects: Affects::Images, ..key(value, default, doc) }
}

/// One key of a section.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub name: &'static str,
    pub value: ValueType,
    pub default: Default,
    /// One line: the comment in a printed scene and the description in the reference.
    pub doc: &'static str,
    pub affects: Affects,
}

impl Key {
    /// The key with something else that it affects.
    pub(crate) const fn affecting(self, affects: Affects) -> Self {
        Self { affects, ..self }
    }
}

/// What a change of a key's value affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affects {
    /// Frames and measures: a change needs a new simulation.
    Simulation,
    /// Images of existing frames.
    Images,
    /// The encoding of the video.
    Video,
    /// No result.
    Nothing,
}

/// What applies when a key is absent.
#[derive(Clone, Copy)]
pub(crate) enum Default {
    /// An error, with this example of a TOML value.
    Required(&'static str),
    /// An error, unless this other key is given.
    RequiredUnless(&'static str),
    /// This TOML value.
    Value(&'static str),
    /// A value or behavior that only words describe.
    Derived(&'static str),
}

/// The type of a key's value.
#[derive(Clone, Copy)]
pub(crate) enum ValueType {
    Text,
    Boolean,
    /// An integer between two bounds, both included.
    Integer(u64, u64),
    /// A list of two integers.
    IntegerPair(u64, u64),
    /// A number without unit.
    Number(Range),
    /// A number with a unit; bounds are in the kind's customary unit.
    Quantity(&'static QuantityKind, Range),
    /// Three numbers with one unit.
    Vector(&'static QuantityKind),
    /// Two positive numbers with one unit.
    Size(&'static QuantityKind),
    /// A list of two quantities.
    QuantityPair(&'static QuantityKind, Range),
    /// A list of three numbers, not all zero; normalized by the reader.
    Direction,
    /// A list of three numbers, or one number for all three channels.
    Color,
    /// An sRGB color: a list of three numbers from 0 to 1, or `"#aabbcc"`.
    SurfaceColor,
    /// A positive number, or a list of two for u and v.
    Tiling,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The path of a file, e.g. "an image file".
    File(&'static str),
    /// The name of something, e.g. "a solid".
    Name(&'static str),
    /// A nested table.
    Table(&'static Table),
    /// A list of tables.
    List(&'static Table),
    /// A table of tables with names of the user's choice.
    Named(&'static Table),
    /// Any of several types.
    OneOf(&'static [ValueType]),
}

/// The values that a number may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    Any,
    Positive,
    NotNegative,
    /// Both bounds included.
    Closed(f64, f64),
    /// Both bounds excluded.
    Open(f64, f64),
    /// Upper bound included.
    OpenClosed(f64, f64),
}

impl Range {
    /// Whether a value lies in the range; `scale` converts the bounds to the value's unit.
    pub(crate) fn contains(self, value: f64, scale: impl Fn(f64) -> f64) -> bool {
        match self {
            Self::Any => true,
            Self::Positive => value > 0.0,
            Self::NotNegative => value >= 0.0,
            Self::Closed(low, high) => value >= scale(low) && value <= scale(high),
            Self::Open(low, high) => value > scale(low) && value < scale(high),
            Self::OpenClosed(low, high) => value > scale(low) && value <= scale(high),
        }
    }

    /// The range in words; `unit` is empty or starts with a space.
    pub(crate) fn requirement(self, unit: &str) -> String {
        match self {
            Self::Any => "a number".to_owned(),
            Self::Positive => "more than zero".to_owned(),
            Self::NotNegative => "zero or more".to_owned(),
            Self::Closed(low, high) => format!("from {low}{unit} to {high}{unit}"),
            Self::Open(low, high) => format!("more than {low}{unit} and less than {high}{unit}"),
            Self::OpenClosed(low, high) => format!("more than {low}{unit} and at most {high}{unit}"),
        }
    }
}

impl ValueType {
    /// This type, or the alternatives of [`Self::OneOf`].
    pub(crate) fn alternatives(&self) -> &[ValueType] {
        match self {
            Self::OneOf(list) => list,
            one => std::slice::from_ref(one),
        }
    }

    /// The nested table's section, if the value may be one.
    pub(crate) fn table(&self) -> Option<&'static Table> {
        self.alternatives().iter().find_map(|t| match t {
            Self::Table(table) | Self::List(table) | Self::Named(table) => Some(*table),
            _ => None,
        })
    }

    /// The kind and range of a quantity, if the value may be one.
    pub(crate) fn quantity(&self) -> Option<(&'static QuantityKind, Range)> {
        self.alternatives().iter().find_map(|t| match t {
            Self::Quantity(kind, range) | Self::QuantityPair(kind, range) => Some((*kind, *range)),
            Self::Vector(kind) | Self::Size(kind) => Some((*kind, Range::Any)),
            _ => None,
        })
    }

    /// The range of a number without unit, if the value may be one.
    pub(crate) fn number(&self) -> Option<Range> {
        self.alternatives().iter().find_map(|t| match t {
            Self::Number(range) => Some(*range),
            _ => None,
        })
    }

    /// The bounds of an integer, if the value may be one.
    pub(crate) fn integer(&self) -> Option<(u64, u64)> {
        self.alternatives().iter().find_map(|t| match t {
            Self::Integer(low, high) | Self::IntegerPair(low, high) => Some((*low, *high)),
            _ => None,
        })
    }
}

impl Variant {
    /// The keys of the variant.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.fields.iter().copied().flatten()
    }
}

impl Table {
    /// The section with variants.
    pub(crate) const fn selecting(self, variant_key: &'static str, variants: &'static [Variant]) -> Self {
        Self { variant_key, variants, ..self }
    }

    /// The keys that are valid in every variant.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.fields.iter().copied().flatten()
    }

    /// The keys that are valid in a variant; those of all variants when it is not known.
    pub(crate) fn keys_of(&self, variant: Option<&str>) -> impl Iterator<Item = &'static Key> {
        let chosen = self.variants.iter().filter(move |v| variant.is_none_or(|name| v.name == name));
        self.keys().chain(chosen.flat_map(Variant::keys))
    }

    /// The entry of a key.
    ///
    /// # Panics
    ///
    /// If the table has no such key: reader and printer only use keys of the table.
    pub(crate) fn key(&self, name: &str, variant: Option<&str>) -> &'static Key {
        let found = self.keys_of(variant).find(|key| key.name == name);
        found.unwrap_or_else(|| panic!("{} has no entry for `{name}` ({variant:?})", self.title))
    }

    /// The names of the variants that have a key.
    pub(crate) fn variants_with(&self, key: &str) -> Vec<&'static str> {
        let has = |v: &&Variant| v.keys().any(|k| k.name == key);
        self.variants.iter().filter(has).map(|v| v.name).collect()
    }

    /// Whether the table has a header of its own in a scene, rather than being written inline.
    pub(crate) fn has_header(&self) -> bool {
        self.title.starts_with('[')
    }
}

/// Every table of the format, each once, in the order of the scene's keys.
pub(crate) fn all_tables() -> Vec<&'static Table> {
    fn collect(table: &'static Table, found: &mut Vec<&'static Table>) {
        if found.iter().any(|known| std::ptr::eq(*known, table)) {
            return;
        }
        found.push(table);
        table.keys_of(None).filter_map(|key| key.value.table()).for_each(|inner| collect(inner, found));
    }
    let mut found = Vec::new();
    collect(Scene::TABLE, &mut found);
    found
}

/// Titles of the tables, other than `here`, that have a key.
pub(crate) fn tables_with(key: &str, here: &Table) -> Vec<&'static str> {
    all_tables()
        .into_iter()
        .filter(|t| !std::ptr::eq::<Table>(*t, here) && t.has_header())
        .filter(|t| t.keys_of(None).any(|k| k.name == key))
        .map(|t| t.title)
        .collect()
}
