//! Material presets: contact angles of water, and their sources.
//!
//! Angles are for water at room temperature. Treat every receding angle as ±10–15°: it depends on
//! the method, on contact time and on dirt. Roughness is one representative value of the material's
//! usual range (unverified). Other liquids meet a solid at other angles; see `docs/wetting.md`.
//!
//! What the table does not give follows by rule:
//!
//! - `wet_advancing` = θ_r + 0.3 (θ_a − θ_r) (unverified) on glass (bare), stone, glaze and matt
//!   paint, which keep a wetting history;
//! - `affinity` = (1 + cos θ_a)/2, the work of adhesion over 2γ (Young and Dupré);
//! - `adhesion` = (2/3) ρ g r, with r the radius of the hemisphere as large as the largest drop of
//!   water that hangs at θ_a: in the paper mode a hemisphere detaches when its weight exceeds
//!   adhesion times its base.

use std::f64::consts::PI;
use std::sync::OnceLock;

use crate::liquids::liquid_presets;
use crate::material::Wetting;
use crate::pendant_limit::pendant_limit;

/// Standard gravity of the scenes, in m/s².
const GRAVITY: f64 = 9.8;
/// Where the advancing angle of a wet solid lies between θ_r (0) and θ_a (1); unverified.
const WET_FRACTION: f64 = 0.3;

/// A named material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialPreset {
    /// Kebab-case name, as scenes write it.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// How water wets it.
    pub wetting: Wetting,
    /// Other names that find it.
    pub aliases: &'static [&'static str],
    /// Sources and uncertainty of the numbers; angles in degrees.
    pub evidence: &'static str,
}

/// Whether a material keeps a wetting history.
#[derive(Clone, Copy)]
enum History {
    Forgets,
    Remembers,
}
use History::{Forgets, Remembers};
use sessile_numerics::math;

/// Name, title, θ_a and θ_r in degrees, history, roughness in m, aliases, evidence.
type Row = (&'static str, &'static str, f64, f64, History, f64, &'static [&'static str], &'static str);

#[rustfmt::skip]
static ROWS: [Row; 31] = [
    ("glass", "Glass, ordinary indoors", 50.0, 15.0, Remembers, 5e-9, &["window", "glass-indoor"],
        "angles unverified (static 30–60 as found)"),
    ("glass-clean", "Glass, freshly cleaned", 15.0, 4.0, Remembers, 3e-9, &["clean-glass"],
        "static 13.6 seen; the line recedes only at 2–4 (seen); advancing unverified"),
    ("glass-outdoor", "Glass, a window outdoors", 65.0, 25.0, Remembers, 1e-7, &["outdoor-window"],
        "unverified; dirt rules"),
    ("glass-fluorosilane", "Glass with a fluorosilane monolayer", 112.0, 80.0, Forgets, 5e-9, &["fluorosilane"],
        "hysteresis of 35 seen, its split unverified"),
    ("glass-silicone", "Glass with a silicone monolayer", 104.0, 100.0, Forgets, 1e-9, &["silicone-monolayer"],
        "104/102 seen; receding lowered for wear (unverified)"),
    ("windshield-coating", "Windshield with a water-repellent coating", 110.0, 90.0, Forgets, 5e-9, &["windshield", "coated-glass"],
        "static above 100 when new, 80–120 by product (seen); receding unverified"),
    ("acrylic", "Acrylic (PMMA)", 80.0, 58.0, Forgets, 2e-8, &["pmma", "plexiglass"],
        "static 70.9 seen; both angles unverified"),
    ("polycarbonate", "Polycarbonate", 88.0, 66.0, Forgets, 2e-8, &["pc"],
        "static 82 seen; both angles unverified"),
    ("abs", "ABS, hard plastic", 86.0, 58.0, Forgets, 3e-7, &["plastic"],
        "static 80.9 seen; both angles unverified"),
    ("polyethylene", "Polyethylene", 98.0, 80.0, Forgets, 3e-7, &["pe"],
        "static 96 seen; both angles unverified"),
    ("ptfe", "PTFE", 113.0, 92.0, Forgets, 2e-7, &["teflon"],
        "static 109.2 and 94.5 seen; both angles unverified"),
    ("wax", "Paraffin wax", 110.0, 98.0, Forgets, 1e-6, &["paraffin", "paraffin-wax"],
        "static 108.9 seen; receding unverified"),
    ("pdms", "PDMS rubber", 114.0, 85.0, Forgets, 5e-9, &["silicone-rubber"],
        "static 107.2 and 115/69 by Wilhelmy plate seen; receding 70–100, higher when rich in oil"),
    ("steel", "Stainless steel", 80.0, 35.0, Forgets, 2e-7, &["stainless-steel"],
        "static 66 and 86 by grit, below 10 to 126 by dirt (seen); receding unverified"),
    ("aluminium", "Aluminium", 80.0, 30.0, Forgets, 3e-7, &["aluminum"],
        "unverified"),
    ("copper", "Copper", 85.0, 40.0, Forgets, 2e-7, &[],
        "unverified"),
    ("marble", "Marble, polished", 55.0, 18.0, Remembers, 3e-7, &[],
        "static 43–53 by crystal face seen; both angles unverified"),
    ("granite", "Granite, polished", 50.0, 15.0, Remembers, 3e-7, &["stone"],
        "unverified"),
    ("ceramic", "Ceramic glaze", 40.0, 10.0, Remembers, 5e-8, &["tile", "porcelain"],
        "unverified"),
    ("wall-paint", "Wall paint, matt", 75.0, 25.0, Remembers, 1e-5, &[],
        "unverified; porous, so it also absorbs, which no model here does"),
    ("car-paint", "Car paint, unwaxed", 80.0, 45.0, Forgets, 3e-8, &[],
        "\"beads\" above 70 (seen); both angles unverified"),
    ("car-paint-waxed", "Car paint, waxed", 103.0, 82.0, Forgets, 3e-8, &["waxed-car-paint"],
        "unverified"),
    ("skin", "Skin, washed", 102.0, 60.0, Forgets, 2e-5, &[],
        "above 100 when degreased (seen); receding unverified"),
    ("skin-oily", "Skin, oily", 75.0, 40.0, Forgets, 2e-5, &["oily-skin"],
        "55–65 on an unwashed finger (seen); both angles unverified"),
    ("hair", "Hair, virgin", 100.0, 75.0, Forgets, 3e-7, &[],
        "unverified; fibers of 60–90 µm, so level-solid laws do not apply; bleached about 75/40"),
    ("leaf", "Leaf, ordinary", 95.0, 50.0, Forgets, 5e-6, &["plant"],
        "static 60–140 over 19 species seen; receding unverified"),
    ("lotus", "Lotus leaf", 163.0, 157.0, Forgets, 1e-5, &["lotus-leaf"],
        "unverified; a wild pansy's 169 and roll-off below 5 degrees seen"),
    ("rose-petal", "Rose petal", 153.0, 80.0, Forgets, 2e-5, &["rose"],
        "high angle and no rolling seen; both angles unverified"),
    ("superhydrophobic", "Superhydrophobic coating, the best", 173.0, 171.0, Forgets, 1e-7, &[],
        "173/171 seen"),
    ("plastic-90-60", "The water-drop papers' plastic", 90.0, 60.0, Forgets, 0.0, &[],
        "the papers' numbers"),
    ("glass-90-30", "The water-drop papers' glass", 90.0, 30.0, Forgets, 0.0, &[],
        "the papers' numbers"),
];

/// All material presets.
pub fn material_presets() -> &'static [MaterialPreset] {
    static PRESETS: OnceLock<Vec<MaterialPreset>> = OnceLock::new();
    PRESETS.get_or_init(|| ROWS.iter().map(preset).collect())
}

/// The material of a name or an alias; spaces and underscores count as hyphens, and case does not
/// count.
pub fn material_preset(name: &str) -> Option<&'static MaterialPreset> {
    let name: String =
        name.trim().chars().map(|c| if c == ' ' || c == '_' { '-' } else { c.to_ascii_lowercase() }).collect();
    let presets = material_presets();
    presets
        .iter()
        .find(|preset| preset.name == name)
        .or_else(|| presets.iter().find(|preset| preset.aliases.contains(&name.as_str())))
}

fn preset(&(name, title, advancing, receding, history, roughness, aliases, evidence): &Row) -> MaterialPreset {
    // In degrees and to a tenth of one, as all angles of the table are, so that it prints as such.
    let wet_advancing = match history {
        Forgets => None,
        Remembers => Some((10.0 * (receding + WET_FRACTION * (advancing - receding))).round() / 10.0),
    };
    let (advancing, receding, wet_advancing) =
        (advancing.to_radians(), receding.to_radians(), wet_advancing.map(f64::to_radians));
    let wetting = Wetting { wet_advancing, roughness: [roughness; 2], ..Wetting::smooth(advancing, receding) };
    MaterialPreset { name, title, wetting, aliases, evidence }
}

/// Affinity of the pane model's paper mode where none is given, (1 + cos θ_a)/2.
pub fn default_affinity(advancing: f64) -> f64 {
    0.5 * (1.0 + math::cos(advancing))
}

/// Adhesion of the droplet model's paper mode where none is given, in Pa: for water under 9.8 m/s²
/// (see the [module](self)).
pub fn default_adhesion(advancing: f64) -> f64 {
    let water = liquid_presets()[0].liquid;
    let volume = pendant_limit(advancing) * water.capillary_length(GRAVITY).powi(3);
    let radius = math::cbrt(1.5 / PI * volume);
    2.0 / 3.0 * water.density * GRAVITY * radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::critical_volume;

    /// Largest drop retained on a vertical wall, in µL, to the digits of `docs/wetting.md` (hair is
    /// a fiber and has none).
    #[test]
    fn presets_retain_the_documented_volumes() {
        let documented: [(&str, f64); 30] = [
            ("glass", 12.0),
            ("glass-clean", 0.7),
            ("glass-outdoor", 18.0),
            ("glass-fluorosilane", 12.0),
            ("glass-silicone", 0.6),
            ("windshield-coating", 6.0),
            ("acrylic", 10.0),
            ("polycarbonate", 9.0),
            ("abs", 13.0),
            ("polyethylene", 6.0),
            ("ptfe", 6.0),
            ("wax", 3.0),
            ("pdms", 10.0),
            ("steel", 23.0),
            ("aluminium", 26.0),
            ("copper", 24.0),
            ("marble", 14.0),
            ("granite", 12.0),
            ("ceramic", 8.0),
            ("wall-paint", 25.0),
            ("car-paint", 18.0),
            ("car-paint-waxed", 7.0),
            ("skin", 20.0),
            ("skin-oily", 17.0),
            ("leaf", 23.0),
            ("lotus", 0.03),
            ("rose-petal", 9.0),
            ("superhydrophobic", 0.0004),
            ("plastic-90-60", 14.0),
            ("glass-90-30", 32.0),
        ];
        let water = liquid_presets()[0].liquid;
        for (name, expected) in documented {
            let wetting = material_preset(name).unwrap().wetting;
            let got = critical_volume(&water, &wetting, GRAVITY, 0.5 * PI) * 1e9;
            // Half of the last digit written.
            let digit = if expected >= 1.0 { 1.0 } else { 10.0_f64.powf(f64::floor(expected.log10() + 1e-9)) };
            assert!((got - expected).abs() <= 0.51 * digit, "{name}: {got} µL, expected {expected}");
        }
        assert_eq!(documented.len() + 1, material_presets().len());
    }

    #[test]
    fn every_preset_is_a_valid_material() {
        for preset in material_presets() {
            let w = preset.wetting;
            assert!(0.0 < w.receding && w.receding <= w.advancing && w.advancing < PI, "{}", preset.name);
            assert!(w.wet_advancing.is_none_or(|wet| w.receding <= wet && wet <= w.advancing), "{}", preset.name);
            assert!((0.0..=1.0).contains(&w.affinity), "{}: affinity {}", preset.name, w.affinity);
            assert!(w.adhesion > 0.0 && w.adhesion < 50.0, "{}: adhesion {} Pa", preset.name, w.adhesion);
            assert!((0.0..1e-4).contains(&w.roughness[0]), "{}", preset.name);
            assert!(!preset.title.is_empty() && !preset.evidence.is_empty());
        }
    }

    #[test]
    fn names_and_aliases_are_unique_and_find_their_material() {
        let presets = material_presets();
        let mut all: Vec<&str> = presets.iter().flat_map(|p| p.aliases.iter().copied().chain([p.name])).collect();
        all.sort_unstable();
        for pair in all.windows(2) {
            assert_ne!(pair[0], pair[1], "used twice");
        }
        for name in all {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
        for (alias, name) in [
            ("lotus leaf", "lotus"),
            ("Teflon", "ptfe"),
            ("PMMA", "acrylic"),
            ("stainless_steel", "steel"),
            ("paraffin", "wax"),
        ] {
            assert_eq!(material_preset(alias).map(|p| p.name), Some(name), "{alias}");
        }
        assert!(material_preset("vibranium").is_none());
    }

    #[test]
    fn only_hydrophilic_materials_keep_a_wetting_history() {
        let glass = material_preset("glass").unwrap().wetting;
        let wet = glass.wet_advancing.unwrap().to_degrees();
        assert!((wet - 25.5).abs() < 1e-9, "wet glass advances at {wet}°");
        for preset in material_presets() {
            let w = preset.wetting;
            for angle in [Some(w.advancing), Some(w.receding), w.wet_advancing].into_iter().flatten() {
                let tenths = (10.0 * angle.to_degrees()).round() / 10.0;
                assert_eq!(tenths.to_radians(), angle, "{}: {}° is not {tenths}°", preset.name, angle.to_degrees());
            }
        }
        assert!(material_preset("ptfe").unwrap().wetting.wet_advancing.is_none());
    }

    /// 90°: the limit of 69.3 µL is a hemisphere of 3.21 mm, which 21 Pa just retain.
    #[test]
    fn adhesion_just_retains_the_largest_pendant_drop() {
        let adhesion = default_adhesion(0.5 * PI);
        assert!((adhesion - 21.0).abs() < 0.1, "{adhesion} Pa");
        assert!(default_adhesion(2.8) < adhesion && adhesion < default_adhesion(0.5));
    }

    #[test]
    fn documentation_names_every_material() {
        let page = include_str!("../../../docs/wetting.md");
        for preset in material_presets() {
            assert!(page.contains(&format!("`{}`", preset.name)), "docs/wetting.md lacks {}", preset.name);
        }
    }
}
