//! Liquids and materials with their data, contact-angle laws, and exact solutions.
//!
//! This crate knows what water does on a solid before anything is simulated. It stands at the head of the flow: scenes
//! take their presets from it, the fast models (pane, droplet) their laws, the slow ones (surface, volume) the answers that
//! they are checked against. It knows nothing of scenes, meshes or frames.
//!
//! | question | module |
//! |---|---|
//! | what is it, and who measured it? | [`liquids`], [`materials`] |
//! | what shape is a drop at rest? | [`cap`], [`young_laplace`], [`pendant`]; quickly: [`table`] |
//! | when does it start to slide, and how fast? | [`retention`], [`sliding`], [`wind`] |
//! | what does it leave behind? | [`film`], [`drying`] |
//! | how does it arrive? | [`rain`], [`dew`], [`splash`], [`impact`] |
//! | textbook answers for tests | [`waves`], [`capillary`] |
//!
//! Sources are cited by their key in `docs/references.bib`; `docs/wetting.md` tells what was seen in a source, what is
//! general knowledge and what was computed. All quantities are in SI units and radians, contact angles through the liquid.
//!
//! ```
//! use sessile_wetting::{ShapeTable, liquid_preset, material_preset, retention};
//!
//! let water = liquid_preset("water").expect("ships").liquid;
//! let acrylic = material_preset("pmma").expect("an alias of acrylic").wetting;
//!
//! // How high does 5 µL stand on a level sheet, and how much does the sheet hold when upright?
//! let drop = ShapeTable::shared().rest_shape(5e-9, acrylic.advancing, 9.8, &water).expect("it rests");
//! assert!((drop.height - 1.17e-3).abs() < 0.02e-3);
//! let held = retention::critical_volume(&water, &acrylic, 9.8, 90_f64.to_radians());
//! assert!((held - 10e-9).abs() < 1e-9);
//! ```

pub mod cap;
pub mod capillary;
pub mod cube_root;
pub mod dew;
pub mod drying;
pub mod film;
pub mod impact;
pub mod liquid;
pub mod liquids;
pub mod material;
pub mod materials;
mod ode;
pub mod pendant;
mod pendant_limit;
pub mod rain;
pub mod retention;
mod root;
pub mod sliding;
pub mod splash;
pub mod table;
pub mod waves;
pub mod wind;
pub mod young_laplace;

pub use liquid::Liquid;
pub use liquids::{LiquidPreset, liquid_preset, liquid_presets};
pub use material::Wetting;
pub use materials::{MaterialPreset, material_preset, material_presets};
pub use rain::RainLaw;
pub use table::{RestShape, ShapeTable};
pub use young_laplace::Profile;

#[cfg(test)]
mod tests {
    /// Every source that the page on wetting cites stands in the bibliography.
    #[test]
    fn citations_have_entries() {
        let page = include_str!("../../../docs/wetting.md");
        let bibliography = include_str!("../../../docs/references.bib");
        let mut cited = 0;
        for part in page.split('[').skip(1) {
            let Some((key, after)) = part.split_once(']') else { continue };
            let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            if is_key && !after.starts_with('(') {
                assert!(bibliography.contains(&format!("{{{key},")), "docs/references.bib lacks {key}");
                cited += 1;
            }
        }
        assert!(cited > 40, "found only {cited} citations");
    }
}
