//! Presets of liquids and materials, by name.

use sessile_wetting::{LiquidPreset, Wetting, liquid_preset, liquid_presets, material_preset, material_presets};

/// The default liquid: water.
pub(crate) fn default_liquid() -> &'static LiquidPreset {
    &liquid_presets()[0]
}

/// A liquid preset by name.
pub(crate) fn liquid(name: &str) -> Option<&'static LiquidPreset> {
    liquid_preset(name)
}

/// Names of all liquid presets.
pub(crate) fn liquid_names() -> impl Iterator<Item = &'static str> {
    liquid_presets().iter().map(|preset| preset.name)
}

/// A material preset by its name or an alias.
pub(crate) fn material(name: &str) -> Option<Wetting> {
    material_preset(name).map(|preset| preset.wetting)
}

/// Names of all material presets, aliases last.
pub(crate) fn material_names() -> impl Iterator<Item = &'static str> {
    let aliases = material_presets().iter().flat_map(|preset| preset.aliases.iter().copied());
    material_presets().iter().map(|preset| preset.name).chain(aliases)
}
