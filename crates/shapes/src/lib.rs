//! A drop's surface from a few numbers.

pub mod instance;
pub mod metaballs;

pub use instance::{Instance, LocalFrame, Shape};
pub use metaballs::Ball;
