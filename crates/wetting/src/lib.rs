//! Liquids and materials with their data, contact-angle laws and exact solutions.

pub mod cap;
pub mod liquid;
pub mod material;
mod ode;
pub mod pendant;
mod root;
pub mod young_laplace;

pub use liquid::Liquid;
pub use material::Wetting;
