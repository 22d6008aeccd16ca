//! glTF 2.0: one part per primitive and node; materials with their images, the first camera,
//! animations.
//!
//! Animations are sampled at [`FPS`]: rigid motion becomes keys, morph targets, skins and changes
//! of size become samples of a deforming mesh.
//!
//! Meshes and node transforms are read by `sessile_geometry`; names, materials, cameras and
//! animations come from the JSON document.

use std::path::Path;

use glam::{DMat4, DVec2, DVec3};
use serde_json::Value;
use sessile_geometry::TriMesh;
use sessile_geometry::files::{GltfMotion, Resources, data_uri, gltf_json, gltf_motion, gltf_view, parse_gltf};

use crate::error::ImportError;
use crate::model::{Model, ModelImage, ModelMaterial, NO_MATERIAL, Part, image_beside};
use crate::motion;

/// Frames per second: glTF animations have none.
const FPS: f64 = 24.0;

/// Most frames of an animation; more are taken for an error of the file.
const MAX_FRAMES: u32 = 10_000;

/// Reads a `.glb` or `.gltf` file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let resources = |name: &str| sessile_input::read_beside(folder, name, sessile_input::MAX_MESH);
    let document: Value = serde_json::from_slice(gltf_json(bytes).map_err(|error| error.in_file(path))?)
        .map_err(|cause| ImportError::Gltf { path: path.to_owned(), cause })?;
    let mut model = Model::default();
    let images = Images { document: &document, bytes, resources: &resources, folder };
    model.materials = materials(&images, &mut model.notices);
    let [first, last] = frame_range(&document);
    let times: Vec<f64> = (first..=last).map(|frame| f64::from(frame) / FPS).collect();
    let scene = parse_gltf(bytes, &resources, times[0]).map_err(|error| error.in_file(path))?;
    let sampled = gltf_motion(bytes, &resources, &times).map_err(|error| error.in_file(path))?;
    // Times of a scene count from its first frame.
    let times: Vec<f64> = times.iter().map(|time| time - times[0]).collect();
    let parents = parents(&document);
    for part in scene.primitives {
        let node = &document["nodes"][part.node];
        let mesh = node["mesh"].as_u64().map_or(&Value::Null, |mesh| &document["meshes"][mesh as usize]);
        let named = node["name"].as_str().or(mesh["name"].as_str());
        let name = named.or_else(|| name_of_parent(&document, &parents, part.node)).unwrap_or("part").to_owned();
        let own = mesh["primitives"][part.primitive]["material"].as_u64();
        let material = own.map_or(NO_MATERIAL.to_owned(), |k| material_name(&document, k as usize));
        let mut still = Part { name, object: part.node, material, mesh: part.mesh, ..Part::default() };
        if let Some(transform) = own.and_then(|k| texture_transform(&document["materials"][k as usize])) {
            transform.apply(&mut still.mesh);
        }
        model.parts.push(moved(still, part.primitive, &sampled, &times));
    }
    if last > first {
        model.frames = Some((f64::from(first), f64::from(last), FPS));
    }
    for &(node, world_from_node) in &scene.nodes {
        let camera = document["nodes"][node]["camera"].as_u64();
        let fov = camera.and_then(|camera| document["cameras"][camera as usize]["perspective"]["yfov"].as_f64());
        if let Some(fov) = fov {
            let mut poses = poses_of(node, &sampled, &times);
            if poses.is_empty() {
                poses.push((0.0, world_from_node));
            }
            let name = document["nodes"][node]["name"].as_str().or_else(|| name_of_parent(&document, &parents, node));
            model.set_first_camera(name.unwrap_or("camera"), &poses, fov);
        }
    }
    model.aim_camera();
    Ok(model)
}

/// The images of a document.
struct Images<'a> {
    document: &'a Value,
    bytes: &'a [u8],
    resources: &'a Resources<'a>,
    folder: &'a Path,
}

/// The materials; what of them is not imported is noted, one line each.
fn materials(images: &Images<'_>, notices: &mut Vec<String>) -> Vec<ModelMaterial> {
    let document = images.document;
    let mut material = |(k, material): (usize, &Value)| {
        let pbr = &material["pbrMetallicRoughness"];
        let transmission = &material["extensions"]["KHR_materials_transmission"]["transmissionFactor"];
        let factor = |i: usize| pbr["baseColorFactor"][i].as_f64().unwrap_or(1.0);
        let name = material_name(document, k);
        for (map, what) in [
            (&pbr["metallicRoughnessTexture"], "map of roughness and metalness"),
            (&material["occlusionTexture"], "occlusion map"),
            (&material["emissiveTexture"], "map of emitted light"),
        ] {
            if map.is_object() {
                notices.push(format!("material {name}: its {what} was not imported"));
            }
        }
        let [color, normals] = [&pbr["baseColorTexture"], &material["normalTexture"]].map(TextureTransform::of);
        let differs = pbr["baseColorTexture"].is_object() && material["normalTexture"].is_object() && color != normals;
        if [color, normals].iter().any(|transform| transform.rotation != 0.0) {
            notices.push(format!("material {name}: the rotation of its texture was not imported"));
        }
        if differs {
            notices.push(format!("material {name}: its normal map is placed like its texture, unlike in the file"));
        }
        if material["normalTexture"]["scale"].as_f64().is_some_and(|scale| scale != 1.0) {
            notices.push(format!("material {name}: the scale of its normal map was not imported"));
        }
        let mut image = |texture: &Value| match images.of_texture(texture)? {
            Ok(image) => Some(image),
            Err(problem) => {
                notices.push(format!("material {name}: {problem}"));
                None
            }
        };
        ModelMaterial {
            color: Some([factor(0), factor(1), factor(2)]),
            metallic: pbr["metallicFactor"].as_f64().unwrap_or(1.0),
            roughness: pbr["roughnessFactor"].as_f64().unwrap_or(1.0),
            transparent: transmission.as_f64().unwrap_or(0.0) > 0.5
                || (material["alphaMode"] == "BLEND" && factor(3) < 0.9),
            texture: image(&pbr["baseColorTexture"]),
            normal_map: image(&material["normalTexture"]),
            name,
        }
    };
    list(document, "materials").iter().enumerate().map(&mut material).collect()
}

impl Images<'_> {
    /// The image of a texture; the error says why it cannot be used.
    fn of_texture(&self, texture: &Value) -> Option<Result<ModelImage, String>> {
        let texture = &self.document["textures"][texture["index"].as_u64()? as usize];
        let Some(source) = texture["source"].as_u64() else {
            return Some(Err("its image is of a kind that is not imported; save it as PNG or JPEG".to_owned()));
        };
        let image = &self.document["images"][source as usize];
        let stored = match (image["uri"].as_str(), image["bufferView"].as_u64()) {
            (Some(uri), _) if !uri.starts_with("data:") => {
                let missing = || format!("the image {uri} was not found beside the model");
                return Some(image_beside(self.folder, uri).ok_or_else(missing));
            }
            (Some(uri), _) => data_uri(uri).ok_or_else(|| "its `data:` URI is malformed".to_owned()),
            (None, Some(view)) => {
                gltf_view(self.bytes, self.resources, view as usize).map_err(|error| error.to_string())
            }
            (None, None) => Err("it has neither a file nor bytes".to_owned()),
        };
        let name = image["name"].as_str().unwrap_or("without a name");
        let unusable = |reason| format!("the image {name} in the model cannot be used: {reason}");
        Some(stored.and_then(|bytes| ModelImage::stored(&bytes)).map_err(unusable))
    }
}

/// How texture coordinates of the file become those of an image (KHR_texture_transform).
#[derive(Clone, Copy, Debug, PartialEq)]
struct TextureTransform {
    offset: DVec2,
    scale: DVec2,
    rotation: f64,
}

impl TextureTransform {
    fn of(texture: &Value) -> Self {
        let transform = &texture["extensions"]["KHR_texture_transform"];
        let pair =
            |key: &str, default: f64| DVec2::from_array([0, 1].map(|k| transform[key][k].as_f64().unwrap_or(default)));
        let rotation = transform["rotation"].as_f64().unwrap_or(0.0);
        Self { offset: pair("offset", 0.0), scale: pair("scale", 1.0), rotation }
    }

    /// Applies offset and scale to the texture coordinates of a mesh, whose v points up.
    fn apply(self, mesh: &mut TriMesh) {
        // Without a transform they keep their bits.
        if (self.offset, self.scale) == (DVec2::ZERO, DVec2::ONE) {
            return;
        }
        for uv in mesh.corner_uvs.as_flattened_mut() {
            let placed = self.offset + self.scale * DVec2::new(uv.x, 1.0 - uv.y);
            *uv = DVec2::new(placed.x, 1.0 - placed.y);
        }
    }
}

/// The transform of a material's texture, or of its normal map if it has no texture.
fn texture_transform(material: &Value) -> Option<TextureTransform> {
    let own = [&material["pbrMetallicRoughness"]["baseColorTexture"], &material["normalTexture"]];
    own.into_iter().find(|texture| texture.is_object()).map(TextureTransform::of)
}

/// The parent of each node.
fn parents(document: &Value) -> Vec<Option<usize>> {
    let nodes = list(document, "nodes");
    let mut parents = vec![None; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for child in list(node, "children") {
            if let Some(parent) = child.as_u64().and_then(|child| parents.get_mut(child as usize)) {
                *parent = Some(index);
            }
        }
    }
    parents
}

/// The name of a node's parent: programs that quantize vertices place a mesh below the node that
/// had it.
fn name_of_parent<'a>(document: &'a Value, parents: &[Option<usize>], node: usize) -> Option<&'a str> {
    document["nodes"][parents.get(node).copied().flatten()?]["name"].as_str()
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

/// Numbers of the first and the last frame of all animations; both 0 where there are none. An
/// animation that starts at frame 1 keeps that number.
fn frame_range(document: &Value) -> [u32; 2] {
    let samplers = list(document, "animations").iter().flat_map(|animation| list(animation, "samplers"));
    let spans = samplers.filter_map(|sampler| {
        let input = &document["accessors"][sampler["input"].as_u64()? as usize];
        Some([input["min"][0].as_f64().unwrap_or(0.0), input["max"][0].as_f64()?])
    });
    let span = spans.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [a, b]| [low.min(a), high.max(b)]);
    if span[0] > span[1] || !(span[1] - span[0]).is_finite() {
        return [0, 0];
    }
    // Casts saturate.
    let [first, last] = span.map(|time| (time * FPS).round().clamp(0.0, 1e6) as u32);
    [first, last.clamp(first, first + MAX_FRAMES)]
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn material_name(document: &Value, k: usize) -> String {
    document["materials"][k]["name"].as_str().map_or_else(|| format!("material {k}"), str::to_owned)
}
