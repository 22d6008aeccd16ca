//! Presets of liquids and materials, by name.

use sessile_wetting::{Liquid, Wetting};

const WATER: Liquid = Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };

/// The default liquid.
pub(crate) fn water() -> (String, Liquid) {
    ("water".to_owned(), WATER)
}

/// A liquid preset's name and values.
pub(crate) fn liquid(name: &str) -> Option<(String, Liquid)> {
    (name == "water").then(|| ("water".to_owned(), WATER))
}

/// Every name of a liquid preset.
pub(crate) fn liquid_names() -> Vec<&'static str> {
    vec!["water"]
}

/// A material preset's values.
pub(crate) fn material(name: &str) -> Option<Wetting> {
    let angles = match name {
        "glass" => (50.0f64, 15.0f64),
        "wax" => (110.0, 98.0),
        _ => return None,
    };
    Some(Wetting {
        advancing: angles.0.to_radians(),
        receding: angles.1.to_radians(),
        wet_advancing: None,
        receding_limit: None,
        roughness: [0.0; 2],
        adhesion: 10.0,
        affinity: 0.5,
    })
}

/// Every name of a material preset.
pub(crate) fn material_names() -> Vec<&'static str> {
    vec!["glass", "wax"]
}
