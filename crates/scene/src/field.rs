//! How values and structs are read from a section and printed: the link between structs and schema.

use crate::files::NoFiles;
use crate::print::Document;
use crate::reader::{Context, Section};
use crate::schema::{Key, SCENE};
use crate::source::{Place, Sources};
use crate::tree::Node;

/// A value of one key.
pub(crate) trait Value: Sized {
    /// Reads a value and checks it against the key's type and range; records what is wrong.
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self>;

    /// The value as TOML text that reads back bit-identically.
    fn text(&self, key: &Key) -> String;

    /// Any value, to continue with after a recorded problem.
    fn placeholder() -> Self;
}

/// A field of a struct that stands for a section.
pub(crate) trait Field: Sized {
    /// Reads the field's key.
    fn read(section: &Section<'_>, name: &'static str) -> Self;

    /// Prints the field's key.
    fn print(&self, out: &mut Document, name: &'static str);
}

impl<T: Value> Field for Option<T> {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        section.get(name)
    }

    fn print(&self, out: &mut Document, name: &'static str) {
        match self {
            Some(value) => out.value(name, value),
            None => out.absent(name),
        }
    }
}

/// Implements [`Field`] for types that implement [`Value`].
macro_rules! value_fields {
    ($($type:ty),+ $(,)?) => { $(
        impl $crate::field::Field for $type {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                section.value(name)
            }

            fn print(&self, out: &mut $crate::print::Document, name: &'static str) {
                out.value(name, self);
            }
        }
    )+ };
}

/// A struct whose fields are the keys of a section.
pub(crate) trait Fields: Sized {
    /// Reads every field, then records unknown keys.
    fn read(section: &Section<'_>) -> Self;

    /// Prints every field.
    fn print(&self, out: &mut Document);
}

impl<T: Fields> Field for Vec<T> {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        section.sections(name).iter().map(T::read).collect()
    }

    fn print(&self, out: &mut Document, name: &'static str) {
        out.list(name, self);
    }
}

/// A section of the scene with every key absent.
pub(crate) fn section_defaults<T: Fields>(name: &str) -> T {
    let sources = Sources::default();
    let context = Context::new(&sources, &NoFiles);
    T::read(&Section::new(&context, &SCENE, Place::new(0, 0..0), None).section(name))
}

/// Defines a struct whose fields are the keys of a section, with the same names. A field that has
/// another name than its key is written `field as "key"`.
macro_rules! fields {
    ($(#[$meta:meta])* pub struct $struct:ident {
        $($(#[$doc:meta])* pub $field:ident $(as $key:literal)? : $type:ty,)+
    }) => {
        $(#[$meta])*
        pub struct $struct { $($(#[$doc])* pub $field: $type,)+ }

        impl $crate::field::Fields for $struct {
            fn read(section: &$crate::reader::Section<'_>) -> Self {
                let value = Self {
                    $($field: $crate::field::Field::read(section, $crate::field::key_name!($field $($key)?)),)+
                };
                section.finish();
                value
            }

            fn print(&self, out: &mut $crate::print::Document) {
                $($crate::field::Field::print(&self.$field, out, $crate::field::key_name!($field $($key)?));)+
            }
        }

        impl $crate::field::Field for $struct {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                $crate::field::Fields::read(&section.section(name))
            }

            fn print(&self, out: &mut $crate::print::Document, name: &'static str) {
                out.nested(name, self);
            }
        }

        impl $crate::field::Field for Option<$struct> {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                let inner = section.section(name);
                inner.present().then(|| $crate::field::Fields::read(&inner))
            }

            fn print(&self, out: &mut $crate::print::Document, name: &'static str) {
                match self {
                    Some(value) => out.nested(name, value),
                    None => out.absent(name),
                }
            }
        }
    };
}

/// The key of a field.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {fields, key_name, value_fields};
