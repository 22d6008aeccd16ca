//! glTF 2.0: a part for every primitive of every placed mesh; materials, the first camera, the length of animations.
//!
//! Meshes are read by `sessile_geometry`'s reader, which trusts nothing: it gets the document with all but one primitive left out.

use std::path::Path;

use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sessile_geometry::files::{MeshFormat, parse_mesh};

use super::model::{Model, ModelMaterial, NO_MATERIAL, Part};
use crate::error::ImportError;

/// Frames a second where nothing says so.
const FPS: f64 = 24.0;

/// Deepest tree of nodes; a deeper one is a loop.
const DEEPEST: usize = 512;

/// Reads a `.glb` or `.gltf` file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let wrong = |what: String| ImportError::Contents { path: path.to_owned(), what };
    let (text, binary) = split(bytes).ok_or_else(|| wrong("the file is cut off".into()))?;
    let document: Value =
        serde_json::from_slice(text).map_err(|error| wrong(format!("its document is broken: {error}")))?;
    let mut model = Model::default();
    for (k, material) in list(&document, "materials").iter().enumerate() {
        let pbr = &material["pbrMetallicRoughness"];
        let through =
            material["extensions"]["KHR_materials_transmission"]["transmissionFactor"].as_f64().unwrap_or(0.0);
        let alpha = pbr["baseColorFactor"][3].as_f64().unwrap_or(1.0);
        model.materials.push(ModelMaterial {
            name: material_name(&document, k),
            metallic: pbr["metallicFactor"].as_f64().unwrap_or(1.0),
            roughness: pbr["roughnessFactor"].as_f64().unwrap_or(1.0),
            clear: through > 0.5 || (material["alphaMode"] == "BLEND" && alpha < 0.9),
            texture: None,
        });
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    for (node, place) in placed(&document)
        .ok_or_else(|| wrong("its tree of nodes has a loop or names nodes that are not there".into()))?
    {
        let object = node;
        let node = &document["nodes"][node];
        if let Some(camera) = node["camera"].as_u64()
            && let Some(fov) = document["cameras"][camera as usize]["perspective"]["yfov"].as_f64()
        {
            model.take_camera(place, fov);
        }
        let Some(mesh) = node["mesh"].as_u64() else { continue };
        let mesh = &document["meshes"][mesh as usize];
        for primitive in list(mesh, "primitives") {
            let mut one = document.clone();
            one["meshes"] = json!([{ "primitives": [primitive] }]);
            one["nodes"] = json!([{ "mesh": 0, "matrix": place.to_cols_array() }]);
            one["scenes"] = json!([{ "nodes": [0] }]);
            one["scene"] = json!(0);
            let bytes = join(&one, binary);
            let read = parse_mesh(&bytes, MeshFormat::Gltf, &|name| std::fs::read(folder.join(name)));
            let mesh_read = match read {
                Ok(read) => read,
                // Points and lines make no triangles, and no solid.
                Err(_) if !matches!(primitive["mode"].as_u64(), None | Some(4..=6)) => continue,
                Err(error) => return Err(wrong(error.to_string())),
            };
            let name = node["name"].as_str().or(mesh["name"].as_str()).unwrap_or("part").to_owned();
            let material =
                primitive["material"].as_u64().map_or(NO_MATERIAL.to_owned(), |k| material_name(&document, k as usize));
            model.parts.push(Part { name, object, material, mesh: mesh_read });
        }
    }
    let ends =
        list(&document, "animations").iter().flat_map(|animation| list(animation, "samplers")).filter_map(|sampler| {
            let input = sampler["input"].as_u64()?;
            document["accessors"][input as usize]["max"][0].as_f64()
        });
    let end = ends.fold(0.0, f64::max);
    if end > 0.0 {
        model.frames = Some((0.0, (end * FPS).round(), FPS));
    }
    model.aim_camera();
    Ok(model)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn material_name(document: &Value, k: usize) -> String {
    document["materials"][k]["name"].as_str().map_or_else(|| format!("material {k}"), str::to_owned)
}

/// The document's text, and the bytes that a `.glb` brings along.
fn split(bytes: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Some((bytes, None));
    }
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let length = word(12)?;
    let text = bytes.get(20..20_usize.checked_add(length)?)?;
    let next = 20 + length;
    let binary = word(next).and_then(|length| bytes.get(next + 8..(next + 8).checked_add(length)?));
    Some((text, binary))
}

/// A document and its bytes as a file.
fn join(document: &Value, binary: Option<&[u8]>) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    let Some(binary) = binary else { return text };
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + binary.len();
    let mut bytes = b"glTF".to_vec();
    for word in [2, total as u32, text.len() as u32] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(b"JSON");
    bytes.extend_from_slice(&text);
    bytes.extend_from_slice(&(binary.len() as u32).to_le_bytes());
    bytes.extend_from_slice(b"BIN\0");
    bytes.extend_from_slice(binary);
    bytes
}

/// Nodes of the scene with their transforms.
fn placed(document: &Value) -> Option<Vec<(usize, DMat4)>> {
    let nodes = list(document, "nodes");
    let scene = document["scene"].as_u64().unwrap_or(0) as usize;
    let roots: Vec<usize> = match list(document, "scenes").get(scene) {
        Some(scene) => list(scene, "nodes").iter().filter_map(|node| node.as_u64().map(|node| node as usize)).collect(),
        None => (0..nodes.len()).collect(),
    };
    let mut open: Vec<(usize, DMat4, usize)> = roots.into_iter().rev().map(|node| (node, DMat4::IDENTITY, 0)).collect();
    let mut placed = Vec::new();
    while let Some((node, parent, depth)) = open.pop() {
        let value = nodes.get(node)?;
        if depth > DEEPEST || placed.len() > nodes.len() {
            return None;
        }
        let place = parent * local(value);
        placed.push((node, place));
        let children = list(value, "children").iter().rev();
        open.extend(children.filter_map(Value::as_u64).map(|child| (child as usize, place, depth + 1)));
    }
    Some(placed)
}

fn local(node: &Value) -> DMat4 {
    let numbers = |key: &str| -> Vec<f64> { list(node, key).iter().filter_map(Value::as_f64).collect() };
    if let Ok(matrix) = <[f64; 16]>::try_from(numbers("matrix")) {
        return DMat4::from_cols_array(&matrix);
    }
    let three =
        |key: &str, otherwise: f64| <[f64; 3]>::try_from(numbers(key)).map_or(DVec3::splat(otherwise), DVec3::from);
    let turn = <[f64; 4]>::try_from(numbers("rotation")).map_or(DQuat::IDENTITY, DQuat::from_array);
    let turn = if turn.length_squared() > 0.0 { turn.normalize() } else { DQuat::IDENTITY };
    DMat4::from_scale_rotation_translation(three("scale", 1.0), turn, three("translation", 0.0))
}
