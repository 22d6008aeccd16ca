//! The crate's integration tests, in one program: linking is a large part of their time.

mod server;
mod sessions;
