//! The tables of the scene format: every key with its type, range, default and meaning, by section.

mod drops;
mod emitters;
mod general;
mod images;
mod materials;
mod parameters;
mod solids;

pub(crate) use drops::DROP;
pub(crate) use emitters::EMITTER;
pub(crate) use general::SCENE;
pub(crate) use materials::MATERIAL;
#[cfg(test)]
pub(super) use materials::{IMAGE_OF_ANGLES, IMAGE_OF_FACTORS};
pub(crate) use solids::SOLID;

use super::{Affects, Default, Key, Table, ValueType, Variant};

const fn table(title: &'static str, keys: &'static [Key]) -> Table {
    Table { title, keys, variant_key: "", variants: &[] }
}

const fn variant(name: &'static str, keys: &'static [Key]) -> Variant {
    Variant { name, keys }
}

/// A key that the simulation depends on.
const fn key(name: &'static str, value: ValueType, default: Default, doc: &'static str) -> Key {
    Key { name, value, default, doc, affects: Affects::Simulation }
}

/// A key that only images depend on.
const fn image_key(name: &'static str, value: ValueType, default: Default, doc: &'static str) -> Key {
    Key { name, value, default, doc, affects: Affects::Images }
}
