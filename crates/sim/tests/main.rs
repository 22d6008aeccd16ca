//! The crate's integration tests, in one program: linking is a large part of their time.

mod carried_drops;
mod common;
mod evaporation;
mod landing;
mod pane_against_droplet;
mod run;
