//! Blender: a Python script that builds the scene, with the run as USD and images in a folder
//! beside it.
//!
//! `blender --python NAME.py` opens the scene ready to render: animated meshes, a water material,
//! solids with their textures and wet maps, motion blur by velocities, camera, lights, Cycles
//! settings. `blender -b --python NAME.py -f 12` renders a frame.

use serde_json::{Value, json};
use sessile_output::escape::python;
use sessile_scene::types::{AreaLight, Sun, ViewTransform};

use crate::error::ExportError;
use crate::job::Job;
use crate::materials::{ExportMaterials, SolidMaterial};
use crate::render_assets::wet_mask_sequence;
use crate::source::Source;
use crate::usd;

/// The script; `"@SETTINGS@"`, `"@FILES@"` and `"@GEOMETRY_NODES@"` are replaced by the settings of
/// a run, the name of its folder and the functions of [`GEOMETRY_NODES`].
const SCRIPT: &str = include_str!("blender/scene.py");

/// The liquid's geometry nodes, a file of the Blender extension.
const GEOMETRY_NODES: &str = include_str!("../../../../blender/geometry_nodes.py");

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let materials = ExportMaterials::of(job.source)?;
    usd::write_layer(job, &materials, job.destination.inside("run.usdc")?, ".")?;
    let settings = settings(job.source, &materials, &solid_settings(job, &materials)?);
    let mut sink = job.destination.file()?;
    sink.text(&script(&settings, &job.destination.companion_name()))?;
    Ok(sink.finish()?)
}

/// The script with its settings, and the name of the folder beside it.
fn script(settings: &Value, folder: &str) -> String {
    // Split first, so that a title cannot name a place to be filled in.
    let mut text = String::with_capacity(2 * SCRIPT.len());
    for (index, part) in SCRIPT.split("\"@").enumerate() {
        let (marker, rest) = if index == 0 { ("", part) } else { part.split_once("@\"").unwrap_or(("", part)) };
        match marker {
            "SETTINGS" => write_literal(&mut text, settings, 0),
            "FILES" => text += &python::string(folder),
            "GEOMETRY_NODES" => text += functions(GEOMETRY_NODES),
            _ => {}
        }
        text += rest;
    }
    text
}

/// The functions of a Python file that imports nothing but Blender's module.
fn functions(file: &'static str) -> &'static str {
    file.split_once("import bpy\n").map_or(file, |(_, functions)| functions).trim()
}

/// Writes JSON as a Python literal, one entry of an object per line.
fn write_literal(out: &mut String, value: &Value, indent: usize) {
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 4 * indent));
    };
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => out.push_str(&python::string(text)),
        Value::Array(entries) => {
            out.push('[');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_literal(out, entry, indent + 1);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (key, entry) in entries {
                line(out, indent + 1);
                out.push_str(&python::string(key));
                out.push_str(": ");
                write_literal(out, entry, indent + 1);
                out.push(',');
            }
            line(out, indent);
            out.push('}');
        }
    }
}

/// Settings of the solids; writes their wet masks.
fn solid_settings(job: &Job<'_>, materials: &ExportMaterials) -> Result<Vec<Value>, ExportError> {
    let solid = |(index, solid): (usize, &SolidMaterial)| {
        Ok(json!({
            "name": solid.name,
            "color": solid.color.to_array(),
            "texture": solid.texture,
            "normal_map": solid.normal_map,
            "repeats": solid.repeats,
            "roughness": solid.roughness(),
            "metallic": solid.metallic,
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
    let (first, last) = source.shown_range();
    let scene = &source.scene;
    let key_frames = if source.camera_moves() { source.frames.as_slice() } else { &source.frames[..1] };
    let key = |&frame: &u64| {
        let camera = source.camera_at(frame);
        json!({ "frame": source.shown(frame), "eye": camera.eye.to_array(), "look_at": camera.look_at.to_array() })
    };
    let camera = source.camera_at(source.frames[0]);
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
        "shutter": scene.render.shutter,
        "exposure": source.exposure(),
        "view": match scene.render.view {
            ViewTransform::Standard => "Standard",
            ViewTransform::Filmic => "Khronos PBR Neutral",
            ViewTransform::Agx => "AgX",
            ViewTransform::Raw => "Raw",
        },
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
            "blades": camera.blades,
            "focus": camera.focus.unwrap_or(camera.eye.distance(camera.look_at)),
        },
        "sun": scene.lights.sun.as_ref().map(sun),
        "area_lights": scene.lights.area.iter().map(area_light).collect::<Vec<Value>>(),
    })
}
