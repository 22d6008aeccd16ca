//! Drops on the cells of a flat pane, after Algan et al. (algan), and made physical.
//!
//! Two forms share the pane's two-level grid ([`ground`]), drops in the air ([`flight`]) and shapes ([`forms`]):
//!
//! - [`physical`]: drops hold, run, meander, merge and leave trails by the liquid's and the material's numbers;
//! - [`automaton`]: the paper's Algorithm 1 to the letter, with its critical weights and residue.

pub mod automaton;
pub mod drops;
pub mod error;
pub mod flight;
pub mod forms;
pub mod ground;
pub mod impurity;
pub mod laws;
pub mod motion;
pub mod neck;
pub mod neighbours;
pub mod pane;
pub mod physical;
pub mod setup;
pub mod sheet;
pub mod trail;
pub mod wet_map;

pub use error::PaneError;
pub use pane::Pane;
