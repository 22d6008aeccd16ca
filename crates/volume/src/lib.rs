//! Water drops by a sparse level set and the Navier–Stokes equations, after Wang, Mucha and Turk (wang2005).
//!
//! Space is cut into tiles of 8 × 8 × 8 cells ([`tiles`]), and only those that hold liquid or lie near its surface exist. [`fluid`] is one step of the
//! liquid, each of its stages a file; [`Volume`] is the model that the rest of the program drives. docs/volume.md tells the method and its limits.

#![allow(clippy::needless_range_loop, reason = "a stencil's cell and axis index several fields at once")]

mod advection;
mod airborne;
mod contact_curvature;
mod curvature;
mod drops;
mod error;
mod extension;
mod extrapolation;
mod faces;
mod far_side;
mod fluid;
mod fractions;
mod grid;
mod history;
mod net_pull;
mod outflow;
mod particles;
mod picture;
mod poisson;
mod projection;
mod redistance;
mod setup;
mod skin;
mod solids;
mod sources;
mod spray;
mod surface_loops;
mod surface_motion;
mod tiles;
mod virtual_surface;
mod viscosity;
mod volume;
mod wind;

/// Internals that the crate's benches measure; not part of the interface.
#[doc(hidden)]
pub mod bench_internals {
    pub use crate::poisson::{Method, NONE, Options, Solver, System};
    pub use crate::skin::{Liquid, Placement, Wall, skin};
    pub use crate::tiles::{CELLS, Tiles, Topology};
}

pub use error::VolumeError;
pub use volume::Volume;

#[cfg(test)]
mod testing;
