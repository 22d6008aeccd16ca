//! The scene file: parsed with positions, checked by dimension, resolved to SI, printed back.

pub mod types;

pub use types::*;
