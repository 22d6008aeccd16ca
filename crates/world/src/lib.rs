//! The geometry and sources of a scene, ready for queries by the models.
//!
//! A [`World`] is built from a scene. It provides signed distances, normals, velocities and wetting
//! properties of each [`Solid`] ([`Solid::closest`], [`Solid::velocity_at`],
//! [`Solid::wetting_at`]), gravity and wind at the current time, the liquid present at the start
//! ([`InitialDrop`]) and the liquid that emitters add ([`World::emissions`]). It does not simulate
//! liquid.
//!
//! ```
//! use glam::DVec3;
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_world::{Emission, World};
//!
//! let text = r#"
//!     model = "pane"
//!     [time]
//!     duration = "1 s"
//!     frame = "0.1 s"
//!     [world]
//!     wind = "0 0 -3 m/s"
//!     [[solids]]
//!     name = "window"
//!     shape = "plane"
//!     normal = [0, 0, 1]
//!     size = "300 400 mm"
//!     [[emitters]]
//!     kind = "rain"
//!     over = "window"
//!     rate = "20 mm/h"
//! "#;
//! let scene = parse_str("window.toml", text, &[], &NoFiles)?.scene;
//! let mut world = World::build(&scene)?;
//!
//! let window = world.solid("window").ok_or("no window")?;
//! let near = window.closest(DVec3::new(0.0, 0.1, 0.02));
//! assert_eq!((near.distance, near.normal), (0.02, DVec3::Z));
//! assert_eq!((near.uv.x, near.uv.y), (0.5, 0.75));
//!
//! world.advance_to(0.1);
//! for emission in world.emissions(0.1, 0.2) {
//!     let Emission::Ball { time, velocity, .. } = emission else { continue };
//!     assert!((0.1..0.2).contains(&time) && velocity.z == -3.0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Conventions.** SI units and radians, y up. Signed distances are negative inside a solid, and
//! negative in the liquid of an initial drop; normals point out of the solid. On a plane v runs up
//! the slope and u = v × normal across it (see [`sessile_scene::plane_axes`]); the frame rotates
//! with the solid. Solids rotate about their shape's origin (see [`Solid`]).
//!
//! **Random numbers.** Emitters use [`random::Stream`]s keyed by the scene's seed, the emitter and
//! the event, so emissions do not depend on the time steps, and resuming a run needs only a
//! [`WorldState`]: the time, the motion overrides of solids, and what was changed by hand.
//!
//! A [`World`] is `Send`, `Sync` and cheap to clone: meshes, distance structures and images are
//! shared.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod by_hand;
mod deform;
mod emission;
mod emitters;
mod error;
mod initial;
mod materials;
mod mesh_files;
mod motion;
mod placed;
mod pose;
mod primitives;
pub mod random;
mod rest_mesh;
mod solid;
mod solid_cache;
mod world;

pub use emission::Emission;
pub use error::WorldError;
pub use initial::{Cap, InitialDrop};
pub use placed::PlacedSource;
pub use pose::{Pose, RigidVelocity};
pub use solid::{PlaneFrame, Solid};
pub use solid_cache::SolidCache;
pub use world::{World, WorldState};
