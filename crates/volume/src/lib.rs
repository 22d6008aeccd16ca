//! Water drops by a sparse level set and the Navier–Stokes equations, after Wang, Mucha and Turk (wang2005).
//!
//! Space is cut into tiles of 8 × 8 × 8 cells ([`tiles`]), and only those that hold liquid or lie near its surface exist.

pub mod particles;
pub mod poisson;
pub mod skin;
pub mod spray;
pub mod tiles;
pub mod virtual_surface;
