//! Liquid presets: properties at 20 °C, and their sources.
//!
//! Evidence is classified as in `docs/wetting.md`: *seen* in a source, *unverified* general
//! knowledge, or *computed* here.

use crate::liquid::Liquid;

/// A named liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiquidPreset {
    /// Kebab-case name, as scenes write it.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Its numbers.
    pub liquid: Liquid,
    /// What it looks like.
    pub appearance: LiquidAppearance,
    /// Sources and uncertainty of the numbers.
    pub evidence: &'static str,
}

/// kg/m³, mm²/s, mN/m, refractive index.
const fn liquid(density: f64, viscosity: f64, surface_tension: f64, refractive_index: f64) -> Liquid {
    Liquid { density, viscosity: viscosity * 1e-6, surface_tension: surface_tension * 1e-3, refractive_index }
}

const fn preset(name: &'static str, title: &'static str, liquid: Liquid, evidence: &'static str) -> LiquidPreset {
    LiquidPreset { name, title, liquid, appearance: LiquidAppearance::Clear, evidence }
}

/// What a liquid looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiquidAppearance {
    /// Clear as water.
    Clear,
    /// Clear and amber.
    Honey,
    /// Clear and greenish yellow.
    OliveOil,
    /// Turbid and white.
    Milk,
    /// Turbid and red.
    Blood,
    /// A liquid metal.
    Mercury,
}

impl LiquidPreset {
    const fn looking(self, appearance: LiquidAppearance) -> Self {
        Self { appearance, ..self }
    }

    /// Whether no light passes: the liquid is a metal or turbid, and the refractive index is that
    /// of its surface.
    pub fn is_opaque(&self) -> bool {
        match self.appearance {
            LiquidAppearance::Clear | LiquidAppearance::Honey | LiquidAppearance::OliveOil => false,
            LiquidAppearance::Milk | LiquidAppearance::Blood | LiquidAppearance::Mercury => true,
        }
    }
}

static LIQUIDS: [LiquidPreset; 16] = [
    preset(
        "water",
        "Water",
        liquid(1000.0, 1.0, 73.0, 1.333),
        "rounded; tables seen give 998 kg/m³, 1.004 mm²/s, 72.8 mN/m",
    ),
    preset(
        "soapy-water",
        "Soapy water, above the critical micelle concentration",
        liquid(998.0, 1.0, 29.0, 1.333),
        "tension seen between 25 and 33 mN/m; contact angles collapse too: about 20/1 degrees on anything (unverified)",
    ),
    preset(
        "ethanol",
        "Ethanol",
        liquid(789.0, 1.5, 22.1, 1.361),
        "tension, index and viscosity (at 25 °C) seen, density unverified; wets nearly everything",
    ),
    preset(
        "isopropanol",
        "Isopropanol",
        liquid(785.0, 3.1, 21.7, 1.38),
        "index seen, the rest unverified; wets nearly everything",
    ),
    preset(
        "ethylene-glycol",
        "Ethylene glycol",
        liquid(1113.0, 18.0, 47.7, 1.43),
        "tension, index and viscosity (at 25 °C) seen, density unverified",
    ),
    preset(
        "glycerol",
        "Glycerol",
        liquid(1261.0, 1121.0, 63.5, 1.473),
        "density and viscosity computed, tension and index seen; strongly hygroscopic, so often thinner",
    ),
    preset(
        "glycerol-80",
        "Glycerol in water, 80 % by mass",
        liquid(1208.0, 50.4, 66.0, 1.444),
        "density and viscosity computed, tension and index unverified",
    ),
    preset(
        "glycerol-60",
        "Glycerol in water, 60 % by mass",
        liquid(1154.0, 9.46, 68.0, 1.413),
        "density and viscosity computed, tension and index unverified",
    ),
    preset(
        "glycerol-40",
        "Glycerol in water, 40 % by mass",
        liquid(1099.0, 3.35, 70.0, 1.384),
        "density and viscosity computed, tension and index unverified",
    ),
    preset(
        "honey",
        "Honey with 17 % water",
        liquid(1420.0, 12_000.0, 55.0, 1.494),
        "viscosity interpolated between 7 Pa s at 30 °C and 60 at 14 °C (seen), twentyfold with water content; index seen, \
         tension ±5 and density unverified",
    )
    .looking(LiquidAppearance::Honey),
    preset(
        "milk",
        "Whole milk",
        liquid(1030.0, 2.0, 52.4, 1.35),
        "density and tension seen, viscosity and index unverified; turbid",
    )
    .looking(LiquidAppearance::Milk),
    preset(
        "blood",
        "Blood",
        liquid(1064.0, 5.0, 60.6, 1.36),
        "density and tension seen, viscosity (3.15 mm²/s seen at 37 °C) and index unverified; turbid and shear-thinning",
    )
    .looking(LiquidAppearance::Blood),
    preset(
        "olive-oil",
        "Olive oil",
        liquid(913.0, 90.0, 32.5, 1.467),
        "density, viscosity (at 25 °C) and tension seen, index unverified",
    )
    .looking(LiquidAppearance::OliveOil),
    preset(
        "mercury",
        "Mercury",
        liquid(13_546.0, 0.114, 486.0, 1.6),
        "viscosity (at 25 °C) seen, tension seen between 425 and 487 mN/m, density unverified; a metal, its index stands for \
         nothing; about 140 degrees on glass with 6 degrees of hysteresis",
    )
    .looking(LiquidAppearance::Mercury),
    preset(
        "silicone-oil-10",
        "Silicone oil, 10 cSt",
        liquid(935.0, 10.0, 20.1, 1.399),
        "viscosity by definition, the rest unverified; wets nearly everything",
    ),
    preset(
        "silicone-oil-100",
        "Silicone oil, 100 cSt",
        liquid(965.0, 100.0, 20.9, 1.403),
        "viscosity by definition, the rest unverified; wets nearly everything",
    ),
];

/// All liquid presets; the first is the default.
pub fn liquid_presets() -> &'static [LiquidPreset] {
    &LIQUIDS
}

/// The liquid with this name.
pub fn liquid_preset(name: &str) -> Option<&'static LiquidPreset> {
    LIQUIDS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dynamic viscosity of a glycerol–water mixture (cheng2008), in Pa·s.
    ///
    /// `fraction` of glycerol by mass, 0 to 1; `celsius` 0 to 100:
    ///
    /// ```text
    /// η = η_w^s η_g^(1−s),   s = 1 − C + abC(1−C)/(aC + b(1−C))
    /// a = 0.705 − 0.0017T,   b = (4.9 + 0.036T) a^2.5
    /// ```
    fn glycerol_water_viscosity(fraction: f64, celsius: f64) -> f64 {
        let (c, t) = (fraction, celsius);
        let water = 1.790 * ((-1230.0 - t) * t / (36_100.0 + 360.0 * t)).exp();
        let glycerol = 12_100.0 * ((-1233.0 + t) * t / (9900.0 + 70.0 * t)).exp();
        let a = 0.705 - 0.0017 * t;
        let b = (4.9 + 0.036 * t) * a.powf(2.5);
        let s = 1.0 - c + a * b * c * (1.0 - c) / (a * c + b * (1.0 - c));
        1e-3 * water.powf(s) * glycerol.powf(1.0 - s)
    }

    #[test]
    fn water_is_the_default_liquid() {
        let water = &liquid_presets()[0];
        assert_eq!(water.name, "water");
        assert_eq!(water.liquid, Liquid::water());
    }

    /// Kinematic viscosities of the glycerol presets follow from the formula and their densities,
    /// to their last digit.
    #[test]
    fn glycerol_presets_follow_the_mixture_formula() {
        for (name, fraction) in [("glycerol", 1.0), ("glycerol-80", 0.8), ("glycerol-60", 0.6), ("glycerol-40", 0.4)] {
            let liquid = liquid_preset(name).unwrap().liquid;
            let got = glycerol_water_viscosity(fraction, 20.0) / liquid.density;
            assert!((got / liquid.viscosity - 1.0).abs() < 2e-3, "{name}: {got:e} against {:e}", liquid.viscosity);
        }
        let water = glycerol_water_viscosity(0.0, 20.0);
        assert!((water / 1.002e-3 - 1.0).abs() < 5e-3, "pure water {water}");
    }

    #[test]
    fn names_are_unique_kebab_case_and_numbers_plausible() {
        for (i, preset) in LIQUIDS.iter().enumerate() {
            assert!(preset.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(LIQUIDS[..i].iter().all(|other| other.name != preset.name), "{} twice", preset.name);
            let l = preset.liquid;
            assert!((500.0..20_000.0).contains(&l.density), "{}", preset.name);
            assert!((1e-8..1e-1).contains(&l.viscosity), "{}", preset.name);
            assert!((0.01..0.6).contains(&l.surface_tension), "{}", preset.name);
            assert!((1.0..2.5).contains(&l.refractive_index), "{}", preset.name);
            assert!(!preset.title.is_empty() && !preset.evidence.is_empty());
        }
        let length = liquid_preset("mercury").unwrap().liquid.capillary_length(9.8);
        assert!((length - 1.9e-3).abs() < 5e-5, "mercury's capillary length {length}");
        assert!(liquid_preset("unobtainium").is_none());
    }

    #[test]
    fn documentation_names_every_liquid() {
        let page = include_str!("../../../docs/wetting.md");
        for preset in liquid_presets() {
            assert!(page.contains(&format!("`{}`", preset.name)), "docs/wetting.md lacks {}", preset.name);
        }
    }
}
