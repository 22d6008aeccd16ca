//! The material of a liquid: clear with absorption, or opaque.

use glam::{Vec2, Vec3};
use sessile_wetting::LiquidAppearance;

use crate::materials::{BsdfParameters, SpecularLobe};
use crate::textures::{ScaledTexture, Texture};

/// The material of a liquid.
#[derive(Clone, Debug)]
pub enum LiquidMaterial {
    /// A smooth dielectric.
    Clear {
        /// Refractive index.
        index: f32,
        /// Absorption σ per color channel, in 1/m: transmittance is exp(−σ s) (Beer–Lambert law).
        absorption: Vec3,
    },
    /// A turbid liquid or a liquid metal.
    Opaque(BsdfParameters),
}

impl LiquidMaterial {
    /// The material of a liquid by its appearance, with the scene's refractive index.
    ///
    /// Water's absorption is that measured at 600, 550 and 450 nm (pope1997), near the primaries'
    /// dominant wavelengths; the others are chosen by eye.
    pub fn of(appearance: LiquidAppearance, refractive_index: f64) -> Self {
        let index = if refractive_index.is_finite() { (refractive_index as f32).clamp(1.0, 4.0) } else { 1.333 };
        let clear = |r: f32, g: f32, b: f32| Self::Clear { index, absorption: Vec3::new(r, g, b) };
        let opaque = |r: f32, g: f32, b: f32, specular: SpecularLobe| {
            let color = ScaledTexture::new(Texture::Constant(Vec3::new(r, g, b)), Vec2::ONE);
            Self::Opaque(BsdfParameters { color, alpha: 0.01, specular, transmittance: Vec3::ZERO, porosity: 0.0 })
        };
        match appearance {
            LiquidAppearance::Honey => clear(25.0, 120.0, 600.0),
            LiquidAppearance::OliveOil => clear(25.0, 15.0, 160.0),
            LiquidAppearance::Milk => opaque(0.9, 0.88, 0.82, SpecularLobe::Dielectric(index)),
            LiquidAppearance::Blood => opaque(0.32, 0.01, 0.01, SpecularLobe::Dielectric(index)),
            LiquidAppearance::Mercury => opaque(0.78, 0.78, 0.79, SpecularLobe::Conductor),
            LiquidAppearance::Clear => clear(0.2224, 0.0565, 0.0092),
        }
    }

    /// Clear water.
    pub fn water() -> Self {
        Self::of(LiquidAppearance::Clear, 1.333)
    }
}
