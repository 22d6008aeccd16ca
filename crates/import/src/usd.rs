//! USD: meshes with their transforms and materials, the first camera, the frame range.
//!
//! The first sample of animated values is taken. References, payloads, sublayers and variants are
//! not followed; a notice says so.

mod binary_layer;
mod error;
mod integer_coding;
mod layer;
mod mesh;
mod text_layer;
mod transform;

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DMat4, DVec3, DVec4};

use self::mesh::{Polygons, faces_by_material};
use self::transform::local_transform;
use crate::error::ImportError;
use crate::model::{Model, ModelMaterial, NO_MATERIAL, Part};

pub use error::UsdError;
pub use layer::{UsdLayer, UsdPrim, UsdValue};

/// Defaults of USD's camera schema, in tenths of a unit.
const FOCAL_LENGTH: f64 = 50.0;
const VERTICAL_APERTURE: f64 = 15.2908;

/// Reads a layer, text or binary.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let failed = |cause| ImportError::Usd { path: path.to_owned(), cause };
    UsdLayer::parse(bytes).map(|layer| model_of(&layer)).map_err(failed)
}

fn model_of(layer: &UsdLayer) -> Model {
    let number = |key: &str| layer.metadata.get(key).and_then(UsdValue::number);
    let scale = number("metersPerUnit").filter(|unit| *unit > 0.0 && unit.is_finite()).unwrap_or(0.01);
    let mut base = DMat4::from_scale(DVec3::splat(scale));
    if layer.metadata.get("upAxis").and_then(UsdValue::text) == Some("Z") {
        // (x, y, z) becomes (x, z, −y).
        base = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W) * base;
    }
    let mut importer = Importer::default();
    for prim in &layer.prims {
        importer.collect_materials(prim, &format!("/{}", prim.name));
    }
    for prim in &layer.prims {
        importer.visit(prim, base, None, None);
    }
    let Importer { mut model, mut skipped, .. } = importer;
    if let (Some(first), Some(last)) = (number("startTimeCode"), number("endTimeCode")) {
        let fps = number("timeCodesPerSecond").or(number("framesPerSecond")).unwrap_or(24.0);
        model.frames = Some((first, last, fps));
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
    /// Number of meshes so far.
    objects: usize,
}

impl Importer {
    fn collect_materials(&mut self, prim: &UsdPrim, path: &str) {
        if prim.kind == "Material" {
            let mut material = ModelMaterial { name: prim.name.clone(), roughness: 0.5, ..ModelMaterial::default() };
            read_preview_surface(prim, &mut material);
            self.materials.insert(path.to_owned(), prim.name.clone());
            self.model.materials.push(material);
        }
        for child in &prim.children {
            self.collect_materials(child, &format!("{path}/{}", child.name));
        }
    }

    /// Imports a prim and its children. `bound` is the material inherited from its parent,
    /// `only_child_of` the name of a parent transform that has no other child.
    fn visit(&mut self, prim: &UsdPrim, parent: DMat4, bound: Option<&str>, only_child_of: Option<&str>) {
        let world_from_prim = parent * local_transform(prim);
        let own = prim.text("material:binding").and_then(|path| self.materials.get(path)).cloned();
        let bound = own.as_deref().or(bound);
        if prim.composed {
            self.skipped.push(format!("references of {} to other layers", prim.name));
        }
        match prim.kind.as_str() {
            // Programs write an object as a mesh in a transform of its own; the transform has the
            // object's name.
            "Mesh" => self.add_mesh(prim, only_child_of.unwrap_or(&prim.name), world_from_prim, bound),
            "Camera" => {
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
            self.visit(child, world_from_prim, bound, only_child.then_some(prim.name.as_str()));
        }
    }

    fn add_mesh(&mut self, prim: &UsdPrim, name: &str, world_from_prim: DMat4, bound: Option<&str>) {
        self.objects += 1;
        let polygons = Polygons::of_prim(prim, world_from_prim);
        for (material, faces) in faces_by_material(prim, polygons.len(), bound.unwrap_or(NO_MATERIAL), &self.materials)
        {
            match polygons.triangulate(&faces) {
                Ok(mesh) => {
                    self.model.parts.push(Part { name: name.to_owned(), object: self.objects, material, mesh });
                }
                Err(problem) => self.model.notices.push(format!("mesh {} was skipped: {problem}", prim.name)),
            }
        }
    }
}

/// Reads the parameters of the material's UsdPreviewSurface shader.
fn read_preview_surface(prim: &UsdPrim, material: &mut ModelMaterial) {
    if prim.text("info:id") == Some("UsdPreviewSurface") {
        material.metallic = prim.number("inputs:metallic").unwrap_or(0.0);
        material.roughness = prim.number("inputs:roughness").unwrap_or(0.5);
        material.transparent = prim.number("inputs:opacity").unwrap_or(1.0) < 0.9;
    }
    for child in &prim.children {
        read_preview_surface(child, material);
    }
}
