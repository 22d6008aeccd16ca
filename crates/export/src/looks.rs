//! How solids and liquid look, in the terms that other programs share: a base color or an image, roughness, metal or not, clear or not.
//!
//! Our own materials are a rough mirror over a matte base (`sessile_appearance::Bsdf`). Patterns that the program paints itself are baked into an image
//! over the solid's texture coordinates.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{
    AppearanceError, BsdfParameters, LiquidMaterial, Material, ScaledTexture, SceneMaterials, SpecularLobe, Texture,
    encloses, srgb_from_linear,
};

use crate::error::ExportError;
use crate::job::Job;
use crate::source::Source;
use sessile_output::{OutputError, unique_identifier};

/// Side of a baked texture, in pixels.
const BAKED: usize = 1024;

/// How a solid looks.
#[derive(Clone, Debug)]
pub struct SolidLook {
    /// A name of letters, digits and underscores, different from all others of the scene.
    pub name: String,
    /// Color of the base, or of a metal, in linear light; the mean where there is an image.
    pub color: Vec3,
    /// Image over the texture coordinates, relative to the folder of the export's files.
    pub texture: Option<String>,
    /// Roughness α of the mirror (GGX).
    pub alpha: f32,
    /// Whether it is a metal.
    pub metal: bool,
    /// Refractive index of a clear coat over the base; `None` where matte or metal.
    pub coat: Option<f32>,
    /// Refractive index of clear glass.
    pub glass: Option<f32>,
    /// Whether it has an inside; glass without one is a thin sheet.
    pub body: bool,
    /// Share of light that shines through to the other side, as in a leaf.
    pub through: Vec3,
    /// How much it takes up water and darkens.
    pub porosity: f32,
}

impl SolidLook {
    /// Whether light goes through.
    pub fn is_clear(&self) -> bool {
        self.glass.is_some()
    }

    /// Roughness as artists' shaders take it: α = roughness².
    pub fn roughness(&self) -> f32 {
        self.alpha.max(0.0).sqrt()
    }
}

/// How everything looks.
#[derive(Clone, Debug)]
pub struct SceneLooks {
    /// The solids, in the scene's order.
    pub solids: Vec<SolidLook>,
    /// The liquid.
    pub liquid: LiquidMaterial,
    painted: Vec<Option<ScaledTexture>>,
}

/// The clear liquid's refractive index and absorption, or what stands for them where the liquid is opaque.
#[derive(Clone, Copy, Debug)]
pub struct LiquidShade {
    /// Refractive index.
    pub index: f32,
    /// Absorption per color channel, in 1/m.
    pub absorption: Vec3,
    /// Color, where it is opaque.
    pub opaque: Option<Vec3>,
    /// Whether the opaque liquid is a metal.
    pub metal: bool,
}

impl SceneLooks {
    /// Reads what the scene's solids and liquid look like.
    pub fn of(source: &Source) -> Result<Self, ExportError> {
        let looks = SceneMaterials::of(&source.scene).map_err(AppearanceError::from)?;
        let mut taken = Vec::new();
        let mut solids = Vec::new();
        let mut painted = Vec::new();
        for (solid, material) in source.world.solids().iter().zip(looks.solids()) {
            let name = unique_identifier(solid.name(), &mut taken);
            let body = encloses(solid, solid.mesh());
            let (look, paint) = match material {
                Material::Glass { index } => (clear(name, *index, body), None),
                Material::Opaque(finish) => finished(name, finish, body),
            };
            solids.push(look);
            painted.push(paint);
        }
        Ok(Self { solids, liquid: looks.liquid().clone(), painted })
    }

    /// Writes the images that solids need into `textures/` of the export's files.
    pub fn write_textures(&self, job: &Job<'_>) -> Result<(), ExportError> {
        for (index, look) in self.solids.iter().enumerate() {
            let (Some(file), Some(bytes)) = (&look.texture, self.texture_file(index)?) else { continue };
            let mut sink = job.destination.inside(file)?;
            sink.put(&bytes)?;
            sink.finish()?;
        }
        Ok(())
    }

    /// The image of a solid as a PNG file's bytes; `None` where it has none.
    pub fn texture_file(&self, solid: usize) -> Result<Option<Vec<u8>>, ExportError> {
        let Some(painted) = &self.painted[solid] else { return Ok(None) };
        let failed = |cause: png::EncodingError| OutputError::Write {
            path: self.solids[solid].name.clone().into(),
            cause: std::io::Error::other(cause.to_string()),
        };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, BAKED as u32, BAKED as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&bake(painted)).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(Some(bytes))
    }

    /// The liquid in numbers.
    pub fn shade(&self) -> LiquidShade {
        match &self.liquid {
            LiquidMaterial::Clear { index, absorption } => {
                LiquidShade { index: *index, absorption: *absorption, opaque: None, metal: false }
            }
            LiquidMaterial::Opaque(finish) => LiquidShade {
                index: match finish.specular {
                    SpecularLobe::Dielectric(index) => index,
                    SpecularLobe::None | SpecularLobe::Conductor => 1.5,
                },
                absorption: Vec3::ZERO,
                opaque: Some(finish.color.at(Vec2::ZERO)),
                metal: finish.specular == SpecularLobe::Conductor,
            },
        }
    }
}

fn clear(name: String, index: f32, body: bool) -> SolidLook {
    SolidLook {
        name,
        color: Vec3::ONE,
        texture: None,
        alpha: 0.0,
        metal: false,
        coat: None,
        glass: Some(index),
        body,
        through: Vec3::ZERO,
        porosity: 0.0,
    }
}

fn finished(name: String, finish: &BsdfParameters, body: bool) -> (SolidLook, Option<ScaledTexture>) {
    let plain = finish.color.is_constant();
    let texture = (!plain).then(|| format!("textures/{name}.png"));
    let look = SolidLook {
        color: if plain { finish.color.at(Vec2::ZERO) } else { mean(&finish.color) },
        texture,
        alpha: finish.alpha,
        metal: finish.specular == SpecularLobe::Conductor,
        coat: match finish.specular {
            SpecularLobe::Dielectric(index) => Some(index),
            SpecularLobe::None | SpecularLobe::Conductor => None,
        },
        glass: None,
        body,
        through: finish.transmittance,
        porosity: finish.porosity,
        name,
    };
    let painted = (!plain).then(|| finish.color.clone());
    (look, painted)
}

fn pixel_uv(column: usize, row: usize, side: usize) -> Vec2 {
    Vec2::new((column as f32 + 0.5) / side as f32, 1.0 - (row as f32 + 0.5) / side as f32)
}

fn mean(painted: &ScaledTexture) -> Vec3 {
    const SIDE: usize = 64;
    let sum: Vec3 = (0..SIDE * SIDE).map(|i| painted.at(pixel_uv(i % SIDE, i / SIDE, SIDE))).sum();
    sum / (SIDE * SIDE) as f32
}

/// The texture as an sRGB image, top row first. Images are baked too, so that one rule serves for all.
fn bake(painted: &ScaledTexture) -> Vec<u8> {
    // Patterns have edges: four samples a pixel. Images are smooth already.
    let offsets: &[Vec2] = if matches!(painted.texture, Texture::Image(_)) {
        &[Vec2::ZERO]
    } else {
        &[Vec2::new(-0.25, -0.25), Vec2::new(0.25, -0.25), Vec2::new(-0.25, 0.25), Vec2::new(0.25, 0.25)]
    };
    let mut rgb = vec![0; 3 * BAKED * BAKED];
    rgb.par_chunks_mut(3 * BAKED).enumerate().for_each(|(row, line)| {
        for (column, pixel) in line.chunks_exact_mut(3).enumerate() {
            let middle = pixel_uv(column, row, BAKED);
            let color: Vec3 = offsets.iter().map(|offset| painted.at(middle + *offset / BAKED as f32)).sum();
            let color = color / offsets.len() as f32;
            pixel.copy_from_slice(&color.to_array().map(srgb_from_linear));
        }
    });
    rgb
}
