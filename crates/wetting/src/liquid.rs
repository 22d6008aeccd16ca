//! The properties of a liquid that the models use.

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
    /// Water at 20 °C, rounded: 1000 kg/m³, 1 mm²/s, 73 mN/m.
    pub const fn water() -> Self {
        Self { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 }
    }

    /// Dynamic viscosity η = ρν, in Pa·s.
    pub fn dynamic_viscosity(&self) -> f64 {
        self.density * self.viscosity
    }

    /// Capillary length √(γ/ρg) under an acceleration `gravity` ≥ 0 in m/s², in m; infinite without
    /// gravity.
    pub fn capillary_length(&self, gravity: f64) -> f64 {
        (self.surface_tension / (self.density * gravity)).sqrt()
    }
}
