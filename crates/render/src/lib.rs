//! Pictures and video of a run: a CPU path tracer, light, materials, images.

pub mod camera;
pub mod caustics;
pub mod denoise;
pub mod environment;
pub mod followed;
pub mod framing;
pub mod fresnel;
pub mod ggx;
pub mod ground_truth;
pub mod illumination_texture;
pub mod image_files;
pub mod interfaces;
pub mod known_scenes;
pub mod lights;
pub mod line_of_sight;
pub mod liquid_look;
pub mod many_drops;
pub mod materials;
pub mod normals;
pub mod path;
pub mod photon_tree;
mod photons;
pub mod picture;
pub mod preview;
pub mod render_picture;
pub mod render_run;
pub mod sampler;
pub mod scene_stage;
pub mod skirts;
pub mod stage;
pub mod textures;
pub mod tone_map;
pub mod tracer_bvh;
#[cfg(feature = "video")]
pub mod video;
pub mod wet_layer;

pub use picture::Picture;
