//! Drops as deforming triangle surfaces, after Zhang, Wang, Wang, Tong and Zhou (zhang2011), with
//! physical forces.
//!
//! Each drop is a closed triangle mesh with vertex velocities. Triangles are tagged with what the
//! liquid meets there: air, a solid, or the outlet of a tap. The contact line runs where tags
//! differ. The step of one drop solves for its velocities implicitly, with forces from one energy
//! and the volume as a constraint, moves the vertices, updates the contact with solids and
//! remeshes. Between steps drops that touch are merged and drops that pinched off are separated.
//!
//! [`SurfaceModel`] is the model that the rest of the program drives; `docs/surface.md` describes
//! the physics and its limits.
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
//! let liquid = model.frame().liquid.into_surface()?;
//! assert!(liquid.solids.contains(&0), "the drop has landed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![expect(clippy::needless_range_loop, reason = "one vertex index addresses several parallel arrays")]

mod by_hand;
mod chunks;
mod contact;
mod drop;
mod drop_step;
mod dynamics;
mod emission;
mod error;
mod evaporation;
mod initial_mesh;
mod merging;
mod mesh;
mod model;
mod notices;
mod parameters;
mod rebuild;
mod remesh;
mod room;
mod splitting;
mod state;
mod step;
mod substrate;
mod time_step;
mod wet_history;

#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;

pub use error::SurfaceError;
pub use model::SurfaceModel;
