//! USD, as layers or packages (USDZ): meshes with their transforms, motion, materials and images,
//! the first camera, the frame range.
//!
//! Animated transforms become keys of the motion of a solid or of the camera, animated points
//! samples of a deformation. Of other animated values (the camera's lens) the first sample is
//! taken, and a notice says so. Meshes that state a subdivision scheme are subdivided. References,
//! payloads, sublayers and variants are not followed; a notice says so.

mod binary_layer;
mod error;
mod integer_coding;
mod layer;
mod mesh;
mod package;
mod text_layer;
mod transform;

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DMat4, DVec3, DVec4};

use self::mesh::faces_by_material;
use self::transform::{local_transform, local_transform_at, resets_transform};
use crate::error::ImportError;
use crate::mesh_over_time::MeshOverTime;
use crate::model::{Model, ModelImage, ModelMaterial, NO_MATERIAL, image_beside};

pub use error::UsdError;
pub use layer::{UsdLayer, UsdPrim, UsdValue};

/// Defaults of USD's camera schema, in tenths of a unit.
const FOCAL_LENGTH: f64 = 50.0;
const VERTICAL_APERTURE: f64 = 15.2908;

/// Most frames of a motion; more are taken for an error of the file.
const MAX_KEYS: f64 = 10_000.0;

/// Properties of a mesh that a skeleton or blend shapes deform.
const SKELETAL: [&str; 3] = ["skel:skeleton", "skel:blendShapes", "primvars:skel:jointIndices"];

/// Most coordinates of the points of a mesh in all frames.
const MAX_NUMBERS: usize = 150_000_000;

/// Reads a layer, text or binary, or a package (USDZ) with its first layer.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let failed = |cause| ImportError::Usd { path: path.to_owned(), cause };
    let folder = path.parent().unwrap_or(Path::new(""));
    if !package::is_package(bytes) {
        let layer = UsdLayer::parse(bytes).map_err(failed)?;
        return Ok(model_of(&layer, &Images { folder, files: &[] }));
    }
    let files = package::files(bytes).map_err(failed)?;
    let is_layer = |name: &str| [".usd", ".usda", ".usdc"].iter().any(|ending| name.ends_with(ending));
    let missing = || UsdError::Malformed("the package has no layer".to_owned());
    let (_, root) = files.iter().find(|(name, _)| is_layer(name)).ok_or_else(missing).map_err(failed)?;
    let layer = UsdLayer::parse(root).map_err(failed)?;
    Ok(model_of(&layer, &Images { folder, files: &files }))
}

/// The images that a layer may name: files beside it, or in its package.
struct Images<'a> {
    folder: &'a Path,
    files: &'a [(String, &'a [u8])],
}

impl Images<'_> {
    /// The image of a name in a layer; the error says why it cannot be used.
    fn find(&self, name: &str) -> Result<ModelImage, String> {
        let plain = name.trim_start_matches("./");
        if let Some((_, bytes)) = self.files.iter().find(|(file, _)| file == plain) {
            return ModelImage::stored(bytes).map_err(|reason| format!("the image {plain} cannot be used: {reason}"));
        }
        image_beside(self.folder, plain).ok_or_else(|| format!("the image {plain} was not found beside the model"))
    }
}

fn model_of(layer: &UsdLayer, images: &Images<'_>) -> Model {
    let number = |key: &str| layer.metadata.get(key).and_then(UsdValue::number);
    let scale = number("metersPerUnit").filter(|unit| *unit > 0.0 && unit.is_finite()).unwrap_or(0.01);
    let mut base = DMat4::from_scale(DVec3::splat(scale));
    if layer.metadata.get("upAxis").and_then(UsdValue::text) == Some("Z") {
        // (x, y, z) becomes (x, z, −y).
        base = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W) * base;
    }
    let frames = number("startTimeCode").zip(number("endTimeCode"));
    let fps = number("timeCodesPerSecond").or(number("framesPerSecond")).unwrap_or(24.0);
    let frames = frames.map(|(first, last)| (first, last, fps));
    let mut importer = Importer { frames, base, ..Importer::default() };
    for prim in &layer.prims {
        importer.collect_materials(prim, &format!("/{}", prim.name), images);
    }
    for prim in &layer.prims {
        importer.visit(prim, &mut Vec::new(), base, None, None);
    }
    let Importer { mut model, mut skipped, hidden, without_scheme, .. } = importer;
    if !hidden.is_empty() {
        model.notices.push(format!("not imported: {}; they are invisible, proxies or guides", hidden.join(", ")));
    }
    model.frames = frames;
    if !without_scheme.is_empty() {
        model.notices.push(format!(
            "no subdivisionScheme is stated for {}: taken as polygons, though USD's default is catmullClark",
            without_scheme.join(", ")
        ));
    }
    skipped.sort_unstable();
    skipped.dedup();
    if !skipped.is_empty() {
        model.notices.push(format!("not imported: {}; convert them to meshes first", skipped.join(", ")));
    }
    if number("metersPerUnit").is_none() {
        model.notices.push("the layer does not set metersPerUnit; USD's default, a centimeter, was used".into());
    }
    model.aim_camera();
    model
}

#[derive(Default)]
struct Importer {
    model: Model,
    /// Names of materials by path.
    materials: BTreeMap<String, String>,
    /// Prims that cannot be imported.
    skipped: Vec<String>,
    /// Prims with meshes that images do not show.
    hidden: Vec<String>,
    /// Meshes that do not state whether they are subdivision surfaces.
    without_scheme: Vec<String>,
    /// Number of meshes so far.
    objects: usize,
    /// First and last time code, and time codes per second.
    frames: Option<(f64, f64, f64)>,
    /// From the layer's units and axes to meters, y up.
    base: DMat4,
}

impl Importer {
    fn collect_materials(&mut self, prim: &UsdPrim, path: &str, images: &Images<'_>) {
        if prim.kind == "Material" {
            let material = read_material(prim, images, &mut self.model.notices);
            self.materials.insert(path.to_owned(), prim.name.clone());
            self.model.materials.push(material);
        }
        for child in &prim.children {
            self.collect_materials(child, &format!("{path}/{}", child.name), images);
        }
    }

    /// Imports a prim and its children. `bound` is the material inherited from its parent,
    /// `only_shape_of` the name of a parent transform that has no other shape.
    fn visit<'a>(
        &mut self,
        prim: &'a UsdPrim,
        parents: &mut Vec<&'a UsdPrim>,
        parent: DMat4,
        bound: Option<&str>,
        only_shape_of: Option<&str>,
    ) {
        if is_hidden(prim) {
            if has_mesh(prim) {
                self.hidden.push(prim.name.clone());
            }
            return;
        }
        parents.push(prim);
        let parent = if resets_transform(prim) { self.base } else { parent };
        let world_from_prim = parent * local_transform(prim);
        let own = prim.text("material:binding").and_then(|path| self.materials.get(path)).cloned();
        let bound = own.as_deref().or(bound);
        if prim.composed {
            self.skipped.push(format!("references of {} to other layers", prim.name));
        }
        match prim.kind.as_str() {
            // Programs write an object as a mesh in a transform of its own; the transform has the
            // object's name.
            "Mesh" => self.add_mesh(prim, parents, only_shape_of.unwrap_or(&prim.name), world_from_prim, bound),
            "Camera" => {
                let focal = prim.number("focalLength").unwrap_or(FOCAL_LENGTH);
                let aperture = prim.number("verticalAperture").unwrap_or(VERTICAL_APERTURE);
                let lens = ["focalLength", "verticalAperture"];
                if self.model.camera.is_none() && prim.animated.iter().any(|name| lens.contains(&name.as_str())) {
                    let line =
                        format!("the lens of the camera {} changes over time; its first state was taken", prim.name);
                    self.model.notices.push(line);
                }
                let name = only_shape_of.unwrap_or(&prim.name);
                let poses = self.poses(parents, world_from_prim);
                self.model.set_first_camera(name, &poses, 2.0 * (0.5 * aperture / focal).atan());
            }
            "Cube" | "Sphere" | "Cylinder" | "Cone" | "Capsule" | "Plane" | "BasisCurves" | "NurbsPatch"
            | "PointInstancer" => {
                self.skipped.push(format!("{} ({})", prim.name, prim.kind));
            }
            _ => {}
        }
        let shapes = prim.children.iter().filter(|child| matches!(child.kind.as_str(), "Mesh" | "Camera")).count();
        let names_its_shape = prim.kind == "Xform" && shapes == 1;
        for child in &prim.children {
            self.visit(child, parents, world_from_prim, bound, names_its_shape.then_some(prim.name.as_str()));
        }
        parents.pop();
    }

    /// World transforms of the innermost of `parents` with times in s: at all frames, or one if it
    /// is at rest and nothing else of it moves.
    fn poses(&self, parents: &[&UsdPrim], world_from_prim: DMat4) -> Vec<(f64, DMat4)> {
        let samples = parents.iter().flat_map(|prim| prim.samples.values().flatten()).map(|(time, _)| *time);
        let [first_sample, last_sample] =
            samples.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], t| [low.min(t), high.max(t)]);
        let (first, last, fps) = self.frames.unwrap_or((first_sample, last_sample, 24.0));
        let count = (last - first).round();
        if first_sample >= last_sample || !(1.0..=MAX_KEYS).contains(&count) || !(fps > 0.0 && fps.is_finite()) {
            return vec![(0.0, world_from_prim)];
        }
        let pose = |k: u32| {
            let time = first + f64::from(k);
            let placed = |above: DMat4, prim: &&UsdPrim| {
                let parent = if resets_transform(prim) { self.base } else { above };
                parent * local_transform_at(prim, time)
            };
            (f64::from(k) / fps, parents.iter().fold(self.base, placed))
        };
        (0..=count as u32).map(pose).collect()
    }

    /// The points of a mesh in its own coordinates: at all frames, or once if they do not move.
    fn points(&mut self, prim: &UsdPrim, poses: &[(f64, DMat4)], name: &str) -> Vec<Vec<DVec3>> {
        let at_rest = vec![mesh::points(prim.numbers("points"))];
        if prim.animated.iter().any(|property| property == "faceVertexIndices") {
            self.model.notices.push(format!(
                "{name} changes its topology over time, which a solid cannot; its shape in the first frame was taken"
            ));
            return at_rest;
        }
        let Some(samples) = prim.samples.get("points").filter(|_| poses.len() > 1) else { return at_rest };
        let (first, rate) = self.frames.map_or((0.0, 24.0), |(first, _, rate)| (first, rate));
        let length = samples.first().map_or(0, |(_, points)| points.len());
        if samples.iter().any(|(_, points)| points.len() != length) {
            self.model.notices.push(format!(
                "{name} changes its number of points over time, which a solid cannot; its shape in the first frame was \
                 taken"
            ));
            return at_rest;
        }
        if poses.len().saturating_mul(length) > MAX_NUMBERS {
            self.model.notices.push(format!(
                "{name} has more than {} points in all frames; its shape in the first frame was taken",
                MAX_NUMBERS / 3
            ));
            return at_rest;
        }
        poses.iter().map(|(seconds, _)| mesh::points(&points_at(samples, first + seconds * rate))).collect()
    }

    fn add_mesh(
        &mut self,
        prim: &UsdPrim,
        parents: &[&UsdPrim],
        name: &str,
        world_from_prim: DMat4,
        bound: Option<&str>,
    ) {
        self.objects += 1;
        if SKELETAL.iter().any(|key| prim.properties.contains_key(*key)) {
            self.model.notices.push(format!(
                "{name} is deformed by a skeleton or blend shapes (UsdSkel), which are not imported; its shape at rest was \
                 taken: export it without armatures and shape keys, so that its points are sampled"
            ));
        }
        let poses = self.poses(parents, world_from_prim);
        let points = self.points(prim, &poses, name);
        let polygons = mesh::polygons(prim, points.first().map_or(0, Vec::len));
        let faces = faces_by_material(prim, polygons.len(), bound.unwrap_or(NO_MATERIAL), &self.materials);
        let creases = mesh::creases(prim);
        if prim.text("subdivisionScheme").is_none() && prim.numbers("normals").is_empty() {
            self.without_scheme.push(name.to_owned());
        }
        let object = self.objects;
        MeshOverTime { name, object, polygons, points, poses, faces, creases }.add_to(&mut self.model);
    }
}

/// Whether a prim and its children are not in images: invisible all the time, or a stand-in.
fn is_hidden(prim: &UsdPrim) -> bool {
    let blinks = prim.animated.iter().any(|name| name == "visibility");
    (prim.text("visibility") == Some("invisible") && !blinks) || matches!(prim.text("purpose"), Some("proxy" | "guide"))
}

fn has_mesh(prim: &UsdPrim) -> bool {
    prim.kind == "Mesh" || prim.children.iter().any(has_mesh)
}

/// The points of a mesh at a time code, linear between samples.
fn points_at(samples: &[(f64, Vec<f64>)], time: f64) -> Vec<f64> {
    let next = samples.partition_point(|(at, _)| *at <= time);
    let (Some((t0, before)), Some((t1, after))) = (samples.get(next.wrapping_sub(1)), samples.get(next)) else {
        return samples
            .get(next.min(samples.len().saturating_sub(1)))
            .map(|(_, points)| points.clone())
            .unwrap_or_default();
    };
    let along = (time - t0) / (t1 - t0);
    before.iter().zip(after).map(|(a, b)| a + (b - a) * along).collect()
}

/// Reads the parameters of the material's UsdPreviewSurface shader, and its images of color and of
/// normals. What cannot be imported is noted, one line each.
fn read_material(prim: &UsdPrim, package: &Images<'_>, notices: &mut Vec<String>) -> ModelMaterial {
    let mut material = ModelMaterial { name: prim.name.clone(), roughness: 0.5, ..ModelMaterial::default() };
    let mut shaders = Vec::new();
    collect_shaders(prim, &mut shaders);
    let Some(surface) = shaders.iter().find(|shader| shader.text("info:id") == Some("UsdPreviewSurface")) else {
        if !shaders.is_empty() {
            notices.push(format!("material {}: it has no UsdPreviewSurface; its look was not imported", prim.name));
        }
        return material;
    };
    if let [r, g, b] = surface.numbers("inputs:diffuseColor") {
        material.color = Some([*r, *g, *b]);
    }
    material.metallic = surface.number("inputs:metallic").unwrap_or(0.0);
    material.roughness = surface.number("inputs:roughness").unwrap_or(0.5);
    material.transparent = surface.number("inputs:opacity").unwrap_or(1.0) < 0.9;
    // The path of a connection ends in SHADER.outputs:OUTPUT.
    let source = |input: &str| {
        let path = surface.text(&format!("{input}.connect"))?;
        let name = path.rsplit('/').next()?.split('.').next()?;
        shaders.iter().find(|shader| shader.name == name)
    };
    for (input, what) in [
        ("inputs:diffuseColor", "color"),
        ("inputs:normal", "normals"),
        ("inputs:roughness", "roughness"),
        ("inputs:metallic", "metalness"),
        ("inputs:opacity", "opacity"),
        ("inputs:occlusion", "occlusion"),
        ("inputs:emissiveColor", "emitted light"),
        ("inputs:displacement", "displacement"),
    ] {
        let Some(shader) = source(input) else { continue };
        let slot = match what {
            "color" => &mut material.texture,
            "normals" => &mut material.normal_map,
            _ => {
                notices.push(format!("material {}: its map of {what} was not imported", prim.name));
                continue;
            }
        };
        let Some(file) = shader.text("inputs:file").filter(|_| shader.text("info:id") == Some("UsdUVTexture")) else {
            notices.push(format!("material {}: its {what} come from a shader that was not imported", prim.name));
            continue;
        };
        let reverses = |k: usize| shader.numbers("inputs:scale").get(k).is_some_and(|factor| *factor < 0.0);
        if what == "normals" && (reverses(0) || reverses(1)) {
            notices.push(format!(
                "material {}: its normal map is read with a reversed channel, which was not imported: reverse red or \
                 green (a DirectX map) in the image",
                prim.name
            ));
        }
        match package.find(file) {
            Ok(image) => *slot = Some(image),
            Err(problem) => notices.push(format!("material {}: {problem}", prim.name)),
        }
    }
    // The image has the color.
    if material.texture.is_some() {
        material.color = None;
    }
    material
}

/// The shaders of a material, also of its node graphs.
fn collect_shaders<'a>(prim: &'a UsdPrim, shaders: &mut Vec<&'a UsdPrim>) {
    for child in &prim.children {
        if child.kind == "Shader" {
            shaders.push(child);
        }
        collect_shaders(child, shaders);
    }
}
