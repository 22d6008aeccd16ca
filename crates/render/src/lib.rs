//! Pictures and video of a run: a CPU path tracer, light, materials, images.

pub mod caustics;
pub mod denoise;
pub mod fresnel;
pub mod ground_truth;
pub mod illumination_texture;
pub mod image_files;
pub mod interfaces;
pub mod known_scenes;
pub mod line_of_sight;
pub mod many_drops;
pub mod path;
pub mod photon_tree;
mod photons;
pub mod picture;
pub mod preview;
pub mod render_picture;
pub mod render_run;
pub mod sampler;
pub mod scene_stage;
pub mod stage;
pub mod tone_map;
#[cfg(feature = "video")]
pub mod video;
pub mod wet_layer;

pub use picture::Picture;
