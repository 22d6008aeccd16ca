//! What a model yields, and the run folder that keeps it.

pub mod atomic;
pub mod checkpoint;
pub mod container;
pub mod drops_file;
pub mod frame;
pub mod instances;
pub mod ply;
pub mod wet;

pub use atomic::{Durability, FileError};
pub use checkpoint::{Checkpoint, CheckpointError, Progress};
pub use container::Block;
pub use frame::{Content, DropFacts, Event, Frame, Ledger, Surface, WetMap};
pub use instances::{INSTANCE_THRESHOLD, InstanceError};
