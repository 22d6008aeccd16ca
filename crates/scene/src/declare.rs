//! Declarations of the scene format: `section!` for a table, `variants!` for a choice of tables.
//!
//! A key is declared once, as a field with its schema entry:
//!
//! ```text
//! section! {
//!     /// `[render]`.
//!     #[derive(Clone, Copy, Debug, PartialEq)]
//!     pub struct Render: "[render]" {
//!         /// Maximum number of samples per pixel.
//!         pub samples: u32 = image_key(Integer(1, 1_000_000), Value("64"), "maximum number of samples per pixel"),
//!     }
//! }
//! ```
//!
//! The reader with its checks and hints, the printer, `docs/scene.md`, the JSON Schema and the
//! identity of a run follow from it. The parts of a field are
//!
//! ```text
//! pub FIELD [as "KEY"] [via FORMAT]: TYPE [= ENTRY [=> DERIVE]],
//! ```
//!
//! - `as "KEY"`: the key, if it is not the name of the field;
//! - `via FORMAT`: a [`Format`](crate::field::Format) for a value that is not written as its type
//!   implies, such as the index of a solid, which is written as the solid's name;
//! - `ENTRY`: [`key`](crate::schema::key) or [`image_key`](crate::schema::image_key); a field
//!   without one is a [`Group`](crate::field::Group) of keys, such as `volume`, `area` or `radius`;
//! - `DERIVE`: the value of an absent key, computed from the section and the fields above it.
//!
//! `pub struct Solid: "[[solids]]", "shape" selects SolidShape` is a section with a choice of
//! further keys: those of the variant of `SolidShape` that its key `shape` names.
//!
//! `key "NAME" = ENTRY;` before the fields declares a key that no field holds. `then FUNCTION`
//! after the fields checks or completes what was read.

/// The key of a field.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// The schema entries of a field.
macro_rules! field_keys {
    ([$name:expr] [$($format:ty)?] $type:ty, $entry:expr $(, $derive:expr)?) => {
        &[$crate::schema::Key { name: $name, ..$entry }]
    };
    ([$name:expr] [] $type:ty) => {
        <$type as $crate::field::Group<$type>>::KEYS
    };
    ([$name:expr] [$format:ty] $type:ty) => {
        <$format as $crate::field::Group<$type>>::KEYS
    };
}

/// Reads a field.
macro_rules! read_field {
    ($section:ident [$name:expr] [] $type:ty, $entry:expr) => {
        <$type as $crate::field::Field>::read($section, $name)
    };
    ($section:ident [$name:expr] [] $type:ty, $entry:expr, $derive:expr) => {
        <$type as $crate::field::Field>::given($section, $name)
            .unwrap_or_else(|| $crate::field::derived($section, $derive))
    };
    ($section:ident [$name:expr] [$format:ty] $type:ty, $entry:expr) => {
        <$format as $crate::field::Format<$type>>::given($section, $name)
            .unwrap_or_else(<$format as $crate::field::Format<$type>>::placeholder)
    };
    ($section:ident [$name:expr] [$format:ty] $type:ty, $entry:expr, $derive:expr) => {
        <$format as $crate::field::Format<$type>>::given($section, $name)
            .unwrap_or_else(|| $crate::field::derived($section, $derive))
    };
    ($section:ident [$name:expr] [] $type:ty) => {
        <$type as $crate::field::Group<$type>>::read($section)
    };
    ($section:ident [$name:expr] [$format:ty] $type:ty) => {
        <$format as $crate::field::Group<$type>>::read($section)
    };
}

/// Prints a field.
macro_rules! print_field {
    ($value:expr, $out:ident [$name:expr] [] $type:ty, $entry:expr $(, $derive:expr)?) => {
        <$type as $crate::field::Field>::print($value, $out, $name)
    };
    ($value:expr, $out:ident [$name:expr] [$format:ty] $type:ty, $entry:expr $(, $derive:expr)?) => {
        <$format as $crate::field::Format<$type>>::print($value, $out, $name)
    };
    ($value:expr, $out:ident [$name:expr] [] $type:ty) => {
        <$type as $crate::field::Group<$type>>::print($value, $out)
    };
    ($value:expr, $out:ident [$name:expr] [$format:ty] $type:ty) => {
        <$format as $crate::field::Group<$type>>::print($value, $out)
    };
}

/// Declares a struct whose fields are the keys of a section.
macro_rules! section {
    ($(#[$meta:meta])* $vis:vis struct $struct:ident : $title:literal $(, $selector:literal selects $variants:ty)? {
        $(key $extra:literal = $extra_entry:expr;)*
        $($(#[$doc:meta])* pub $field:ident $(as $key:literal)? $(via $format:ty)? : $type:ty
            $(= $entry:expr $(=> $derive:expr)?)?,)+
    } $(then $then:path)?) => {
        $(#[$meta])*
        $vis struct $struct { $($(#[$doc])* pub $field: $type,)+ }

        $crate::declare::section_of! {
            $struct : $title $(, $selector selects $variants)? {
                $(key $extra = $extra_entry;)*
                $(pub $field $(as $key)? $(via $format)? : $type $(= $entry $(=> $derive)?)?,)+
            } $(then $then)?
        }
    };
}

/// Implements the section of an existing struct. A key that no field holds is printed if it has a
/// function from the scene to its value.
macro_rules! section_of {
    ($struct:ident : $title:literal $(, $selector:literal selects $variants:ty)? {
        $(key $extra:literal = $extra_entry:expr $(=> $print_extra:expr)?;)*
        $(pub $field:ident $(as $key:literal)? $(via $format:ty)? : $type:ty $(= $entry:expr $(=> $derive:expr)?)?,)+
    } $(then $then:path)?) => {
        impl $crate::field::Fields for $struct {
            const TABLE: &'static $crate::schema::Table = {
                static TABLE: $crate::schema::Table = $crate::schema::table($title, &[
                    $(&[$crate::schema::Key { name: $extra, ..$extra_entry }],)*
                    $($crate::declare::field_keys!(
                        [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type $(, $entry $(, $derive)?)?
                    ),)+
                ])$(.selecting($selector, <$variants as $crate::field::Variants>::VARIANTS))?;
                &TABLE
            };

            fn read(section: &$crate::reader::Section<'_>) -> Self {
                $(let $field = $crate::declare::read_field!(
                    section [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type $(, $entry $(, $derive)?)?
                );)+
                #[allow(unused_mut, reason = "only needed with `then`")]
                let mut value = Self { $($field),+ };
                $($then(section, &mut value);)?
                section.finish();
                value
            }

            fn print(&self, out: &mut $crate::print::Document<'_>) {
                $($(out.value($extra, &$crate::print::of_scene(out, $print_extra));)?)*
                $($crate::declare::print_field!(
                    &self.$field, out [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type
                    $(, $entry $(, $derive)?)?
                );)+
            }
        }

        impl $crate::field::Field for $struct {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                $crate::field::Fields::read(&section.section(name))
            }

            fn given(section: &$crate::reader::Section<'_>, name: &'static str) -> Option<Self> {
                let inner = section.section(name);
                inner.present().then(|| $crate::field::Fields::read(&inner))
            }

            fn print(&self, out: &mut $crate::print::Document<'_>, name: &'static str) {
                out.nested(name, self);
            }
        }

        impl $crate::field::Field for Option<$struct> {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                $crate::field::Field::given(section, name)
            }

            fn given(section: &$crate::reader::Section<'_>, name: &'static str) -> Option<Self> {
                <$struct as $crate::field::Field>::given(section, name).map(Some)
            }

            fn print(&self, out: &mut $crate::print::Document<'_>, name: &'static str) {
                match self {
                    Some(value) => out.nested(name, value),
                    None => out.absent(name),
                }
            }
        }
    };
}

/// Declares an enum of which each variant has keys of its own, and the enum of their names.
macro_rules! variants {
    ($(#[$meta:meta])* pub enum $enum:ident named by $kind:ident {
        placeholder = $placeholder:expr;
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal {
            $($(#[$doc:meta])* $field:ident $(as $key:literal)? $(via $format:ty)? : $type:ty
                $(= $entry:expr $(=> $derive:expr)?)?,)+
        } $(then $then:path)?,)+
    }) => {
        $(#[$meta])*
        pub enum $enum { $($(#[$variant_doc])* $variant { $($(#[$doc])* $field: $type,)+ },)+ }

        $crate::types::words::words! {
            #[doc = concat!("The name of each [`", stringify!($enum), "`].")]
            pub enum $kind {
                $(#[doc = concat!("[`", stringify!($enum), "::", stringify!($variant), "`].")] $variant = $word,)+
            }
        }

        impl $crate::field::Variants for $enum {
            const VARIANTS: &'static [$crate::schema::Variant] = &[$($crate::schema::Variant {
                name: $word,
                fields: &[$($crate::declare::field_keys!(
                    [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type $(, $entry $(, $derive)?)?
                ),)+],
            },)+];
        }

        impl $crate::field::Field for $enum {
            fn read(section: &$crate::reader::Section<'_>, name: &'static str) -> Self {
                $crate::field::Field::given(section, name).unwrap_or_else(|| $placeholder)
            }

            fn given(section: &$crate::reader::Section<'_>, name: &'static str) -> Option<Self> {
                Some(match section.select::<$kind>(name)? {
                    $($kind::$variant => {
                        $(let $field = $crate::declare::read_field!(
                            section [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type
                            $(, $entry $(, $derive)?)?
                        );)+
                        $($then(section);)?
                        Self::$variant { $($field),+ }
                    })+
                })
            }

            fn print(&self, out: &mut $crate::print::Document<'_>, name: &'static str) {
                match self {
                    $(Self::$variant { $($field),+ } => {
                        out.select(name, $kind::$variant);
                        $($crate::declare::print_field!(
                            $field, out [$crate::declare::key_name!($field $($key)?)] [$($format)?] $type
                            $(, $entry $(, $derive)?)?
                        );)+
                    })+
                }
            }
        }
    };
}

pub(crate) use {field_keys, key_name, print_field, read_field, section, section_of, variants};

#[cfg(test)]
mod tests {
    use crate::field::Fields;
    use crate::files::NoFiles;
    use crate::parse_str;
    use crate::print::Document;
    use crate::quantities::LENGTH;
    use crate::reader::{Context, Section};
    use crate::schema::Default::{Required, Value as Written};
    use crate::schema::Range::Positive;
    use crate::schema::ValueType::{Boolean, Quantity};
    use crate::schema::{Affects, image_key, key};
    use crate::source::{Source, Sources};
    use crate::tree::{Value, parse_file};

    section! {
        #[derive(Debug, PartialEq)]
        struct Nozzle: "[nozzle]" {
            pub bore: f64 = key(Quantity(&LENGTH, Positive), Required("\"1 mm\""), "inner diameter"),
            pub shiny as "polished": bool = image_key(Boolean, Written("true"), "whether it is polished"),
        }
    }

    /// The section of a text, and its problems.
    fn read(text: &str) -> (Nozzle, Vec<String>) {
        let sources = Sources { list: vec![Source { name: "test".into(), text: text.into() }] };
        let context = Context::new(&sources, &NoFiles);
        let (root, _) = parse_file(text);
        let Value::Table(table) = &root.value else { panic!("a file is a table") };
        let nozzle = Nozzle::read(&Section::new(&context, Nozzle::TABLE, root.place.clone(), Some(table)));
        let errors = context.errors.into_inner();
        (nozzle, errors.iter().map(|e| format!("{}; {}", e.message, e.help.as_deref().unwrap_or(""))).collect())
    }

    #[test]
    fn a_declaration_is_all_that_reader_printer_and_schema_need() {
        let (nozzle, errors) = read("bore = \"2 mm\"");
        assert_eq!((&nozzle, errors.len()), (&Nozzle { bore: 2e-3, shiny: true }, 0));
        assert_eq!(read("bore = \"-2 mm\"").1, ["`bore` must be more than zero, but it is -2 mm; "]);
        assert_eq!(
            read("bore = \"1 mm\"\npolishd = false").1,
            ["[nozzle] has no key `polishd`; did you mean `polished`?"]
        );
        assert_eq!(read("").1, ["[nozzle] needs `bore`; add bore = \"1 mm\""]);

        let scene = "model = \"pane\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n[[solids]]\n";
        let scene = parse_str("test.toml", scene, &[], &NoFiles).unwrap().scene;
        let mut out = Document::new(&scene, Nozzle::TABLE);
        nozzle.print(&mut out);
        let printed: Vec<(String, String, Affects)> = out.entries().map(|e| (e.path, e.value, e.affects)).collect();
        let expected = [("bore", "\"2 mm\"", Affects::Simulation), ("polished", "true", Affects::Images)];
        assert_eq!(printed, expected.map(|(path, value, affects)| (path.to_owned(), value.to_owned(), affects)));

        let docs: Vec<&str> = Nozzle::TABLE.keys().map(|key| key.doc).collect();
        assert_eq!(docs, ["inner diameter", "whether it is polished"]);
    }
}
