//! Surfaces of drops from a few numbers.
//!
//! Models whose drops are points with a volume, and readers of frames with too many drops to store
//! triangles, share these shapes: [`Instance`] is a drop as numbers, [`drop_mesh`] builds its
//! closed surface.
//!
//! ```
//! use glam::{DMat3, DVec2, DVec3};
//! use sessile_shapes::{Detail, MetaballDrop, Instance, LocalFrame, Shape, drop_mesh};
//!
//! let shape = MetaballDrop {
//!     volume: 4e-9, base_radius: 1.26e-3, height: 1.205e-3,
//!     heading: DVec2::NEG_Y, sag: 0.1, stretch: 0.0, front: [0.0; 5],
//! };
//! let mut balls = Vec::new();
//! shape.push_balls(DVec2::ZERO, &mut balls);
//! let frame = LocalFrame { origin: DVec3::ZERO, axes: DMat3::IDENTITY };
//! let shape = Shape::Metaballs(balls);
//! let velocity = DVec3::ZERO;
//! let drop = Instance { drop: 1, solid: Some(0), frame, volume: 4e-9, velocity, shape };
//! let surface = drop_mesh(&drop, &Detail::default());
//! assert!((surface.mesh.volume() / 4e-9 - 1.0).abs() < 1e-9);
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod build;
mod confine;
mod cut_ball;
mod drape;
mod ellipsoid_cap;
mod instance;
mod layer;
mod meridian;
mod metaball_drop;
mod metaballs;
mod patch;
mod profile;

pub use build::{Detail, DropMesh, drop_mesh, make_drop_mesh, volume_scale};
pub use confine::confine;
pub use cut_ball::cut_ball;
pub use drape::{DrapeScratch, Fit, SubstrateOffsets, drape, drape_flat, drape_layer};
pub use instance::{Body, Draped, Instance, LocalFrame, Shape};
pub use layer::layer;
pub use metaball_drop::{FRONT_DIRECTIONS, MetaballDrop};
pub use metaballs::{Ball, THRESHOLD};
pub use patch::Patch;
pub use profile::Profile;
