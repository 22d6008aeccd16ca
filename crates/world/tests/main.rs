//! The crate's integration tests, in one program: linking is a large part of their time.

mod common;
mod emission;
mod initial_drops;
mod materials;
mod mesh_solids;
mod solids;
