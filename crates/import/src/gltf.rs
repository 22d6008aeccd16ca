//! glTF 2.0: one part per primitive and node; materials, the first camera, the length of
//! animations.
//!
//! Meshes and node transforms are read by `sessile_geometry`; names, materials, cameras and
//! animations come from the JSON document.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sessile_geometry::files::{gltf_json, parse_gltf};

use crate::error::ImportError;
use crate::model::{Model, ModelMaterial, NO_MATERIAL, Part, image_beside};

/// Frames per second: glTF animations have none.
const FPS: f64 = 24.0;

/// Reads a `.glb` or `.gltf` file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let scene = parse_gltf(bytes, &|name| sessile_input::read_beside(folder, name, sessile_input::MAX_MESH))
        .map_err(|error| error.in_file(path))?;
    let document: Value = serde_json::from_slice(gltf_json(bytes).map_err(|error| error.in_file(path))?)
        .map_err(|cause| ImportError::Gltf { path: path.to_owned(), cause })?;
    let mut model = Model::default();
    model.materials = materials(&document, folder, &mut model.notices);
    for &(node, world_from_node) in &scene.nodes {
        let camera = document["nodes"][node]["camera"].as_u64();
        let fov = camera.and_then(|camera| document["cameras"][camera as usize]["perspective"]["yfov"].as_f64());
        if let Some(fov) = fov {
            model.set_first_camera(world_from_node, fov);
        }
    }
    for part in scene.primitives {
        let node = &document["nodes"][part.node];
        let mesh = node["mesh"].as_u64().map_or(&Value::Null, |mesh| &document["meshes"][mesh as usize]);
        let name = node["name"].as_str().or(mesh["name"].as_str()).unwrap_or("part").to_owned();
        let material = mesh["primitives"][part.primitive]["material"].as_u64();
        let material = material.map_or(NO_MATERIAL.to_owned(), |k| material_name(&document, k as usize));
        model.parts.push(Part { name, object: part.node, material, mesh: part.mesh, ..Part::default() });
    }
    let end = animation_end(&document);
    if end > 0.0 {
        model.frames = Some((0.0, (end * FPS).round(), FPS));
    }
    model.notices.extend(left_out(&document));
    model.aim_camera();
    Ok(model)
}

/// The materials; what of them is not imported is noted, one line each.
fn materials(document: &Value, folder: &Path, notices: &mut Vec<String>) -> Vec<ModelMaterial> {
    let mut material = |(k, material): (usize, &Value)| {
        let pbr = &material["pbrMetallicRoughness"];
        let transmission = &material["extensions"]["KHR_materials_transmission"]["transmissionFactor"];
        let factor = |i: usize| pbr["baseColorFactor"][i].as_f64().unwrap_or(1.0);
        let name = material_name(document, k);
        for (map, what) in [
            (&material["normalTexture"], "normal map"),
            (&pbr["metallicRoughnessTexture"], "map of roughness and metalness"),
            (&material["occlusionTexture"], "occlusion map"),
            (&material["emissiveTexture"], "map of emitted light"),
            (&pbr["baseColorTexture"]["extensions"]["KHR_texture_transform"], "transform of the texture"),
        ] {
            if map.is_object() {
                notices.push(format!("material {name}: its {what} was not imported"));
            }
        }
        ModelMaterial {
            color: Some([factor(0), factor(1), factor(2)]),
            metallic: pbr["metallicFactor"].as_f64().unwrap_or(1.0),
            roughness: pbr["roughnessFactor"].as_f64().unwrap_or(1.0),
            transparent: transmission.as_f64().unwrap_or(0.0) > 0.5
                || (material["alphaMode"] == "BLEND" && factor(3) < 0.9),
            texture: base_color_image(document, pbr, folder, &name, notices),
            name,
        }
    };
    list(document, "materials").iter().enumerate().map(&mut material).collect()
}

/// The file of the color image of a material, if it has one beside the model.
fn base_color_image(
    document: &Value,
    pbr: &Value,
    folder: &Path,
    name: &str,
    notices: &mut Vec<String>,
) -> Option<PathBuf> {
    let texture = pbr["baseColorTexture"]["index"].as_u64()?;
    let source = document["textures"][texture as usize]["source"].as_u64()?;
    let image = &document["images"][source as usize];
    let Some(uri) = image["uri"].as_str().filter(|uri| !uri.starts_with("data:")) else {
        notices
            .push(format!("material {name}: its image is stored in the model and was not imported; save it as a file"));
        return None;
    };
    let file = image_beside(folder, uri);
    if file.is_none() {
        notices.push(format!("material {name}: the image {uri} was not found beside the model"));
    }
    file
}

/// One line for each kind of content that is not imported.
fn left_out(document: &Value) -> Vec<String> {
    let names = |nodes: Vec<u64>| -> String {
        let mut names: Vec<&str> =
            nodes.iter().map(|k| document["nodes"][*k as usize]["name"].as_str().unwrap_or("a node")).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    };
    let channels = list(document, "animations").iter().flat_map(|animation| list(animation, "channels"));
    let (mut moving, mut morphing) = (Vec::new(), Vec::new());
    for channel in channels {
        let Some(node) = channel["target"]["node"].as_u64() else { continue };
        if channel["target"]["path"] == "weights" { morphing.push(node) } else { moving.push(node) }
    }
    let skinned = list(document, "nodes").iter().enumerate().filter(|(_, node)| node["skin"].is_u64());
    let skinned: Vec<u64> = skinned.map(|(k, _)| k as u64).collect();
    let mut lines = Vec::new();
    for (nodes, what) in [
        (moving, "is animated; its place at rest was taken (motion is imported from USD)"),
        (morphing, "has animated morph targets; its shape at rest was taken"),
        (skinned, "is deformed by a skin; its shape at rest was taken"),
    ] {
        if !nodes.is_empty() {
            lines.push(format!("{} {what}", names(nodes)));
        }
    }
    lines
}

/// The last time of all animations, in s; 0 where there are none.
fn animation_end(document: &Value) -> f64 {
    let samplers = list(document, "animations").iter().flat_map(|animation| list(animation, "samplers"));
    let ends = samplers.filter_map(|sampler| {
        let input = sampler["input"].as_u64()?;
        document["accessors"][input as usize]["max"][0].as_f64()
    });
    ends.fold(0.0, f64::max)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn material_name(document: &Value, k: usize) -> String {
    document["materials"][k]["name"].as_str().map_or_else(|| format!("material {k}"), str::to_owned)
}
