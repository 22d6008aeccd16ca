//! The crate's integration tests, in one program: linking is a large part of their time.

mod citations;
mod command;
mod common;
mod disk;
mod documents;
mod export;
mod kill;
mod pictures;
mod plans;
mod resume;
mod robust;
mod scene_changes;
mod sweep;
mod volume;
