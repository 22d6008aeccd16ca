//! Indices with a type of their own: an index of a vertex is no index of a triangle.

/// Defines an index of four bytes that indexes slices and vectors directly.
///
/// The type depends on the array that it indexes, so that indices of different arrays cannot be
/// confused. Further derives and methods may be added where it is defined. An
/// [`OptionalIndex`](crate::OptionalIndex) of it takes four bytes, too.
///
/// ```
/// sessile_numerics::typed_index! {
///     /// A vertex of a mesh.
///     pub struct VertexIndex;
/// }
///
/// let heights = vec![0.5, 2.0];
/// let highest = VertexIndex::first(heights.len()).max_by(|&a, &b| f64::total_cmp(&heights[a], &heights[b]));
/// assert_eq!(highest, Some(VertexIndex::new(1)));
/// assert_eq!(size_of::<VertexIndex>(), 4);
/// ```
#[macro_export]
macro_rules! typed_index {
    ($(#[$attribute:meta])* $visibility:vis struct $Name:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $Name(u32);

        impl $Name {
            /// The index at this position of an array.
            #[inline]
            pub const fn new(position: usize) -> Self {
                debug_assert!(position <= u32::MAX as usize);
                Self(position as u32)
            }

            /// Its position in an array.
            #[inline]
            pub const fn to_usize(self) -> usize {
                self.0 as usize
            }

            /// Its position in an array, as exchanged with code that stores four bytes.
            #[inline]
            pub const fn to_u32(self) -> u32 {
                self.0
            }

            /// The indices of an array of this length.
            #[inline]
            pub fn first(
                count: usize,
            ) -> impl Clone + ::core::iter::DoubleEndedIterator<Item = Self> + ::core::iter::ExactSizeIterator {
                (0..count).map(Self::new)
            }

            /// The indices of a range of positions.
            #[inline]
            pub fn range(positions: ::core::ops::Range<usize>) -> impl ::core::iter::Iterator<Item = Self> {
                positions.map(Self::new)
            }
        }

        impl $crate::FourByteIndex for $Name {
            #[inline]
            fn from_number(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.0, f)
            }
        }

        impl<T> ::core::ops::Index<$Name> for [T] {
            type Output = T;

            #[inline]
            fn index(&self, index: $Name) -> &T {
                &self[index.to_usize()]
            }
        }

        impl<T> ::core::ops::IndexMut<$Name> for [T] {
            #[inline]
            fn index_mut(&mut self, index: $Name) -> &mut T {
                &mut self[index.to_usize()]
            }
        }

        impl<T> ::core::ops::Index<$Name> for ::std::vec::Vec<T> {
            type Output = T;

            #[inline]
            fn index(&self, index: $Name) -> &T {
                &self.as_slice()[index.to_usize()]
            }
        }

        impl<T> ::core::ops::IndexMut<$Name> for ::std::vec::Vec<T> {
            #[inline]
            fn index_mut(&mut self, index: $Name) -> &mut T {
                &mut self.as_mut_slice()[index.to_usize()]
            }
        }
    };
}
