//! An index that may be absent, in four bytes.

use std::fmt;
use std::marker::PhantomData;

/// An index that fits in four bytes: `u32`, or a type that [`typed_index!`](crate::typed_index)
/// defines.
pub trait FourByteIndex: Copy {
    /// The index with this number.
    fn from_number(number: u32) -> Self;

    /// Its number.
    fn number(self) -> u32;
}

impl FourByteIndex for u32 {
    #[inline]
    fn from_number(number: u32) -> Self {
        number
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }
}

/// An index below 2³² − 1, or none; half the size of `Option<I>`, for large tables.
///
/// ```
/// use sessile_numerics::OptionalIndex;
///
/// let mut new_index: Vec<OptionalIndex> = vec![OptionalIndex::NONE; 3];
/// assert_eq!(new_index[2].get_or_insert_with(|| 0), 0);
/// assert_eq!(new_index[2].get(), Some(0));
/// assert_eq!(new_index[1].get(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptionalIndex<I = u32> {
    bits: u32,
    index: PhantomData<I>,
}

impl<I> OptionalIndex<I> {
    /// No index.
    pub const NONE: Self = Self::from_bits(u32::MAX);

    /// Its four bytes, as files store it: the number of the index, or 2³² − 1 for none.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.bits
    }

    /// The inverse of [`OptionalIndex::to_bits`].
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Self { bits, index: PhantomData }
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_none(&self) -> bool {
        self.bits == u32::MAX
    }
}

impl<I: FourByteIndex> OptionalIndex<I> {
    /// An index.
    ///
    /// # Panics
    /// In debug builds, if the index is 2³² − 1.
    #[inline]
    pub fn some(index: I) -> Self {
        debug_assert!(index.number() != u32::MAX);
        Self::from_bits(index.number())
    }

    /// The index, if there is one.
    #[inline]
    pub fn get(self) -> Option<I> {
        if self.is_none() { None } else { Some(I::from_number(self.bits)) }
    }

    /// The index; the given one takes its place where there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, index: impl FnOnce() -> I) -> I {
        if self.is_none() {
            *self = Self::some(index());
        }
        I::from_number(self.bits)
    }
}

impl<I> Default for OptionalIndex<I> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<I: FourByteIndex> From<Option<I>> for OptionalIndex<I> {
    #[inline]
    fn from(index: Option<I>) -> Self {
        index.map_or(Self::NONE, Self::some)
    }
}

impl<I: FourByteIndex + fmt::Debug> fmt::Debug for OptionalIndex<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
