//! Drops as deforming triangle surfaces, after Zhang, Wang, Wang, Tong and Zhou (zhang2011), and made physical.
//!
//! Each drop is a closed surface with vertex velocities ([`mesh`]); triangles on a solid are marked, and where they meet those against air is the
//! contact line. A step of one drop ([`stepper`]) solves for its velocities implicitly, with forces from one energy and the volume held
//! ([`advance`], [`system`]), moves it, brings its contact with solids up to date ([`contact`]) and keeps its edges in bounds ([`remesh`]). Between
//! steps, drops that touch become one ([`merging`], [`stitching`], [`union`]) and necks that broke become two.
//!
//! [`SurfaceModel`] is the model that the rest of the program drives; docs/surface.md tells the physics and its limits.
//!
//! ```
//! use sessile_model::{Model, NoTimer};
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_surface::SurfaceModel;
//! use sessile_world::World;
//!
//! let text = r#"
//!     model = "surface"
//!     [time]
//!     duration = "1 s"
//!     frame = "0.1 s"
//!     [[solids]]
//!     name = "table"
//!     material = "acrylic"
//!     shape = "plane"
//!     [[drops]]
//!     shape = "sphere"
//!     center = "0 3 0 mm"
//!     radius = "1 mm"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut model = SurfaceModel::new(&scene, World::build(&scene)?)?;
//! while model.time() < 0.05 {
//!     model.step(0.05 - model.time(), &mut NoTimer)?;
//! }
//! assert!(model.drops()[0].mesh.touches(), "it has landed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Vertices are rows of many arrays: one index reads them all.
#![allow(clippy::needless_range_loop)]

pub mod advance;
pub mod body;
mod chunks;
pub mod contact;
pub mod drops;
mod ears;
pub mod edit;
pub mod error;
pub mod extraction;
pub mod ground;
pub mod history;
pub mod inertia;
pub mod initial;
pub mod merging;
pub mod mesh;
pub mod model;
pub mod neighbors;
pub mod notices;
pub mod paper;
mod precondition;
pub mod queue;
pub mod remesh;
pub mod seam;
pub mod shape;
pub mod shapes;
pub mod sizing;
pub mod stepper;
pub mod stitching;
pub mod survey;
pub mod system;
pub mod union;
pub mod validate;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use error::SurfaceError;
pub use model::SurfaceModel;
