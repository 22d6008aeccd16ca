//! glTF 2.0: one part per primitive and node; materials, the first camera, animations.
//!
//! Animations are sampled at [`FPS`]: rigid motion becomes keys, morph targets, skins and changes
//! of size become samples of a deforming mesh.
//!
//! Meshes and node transforms are read by `sessile_geometry`; names, materials, cameras and
//! animations come from the JSON document.

use std::path::{Path, PathBuf};

use glam::{DMat4, DVec3};
use serde_json::Value;
use sessile_geometry::files::{GltfMotion, gltf_json, gltf_motion, parse_gltf};

use crate::error::ImportError;
use crate::model::{Model, ModelMaterial, NO_MATERIAL, Part, image_beside};
use crate::motion;

/// Frames per second: glTF animations have none.
const FPS: f64 = 24.0;

/// Most frames of an animation; more are taken for an error of the file.
const MAX_FRAMES: f64 = 10_000.0;

/// Reads a `.glb` or `.gltf` file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let resources = |name: &str| sessile_input::read_beside(folder, name, sessile_input::MAX_MESH);
    let scene = parse_gltf(bytes, &resources).map_err(|error| error.in_file(path))?;
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
    let end = animation_end(&document);
    let frames = (end * FPS).round().clamp(0.0, MAX_FRAMES) as u32;
    let times: Vec<f64> = (0..=frames).map(|k| f64::from(k) / FPS).collect();
    let sampled = gltf_motion(bytes, &resources, &times).map_err(|error| error.in_file(path))?;
    for part in scene.primitives {
        let node = &document["nodes"][part.node];
        let mesh = node["mesh"].as_u64().map_or(&Value::Null, |mesh| &document["meshes"][mesh as usize]);
        let name = node["name"].as_str().or(mesh["name"].as_str()).unwrap_or("part").to_owned();
        let material = mesh["primitives"][part.primitive]["material"].as_u64();
        let material = material.map_or(NO_MATERIAL.to_owned(), |k| material_name(&document, k as usize));
        let still = Part { name, object: part.node, material, mesh: part.mesh, ..Part::default() };
        model.parts.push(moved(still, part.primitive, &sampled, &times));
    }
    if frames > 0 {
        model.frames = Some((0.0, f64::from(frames), FPS));
    }
    if let Some(camera) = scene.nodes.iter().find(|(node, _)| document["nodes"][*node]["camera"].is_u64())
        && poses_of(camera.0, &sampled, &times).windows(2).any(|pair| pair[0].1 != pair[1].1)
    {
        let name = document["nodes"][camera.0]["name"].as_str().unwrap_or("a node").to_owned();
        model
            .notices
            .push(format!("the camera {name} moves; its place at rest was taken, because a scene's camera is at rest"));
    }
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

/// World transforms of a node at all times.
fn poses_of(node: usize, motion: &GltfMotion, times: &[f64]) -> Vec<(f64, DMat4)> {
    let pose = |poses: &Vec<(usize, DMat4)>| poses.iter().find(|(k, _)| *k == node).map(|(_, pose)| *pose);
    times.iter().zip(&motion.poses).filter_map(|(at, poses)| Some((*at, pose(poses)?))).collect()
}

/// The part with its motion or its samples.
fn moved(mut part: Part, primitive: usize, sampled: &GltfMotion, times: &[f64]) -> Part {
    if let Some(own) = sampled.deforming.iter().find(|own| own.node == part.object && own.primitive == primitive) {
        if let Some(first) = own.positions.first().filter(|first| first.len() == part.mesh.positions.len()) {
            part.mesh.positions.clone_from(first);
            if times.len() > 1 {
                part.deform = times.iter().copied().zip(own.positions.iter().cloned()).collect();
            }
        }
        return part;
    }
    let poses = poses_of(part.object, sampled, times);
    let Some((_, first)) = poses.first().filter(|_| poses.len() > 1) else { return part };
    let at_rest = poses.iter().all(|(_, pose)| pose == first);
    let center = first.transform_point3(DVec3::ZERO);
    match motion::keys(&poses, center) {
        Some(keys) if !keys.is_empty() => {
            part.mesh.positions.iter_mut().for_each(|p| *p -= center);
            (part.origin, part.motion) = (center, keys);
        }
        // It changes its size: the vertices of every frame.
        None if !at_rest && first.determinant() != 0.0 => {
            let own: Vec<DVec3> = part.mesh.positions.iter().map(|p| first.inverse().transform_point3(*p)).collect();
            let shape = |pose: &DMat4| own.iter().map(|p| pose.transform_point3(*p)).collect();
            part.deform = poses.iter().map(|(at, pose)| (*at, shape(pose))).collect();
        }
        _ => {}
    }
    part
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
