//! Ids of drops.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Id of a drop: positive, and never reused within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DropId(NonZeroU32);

impl DropId {
    /// The id with this number; `None` for 0, which numbers no drop.
    pub fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// The id of the drop with this index among those that a run starts with.
    pub fn of_initial(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    /// Its number, as frames and events carry it.
    #[inline]
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for DropId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads and writes an id that an empty slot lacks as a number, 0 for none.
pub mod optional_id {
    use super::{Deserialize, DropId};

    /// Writes the number of an id.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: serde::Serializer>(id: &Option<DropId>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(id.map_or(0, DropId::get))
    }

    /// Reads the number of an id.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<DropId>, D::Error> {
        u32::deserialize(deserializer).map(DropId::new)
    }
}

/// Issues ids in ascending order, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdCounter {
    last: u32,
}

impl IdCounter {
    /// Issues ids behind those of the drops that a run starts with.
    pub fn after_initial(count: u32) -> Self {
        Self { last: count }
    }

    /// A new id.
    ///
    /// # Panics
    ///
    /// After 2³² − 1 ids.
    pub fn issue(&mut self) -> DropId {
        self.last = self.last.checked_add(1).expect("fewer than 2³² drops in a run");
        DropId::of_initial(self.last - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_from_one_and_fit_an_option_of_four_bytes() {
        let mut ids = IdCounter::default();
        assert_eq!([ids.issue().get(), ids.issue().get()], [1, 2]);
        assert_eq!(DropId::new(0), None);
        assert!(DropId::of_initial(4) < IdCounter::after_initial(5).issue());
        assert_eq!(size_of::<Option<DropId>>(), 4);
    }
}
