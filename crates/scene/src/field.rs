//! How fields of the scene's structs are read from a section and printed.
//!
//! [`crate::declare`] implements these traits for structs and enums from their declarations.

use crate::files::NoFiles;
use crate::print::Document;
use crate::reader::{Context, Section};
use crate::schema::{Key, Table, Variant};
use crate::source::{Place, Sources};
use crate::tree::Node;
use crate::types::Scene;

/// A value of one key.
pub(crate) trait Value: Sized {
    /// Reads a value and checks it against the key's type and range; records what is wrong.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self>;

    /// The value as TOML text that reads back bit-identically.
    fn text(&self, key: &Key) -> String;

    /// Any value, to continue with after a recorded problem.
    fn placeholder() -> Self;
}

/// A field that stands for one key.
pub(crate) trait Field: Sized {
    /// Reads the key; its default if it is absent.
    fn read(section: &Section<'_>, name: &'static str) -> Self;

    /// Reads the key; `None` if it is absent without a default value, or wrong.
    fn given(section: &Section<'_>, name: &'static str) -> Option<Self>;

    /// Prints the key.
    fn print(&self, out: &mut Document<'_>, name: &'static str);
}

impl<T: Value> Field for T {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        section.value(name)
    }

    fn given(section: &Section<'_>, name: &'static str) -> Option<Self> {
        section.get(name)
    }

    fn print(&self, out: &mut Document<'_>, name: &'static str) {
        out.value(name, self);
    }
}

impl<T: Value> Field for Option<T> {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        section.get(name)
    }

    fn given(section: &Section<'_>, name: &'static str) -> Option<Self> {
        section.get(name).map(Some)
    }

    fn print(&self, out: &mut Document<'_>, name: &'static str) {
        match self {
            Some(value) => out.value(name, value),
            None => out.absent(name),
        }
    }
}

/// How a field's key is written, where its type does not imply that: `field via Format: Type`.
pub(crate) trait Format<T> {
    /// Reads the key; `None` if it is absent without a default, or wrong.
    fn given(section: &Section<'_>, name: &'static str) -> Option<T>;

    /// Prints the key.
    fn print(value: &T, out: &mut Document<'_>, name: &'static str);

    /// A value to continue with if there is none.
    fn placeholder() -> T;
}

/// A field that stands for several keys, or for none.
pub(crate) trait Group<T> {
    /// The keys.
    const KEYS: &'static [Key];

    fn read(section: &Section<'_>) -> T;

    fn print(value: &T, out: &mut Document<'_>);
}

/// A struct whose fields are the keys of a section.
pub(crate) trait Fields: Sized {
    /// The schema of the section.
    const TABLE: &'static Table;

    /// Reads every field, then records unknown keys.
    fn read(section: &Section<'_>) -> Self;

    /// Prints every field.
    fn print(&self, out: &mut Document<'_>);
}

impl<T: Fields> Field for Vec<T> {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        section.sections(name).iter().map(T::read).collect()
    }

    fn given(section: &Section<'_>, name: &'static str) -> Option<Self> {
        section.has(name).then(|| Self::read(section, name))
    }

    fn print(&self, out: &mut Document<'_>, name: &'static str) {
        out.list(name, self);
    }
}

/// An enum whose variants have keys of their own.
pub(crate) trait Variants {
    /// The schema of each variant.
    const VARIANTS: &'static [Variant];
}

/// The value of an absent key, from other parts of the scene.
pub(crate) fn derived<T>(section: &Section<'_>, derive: impl FnOnce(&Section<'_>) -> T) -> T {
    derive(section)
}

/// A section of the scene with every key absent.
pub(crate) fn section_defaults<T: Fields>(name: &str) -> T {
    let sources = Sources::default();
    let context = Context::new(&sources, &NoFiles);
    T::read(&Section::new(&context, Scene::TABLE, Place::new(0, 0..0), None).section(name))
}
