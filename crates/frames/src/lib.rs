//! What a model yields, and the run folder that keeps it.

pub mod frame;

pub use frame::{Content, DropFacts, Event, Frame, Ledger, Surface, WetMap};
