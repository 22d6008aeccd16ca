//! Liquids and materials with their data, contact-angle laws, and exact solutions.
//!
//! Scenes take their presets from this crate, the pane and droplet models their laws, the surface
//! and volume models the exact solutions that they are validated against. It depends on no scene,
//! mesh or frame.
//!
//! | question | module |
//! |---|---|
//! | which liquids and materials, from which sources? | [`liquid_presets`], [`materials`] |
//! | what shape is a drop at rest? | [`cap`], [`young_laplace`], [`pendant`], [`CurvedRest`]; tabulated: [`table`] |
//! | when does it start to slide, and how fast? | [`retention`], [`sliding`], [`wind`]; precomputed: [`SlidingLaw`] |
//! | what does it leave behind? | [`film`] |
//! | how does it arrive? | [`rain`], [`dew`] |
//! | textbook solutions for tests | [`waves`], [`capillary`] |
//!
//! Sources are cited by their key in `docs/references.bib`; `docs/wetting.md` states for every
//! number whether it was checked against its source, is general knowledge, or was computed here.
//! All quantities are in SI units and radians, contact angles are measured through the liquid.
//!
//! ```
//! use sessile_wetting::{ShapeTable, liquid_preset, material_preset, retention};
//!
//! let water = liquid_preset("water").expect("ships").liquid;
//! let acrylic = material_preset("pmma").expect("an alias of acrylic").wetting;
//!
//! // Height of 5 µL on a level sheet, and the largest drop that the vertical sheet retains.
//! let rest = ShapeTable::shared().rest_shape(5e-9, acrylic.advancing, 9.8, &water);
//! let drop = rest.expect("a sessile drop");
//! assert!((drop.height - 1.17e-3).abs() < 0.02e-3);
//! let retained = retention::critical_volume(&water, &acrylic, 9.8, 90_f64.to_radians());
//! assert!((retained - 10e-9).abs() < 1e-9);
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod cap;
pub mod capillary;
pub mod cube_root;
mod curved;
pub mod dew;
pub mod evaporation;
pub mod film;
pub mod impact;
mod law;
mod liquid;
mod liquids;
mod material;
pub mod materials;
pub mod moving_line;
mod ode;
pub mod pendant;
mod pendant_limit;
pub mod rain;
pub mod retention;
mod root;
pub mod sliding;
pub mod spreading;
pub mod table;
pub mod waves;
pub mod wind;
pub mod young_laplace;

pub use curved::CurvedRest;
pub use law::SlidingLaw;
pub use liquid::Liquid;
pub use liquids::{LiquidAppearance, LiquidPreset, liquid_preset, liquid_presets};
pub use material::Wetting;
pub use materials::{MaterialPreset, material_preset, material_presets};
pub use rain::RainLaw;
pub use table::{RestShape, ShapeTable};
pub use young_laplace::Profile;

#[cfg(test)]
mod tests {
    /// Every source cited in docs/wetting.md is in the bibliography.
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
