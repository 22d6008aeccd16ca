//! Materials of solids and liquid in the parameters that other programs share.
//!
//! Our own materials are a specular lobe over a diffuse base (`sessile_appearance`). Procedural
//! textures are baked into an image over the solid's texture coordinates.

use glam::{DVec2, Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{
    AppearanceError, BsdfParameters, LiquidMaterial, Material, ScaledTexture, SceneMaterials, SpecularLobe, Texture,
    encloses, srgb_from_linear,
};
use sessile_output::Identifiers;

use crate::error::ExportError;
use crate::job::Job;
use crate::render_assets::encode_png;
use crate::source::Source;

/// Least and largest width and height of a baked texture, in pixels.
const BAKED_SIZES: [usize; 2] = [1024, 4096];

/// Texture coordinates this far beyond 0 to 1 are rounding.
const BEYOND: f64 = 1e-3;

/// Refractive index of opaque liquids that have no dielectric coat.
const OPAQUE_LIQUID_INDEX: f32 = 1.5;

/// Diffuse light under a water surface that is reflected back inside (lekner1988).
const INNER_REFLECTANCE: f32 = 0.47;

/// Roughness α of a water film, and its refractive index.
pub const FILM_ALPHA: f32 = 0.03;
/// See [`FILM_ALPHA`].
pub const FILM_INDEX: f32 = 1.33;

/// Largest perceptual roughness of the wet parts of a solid, which have a water film.
const WET_ROUGHNESS: f32 = 0.17;

/// Material of a solid.
#[derive(Clone, Debug)]
pub struct SolidMaterial {
    /// Identifier, unique in the scene.
    pub name: String,
    /// Linear color of the diffuse base, of the metal or of the light that passes glass; the mean
    /// where there is a texture.
    pub color: Vec3,
    /// Color image over the texture coordinates, relative to the folder of the exported files.
    pub texture: Option<String>,
    /// Normal map over the texture coordinates, likewise: red along u, green along v (up), blue out
    /// of the surface.
    pub normal_map: Option<String>,
    /// Roughness α of the specular lobe (GGX).
    pub alpha: f32,
    /// Share of metal, from 0 to 1.
    pub metallic: f32,
    /// Refractive index of a clear coat over the base; `None` for matte solids and metals.
    pub coat: Option<f32>,
    /// Refractive index of glass; `None` for opaque solids.
    pub glass: Option<f32>,
    /// Whether the mesh encloses a volume; glass that does not is a thin pane.
    pub closed: bool,
    /// Whether texture coordinates go beyond 0 to 1, where images repeat.
    pub repeats: bool,
    /// Fraction of light transmitted diffusely, as by a leaf.
    pub transmittance: Vec3,
    /// How much the solid darkens when wet, from 0 to 1.
    pub porosity: f32,
}

impl SolidMaterial {
    /// Whether it is all metal.
    pub fn is_metal(&self) -> bool {
        self.metallic >= 1.0
    }

    /// What one surface of glass leaves of the light: light passes one of a pane, two of a body.
    pub fn surface_tint(&self) -> Vec3 {
        if self.closed { self.color.powf(0.5) } else { self.color }
    }

    /// Whether it is glass.
    pub fn is_transparent(&self) -> bool {
        self.glass.is_some()
    }

    /// Perceptual roughness, √α, as artist-facing shaders expect it.
    pub fn roughness(&self) -> f32 {
        self.alpha.max(0.0).sqrt()
    }

    /// Perceptual roughness under a water film.
    pub fn wet_roughness(&self) -> f32 {
        self.roughness().min(WET_ROUGHNESS)
    }

    /// Color of the base under a water film: porous materials darken (lekner1988).
    pub fn wet_color(&self) -> Vec3 {
        let p = INNER_REFLECTANCE * self.porosity;
        self.color * (1.0 - p) / (Vec3::ONE - p * self.color)
    }
}

/// Materials of all solids and of the liquid.
#[derive(Clone, Debug)]
pub struct ExportMaterials {
    /// The solids, in the scene's order.
    pub solids: Vec<SolidMaterial>,
    liquid: LiquidMaterial,
    /// Color and relief of each opaque solid.
    textures: Vec<Option<ScaledTexture>>,
}

/// Optical parameters of the liquid.
#[derive(Clone, Copy, Debug)]
pub struct LiquidParameters {
    /// Refractive index.
    pub index: f32,
    /// Absorption coefficient per color channel, in 1/m.
    pub absorption: Vec3,
    /// Color of an opaque liquid; `None` for a clear one.
    pub opaque: Option<Vec3>,
    /// Whether an opaque liquid is a metal.
    pub metal: bool,
}

impl ExportMaterials {
    /// Reads the materials of a run's scene.
    pub fn of(source: &Source) -> Result<Self, ExportError> {
        let materials = SceneMaterials::of(&source.scene).map_err(AppearanceError::from)?;
        let mut taken = Identifiers::default();
        let (solids, textures) = source
            .world
            .solids()
            .iter()
            .zip(materials.solids())
            .map(|(solid, material)| {
                let name = taken.unique(solid.name());
                let closed = encloses(solid, solid.mesh());
                let beyond = |uv: &DVec2| uv.min_element() < -BEYOND || uv.max_element() > 1.0 + BEYOND;
                let repeats = solid.mesh().corner_uvs.as_flattened().iter().any(beyond);
                let (material, texture) = match material {
                    Material::Glass { index, tint } => (glass(name, *index, *tint, closed), None),
                    Material::Opaque(parameters) => opaque(name, parameters, closed),
                };
                (SolidMaterial { repeats, ..material }, texture)
            })
            .unzip();
        Ok(Self { solids, liquid: materials.liquid().clone(), textures })
    }

    /// Writes the textures and normal maps of the solids to `textures/` of the exported files.
    pub fn write_textures(&self, job: &Job<'_>) -> Result<(), ExportError> {
        for (index, solid) in self.solids.iter().enumerate() {
            if let (Some(file), Some(bytes)) = (&solid.texture, self.texture_file(index)?) {
                job.write_file(file, &bytes)?;
            }
            if let (Some(file), Some(bytes)) = (&solid.normal_map, self.normal_map_file(index)?) {
                job.write_file(file, &bytes)?;
            }
        }
        Ok(())
    }

    /// The texture of a solid as a PNG file; `None` where it has none.
    pub fn texture_file(&self, solid: usize) -> Result<Option<Vec<u8>>, ExportError> {
        let Some(texture) = self.textures[solid].as_ref().filter(|_| self.solids[solid].texture.is_some()) else {
            return Ok(None);
        };
        // Patterns have sharp edges: four samples per pixel. Images are smooth already.
        let samples = if matches!(texture.texture, Texture::Image(_)) { 1 } else { 2 };
        let color = |color: Vec3| color.to_array().map(srgb_from_linear);
        self.baked(solid, texture, &bake(texture, samples, ScaledTexture::at, color)).map(Some)
    }

    /// The normal map of a solid as a PNG file; `None` where it has none.
    pub fn normal_map_file(&self, solid: usize) -> Result<Option<Vec<u8>>, ExportError> {
        let Some(texture) = self.textures[solid].as_ref().filter(|_| self.solids[solid].normal_map.is_some()) else {
            return Ok(None);
        };
        let normal = |texture: &ScaledTexture, uv: Vec2| texture.relief_at(uv).unwrap_or(Vec3::Z);
        let code = |normal: Vec3| normal.to_array().map(|part| (127.5 * part + 127.5).round() as u8);
        self.baked(solid, texture, &bake(texture, 1, normal, code)).map(Some)
    }

    fn baked(&self, solid: usize, texture: &ScaledTexture, pixels: &[u8]) -> Result<Vec<u8>, ExportError> {
        encode_png(&self.solids[solid].name, [baked_size(texture) as u32; 2], png::ColorType::Rgb, pixels)
    }

    /// Optical parameters of the liquid.
    pub fn liquid_parameters(&self) -> LiquidParameters {
        match &self.liquid {
            LiquidMaterial::Clear { index, absorption } => {
                LiquidParameters { index: *index, absorption: *absorption, opaque: None, metal: false }
            }
            LiquidMaterial::Opaque(parameters) => LiquidParameters {
                index: parameters.specular.index().unwrap_or(OPAQUE_LIQUID_INDEX),
                absorption: Vec3::ZERO,
                opaque: Some(parameters.color.at(Vec2::ZERO)),
                metal: parameters.specular == SpecularLobe::Conductor,
            },
        }
    }
}

fn glass(name: String, index: f32, color: Vec3, closed: bool) -> SolidMaterial {
    SolidMaterial {
        name,
        color,
        texture: None,
        normal_map: None,
        alpha: 0.0,
        metallic: 0.0,
        coat: None,
        glass: Some(index),
        closed,
        repeats: false,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    }
}

fn opaque(name: String, parameters: &BsdfParameters, closed: bool) -> (SolidMaterial, Option<ScaledTexture>) {
    let constant = parameters.color.is_constant();
    let material = SolidMaterial {
        color: if constant { parameters.color.at(Vec2::ZERO) } else { mean(&parameters.color) },
        texture: (!constant).then(|| format!("textures/{name}.png")),
        normal_map: parameters.color.relief.is_some().then(|| format!("textures/{name}.normals.png")),
        alpha: parameters.alpha,
        metallic: parameters.specular.metallic(),
        coat: parameters.specular.index(),
        glass: None,
        closed,
        repeats: false,
        transmittance: parameters.transmittance,
        porosity: parameters.porosity,
        name,
    };
    (material, Some(parameters.color.clone()))
}

fn pixel_uv(column: usize, row: usize, size: usize) -> Vec2 {
    Vec2::new((column as f32 + 0.5) / size as f32, 1.0 - (row as f32 + 0.5) / size as f32)
}

fn mean(texture: &ScaledTexture) -> Vec3 {
    const SIZE: usize = 64;
    let sum: Vec3 = (0..SIZE * SIZE).map(|i| texture.at(pixel_uv(i % SIZE, i / SIZE, SIZE))).sum();
    sum / (SIZE * SIZE) as f32
}

/// Width and height of a baked texture: larger where it repeats.
fn baked_size(texture: &ScaledTexture) -> usize {
    let [least, largest] = BAKED_SIZES;
    let wanted = least as f32 * texture.tiling.max_element().max(1.0);
    (wanted as usize).next_power_of_two().clamp(least, largest)
}

/// An image of what `value` finds at texture coordinates, top row first: the mean of `samples` ×
/// `samples` values per pixel, as `code` writes it. Image textures are resampled too, so that all
/// are alike.
fn bake(
    texture: &ScaledTexture,
    samples: usize,
    value: impl Fn(&ScaledTexture, Vec2) -> Vec3 + Sync,
    code: impl Fn(Vec3) -> [u8; 3] + Sync,
) -> Vec<u8> {
    let size = baked_size(texture);
    let count = samples * samples;
    let offset = |k: usize| (Vec2::new((k % samples) as f32, (k / samples) as f32) + 0.5) / samples as f32 - 0.5;
    let offsets: Vec<Vec2> = (0..count).map(offset).collect();
    let mut rgb = vec![0; 3 * size * size];
    rgb.par_chunks_mut(3 * size).enumerate().for_each(|(row, line)| {
        for (column, pixel) in line.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let center = pixel_uv(column, row, size);
            let sum: Vec3 = offsets.iter().map(|offset| value(texture, center + *offset / size as f32)).sum();
            *pixel = code(sum / count as f32);
        }
    });
    rgb
}
