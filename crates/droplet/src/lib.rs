//! Droplets that run over a triangle mesh, after Fournier, Habibi and Poulin (fournier1998), and made physical.
//!
//! A droplet is a particle on a [`surface`]: a triangle and a place in it. Between two steps it crosses every triangle on its way in closed
//! form ([`glide`], [`ride`]); what moves it is said by the paper's rules ([`paper`]) or by one wetting description
//! ([`physical`]). Shape follows motion, never the other way ([`forms`]).
//!
//! [`DropletModel`] is the model that the rest of the program drives; docs/droplet.md tells the physics and its limits.
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
//!     center = "50 0 0 mm"                    # on its equator, where it is steep
//!     volume = "20 uL"
//!     contact_angle = "80 deg"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut model = DropletModel::new(&scene, World::build(&scene)?)?;
//! while model.time() < 0.2 {
//!     model.step(0.2 - model.time(), &mut NoTimer)?;
//! }
//! assert!(model.frame().drops[0].velocity.y < -0.1, "it runs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceleration;
mod air;
mod batch;
mod context;
mod curvature;
mod damped_motion;
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
mod substrate;
mod surface_mesh;
mod trails;

pub use error::DropletError;
pub use model::DropletModel;
