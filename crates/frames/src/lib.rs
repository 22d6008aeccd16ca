//! What a model yields, and the run folder that keeps it.

pub mod atomic;
pub mod checkpoint;
pub mod contact_angle;
pub mod container;
pub mod drop_surface;
pub mod drops_file;
pub mod frame;
pub mod instances;
pub mod measure;
pub mod measures;
pub mod measures_file;
pub mod ply;
#[cfg(test)]
mod testing;
pub mod wet;

pub use atomic::{Durability, FileError};
pub use checkpoint::{Checkpoint, CheckpointError, Progress};
pub use container::Block;
pub use frame::{Content, DropFacts, Event, Frame, Ledger, Surface, WetMap};
pub use instances::{INSTANCE_THRESHOLD, InstanceError};
