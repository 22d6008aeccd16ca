//! Images and video of a run: a CPU path tracer, a fast preview renderer, ground truth, image
//! files.
//!
//! [`render_run`] renders a run folder. [`render_image_until`] traces one [`RenderScene`] into a
//! [`Framebuffer`]; [`Preview`] rasterizes it in a fraction of the time. Camera, materials and
//! lights come from `sessile-appearance`.

mod agx;
mod backdrop_view;
mod benchmark_scenes;
mod camera_check;
mod caustics;
mod denoise;
mod framebuffer;
mod fresnel;
mod ground_truth;
mod illumination_texture;
mod image_files;
mod interfaces;
mod path_integrator;
mod photon_count;
mod photon_map;
mod photons;
mod preview;
mod rasterizer;
mod reference_scenes;
mod refracted_ray;
mod render_image;
mod render_run;
mod render_scene;
mod sampler;
mod scene_from_frame;
mod still;
mod tone_map;
#[cfg(feature = "video")]
mod video;
mod wet_layer;

pub use benchmark_scenes::{Substrate, drop_lattice, out_of_focus_pane, slanting, wet_drop_lattice};
pub use denoise::denoise;
pub use framebuffer::{Framebuffer, Mixture};
pub use ground_truth::{FlowStatus, GroundTruth, GroundTruthFiles, flow_colors, ground_truth, write_sample_truth};
pub use image_files::{ImageFileError, write_exr, write_jpeg, write_png};
pub use path_integrator::PathSettings;
pub use preview::Preview;
pub use reference_scenes::{drop_in_the_sun, drop_on_checks};
pub use render_image::{ImageSettings, RenderCost, RenderedImage, render_image, render_image_until};
pub use render_run::{
    FramesToRender, Quality, RenderError, RenderOptions, RenderPart, RenderSummary, render_run, separate_folder,
};
pub use render_scene::{RenderScene, RenderSceneBuilder};
pub use scene_from_frame::render_scene_of_frame;
pub use still::{Still, StillScene, render_still};
pub use tone_map::{Exposure, to_srgb, tone_curve};
#[cfg(feature = "video")]
pub use video::VideoError;

#[cfg(test)]
extern crate self as sessile_render;

#[cfg(test)]
mod tests;
