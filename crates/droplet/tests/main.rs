//! The crate's integration tests, in one program: linking is a large part of their time.

mod balance_and_determinism;
mod by_hand;
mod coalescence;
mod displayed_shapes;
mod first_frame_and_flight;
mod other_solids;
mod paper_roughness;
mod paper_shapes;
mod retention_and_sliding;
mod step_report;
mod support;
