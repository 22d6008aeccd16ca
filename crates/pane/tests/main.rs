//! The crate's integration tests, in one program: linking is a large part of their time.

mod balance_and_restart;
mod by_hand;
mod large_drops;
mod other_solids;
mod paper_routes;
mod random_scenes;
mod retention_and_sliding;
mod support;
