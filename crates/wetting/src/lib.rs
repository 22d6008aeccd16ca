//! Liquids and materials with their data, contact-angle laws and exact solutions.

pub mod liquid;
pub mod material;

pub use liquid::Liquid;
pub use material::Wetting;
