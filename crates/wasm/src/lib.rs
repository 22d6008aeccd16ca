//! The models `pane`, `droplet` and `surface` as a WebAssembly module, for the npm package
//! `sessile` (`web/`).
//!
//! [`Simulation`] is what the module does; it has no files, no clock and no threads, and gives the
//! same bits natively and in a browser. `exports` are its functions as JavaScript calls them.
//!
//! ```
//! use sessile_input::InMemory;
//! use sessile_wasm::Simulation;
//!
//! # fn main() -> Result<(), String> {
//! let text = r#"
//!     model = "pane"
//!     time = { duration = "1 s", frame = "0.1 s" }
//!     solids = [{ name = "table", size = "40 40 mm" }]
//! "#;
//! let mut simulation = Simulation::load(text, InMemory::default())?;
//! simulation.add(glam::DVec3::ZERO, glam::DVec3::ZERO, 5e-9)?;
//! simulation.step(1.0 / 60.0)?;
//! assert_eq!(simulation.view().num_drops(), 1);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod exports;
mod simulation;

pub use simulation::{FlatMesh, Simulation, THICK_FILM};
