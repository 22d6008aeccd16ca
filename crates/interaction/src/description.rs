//! What a page must know of a scene, as JSON.

use serde_json::{Value, json};
use sessile_scene::Scene;
use sessile_wetting::{Wetting, liquid_presets, material_presets};
use sessile_world::{PlacedSource, Solid, World};

use crate::looks::Looks;
use crate::meshes::MAX_TRIANGLES;

/// Scene, forces, solids with their materials and looks, placed sources, and the presets.
pub fn describe(scene: &Scene, world: &World, looks: &Looks, name: &str) -> Value {
    let solids = world.solids().iter().enumerate().map(|(index, solid)| solid_value(solid, &looks.solid(index)));
    let materials = material_presets()
        .iter()
        .map(|preset| json!({"name": preset.name, "title": preset.title, "angles": angles(&preset.wetting)}));
    let liquids = liquid_presets().iter().map(|preset| json!({"name": preset.name, "title": preset.title}));
    json!({
        "kind": "scene",
        "name": name,
        "title": scene.title,
        "model": scene.model.name(),
        "liquid": looks.liquid(scene.liquid_preset.name),
        "light": looks.light(),
        "display": looks.display(),
        "camera": looks.camera(),
        "problem": looks.problem(),
        "gravity": world.gravity().to_array(),
        "wind": world.wind().to_array(),
        "sources": world.sources_open(),
        "emitters": scene.emitters.len(),
        "placed": world.placed_sources().map(placed_value).collect::<Vec<_>>(),
        "solids": solids.collect::<Vec<_>>(),
        "materials": materials.collect::<Vec<_>>(),
        "liquids": liquids.collect::<Vec<_>>(),
    })
}

/// A source that was placed by hand: its number, kind, and place if it has one.
fn placed_value((id, _, source): (u32, f64, PlacedSource)) -> Value {
    match source {
        PlacedSource::Drip { at, .. } => json!({"id": id, "kind": "drip", "at": at.to_array()}),
        PlacedSource::Feed { at, .. } => json!({"id": id, "kind": "feed", "at": at.to_array()}),
        PlacedSource::Tap { at, .. } => json!({"id": id, "kind": "tap", "at": at.to_array()}),
        PlacedSource::Rain { over, .. } => json!({"id": id, "kind": "rain", "on": over}),
        PlacedSource::Dew { on, .. } => json!({"id": id, "kind": "dew", "on": on}),
    }
}

fn solid_value(solid: &Solid, look: &Value) -> Value {
    let wetting = solid.wetting_at(glam::DVec2::splat(0.5));
    let [low, high] = solid.bounds();
    let plane = solid.plane_frame().map(|frame| json!({"normal": frame.normal.to_array(), "size": frame.size}));
    json!({
        "name": solid.name(),
        "material": solid.material(),
        "look": look,
        "plane": plane,
        "low": low.to_array(),
        "high": high.to_array(),
        "shown": solid.mesh().triangles.len() <= MAX_TRIANGLES,
        "triangles": solid.mesh().triangles.len(),
        "angles": angles(&wetting),
    })
}

/// Advancing, wet advancing and receding angle, in degrees.
pub fn angles(wetting: &Wetting) -> [f64; 3] {
    [wetting.advancing, wetting.wet_advancing.unwrap_or(wetting.advancing), wetting.receding].map(f64::to_degrees)
}
