//! Blender: a Python script that builds the scene, with the run as USD and images in a folder
//! beside it.
//!
//! `blender --python NAME.py` opens the scene ready to render: animated meshes, a water material,
//! solids with their textures and wet maps, motion blur by velocities, camera, lights, Cycles
//! settings. `blender -b --python NAME.py -f 12` renders a frame.

use serde_json::{Value, json};
use sessile_scene::types::{AreaLight, Sun};

use crate::error::ExportError;
use crate::job::Job;
use crate::materials::{ExportMaterials, SolidMaterial};
use crate::render_assets::wet_mask_sequence;
use crate::source::Source;
use crate::usd;

/// The script; the settings of a run are inserted at its top.
const SCRIPT: &str = include_str!("blender/scene.py");

/// Shutter time of motion blur in frames, where the scene has no motion blur of its own.
const DEFAULT_SHUTTER: f64 = 0.5;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let materials = ExportMaterials::of(job.source)?;
    usd::write_layer(job, &materials, job.destination.inside("run.usdc")?, ".")?;
    let settings = settings(job.source, &materials, &solid_settings(job, &materials)?);
    let text = serde_json::to_string_pretty(&settings).unwrap_or_default();
    // The settings are JSON in a raw Python string, which three quotes in a title would end.
    let text = text.replace("'''", "' ' '");
    let folder = job.destination.companion_name().replace('"', "");
    let mut sink = job.destination.file()?;
    sink.text(&SCRIPT.replace("@SETTINGS@", &text).replace("@FILES@", &folder))?;
    Ok(sink.finish()?)
}

/// Settings of the solids; writes their wet masks.
fn solid_settings(job: &Job<'_>, materials: &ExportMaterials) -> Result<Vec<Value>, ExportError> {
    let solid = |(index, solid): (usize, &SolidMaterial)| {
        Ok(json!({
            "name": solid.name,
            "color": solid.color.to_array(),
            "texture": solid.texture,
            "roughness": solid.roughness(),
            "metal": solid.metal,
            "coat": solid.coat,
            "glass": solid.glass,
            "closed": solid.closed,
            "porosity": solid.porosity,
            "wet": wet_mask_sequence(job, materials, index)?,
        }))
    };
    materials.solids.iter().enumerate().map(solid).collect()
}

fn settings(source: &Source, materials: &ExportMaterials, solids: &[Value]) -> Value {
    let liquid = materials.liquid_parameters();
    let (first, last) = source.range();
    let scene = &source.scene;
    let key_frames = if source.camera_moves() { source.frames.as_slice() } else { &source.frames[..1] };
    let key = |&frame: &u64| {
        let camera = source.camera_at(frame);
        json!({ "frame": frame, "eye": camera.eye.to_array(), "look_at": camera.look_at.to_array() })
    };
    let camera = source.camera_at(first);
    let sun = |sun: &Sun| json!({ "towards": sun.direction.to_array(), "color": sun.color, "angle": sun.angle });
    let area_light = |light: &AreaLight| {
        json!({
            "center": light.center.to_array(),
            "look_at": light.look_at.to_array(),
            "size": light.size,
            "color": light.color,
        })
    };
    json!({
        "title": scene.title,
        "frames": [first, last],
        "seconds_per_frame": scene.time.frame,
        "fps": scene.render.fps,
        "size": scene.render.size,
        "samples": scene.render.samples,
        "shutter": if scene.render.shutter > 0.0 { scene.render.shutter } else { DEFAULT_SHUTTER },
        "liquid": {
            "index": liquid.index,
            "absorption": liquid.absorption.to_array(),
            "opaque": liquid.opaque.map(|color| color.to_array()),
            "metal": liquid.metal,
        },
        "solids": solids,
        "camera": {
            "keys": key_frames.iter().map(key).collect::<Vec<Value>>(),
            "fov": camera.fov,
            "aperture": 2.0 * camera.lens_radius,
            "focus": camera.focus.unwrap_or(camera.eye.distance(camera.look_at)),
        },
        "sun": scene.lights.sun.as_ref().map(sun),
        "area_lights": scene.lights.area.iter().map(area_light).collect::<Vec<Value>>(),
    })
}
