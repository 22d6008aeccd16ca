//! Water drops by a sparse level set and the Navier–Stokes equations, after Wang, Mucha and Turk (wang2005).
//!
//! Space is cut into tiles of 8 × 8 × 8 cells ([`tiles`]), and only those that hold liquid or lie near its surface exist. [`fluid`] is one step of the
//! liquid, each of its stages a file; [`Volume`] is the model that the rest of the program drives. docs/volume.md tells the method and its limits.

#![allow(clippy::needless_range_loop, reason = "a stencil's cell and axis index several fields at once")]

pub mod advection;
pub mod airborne;
pub mod contact_curvature;
pub mod curvature;
pub mod drops;
pub mod error;
pub mod extension;
pub mod extrapolation;
pub mod faces;
mod far_side;
pub mod fluid;
pub mod fractions;
pub mod grid;
pub mod history;
pub mod net_pull;
pub mod outflow;
pub mod particles;
pub mod picture;
pub mod poisson;
pub mod projection;
pub mod redistance;
pub mod setup;
pub mod skin;
pub mod solids;
pub mod sources;
pub mod spray;
pub mod surface_loops;
pub mod surface_motion;
pub mod tiles;
pub mod virtual_surface;
pub mod viscosity;
pub mod volume;
pub mod wind;

pub use error::VolumeError;
pub use volume::Volume;

#[cfg(test)]
mod testing;
