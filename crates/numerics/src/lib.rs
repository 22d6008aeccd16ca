//! Small numerical tools that several crates share.
//!
//! Everything here is deterministic: sums have a fixed order, sets have a representative that does
//! not depend on the order of unions. No tool knows anything about liquids or scenes.
//!
//! ```
//! use sessile_numerics::{UnionFind, sphere_radius, sphere_volume};
//!
//! let mut sets = UnionFind::new(4);
//! sets.union(3, 1);
//! assert_eq!(sets.find(3), 1);
//! assert!((sphere_radius(sphere_volume(2.0)) - 2.0).abs() < 1e-15);
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod chunked_sum;
pub mod math;
mod optional_index;
mod smooth_path;
mod sorted_merge;
mod sphere;
mod typed_index;
mod union_find;

pub use chunked_sum::{CHUNK, sum_in_chunks};
pub use optional_index::{FourByteIndex, OptionalIndex};
pub use smooth_path::PathWeights;
pub use sorted_merge::merge_sorted;
pub use sphere::{circle_radius, sphere_radius, sphere_volume};
pub use union_find::UnionFind;
