//! Liquids: what a simulation needs to know of one.

use serde::{Deserialize, Serialize};

/// A Newtonian liquid in air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Liquid {
    /// Density ρ, in kg/m³.
    pub density: f64,
    /// Kinematic viscosity ν, in m²/s.
    pub viscosity: f64,
    /// Surface tension γ against air, in N/m.
    pub surface_tension: f64,
    /// Refractive index n at 589 nm.
    pub refractive_index: f64,
}

impl Liquid {
    /// Dynamic viscosity η = ρν, in Pa·s.
    pub fn dynamic_viscosity(&self) -> f64 {
        self.density * self.viscosity
    }

    /// Capillary length √(γ/ρg) under an acceleration `gravity` ≥ 0 in m/s², in m; infinite without gravity.
    pub fn capillary_length(&self, gravity: f64) -> f64 {
        (self.surface_tension / (self.density * gravity)).sqrt()
    }
}
