//! Blender: a Python script that builds the scene, with the run as USD and images in a folder beside it.
//!
//! `blender --python NAME.py` opens it ready to render: meshes that change from frame to frame, a water material, solids with their textures and wet
//! maps, motion blur by velocities, camera, light, Cycles settings. `blender -b --python NAME.py -f 12` renders a frame.

use glam::Vec3;
use serde_json::{Value, json};

use crate::error::ExportError;
use crate::job::Job;
use crate::looks::SceneLooks;
use crate::stagecraft::wet_masks;
use crate::usd;

/// The script; what is particular to a run stands at its top.
const SCRIPT: &str = include_str!("blender/scene.py");

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let looks = SceneLooks::of(source)?;
    usd::write_layer(job, &looks, job.destination.inside("run.usdc")?, ".")?;
    let shade = looks.shade();
    let color = |c: Vec3| c.to_array();
    let mut solids = Vec::new();
    for (index, look) in looks.solids.iter().enumerate() {
        let wet = wet_masks(job, &looks, index)?;
        solids.push(json!({
            "name": look.name,
            "color": color(look.color),
            "texture": look.texture,
            "roughness": look.roughness(),
            "metal": look.metal,
            "coat": look.coat,
            "glass": look.glass,
            "body": look.body,
            "through": color(look.through),
            "porosity": look.porosity,
            "wet": wet,
        }));
    }
    let (first, last) = source.range();
    let scene = &source.scene;
    let cameras: Vec<Value> = source
        .frames
        .iter()
        .take(if source.camera_moves() { usize::MAX } else { 1 })
        .map(|&frame| {
            let camera = source.camera_at(frame);
            json!({ "frame": frame, "eye": camera.eye.to_array(), "look_at": camera.look_at.to_array() })
        })
        .collect();
    let camera = source.camera_at(first);
    let settings = json!({
        "title": scene.title,
        "frames": [first, last],
        "seconds_per_frame": scene.time.frame,
        "fps": scene.render.fps,
        "size": scene.render.size,
        "samples": scene.render.samples,
        "shutter": if scene.render.shutter > 0.0 { scene.render.shutter } else { 0.5 },
        "liquid": {
            "index": shade.index,
            "absorption": color(shade.absorption),
            "opaque": shade.opaque.map(color),
            "metal": shade.metal,
        },
        "solids": solids,
        "camera": {
            "keys": cameras,
            "fov": camera.fov,
            "aperture": 2.0 * camera.lens_radius,
            "focus": camera.focus.unwrap_or(camera.eye.distance(camera.look_at)),
        },
        "sun": scene.lights.sun.map(|sun| json!({ "towards": sun.direction.to_array(), "color": sun.color, "angle": sun.angle })),
        "lamps": scene.lights.area.iter().map(|lamp| json!({
            "center": lamp.center.to_array(), "look_at": lamp.look_at.to_array(), "size": lamp.size, "color": lamp.color
        })).collect::<Vec<Value>>(),
    });
    let text = serde_json::to_string_pretty(&settings).unwrap_or_default();
    let mut sink = job.destination.file()?;
    // The settings are JSON inside a Python string of the raw kind; three quotes in a title would end it.
    let text = text.replace("'''", "' ' '");
    sink.text(
        &SCRIPT.replace("@SETTINGS@", &text).replace("@FILES@", &job.destination.companion_name().replace('"', "")),
    )?;
    Ok(sink.finish()?)
}
