//! Materials: a scene's `look` and texture become BSDF parameters.
//!
//! Wetness darkens a porous diffuse base, because the liquid's surface reflects part of the light
//! back into it from below (lekner1988): `a' = a (1 − p)/(1 − p a)`, with `p = 0.47` the internal
//! diffuse reflectance of water. It also adds a smooth film on top. Under liquid of index n the
//! specular F₀ follows from the ratio of the indices.

use glam::{Vec2, Vec3};
use sessile_scene::{Look, TexturePattern};

use crate::bsdf::Bsdf;
use crate::ggx::{Ggx, MetalMixture};
use crate::textures::{ScaledTexture, Texture};

/// Internal diffuse reflectance of a water surface.
const INNER_REFLECTANCE: f32 = 0.47;

/// F₀ of water in air.
const WATER_F0: f32 = 0.02;

/// Roughness α of a water film.
const FILM_ALPHA: f32 = 0.03;

/// Refractive index of window glass.
const GLASS_INDEX: f32 = 1.5;

/// Refractive index of the coat of a look that has none, where the scene asks for one: that of
/// glTF's and USD's default materials.
const COAT_INDEX: f32 = 1.5;

/// What a surface does with light.
#[derive(Clone, Debug)]
pub enum Material {
    /// Opaque, or diffusely translucent like a leaf.
    Opaque(BsdfParameters),
    /// Clear glass: a body if the mesh is closed, a thin sheet otherwise.
    Glass {
        /// Refractive index.
        index: f32,
        /// Share of light that passes, per color channel: through a sheet, or through both surfaces
        /// of a body.
        tint: Vec3,
    },
}

/// BSDF parameters of a surface that is not clear.
#[derive(Clone, Debug)]
pub struct BsdfParameters {
    /// Color of the diffuse base, or F₀ of a conductor.
    pub color: ScaledTexture,
    /// Roughness α of the specular lobe.
    pub alpha: f32,
    /// The specular lobe.
    pub specular: SpecularLobe,
    /// Fraction of the base's light that leaves on the far side, per color channel; zero where
    /// opaque.
    pub transmittance: Vec3,
    /// How much the base absorbs liquid and darkens, 0 to 1.
    pub porosity: f32,
}

/// The specular lobe of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpecularLobe {
    /// None: diffuse only.
    None,
    /// A clear dielectric coat of this refractive index.
    Dielectric(f32),
    /// A conductor whose F₀ is the surface color.
    Conductor,
    /// A dielectric coat over the base, mixed with a conductor of the surface's color.
    Mixed {
        /// Refractive index of the coat.
        index: f32,
        /// Share of the conductor, from 0 to 1.
        metallic: f32,
    },
}

impl SpecularLobe {
    /// Refractive index of the coat, if it has one.
    pub fn index(self) -> Option<f32> {
        match self {
            Self::Dielectric(index) | Self::Mixed { index, .. } => Some(index),
            Self::None | Self::Conductor => None,
        }
    }

    /// Share of the conductor, from 0 to 1.
    pub fn metallic(self) -> f32 {
        match self {
            Self::None | Self::Dielectric(_) => 0.0,
            Self::Conductor => 1.0,
            Self::Mixed { metallic, .. } => metallic,
        }
    }
}

/// What a scene states about a surface besides its look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LookChanges {
    /// Linear color.
    pub color: Option<Vec3>,
    /// Perceptual roughness r: α = r².
    pub roughness: Option<f32>,
    /// Metalness, from 0 to 1.
    pub metallic: Option<f32>,
}

impl Material {
    /// Clear glass of a refractive index.
    pub const fn glass(index: f32) -> Self {
        Self::Glass { index, tint: Vec3::ONE }
    }

    /// The material with what a scene states besides the look.
    #[must_use]
    pub fn changed(mut self, changes: &LookChanges) -> Self {
        match &mut self {
            Self::Glass { tint, .. } => *tint = changes.color.unwrap_or(*tint),
            Self::Opaque(parameters) => {
                if let Some(color) = changes.color {
                    parameters.color.recolor(color);
                }
                if let Some(roughness) = changes.roughness {
                    parameters.alpha = roughness * roughness;
                }
                let index = parameters.specular.index().unwrap_or(COAT_INDEX);
                parameters.specular = match (changes.metallic, parameters.specular) {
                    (Some(metallic), _) if metallic >= 1.0 => SpecularLobe::Conductor,
                    (Some(metallic), _) if metallic > 0.0 => SpecularLobe::Mixed { index, metallic },
                    (Some(_), _) => SpecularLobe::Dielectric(index),
                    // A matte surface whose roughness is given has a coat.
                    (None, SpecularLobe::None) if changes.roughness.is_some() => SpecularLobe::Dielectric(index),
                    (None, own) => own,
                };
            }
        }
        self
    }

    /// The material of a scene's look, with a texture if given. `pattern` is the number of units of
    /// a built-in pattern along u and v.
    pub fn of(look: Look, texture: Option<Texture>, pattern: Vec2) -> Self {
        use SpecularLobe::{Conductor, Dielectric};
        let rgb = Vec3::new;
        let constant = |color: Vec3| Texture::Constant(color);
        let (own, alpha, specular, porosity) = match look {
            Look::Glass => return Self::glass(GLASS_INDEX),
            Look::Metal => (constant(rgb(0.91, 0.92, 0.92)), 0.12, Conductor, 0.0),
            Look::Plastic => (constant(rgb(0.55, 0.57, 0.6)), 0.08, Dielectric(1.46), 0.0),
            Look::Rubber => (constant(rgb(0.06, 0.06, 0.065)), 0.4, Dielectric(1.5), 0.2),
            Look::Ceramic => (constant(rgb(0.82, 0.81, 0.78)), 0.05, Dielectric(1.5), 0.0),
            Look::Stone => (Texture::Stone(rgb(0.56, 0.53, 0.48), rgb(0.22, 0.21, 0.21)), 0.45, Dielectric(1.45), 1.0),
            Look::Wood => (Texture::Wood(rgb(0.62, 0.42, 0.25), rgb(0.33, 0.18, 0.09)), 0.25, Dielectric(1.45), 0.8),
            Look::Paint => (constant(rgb(0.5, 0.08, 0.06)), 0.06, Dielectric(1.5), 0.0),
            Look::Leaf => (Texture::Veins(rgb(0.12, 0.3, 0.05), rgb(0.3, 0.45, 0.14)), 0.28, Dielectric(1.42), 0.0),
            Look::Skin => (constant(rgb(0.72, 0.47, 0.36)), 0.35, Dielectric(1.4), 0.4),
            Look::Matte => (constant(rgb(0.6, 0.6, 0.6)), 1.0, SpecularLobe::None, 1.0),
            Look::Slate => {
                (Texture::Stone(rgb(0.075, 0.08, 0.088), rgb(0.035, 0.038, 0.044)), 0.16, Dielectric(1.5), 0.3)
            }
        };
        let transmittance = if look == Look::Leaf { rgb(0.35, 0.45, 0.3) } else { Vec3::ZERO };
        let color = ScaledTexture::new(texture.unwrap_or(own), pattern);
        Self::Opaque(BsdfParameters { color, alpha, specular, transmittance, porosity })
    }
}

/// The texture of a built-in pattern, in colors that go with a look.
pub fn built_in_texture(pattern: TexturePattern, look: Look) -> Texture {
    let base = match look {
        Look::Wood => Vec3::new(0.55, 0.36, 0.2),
        Look::Paint => Vec3::new(0.5, 0.08, 0.06),
        Look::Rubber => Vec3::new(0.1, 0.1, 0.11),
        _ => Vec3::new(0.62, 0.6, 0.56),
    };
    let dark = base * Vec3::new(0.32, 0.36, 0.42);
    match pattern {
        TexturePattern::Checker => Texture::Checker(base, dark),
        TexturePattern::Tiles => Texture::Tiles(base * Vec3::new(0.95, 1.05, 1.15), 0.45 * base),
        TexturePattern::Grid => Texture::Grid(base, dark),
        TexturePattern::Stripes => Texture::Stripes(base, dark),
        TexturePattern::Wood => Texture::Wood(base, dark),
        TexturePattern::Noise => Texture::Noise(base, dark),
    }
}

impl BsdfParameters {
    /// The BSDF at texture coordinates, in a medium of index `outside`; `wetness` is from 0 to 1.
    pub fn bsdf(&self, uv: Vec2, outside: f32, wetness: f32) -> Bsdf {
        self.bsdf_with_color(self.color.at(uv), outside, wetness)
    }

    /// The same where the texture has a given color.
    pub fn bsdf_with_color(&self, color: Vec3, outside: f32, wetness: f32) -> Bsdf {
        if self.specular == SpecularLobe::Conductor {
            // A film on a conductor in air is smoother than it.
            let film = if outside > 1.001 { 0.0 } else { wetness };
            let alpha = self.alpha + (FILM_ALPHA.min(self.alpha) - self.alpha) * film;
            let specular = Some(Ggx::new(alpha, color));
            return Bsdf { specular, diffuse: Vec3::ZERO, transmittance: Vec3::ZERO };
        }
        let p = INNER_REFLECTANCE * wetness * self.porosity;
        let base = color * (1.0 - p) / (Vec3::ONE - p * color);
        let dry = self.specular.index().map_or(0.0, |index| ((index - outside) / (index + outside)).powi(2));
        // A film on the surface in air; under a drop there is no film.
        let film = if outside > 1.001 { 0.0 } else { wetness };
        let f0 = dry + (WATER_F0.max(dry) - dry) * film;
        let alpha = self.alpha + (FILM_ALPHA.min(self.alpha) - self.alpha) * film;
        let specular = match self.specular {
            SpecularLobe::Mixed { metallic, .. } => {
                Some(Ggx::mixed(alpha, MetalMixture { metallic, coat: f0, metal: color }))
            }
            // Under liquid of nearly the coat's index the specular lobe is not worth the samples.
            _ => (f0 > 1e-3).then(|| Ggx::new(alpha, Vec3::splat(f0))),
        };
        Bsdf { specular, diffuse: base * (Vec3::ONE - self.transmittance), transmittance: base * self.transmittance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::tests::directional_albedo;

    #[test]
    fn every_look_conserves_energy_wet_or_dry_in_air_or_under_water() {
        for look in Look::ALL {
            let Material::Opaque(parameters) = Material::of(*look, None, Vec2::splat(8.0)) else { continue };
            for (outside, wetness) in [(1.0, 0.0), (1.0, 1.0), (1.333, 1.0)] {
                for cosine in [0.1, 0.6, 1.0] {
                    let bsdf = parameters.bsdf(Vec2::new(0.31, 0.77), outside, wetness);
                    let albedo = directional_albedo(&bsdf, cosine);
                    assert!(albedo > 0.01 && albedo < 1.0, "{look:?} cos {cosine}: {albedo}");
                }
            }
        }
    }

    #[test]
    fn wet_stone_is_darker_and_shinier_than_dry_stone() {
        let Material::Opaque(stone) = Material::of(Look::Stone, None, Vec2::ONE) else { panic!("stone is opaque") };
        let uv = Vec2::splat(0.4);
        let (dry, wet) = (stone.bsdf(uv, 1.0, 0.0), stone.bsdf(uv, 1.0, 1.0));
        assert!(wet.diffuse.x < 0.75 * dry.diffuse.x, "{} against {}", wet.diffuse, dry.diffuse);
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let specular = |bsdf: &Bsdf| bsdf.eval(wo, wo * Vec3::new(-1.0, 1.0, 1.0)).0.x;
        assert!(specular(&wet) > 3.0 * specular(&dry), "{} against {}", specular(&wet), specular(&dry));
    }
}
