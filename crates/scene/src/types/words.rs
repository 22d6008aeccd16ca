//! Enums whose values are written as words in a scene.

/// An enum with one word per value.
pub(crate) trait Word: Copy + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// The word of each value, in the same order.
    const NAMES: &'static [&'static str];

    /// The word that a scene uses for the value.
    fn word(self) -> &'static str;

    /// The value that a word stands for.
    fn from_word(word: &str) -> Option<Self> {
        Self::NAMES.iter().position(|name| *name == word).map(|i| Self::ALL[i])
    }
}

/// Defines an enum, the word of each value, `ALL`, `NAMES` and `name()`.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum { $($(#[$doc])* $variant,)+ }

        impl $enum {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The word of each value, as written in a scene, in the order of [`Self::ALL`].
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The word that a scene uses.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl $crate::types::words::Word for $enum {
            const ALL: &'static [Self] = Self::ALL;
            const NAMES: &'static [&'static str] = Self::NAMES;

            fn word(self) -> &'static str {
                self.name()
            }
        }

        impl $crate::field::Value for $enum {
            fn read(
                section: &$crate::reader::Section<'_>,
                key: &'static $crate::schema::Key,
                node: &$crate::tree::Node,
            ) -> Option<Self> {
                $crate::values::word(section, key, node)
            }

            fn text(&self, _key: &$crate::schema::Key) -> String {
                $crate::print::quoted(self.name())
            }

            fn placeholder() -> Self {
                Self::ALL[0]
            }
        }
    };
}

pub(crate) use words;
