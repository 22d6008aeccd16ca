//! Files that the exports for renderers share: meshes, textures and wet masks.

use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use sessile_appearance::orthonormal_basis;
use sessile_frames::WetMap;
use sessile_frames::names::frame_file;
use sessile_output::OutputError;
use sessile_scene::types::AreaLight;
use sessile_world::World;

use crate::error::ExportError;
use crate::formats::world_mesh;
use crate::job::Job;
use crate::materials::ExportMaterials;
use crate::render_mesh::{liquid_mesh, solid_mesh};
use crate::source::LoadedFrame;

/// Direction of the v texture coordinate in the written meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureV {
    /// From bottom to top.
    Up,
    /// From top to bottom.
    Down,
}

/// Meshes, textures and masks of an export for a renderer.
pub struct RenderAssets<'a> {
    job: &'a Job<'a>,
    /// Materials of the solids and the liquid.
    pub materials: ExportMaterials,
    texture_v: TextureV,
}

impl<'a> RenderAssets<'a> {
    /// Writes the textures; the caller writes the meshes.
    pub fn with_textures(job: &'a Job<'a>) -> Result<Self, ExportError> {
        let materials = ExportMaterials::of(job.source)?;
        materials.write_textures(job)?;
        Ok(Self { job, materials, texture_v: TextureV::Up })
    }

    /// Writes the textures and the meshes of solids that do not move; the others are written with
    /// each frame.
    pub fn with_meshes(job: &'a Job<'a>, texture_v: TextureV) -> Result<Self, ExportError> {
        let assets = Self { texture_v, ..Self::with_textures(job)? };
        assets.write_solids(&job.source.world, 0, false)?;
        Ok(assets)
    }

    /// Writes the meshes of a frame: the moving solids, and the liquid. Returns the liquid's file,
    /// or none where there is no liquid to render.
    pub fn write_frame_meshes(&self, frame: &LoadedFrame) -> Result<Option<String>, ExportError> {
        let world = self.job.source.world_at(frame.time);
        self.write_solids(&world, frame.number, true)?;
        let liquid = liquid_mesh(&frame.liquid, &self.materials, &world);
        let file = format!("liquid/{}", frame_file(frame.shown, "ply"));
        self.job.write_file(&file, &liquid.ply(self.texture_v))?;
        Ok((!liquid.triangles.is_empty()).then_some(file))
    }

    fn write_solids(&self, world: &World, frame: u64, moving: bool) -> Result<(), ExportError> {
        for (index, solid) in world.solids().iter().enumerate().filter(|(_, solid)| solid.moves() == moving) {
            let mesh = solid_mesh(&world_mesh(solid)).ply(self.texture_v);
            self.job.write_file(&self.solid_file(index, frame), &mesh)?;
        }
        Ok(())
    }

    /// Name of a solid's mesh file in a frame.
    pub fn solid_file(&self, index: usize, frame: u64) -> String {
        let name = &self.materials.solids[index].name;
        if self.job.source.world.solids()[index].moves() {
            format!("solids/{name}-{:05}.ply", self.job.source.shown(frame))
        } else {
            format!("solids/{name}.ply")
        }
    }

    /// Writes the wetness of a solid as a grayscale image and returns its name; `None` where it is
    /// dry or has no map.
    pub fn wet_mask(&self, index: usize, frame: u64) -> Result<Option<String>, ExportError> {
        let source = self.job.source;
        let Some(map) = source.folder.read_wet(&source.solids[index], index, frame)? else { return Ok(None) };
        if map.wetness.iter().all(|&wetness| wetness == 0) {
            return Ok(None);
        }
        let name = format!("wet/{}-{:05}.png", self.materials.solids[index].name, source.shown(frame));
        self.job.write_file(&name, &mask_image(&map, &name)?)?;
        Ok(Some(name))
    }
}

/// Writes the wetness of a solid in every frame as numbered grayscale images.
///
/// Returns the name of the first, its number and their count as JSON; null where the solid has no
/// wet map.
pub fn wet_mask_sequence(job: &Job<'_>, materials: &ExportMaterials, index: usize) -> Result<Value, ExportError> {
    let source = job.source;
    if !source.has_wet_maps(index) {
        return Ok(Value::Null);
    }
    let name = |frame: u64| format!("masks/{}-{:05}.png", materials.solids[index].name, source.shown(frame));
    for &frame in &source.frames {
        job.check_stop()?;
        let bytes = match source.folder.read_wet(&source.solids[index], index, frame)? {
            Some(map) => mask_image(&map, &name(frame))?,
            None => dry_mask()?,
        };
        job.write_file(&name(frame), &bytes)?;
    }
    let (first, _) = source.range();
    Ok(json!({ "first": name(first), "sequence": [source.shown(first), source.frames.len()] }))
}

/// A black image of one pixel: dry everywhere.
pub fn dry_mask() -> Result<Vec<u8>, ExportError> {
    mask_image(&WetMap { solid: 0, width: 1, height: 1, wetness: vec![0], film: vec![0], age: Vec::new() }, "dry.png")
}

/// Wetness as a grayscale PNG.
fn mask_image(map: &WetMap, name: &str) -> Result<Vec<u8>, ExportError> {
    let gray: Vec<u8> = map.wetness.iter().map(|wetness| (wetness >> 8) as u8).collect();
    encode_png(name, [map.width, map.height], png::ColorType::Grayscale, &gray)
}

/// Encodes a PNG image of 8 bits per channel; `name` is for error messages.
pub fn encode_png(name: &str, size: [u32; 2], color: png::ColorType, pixels: &[u8]) -> Result<Vec<u8>, ExportError> {
    let encode = || -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
        encoder.set_color(color);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()?;
        Ok(bytes)
    };
    Ok(encode().map_err(|cause| OutputError::Write { path: name.into(), cause: std::io::Error::other(cause) })?)
}

/// A color of the scene in single precision.
pub fn linear_color(color: [f64; 3]) -> Vec3 {
    Vec3::from_array(color.map(|c| c as f32))
}

/// Axes of a square area light: half its edges, and its normal.
pub struct AreaLightAxes {
    /// Half of the first edge, in m.
    pub x: Vec3,
    /// Half of the second edge, in m.
    pub y: Vec3,
    /// Unit normal, towards the lit side.
    pub normal: Vec3,
}

impl AreaLightAxes {
    /// The axes of an area light of the scene.
    pub fn of(light: &AreaLight) -> Self {
        let normal = (light.look_at - light.center).normalize_or(DVec3::NEG_Y).as_vec3();
        let [x, y] = orthonormal_basis(normal).map(|edge| edge * (0.5 * light.size) as f32);
        Self { x, y, normal }
    }
}
