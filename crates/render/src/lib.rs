//! Pictures and video of a run: a CPU path tracer, light, materials, images.

pub mod picture;

pub use picture::Picture;
