//! An index that may be absent, in four bytes.

use std::fmt;

/// An index below 2³² − 1, or none; half the size of `Option<u32>`, for large tables.
///
/// ```
/// use sessile_numerics::OptionalIndex;
///
/// let mut new_index = vec![OptionalIndex::NONE; 3];
/// assert_eq!(new_index[2].get_or_insert_with(|| 0), 0);
/// assert_eq!(new_index[2].get(), Some(0));
/// assert_eq!(new_index[1].get(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptionalIndex(u32);

impl OptionalIndex {
    /// No index.
    pub const NONE: Self = Self(u32::MAX);

    /// An index.
    ///
    /// # Panics
    /// In debug builds, if the index is 2³² − 1.
    #[inline]
    pub const fn some(index: u32) -> Self {
        debug_assert!(index != u32::MAX);
        Self(index)
    }

    /// The index, if there is one.
    #[inline]
    pub const fn get(self) -> Option<u32> {
        if self.is_none() { None } else { Some(self.0) }
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == Self::NONE.0
    }

    /// The index; the given one takes its place where there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, index: impl FnOnce() -> u32) -> u32 {
        if self.is_none() {
            *self = Self::some(index());
        }
        self.0
    }
}

impl Default for OptionalIndex {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for OptionalIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
