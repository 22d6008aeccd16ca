//! Droplets that slide over a triangle mesh, after Fournier, Habibi and Poulin (fournier1998), with
//! physical wetting.
//!
//! A droplet is a particle at a point of the mesh (`surface_mesh`). Over a step its path is
//! integrated in closed form, triangle by triangle (`damped_motion`, `kernel`, `integrate`,
//! `batch`), under the forces of the paper (`paper`) or of contact-angle hysteresis and viscous
//! drag (`physical`). The particle system (`particles`) detects contacts, coalesces droplets and
//! lays films on the substrate (`substrate`). Shapes follow from the motion and never affect it
//! (`display`).
//!
//! [`DropletModel`] is the only entry point; docs/droplet.md describes the physics and its limits.
//!
//! ```
//! use sessile_droplet::DropletModel;
//! use sessile_model::{Model, NoTimer};
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_world::World;
//!
//! let text = r#"
//!     model = "droplet"
//!     [time]
//!     duration = "1 s"
//!     frame = "0.1 s"
//!     [[solids]]
//!     name = "bowl"
//!     material = "acrylic"
//!     shape = "sphere"
//!     radius = "50 mm"
//!     [[drops]]
//!     shape = "cap"
//!     on = "bowl"
//!     center = "50 0 0 mm"                    # on the equator, where it is vertical
//!     volume = "20 uL"
//!     contact_angle = "80 deg"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut model = DropletModel::new(&scene, World::build(&scene)?)?;
//! while model.time() < 0.2 {
//!     model.step(0.2 - model.time(), &mut NoTimer)?;
//! }
//! assert!(model.frame().drops[0].velocity.y < -0.1, "it slides");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod acceleration;
mod air;
mod batch;
mod context;
mod curvature;
mod damped_motion;
mod deforming;
mod display;
mod drag;
mod droplets;
mod error;
mod fast_round;
mod film_map;
mod flight;
mod grid;
mod integrate;
mod kernel;
mod locate;
mod model;
mod neighbors;
mod paper;
mod parameters;
mod particles;
mod patch;
mod physical;
mod setup;
mod simd;
mod sources;
mod springs;
mod streaks;
mod substrate;
mod surface_mesh;
mod trails;

pub use error::DropletError;
pub use model::DropletModel;
