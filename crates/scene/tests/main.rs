//! The crate's integration tests, in one program: linking is a large part of their time.

mod pattern;
mod right;
mod round_trip;
mod schema;
mod wrong;
