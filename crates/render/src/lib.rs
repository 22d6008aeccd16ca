//! Pictures and video of a run: a CPU path tracer, light, materials, images.

pub mod denoise;
pub mod environment;
pub mod illumination_texture;
pub mod image_files;
pub mod picture;
pub mod tone_map;
#[cfg(feature = "video")]
pub mod video;

pub use picture::Picture;
