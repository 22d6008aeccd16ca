//! A scene's solids and sources of water, built.
//!
//! `scene` says what there is; a [`World`] answers questions about it: how far a point is from a [`Solid`], which way is out, how
//! fast the solid moves there and how it wets ([`Solid::closest`], [`Solid::velocity_at`], [`Solid::wetting_at`]), what gravity
//! and wind are now, which liquid is there at the start ([`InitialDrop`]) and which comes later ([`World::supply`]). It knows
//! nothing of how liquid moves: that is the models' business.
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
//! for supply in world.emissions(0.1, 0.2) {
//!     let Emission::Ball { time, velocity, .. } = supply else { continue };
//!     assert!((0.1..0.2).contains(&time) && velocity.z == -3.0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Conventions.** SI units and radians, y up. Signed distances are negative inside a solid, and negative in the liquid of an initial
//! drop; normals point out of the solid. On a plane v runs up the slope and u = v × normal across it (see
//! [`sessile_scene::plane_axes`]); the frame turns with the solid. Solids turn about their shape's origin ([`solid`]).
//!
//! **Nothing is random that has no name.** Emitters draw from [`random::Stream`]s named by the scene's seed, the emitter and the
//! event, so what arrives in an interval does not depend on how time was cut before, and a resumed run needs only a
//! [`WorldState`]: the time, and the solids that a hand has moved.
//!
//! A [`World`] is `Send`, `Sync` and cheap to clone: meshes, distance structures and images are shared.

pub mod emission;
pub mod emitters;
pub mod error;
pub mod initial;
mod materials;
mod mesh_files;
mod motion;
pub mod pose;
pub mod primitives;
pub mod random;
pub mod solid;
pub mod world;

pub use emission::Emission;
pub use error::WorldError;
pub use initial::{InitialDrop, cap::Cap};
pub use pose::{Pose, RigidVelocity};
pub use solid::{PlaneFrame, Solid};
pub use world::{World, WorldState};
