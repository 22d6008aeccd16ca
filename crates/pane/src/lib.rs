//! Drops on the cells of a flat pane, after Algan et al. (algan), and made physical.
//!
//! Two forms share the pane's two-level grid ([`ground`]), drops in the air ([`flight`]) and shapes ([`forms`]):
//!
//! - [`physical`]: drops hold, run, meander, merge and leave trails by the liquid's and the material's numbers;
//! - [`automaton`]: the paper's Algorithm 1 to the letter, with its critical weights and residue.
//!
//! [`Pane`] is the model that the rest of the program drives; docs/pane.md tells the physics and its limits.
//!
//! ```
//! use sessile_model::{Model, NoTimer};
//! use sessile_pane::Pane;
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_world::World;
//!
//! let text = r#"
//!     model = "pane"
//!     [time]
//!     duration = "1 s"
//!     frame = "0.1 s"
//!     [[solids]]
//!     name = "window"
//!     material = "acrylic"                    # holds 10 µL upright
//!     shape = "plane"
//!     normal = [0, 0, 1]
//!     size = "100 200 mm"
//!     [[drops]]
//!     shape = "cap"
//!     on = "window"
//!     volume = "20 uL"
//!     contact_angle = "80 deg"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut pane = Pane::new(&scene, World::build(&scene)?)?;
//! while pane.time() < 0.2 {
//!     pane.step(0.2 - pane.time(), &mut NoTimer)?;
//! }
//! assert!(pane.frame().drops[0].velocity.y < -0.1, "it runs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod automaton;
mod drops;
mod error;
mod flight;
mod forms;
mod ground;
mod impurity;
mod laws;
mod motion;
mod neck;
mod neighbors;
mod pane;
mod physical;
mod setup;
mod sheet;
mod trail;
mod wet_map;

pub use error::PaneError;
pub use pane::Pane;
