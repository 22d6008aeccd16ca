//! USD: meshes with their transforms, rigid motion and materials, the first camera, the frame
//! range.
//!
//! Animated transforms become keys of the solid's motion, animated points samples of its
//! deformation. Of other animated values (the camera) the first sample is taken, and a notice says
//! so. References, payloads, sublayers and variants are not followed; a notice says so.

mod binary_layer;
mod error;
mod integer_coding;
mod layer;
mod mesh;
mod text_layer;
mod transform;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::{DMat4, DVec3, DVec4};

use self::mesh::{Polygons, faces_by_material};
use self::transform::{local_transform, local_transform_at};
use crate::error::ImportError;
use crate::model::{Model, ModelMaterial, NO_MATERIAL, Part, image_beside};
use crate::motion;

pub use error::UsdError;
pub use layer::{UsdLayer, UsdPrim, UsdValue};

/// Defaults of USD's camera schema, in tenths of a unit.
const FOCAL_LENGTH: f64 = 50.0;
const VERTICAL_APERTURE: f64 = 15.2908;

/// Most frames of a motion; more are taken for an error of the file.
const MAX_KEYS: f64 = 10_000.0;

/// Reads a layer, text or binary.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let failed = |cause| ImportError::Usd { path: path.to_owned(), cause };
    let mut model = UsdLayer::parse(bytes).map(|layer| model_of(&layer)).map_err(failed)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for material in &mut model.materials {
        let Some(image) = material.texture.take() else { continue };
        material.texture = image_beside(folder, &image.to_string_lossy());
        if material.texture.is_none() {
            let line =
                format!("material {}: the image {} was not found beside the model", material.name, image.display());
            model.notices.push(line);
        }
    }
    Ok(model)
}

fn model_of(layer: &UsdLayer) -> Model {
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
        importer.collect_materials(prim, &format!("/{}", prim.name));
    }
    for prim in &layer.prims {
        importer.visit(prim, &mut Vec::new(), base, None, None);
    }
    let Importer { mut model, mut skipped, .. } = importer;
    model.frames = frames;
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
    /// Number of meshes so far.
    objects: usize,
    /// First and last time code, and time codes per second.
    frames: Option<(f64, f64, f64)>,
    /// From the layer's units and axes to meters, y up.
    base: DMat4,
}

impl Importer {
    fn collect_materials(&mut self, prim: &UsdPrim, path: &str) {
        if prim.kind == "Material" {
            let mut material = ModelMaterial { name: prim.name.clone(), roughness: 0.5, ..ModelMaterial::default() };
            read_preview_surface(prim, &mut material, &mut self.model.notices);
            self.materials.insert(path.to_owned(), prim.name.clone());
            self.model.materials.push(material);
        }
        for child in &prim.children {
            self.collect_materials(child, &format!("{path}/{}", child.name));
        }
    }

    /// Imports a prim and its children. `bound` is the material inherited from its parent,
    /// `only_child_of` the name of a parent transform that has no other child.
    fn visit<'a>(
        &mut self,
        prim: &'a UsdPrim,
        parents: &mut Vec<&'a UsdPrim>,
        parent: DMat4,
        bound: Option<&str>,
        only_child_of: Option<&str>,
    ) {
        parents.push(prim);
        let world_from_prim = parent * local_transform(prim);
        let own = prim.text("material:binding").and_then(|path| self.materials.get(path)).cloned();
        let bound = own.as_deref().or(bound);
        if prim.composed {
            self.skipped.push(format!("references of {} to other layers", prim.name));
        }
        match prim.kind.as_str() {
            // Programs write an object as a mesh in a transform of its own; the transform has the
            // object's name.
            "Mesh" => self.add_mesh(prim, parents, only_child_of.unwrap_or(&prim.name), world_from_prim, bound),
            "Camera" => {
                if self.model.camera.is_none() && parents.iter().any(|prim| !prim.samples.is_empty()) {
                    self.model.notices.push(format!(
                        "the camera {} moves; its place in the first frame was taken, because a scene's camera is at rest",
                        prim.name
                    ));
                }
                let focal = prim.number("focalLength").unwrap_or(FOCAL_LENGTH);
                let aperture = prim.number("verticalAperture").unwrap_or(VERTICAL_APERTURE);
                self.model.set_first_camera(world_from_prim, 2.0 * (0.5 * aperture / focal).atan());
            }
            "Cube" | "Sphere" | "Cylinder" | "Cone" | "Capsule" | "Plane" | "BasisCurves" | "NurbsPatch"
            | "PointInstancer" => {
                self.skipped.push(format!("{} ({})", prim.name, prim.kind));
            }
            _ => {}
        }
        for child in &prim.children {
            let only_child = prim.kind == "Xform" && prim.children.len() == 1;
            self.visit(child, parents, world_from_prim, bound, only_child.then_some(prim.name.as_str()));
        }
        parents.pop();
    }

    /// Transforms of the innermost of `parents` at the frames, with times in s; empty if it is at
    /// rest.
    fn poses(&self, parents: &[&UsdPrim]) -> Vec<(f64, DMat4)> {
        let samples = parents.iter().flat_map(|prim| prim.samples.values().flatten()).map(|(time, _)| *time);
        let [first_sample, last_sample] =
            samples.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], t| [low.min(t), high.max(t)]);
        let (first, last, fps) = self.frames.unwrap_or((first_sample, last_sample, 24.0));
        let count = (last - first).round();
        if first_sample >= last_sample || !(1.0..=MAX_KEYS).contains(&count) || !(fps > 0.0 && fps.is_finite()) {
            return Vec::new();
        }
        let pose = |k: u32| {
            let time = first + f64::from(k);
            let world = parents.iter().fold(self.base, |world, prim| world * local_transform_at(prim, time));
            (f64::from(k) / fps, world)
        };
        (0..=count as u32).map(pose).collect()
    }

    /// Adds a mesh that changes its shape or size: its vertices at all frames, transforms applied.
    /// `false` if there are no frames, or their numbers of points differ.
    fn add_deforming_mesh(&mut self, prim: &UsdPrim, parents: &[&UsdPrim], name: &str, bound: Option<&str>) -> bool {
        let poses = self.poses(parents);
        let (first, rate) = self.frames.map_or((0.0, 24.0), |(first, _, rate)| (first, rate));
        let points = |seconds: f64| match prim.samples.get("points") {
            Some(samples) => points_at(samples, first + seconds * rate),
            None => Some(prim.numbers("points").to_vec()),
        };
        let shapes: Option<Vec<(f64, Polygons)>> =
            poses.iter().map(|(at, world)| Some((*at, Polygons::of_prim(prim, &points(*at)?, *world)))).collect();
        let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty()) else {
            self.model.notices.push(format!(
                "{name} changes its number of points over time, which a solid cannot; its shape in the first frame was \
                 taken"
            ));
            return false;
        };
        let faces = faces_by_material(prim, shapes[0].1.len(), bound.unwrap_or(NO_MATERIAL), &self.materials);
        for (material, faces) in faces {
            let meshes: Result<Vec<_>, _> =
                shapes.iter().map(|(at, polygons)| Ok((*at, polygons.triangulate(&faces)?))).collect();
            match meshes {
                Ok(meshes) => {
                    let mesh = meshes[0].1.clone();
                    let deform = meshes.into_iter().map(|(at, mesh)| (at, mesh.positions)).collect();
                    let (name, object) = (name.to_owned(), self.objects);
                    self.model.parts.push(Part { name, object, material, mesh, deform, ..Part::default() });
                }
                Err::<_, &str>(problem) => {
                    self.model.notices.push(format!("mesh {} was skipped: {problem}", prim.name));
                }
            }
        }
        true
    }

    fn add_mesh(
        &mut self,
        prim: &UsdPrim,
        parents: &[&UsdPrim],
        name: &str,
        mut world_from_prim: DMat4,
        bound: Option<&str>,
    ) {
        self.objects += 1;
        if prim.animated.iter().any(|property| property == "faceVertexIndices") {
            self.model.notices.push(format!(
                "{name} changes its topology over time, which a solid cannot; its shape in the first frame was taken"
            ));
        } else if prim.samples.contains_key("points") && self.add_deforming_mesh(prim, parents, name, bound) {
            return;
        }
        let poses = self.poses(parents);
        let (mut origin, mut motion) = (DVec3::ZERO, Vec::new());
        if let Some((_, first)) = poses.first() {
            world_from_prim = *first;
            let center = first.transform_point3(DVec3::ZERO);
            match motion::keys(&poses, center) {
                Some(keys) if !keys.is_empty() => (origin, motion) = (center, keys),
                Some(_) => {}
                // It changes its size: the vertices of every frame.
                None if self.add_deforming_mesh(prim, parents, name, bound) => return,
                None => {}
            }
        }
        let world_from_prim = DMat4::from_translation(-origin) * world_from_prim;
        let polygons = Polygons::of_prim(prim, prim.numbers("points"), world_from_prim);
        for (material, faces) in faces_by_material(prim, polygons.len(), bound.unwrap_or(NO_MATERIAL), &self.materials)
        {
            match polygons.triangulate(&faces) {
                Ok(mesh) => {
                    let (name, motion) = (name.to_owned(), motion.clone());
                    let (object, deform) = (self.objects, Vec::new());
                    self.model.parts.push(Part { name, object, material, mesh, origin, motion, deform });
                }
                Err(problem) => self.model.notices.push(format!("mesh {} was skipped: {problem}", prim.name)),
            }
        }
    }
}

/// The points of a mesh at a time code, linear between samples; `None` between samples of
/// different length.
fn points_at(samples: &[(f64, Vec<f64>)], time: f64) -> Option<Vec<f64>> {
    let next = samples.partition_point(|(at, _)| *at <= time);
    let (Some((t0, before)), Some((t1, after))) = (samples.get(next.wrapping_sub(1)), samples.get(next)) else {
        return samples.get(next.min(samples.len() - 1)).map(|(_, points)| points.clone());
    };
    let along = (time - t0) / (t1 - t0);
    (before.len() == after.len()).then(|| before.iter().zip(after).map(|(a, b)| a + (b - a) * along).collect())
}

/// Reads the parameters of the material's UsdPreviewSurface shader, and its color image: the first
/// texture that does not hold raw data. Other textures are noted, one line each.
fn read_preview_surface(prim: &UsdPrim, material: &mut ModelMaterial, notices: &mut Vec<String>) {
    match prim.text("info:id") {
        Some("UsdPreviewSurface") => {
            if let [r, g, b] = prim.numbers("inputs:diffuseColor") {
                material.color = Some([*r, *g, *b]);
            }
            material.metallic = prim.number("inputs:metallic").unwrap_or(0.0);
            material.roughness = prim.number("inputs:roughness").unwrap_or(0.5);
            material.transparent = prim.number("inputs:opacity").unwrap_or(1.0) < 0.9;
        }
        Some("UsdUVTexture") => {
            let is_color = prim.text("inputs:sourceColorSpace") != Some("raw");
            match prim.text("inputs:file").filter(|_| is_color && material.texture.is_none()) {
                Some(file) => material.texture = Some(PathBuf::from(file.trim_start_matches("./"))),
                None => notices.push(format!("material {}: its texture {} was not imported", material.name, prim.name)),
            }
        }
        _ => {}
    }
    for child in &prim.children {
        read_preview_surface(child, material, notices);
    }
}
