//! Water drops by a sparse level set and the Navier–Stokes equations, after Wang, Mucha and Turk
//! (wang2005).
//!
//! Space is divided into tiles of 8 × 8 × 8 cells, of which only those with liquid or near its
//! interface exist. A step is a sequence of stages, each a file that opens with its equations
//! (`fluid.rs`); [`Volume`] is the model that the rest of the program runs. docs/volume.md
//! describes the method and its limits.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![allow(clippy::needless_range_loop, reason = "a stencil's cell and axis index several fields at once")]

mod advection;
mod contact_angle;
mod contact_curvature;
mod covered_walls;
mod curvature;
mod cutting;
mod divergence_correction;
mod domain_exit;
mod drops;
mod error;
mod evaporation;
mod extrapolation;
mod faces;
mod far_side_culling;
mod fast_marching;
mod fluid;
mod frame_fields;
mod free_motion;
mod grid;
mod interface_advection;
mod level_set_advection;
mod line_state;
mod line_transport;
mod mirrors;
mod moving_line;
mod net_capillary_force;
mod parameters;
mod parasitic_currents;
mod particles;
mod poisson;
mod projection;
mod redistance;
mod scratch;
mod setup;
mod short_wave_inertia;
mod solids;
mod sources;
mod speed_limit;
mod spray;
mod spray_transfer;
mod state;
mod surface_extraction;
mod tile_activation;
mod tiles;
mod virtual_surface;
mod viscosity;
mod viscous_stress;
mod volume;
mod volume_fraction;
mod volume_restoration;
mod wetting_history;
mod wind;

/// Internals that the crate's benches measure; not part of the interface.
#[doc(hidden)]
pub mod bench_internals {
    pub use crate::poisson::{Method, OptionalUnknown, Options, Solver, System};
    pub use crate::surface_extraction::{ExtractionFields, GridPlacement, NearestWall, extract_surface};
    pub use crate::tiles::{CELLS, CellIndex, Tiles, Topology};
}

pub use error::VolumeError;
pub use setup::MemoryEstimate;
pub use volume::Volume;

#[cfg(test)]
mod testing;
