//! USD: the run as one binary layer, with textures in a folder beside it.
//!
//! ```text
//! /World                 Xform, default prim; metersPerUnit 1, upAxis Y
//! /World/Liquid          Mesh: points, counts, indices, extent, velocities, primvars:drop, animated
//! /World/Drops           Points: one per drop, with widths, normals, velocities and ids, animated
//! /World/Solids/NAME     Mesh with primvars:st and xformOp:transform (animated where it moves)
//! /World/Looks/NAME      Material: UsdPreviewSurface
//! /World/Camera          Camera (animated where it follows a drop)
//! /World/Sky             DomeLight with the scene's environment; sun and area lights beside it
//! ```
//!
//! `materialx.usda` in that folder is a layer over this one that adds a MaterialX standard surface
//! to the liquid.
//!
//! A time code is a frame number, counted from `time.start_frame`, and `timeCodesPerSecond` is the
//! number of frames per simulated second, so that velocities in m/s agree with positions;
//! `framesPerSecond` is the rate of the video. A frame with the topology of the previous one shares
//! its arrays.

mod crate_file;
mod drops;
mod integer_coding;
mod liquid;
mod materials;
mod scene;

use glam::Vec3;
use sessile_output::Sink;

use self::crate_file::{Crate, Prim, Value};
use crate::error::ExportError;
use crate::job::Job;
use crate::materials::ExportMaterials;

/// Writes the frames to the destination's main file.
pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let materials = ExportMaterials::of(job.source)?;
    let main = job.destination.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let materialx = materials::materialx_layer(&main, &materials.liquid_parameters());
    job.write_file("materialx.usda", materialx.as_bytes())?;
    write_layer(job, &materials, job.destination.file()?, &job.destination.companion_name())
}

/// Writes the frames as a layer, and its textures to the exported files; `folder` is their path
/// relative to the layer.
pub fn write_layer(job: &Job<'_>, materials: &ExportMaterials, sink: Sink, folder: &str) -> Result<(), ExportError> {
    materials.write_textures(job)?;
    let file = Crate::new(sink)?;
    Layer { job, materials, folder, file }.write()
}

/// A layer being written.
struct Layer<'a> {
    job: &'a Job<'a>,
    materials: &'a ExportMaterials,
    /// Path of the textures relative to the layer.
    folder: &'a str,
    file: Crate,
}

impl Layer<'_> {
    fn write(mut self) -> Result<(), ExportError> {
        let source = self.job.source;
        let mut world = Prim::new(&mut self.file, "World", "Xform");
        let kind = self.file.token("assembly");
        world.field("kind", kind);
        world.child(self.liquid()?);
        let times = self.frame_times()?;
        world.child(self.drops(times)?);
        world.child(self.solids(times)?);
        world.child(self.materials(times)?);
        world.child(self.camera(times)?);
        self.lights(&mut world)?;
        let mut root = Prim::root();
        let (first, last) = source.shown_range();
        let rate = 1.0 / source.scene.time.frame;
        for (name, value) in [
            ("startTimeCode", first as f64),
            ("endTimeCode", last as f64),
            ("timeCodesPerSecond", rate),
            ("framesPerSecond", source.scene.render.fps),
            ("metersPerUnit", 1.0),
        ] {
            let value = self.file.double(value)?;
            root.field(name, value);
        }
        let (up, default) = (self.file.token("Y"), self.file.token("World"));
        root.field("upAxis", up);
        root.field("defaultPrim", default);
        let comment = self.file.string(&format!("{}: drops by sessile {}", source.scene.title, source.info.version));
        root.field("comment", comment);
        let interval = self.file.double(source.scene.time.frame)?;
        let custom_data = self.file.dictionary(&[("sessile:secondsPerFrame", interval)])?;
        root.field("customLayerData", custom_data);
        root.child(world);
        self.file.finish(root)
    }

    /// The exported frames as time codes.
    fn frame_times(&mut self) -> Result<Value, ExportError> {
        let times: Vec<f64> = {
            let source = self.job.source;
            source.frames.iter().map(|&frame| source.shown(frame) as f64).collect()
        };
        self.file.times(&times)
    }

    /// Sets the transform of a prim: one matrix, or one for each of the times.
    fn transform(&mut self, prim: &mut Prim, times: Option<Value>, values: &[Value]) -> Result<(), ExportError> {
        let file = &mut self.file;
        let field = match times {
            Some(times) => ("timeSamples", file.samples(times, values)?),
            None => ("default", values[0]),
        };
        prim.attribute(file, "xformOp:transform", "matrix4d", &[field]);
        let order = file.token_array(&["xformOp:transform"])?;
        prim.uniform(file, "xformOpOrder", "token[]", order);
        Ok(())
    }
}

/// Bounding box of points: lower and upper corner; zeros where there are no points.
fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let (low, high) = points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
        let p = Vec3::from_array(*p);
        (low.min(p), high.max(p))
    });
    if points.is_empty() { [[0.0; 3]; 2] } else { [low.to_array(), high.to_array()] }
}
