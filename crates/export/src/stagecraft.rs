//! What the exports for renderers share: files of solids and wet masks, and which of them a frame uses.

use serde_json::{Value, json};
use sessile_frames::WetMap;
use sessile_output::OutputError;
use sessile_world::World;

use crate::drawn;
use crate::error::ExportError;
use crate::formats::placed_mesh;
use crate::job::Job;
use crate::looks::SceneLooks;

/// The scene around the liquid, written once for all frames.
pub struct Stagecraft<'a> {
    job: &'a Job<'a>,
    /// How everything looks.
    pub looks: SceneLooks,
}

impl<'a> Stagecraft<'a> {
    /// Writes textures; meshes of solids are the caller's business.
    pub fn without_meshes(job: &'a Job<'a>) -> Result<Self, ExportError> {
        let looks = SceneLooks::of(job.source)?;
        looks.write_textures(job)?;
        Ok(Self { job, looks })
    }

    /// Writes textures, and the meshes of solids that stay (those of the others come with their frames). `flip` turns v over.
    pub fn new(job: &'a Job<'a>, flip: bool) -> Result<Self, ExportError> {
        let stagecraft = Self::without_meshes(job)?;
        for (index, solid) in job.source.world.solids().iter().enumerate() {
            if !solid.moves() {
                stagecraft.put(&stagecraft.solid_file(index, 0), &drawn::solid(&placed_mesh(solid)).ply(flip))?;
            }
        }
        Ok(stagecraft)
    }

    /// Writes the meshes of the solids that move, where they are in a frame.
    pub fn moving_solids(&self, frame: u64, world: &World, flip: bool) -> Result<(), ExportError> {
        for (index, solid) in world.solids().iter().enumerate() {
            if solid.moves() {
                self.put(&self.solid_file(index, frame), &drawn::solid(&placed_mesh(solid)).ply(flip))?;
            }
        }
        Ok(())
    }

    /// A solid's mesh file in a frame.
    pub fn solid_file(&self, index: usize, frame: u64) -> String {
        let name = &self.looks.solids[index].name;
        if self.job.source.world.solids()[index].moves() {
            format!("solids/{name}-{frame:05}.ply")
        } else {
            format!("solids/{name}.ply")
        }
    }

    /// Writes where a solid is wet as a gray picture, and gives its name; `None` where it has no map or is dry.
    pub fn wet_mask(&self, index: usize, frame: u64) -> Result<Option<String>, ExportError> {
        let source = self.job.source;
        let Some(map) = source.folder.read_wet(&source.solids[index], index, frame)? else { return Ok(None) };
        if map.wetness.iter().all(|&wetness| wetness == 0) {
            return Ok(None);
        }
        let name = format!("wet/{}-{frame:05}.png", self.looks.solids[index].name);
        self.put(&name, &mask(&map).map_err(|cause| unwritten(&name, &cause))?)?;
        Ok(Some(name))
    }

    /// Writes a file among the export's.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let mut sink = self.job.destination.inside(name)?;
        sink.put(bytes)?;
        Ok(sink.finish()?)
    }
}

/// Writes where a solid is wet in every frame as numbered gray pictures, and tells the first, its number and how many there are; null where it has no map at all.
pub fn wet_masks(job: &Job<'_>, looks: &SceneLooks, index: usize) -> Result<Value, ExportError> {
    let source = job.source;
    if !source.has_wet_maps(index) {
        return Ok(Value::Null);
    }
    let name = |frame: u64| format!("masks/{}-{frame:05}.png", looks.solids[index].name);
    for &frame in &source.frames {
        job.check_stop()?;
        let bytes = match source.folder.read_wet(&source.solids[index], index, frame)? {
            Some(map) => mask(&map).map_err(|cause| unwritten(&name(frame), &cause))?,
            None => dry_mask(),
        };
        let mut sink = job.destination.inside(&name(frame))?;
        sink.put(&bytes)?;
        sink.finish()?;
    }
    let (first, _) = source.range();
    Ok(json!({ "first": name(first), "sequence": [first, source.frames.len()] }))
}

fn unwritten(name: &str, cause: &png::EncodingError) -> ExportError {
    OutputError::Write { path: name.into(), cause: std::io::Error::other(cause.to_string()) }.into()
}

/// Wetness as a gray picture.
fn mask(map: &WetMap) -> Result<Vec<u8>, png::EncodingError> {
    let gray: Vec<u8> = map.wetness.iter().map(|wetness| (wetness >> 8) as u8).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, map.width, map.height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&gray)?;
    writer.finish()?;
    Ok(bytes)
}

/// A black picture of one pixel: dry all over.
pub fn dry_mask() -> Vec<u8> {
    let dry = WetMap { solid: 0, width: 1, height: 1, wetness: vec![0], film: vec![0] };
    mask(&dry).unwrap_or_default()
}
