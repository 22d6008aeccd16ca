//! Drops on the cells of a flat pane, after Algan et al. (algan).
//!
//! Two modes share the two-level grid of cells, airborne drops and display shapes:
//!
//! - `physical`: drops stick, slide, meander, coalesce and leave trails by the properties of liquid
//!   and material;
//! - `automaton`: the paper's Algorithm 1, with its critical weights and residue.
//!
//! [`Pane`] is the model that the rest of the program drives; docs/pane.md describes the physics
//! and its limits.
//!
//! ```
//! use sessile_model::{Model, NoTimer};
//! use sessile_pane::Pane;
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_world::World;
//!
//! let text = r#"
//!     model = "pane"
//!     [time]
//!     duration = "1 s"
//!     frame = "0.1 s"
//!     [[solids]]
//!     name = "window"
//!     material = "acrylic"                    # retains 10 µL when vertical
//!     shape = "plane"
//!     normal = [0, 0, 1]
//!     size = "100 200 mm"
//!     [[drops]]
//!     shape = "cap"
//!     on = "window"
//!     volume = "20 uL"
//!     contact_angle = "80 deg"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut pane = Pane::new(&scene, World::build(&scene)?)?;
//! while pane.time() < 0.2 {
//!     pane.step(0.2 - pane.time(), &mut NoTimer)?;
//! }
//! assert!(pane.frame().drops[0].velocity.y < -0.1, "it slides");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod automaton;
mod bodies;
mod display;
mod drops;
mod error;
mod flight;
mod frame;
mod impurity;
mod inertia;
mod model;
mod motion;
mod neighbors;
mod obstacles;
mod parameters;
mod physical;
mod setup;
mod sources;
mod substrate;
mod wet_map;

pub use error::PaneError;
pub use model::Pane;
