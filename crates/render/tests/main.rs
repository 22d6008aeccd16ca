//! The crate's integration tests, in one program: linking is a large part of their time.

mod analytic_radiance;
mod backdrop;
mod caustics;
mod common;
mod glints;
mod ground_truth;
mod half_buffers;
mod looks;
mod out_of_focus;
#[path = "common/perceptual.rs"]
mod perceptual;
mod preview;
mod reference_images;
mod render_run;
