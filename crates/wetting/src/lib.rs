//! Liquids and materials with their data, contact-angle laws and exact solutions.

pub mod cap;
pub mod capillary;
pub mod drying;
pub mod film;
pub mod liquid;
pub mod material;
mod ode;
pub mod pendant;
mod pendant_limit;
pub mod retention;
mod root;
pub mod sliding;
pub mod table;
pub mod waves;
pub mod young_laplace;

pub use liquid::Liquid;
pub use material::Wetting;
