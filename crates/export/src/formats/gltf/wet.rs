//! Wetness of solids over time: glTF has no animated textures, so a solid that gets wet has a
//! material for each of some moments, and a node with each of them that is shown from then until
//! the next.

use glam::Vec3;
use serde_json::json;
use sessile_appearance::srgb_from_linear;
use sessile_frames::WetMap;

use super::document::{Buffer, Document, Shown};
use crate::error::ExportError;
use crate::materials::{ExportMaterials, SolidMaterial};
use crate::render_assets::encode_png;

/// Most moments; longer runs have equal steps between them.
const MOMENTS: usize = 48;

/// Largest width or height of their textures, in texels.
const TEXELS: u32 = 512;

impl Document<'_> {
    /// Adds the materials of a solid in its states of wetness; returns each with when it is shown.
    /// There are none where the solid stays dry, or looks the same when wet.
    pub(super) fn wet_states(
        &mut self,
        materials: &ExportMaterials,
        index: usize,
        buffer: &mut Buffer,
    ) -> Result<Vec<(usize, Shown)>, ExportError> {
        let (source, solid) = (self.job.source, &materials.solids[index]);
        let changes = solid.wet_roughness() < solid.roughness() || solid.porosity > 0.0;
        if !changes || !source.has_wet_maps(index) {
            return Ok(Vec::new());
        }
        let count = source.frames.len();
        let moments = count.min(MOMENTS);
        let mut states: Vec<(usize, Shown)> = Vec::new();
        let mut before: Option<Coverage> = None;
        for moment in 0..moments {
            self.job.check_stop()?;
            let from = moment * count / moments;
            let map = source.folder.read_wet(&source.solids[index], index, source.frames[from])?;
            let coverage = map.as_ref().map_or_else(Coverage::dry, Coverage::of);
            if before.as_ref() == Some(&coverage) {
                continue;
            }
            if let Some((_, last)) = states.last_mut() {
                last.until = from;
            }
            let material = match coverage.is_dry() {
                true => index + 1,
                false => self.wet_material(solid, index, &coverage, self.frame_number(from), buffer)?,
            };
            states.push((material, Shown { from, until: count, translation: [0.0; 3], scale: 1.0 }));
            before = Some(coverage);
        }
        Ok(if states.iter().all(|(material, _)| *material == index + 1) { Vec::new() } else { states })
    }

    /// Adds the material of a solid with a state of wetness.
    fn wet_material(
        &mut self,
        solid: &SolidMaterial,
        index: usize,
        coverage: &Coverage,
        frame: u64,
        buffer: &mut Buffer,
    ) -> Result<usize, ExportError> {
        let name = format!("{} {frame:05}", solid.name);
        let mut material = self.materials[index + 1].clone();
        material["name"] = json!(name);
        let metallic = (255.0 * solid.metallic).round() as u8;
        let (dry, wet) = (solid.roughness(), solid.wet_roughness());
        let roughness = coverage.pixels(|wetness| {
            let roughness = dry + (wet - dry) * wetness;
            [0, (255.0 * roughness).round() as u8, metallic]
        });
        let texture = self.image(&name, &encode_png(&name, coverage.size, png::ColorType::Rgb, &roughness)?, buffer);
        let base = &mut material["pbrMetallicRoughness"];
        base["metallicRoughnessTexture"] = json!({ "index": texture });
        base["roughnessFactor"] = json!(1);
        base["metallicFactor"] = json!(1);
        // A texture of colors stays: it has more detail than the wet map.
        if solid.porosity > 0.0 && solid.texture.is_none() {
            let (dry, wet) = (solid.color, solid.wet_color());
            let colors = coverage.pixels(|wetness| dry.lerp(wet, wetness).to_array().map(srgb_from_linear));
            let png = encode_png(&name, coverage.size, png::ColorType::Rgb, &colors)?;
            let texture = self.image(&format!("{name} color"), &png, buffer);
            base["baseColorTexture"] = json!({ "index": texture });
            base["baseColorFactor"] = json!(Vec3::ONE.extend(1.0).to_array());
        }
        self.materials.push(material);
        Ok(self.materials.len() - 1)
    }
}

/// Which part of each texel of a solid is wet.
#[derive(PartialEq)]
struct Coverage {
    size: [u32; 2],
    /// From 0 to 1, row by row.
    wetness: Vec<f32>,
}

impl Coverage {
    fn dry() -> Self {
        Self { size: [1, 1], wetness: vec![0.0] }
    }

    /// A wet map, reduced by a whole factor to at most [`TEXELS`] on a side.
    fn of(map: &WetMap) -> Self {
        if map.wetness.iter().all(|&wetness| wetness == 0) {
            return Self::dry();
        }
        let factor = map.width.max(map.height).div_ceil(TEXELS);
        let size = [map.width.div_ceil(factor), map.height.div_ceil(factor)];
        let mean = |column: u32, row: u32| {
            let rows = row * factor..((row + 1) * factor).min(map.height);
            let columns = column * factor..((column + 1) * factor).min(map.width);
            let texels = rows.len() * columns.len();
            let row_sum = |row: u32| {
                let start = (row * map.width) as usize;
                let texels = &map.wetness[start + columns.start as usize..start + columns.end as usize];
                texels.iter().map(|&wetness| f64::from(wetness)).sum::<f64>()
            };
            (rows.map(row_sum).sum::<f64>() / (65535.0 * texels as f64)) as f32
        };
        let wetness = (0..size[1]).flat_map(|row| (0..size[0]).map(move |column| (column, row)));
        Self { size, wetness: wetness.map(|(column, row)| mean(column, row)).collect() }
    }

    fn is_dry(&self) -> bool {
        self.wetness.iter().all(|&wetness| wetness == 0.0)
    }

    fn pixels(&self, color: impl Fn(f32) -> [u8; 3]) -> Vec<u8> {
        self.wetness.iter().flat_map(|&wetness| color(wetness)).collect()
    }
}
