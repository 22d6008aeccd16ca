//! USD: meshes with their places and materials, the first camera, the frame range. Of values that change in time the first sample is taken.
//!
//! What a layer draws from others (references, payloads, sublayers) and variants is not followed; a notice says so.

use std::collections::BTreeMap;
use std::path::Path;

use glam::{DMat4, DQuat, DVec2, DVec3, DVec4};

use super::model::{Model, ModelMaterial, NO_MATERIAL, Part, triangulate};
use super::{usda, usdc};
use crate::error::ImportError;

/// Radians in a degree.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// A value of an attribute, as far as it is needed.
#[derive(Clone, Debug, PartialEq)]
pub enum UsdValue {
    /// Nothing that could be used.
    Nothing,
    /// One number or many: vectors and matrices one component after another.
    Numbers(Vec<f64>),
    /// Names, texts, paths or files.
    Texts(Vec<String>),
}

impl UsdValue {
    fn numbers(&self) -> &[f64] {
        if let Self::Numbers(values) = self { values } else { &[] }
    }

    fn number(&self) -> Option<f64> {
        self.numbers().first().copied()
    }

    fn texts(&self) -> &[String] {
        if let Self::Texts(values) = self { values } else { &[] }
    }

    fn text(&self) -> Option<&str> {
        self.texts().first().map(String::as_str)
    }
}

/// A prim of a layer.
#[derive(Clone, Debug, Default)]
pub struct UsdPrim {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Values and targets of its properties; of those that change in time the first.
    pub properties: BTreeMap<String, UsdValue>,
    /// What is below it.
    pub children: Vec<UsdPrim>,
    /// Whether it draws on other layers.
    pub composed: bool,
}

/// A layer.
#[derive(Clone, Debug, Default)]
pub struct UsdLayer {
    /// What is said of the layer as a whole.
    pub meta: BTreeMap<String, UsdValue>,
    /// Prims at the top.
    pub prims: Vec<UsdPrim>,
}

/// Reads a layer, text or binary, whatever its name says.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let wrong = |what: String| ImportError::Contents { path: path.to_owned(), what };
    let layer = if bytes.starts_with(b"PXR-USDC") {
        usdc::parse(bytes).map_err(wrong)?
    } else if bytes.starts_with(b"#usda") {
        usda::parse(&String::from_utf8_lossy(bytes)).map_err(wrong)?
    } else if bytes.starts_with(b"PK") {
        return Err(wrong("this is a USDZ package; unpack it and import the layer inside".into()));
    } else {
        return Err(wrong("this is no USD layer: it begins neither with `#usda` nor with `PXR-USDC`".into()));
    };
    Ok(model_of(&layer))
}

fn model_of(layer: &UsdLayer) -> Model {
    let number = |key: &str| layer.meta.get(key).and_then(UsdValue::number);
    let scale = number("metersPerUnit").filter(|unit| *unit > 0.0 && unit.is_finite()).unwrap_or(0.01);
    let mut base = DMat4::from_scale(DVec3::splat(scale));
    if layer.meta.get("upAxis").and_then(UsdValue::text) == Some("Z") {
        // (x, y, z) becomes (x, z, −y).
        base = DMat4::from_cols(DVec4::X, DVec4::NEG_Z, DVec4::Y, DVec4::W) * base;
    }
    let mut import = Import { model: Model::default(), materials: BTreeMap::new(), skipped: Vec::new(), objects: 0 };
    for prim in &layer.prims {
        import.collect_materials(prim, &format!("/{}", prim.name));
    }
    for prim in &layer.prims {
        import.walk(prim, base, None, None);
    }
    let mut model = import.model;
    if let (Some(first), Some(last)) = (number("startTimeCode"), number("endTimeCode")) {
        let fps = number("timeCodesPerSecond").or(number("framesPerSecond")).unwrap_or(24.0);
        model.frames = Some((first, last, fps));
    }
    import.skipped.sort_unstable();
    import.skipped.dedup();
    if !import.skipped.is_empty() {
        model.notices.push(format!("not imported: {}; make them meshes first", import.skipped.join(", ")));
    }
    if number("metersPerUnit").is_none() {
        model
            .notices
            .push("the layer does not say how long its unit is; USD's default, a centimeter, was taken".into());
    }
    model.aim_camera();
    model
}

struct Import {
    model: Model,
    /// Names of materials by path.
    materials: BTreeMap<String, String>,
    skipped: Vec<String>,
    /// Meshes so far.
    objects: usize,
}

impl Import {
    fn collect_materials(&mut self, prim: &UsdPrim, path: &str) {
        if prim.kind == "Material" {
            let mut material = ModelMaterial { name: prim.name.clone(), roughness: 0.5, ..ModelMaterial::default() };
            look_of(prim, &mut material);
            self.materials.insert(path.to_owned(), prim.name.clone());
            self.model.materials.push(material);
        }
        for child in &prim.children {
            self.collect_materials(child, &format!("{path}/{}", child.name));
        }
    }

    /// `bound` is the material of what is above, `alone` the name of what is above if there is nothing else below it.
    fn walk(&mut self, prim: &UsdPrim, parent: DMat4, bound: Option<String>, alone: Option<&str>) {
        let place = parent * local(prim);
        let bound = self.binding(prim).or(bound);
        if prim.composed {
            self.skipped.push(format!("what {} draws from other layers", prim.name));
        }
        match prim.kind.as_str() {
            // A lone mesh under a transform is what programs make of an object; the object's name is the transform's.
            "Mesh" => self.mesh(prim, alone.unwrap_or(&prim.name), place, bound.as_deref()),
            "Camera" => {
                let value = |name: &str| prim.properties.get(name).and_then(UsdValue::number);
                // USD's own defaults, in tenths of a unit.
                let (focal, aperture) =
                    (value("focalLength").unwrap_or(50.0), value("verticalAperture").unwrap_or(15.2908));
                self.model.take_camera(place, 2.0 * (0.5 * aperture / focal).atan());
            }
            "Cube" | "Sphere" | "Cylinder" | "Cone" | "Capsule" | "Plane" | "BasisCurves" | "NurbsPatch"
            | "PointInstancer" => {
                self.skipped.push(format!("{} ({})", prim.name, prim.kind));
            }
            _ => {}
        }
        for child in &prim.children {
            let alone = (prim.kind == "Xform" && prim.children.len() == 1).then_some(prim.name.as_str());
            self.walk(child, place, bound.clone(), alone);
        }
    }

    fn binding(&self, prim: &UsdPrim) -> Option<String> {
        let path = prim.properties.get("material:binding")?.text()?;
        self.materials.get(path).cloned()
    }

    fn mesh(&mut self, prim: &UsdPrim, name: &str, place: DMat4, bound: Option<&str>) {
        self.objects += 1;
        let numbers = |name: &str| prim.properties.get(name).map_or(&[][..], UsdValue::numbers);
        let points: Vec<DVec3> = numbers("points")
            .as_chunks::<3>()
            .0
            .iter()
            .map(|p| place.transform_point3(DVec3::from_array(*p)))
            .collect();
        let whole = |values: &[f64]| -> Vec<usize> { values.iter().map(|v| *v as usize).collect() };
        let (counts, mut indices) = (whole(numbers("faceVertexCounts")), whole(numbers("faceVertexIndices")));
        let uvs = corner_uvs(prim, &indices, points.len());
        // A mirror in the transform turns the inside out, and so does a left-handed mesh.
        let left = prim.properties.get("orientation").and_then(UsdValue::text) == Some("leftHanded");
        let mut uvs = uvs;
        if left != (place.determinant() < 0.0) {
            let mut start = 0_usize;
            for count in &counts {
                let Some(end) = start.checked_add(*count).filter(|end| *end <= indices.len()) else { break };
                indices[start..end].reverse();
                if uvs.len() >= end {
                    uvs[start..end].reverse();
                }
                start = end;
            }
        }
        for (material, faces) in subsets(prim, counts.len(), bound, &self.materials) {
            let starts: Vec<usize> = std::iter::once(0)
                .chain(counts.iter().scan(0_usize, |sum, count| {
                    *sum = sum.saturating_add(*count);
                    Some(*sum)
                }))
                .collect();
            let chosen: Vec<usize> = faces.into_iter().filter(|face| *face < counts.len()).collect();
            let own_counts: Vec<usize> = chosen.iter().map(|face| counts[*face]).collect();
            let ranges = chosen.iter().map(|face| starts[*face]..starts[*face] + counts[*face]);
            if ranges.clone().any(|range| range.end > indices.len()) {
                self.model.notices.push(format!("mesh {} names more corners than it has; left out", prim.name));
                continue;
            }
            let own: Vec<usize> = ranges.clone().flat_map(|range| indices[range].to_vec()).collect();
            let own_uvs: Vec<DVec2> = if uvs.len() == indices.len() {
                ranges.flat_map(|range| uvs[range].to_vec()).collect()
            } else {
                Vec::new()
            };
            match triangulate(&points, &own_counts, &own, &own_uvs) {
                Some(mesh) => {
                    self.model.parts.push(Part { name: name.to_owned(), object: self.objects, material, mesh });
                }
                None => self
                    .model
                    .notices
                    .push(format!("mesh {} is broken: an index or a coordinate is out of range; left out", prim.name)),
            }
        }
    }
}

/// Texture coordinates of the corners, if the mesh has any: by corner or by vertex, with or without indices.
fn corner_uvs(prim: &UsdPrim, indices: &[usize], num_points: usize) -> Vec<DVec2> {
    for name in ["primvars:st", "primvars:UVMap", "primvars:st0", "primvars:uv"] {
        let Some(values) = prim.properties.get(name) else { continue };
        let mut uvs: Vec<DVec2> = values.numbers().as_chunks::<2>().0.iter().map(|uv| DVec2::from_array(*uv)).collect();
        if let Some(order) = prim.properties.get(&format!("{name}:indices")) {
            uvs = order.numbers().iter().filter_map(|k| uvs.get(*k as usize).copied()).collect();
        }
        if uvs.len() == indices.len() {
            return uvs;
        }
        if uvs.len() == num_points {
            return indices.iter().filter_map(|v| uvs.get(*v).copied()).collect();
        }
    }
    Vec::new()
}

/// Faces by material: those of each subset with a material of its own, and the rest.
fn subsets(
    prim: &UsdPrim,
    count: usize,
    bound: Option<&str>,
    materials: &BTreeMap<String, String>,
) -> Vec<(String, Vec<usize>)> {
    let rest_name = bound.unwrap_or(NO_MATERIAL).to_owned();
    let mut taken = vec![false; count];
    let mut parts = Vec::new();
    for subset in prim.children.iter().filter(|child| child.kind == "GeomSubset") {
        let path = subset.properties.get("material:binding").and_then(UsdValue::text);
        let Some(name) = path.and_then(|path| materials.get(path)) else { continue };
        let faces: Vec<usize> =
            subset.properties.get("indices").map_or(&[][..], UsdValue::numbers).iter().map(|f| *f as usize).collect();
        faces.iter().for_each(|face| {
            if let Some(flag) = taken.get_mut(*face) {
                *flag = true;
            }
        });
        parts.push((name.clone(), faces));
    }
    let rest: Vec<usize> = (0..count).filter(|face| !taken[*face]).collect();
    if !rest.is_empty() {
        parts.push((rest_name, rest));
    }
    parts
}

/// What UsdPreviewSurface, anywhere in the material, says.
fn look_of(prim: &UsdPrim, material: &mut ModelMaterial) {
    if prim.properties.get("info:id").and_then(UsdValue::text) == Some("UsdPreviewSurface") {
        let value = |name: &str| prim.properties.get(name).and_then(UsdValue::number);
        material.metallic = value("inputs:metallic").unwrap_or(0.0);
        material.roughness = value("inputs:roughness").unwrap_or(0.5);
        material.clear = value("inputs:opacity").unwrap_or(1.0) < 0.9;
    }
    for child in &prim.children {
        look_of(child, material);
    }
}

/// A prim's transform: its operations in their order, the last one first applied.
fn local(prim: &UsdPrim) -> DMat4 {
    let order = prim.properties.get("xformOpOrder").map_or(&[][..], UsdValue::texts);
    let mut place = DMat4::IDENTITY;
    for name in order {
        let (name, inverse) = match name.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let Some(values) = prim.properties.get(name).map(UsdValue::numbers) else { continue };
        let operation = operation(name.split(':').nth(1).unwrap_or_default(), values);
        place *= if inverse { operation.inverse() } else { operation };
    }
    if place.is_finite() { place } else { DMat4::IDENTITY }
}

fn operation(kind: &str, values: &[f64]) -> DMat4 {
    let vector = <[f64; 3]>::try_from(values).map(DVec3::from);
    let angle = values.first().copied().unwrap_or(0.0) * DEGREE;
    let turn = |axis: char, angle: f64| match axis {
        'X' => DMat4::from_rotation_x(angle),
        'Y' => DMat4::from_rotation_y(angle),
        _ => DMat4::from_rotation_z(angle),
    };
    match (kind, vector) {
        ("transform", _) => <[f64; 16]>::try_from(values).map_or(DMat4::IDENTITY, |m| DMat4::from_cols_array(&m)),
        ("translate", Ok(v)) => DMat4::from_translation(v),
        ("scale", Ok(v)) => DMat4::from_scale(v),
        ("rotateX", _) => turn('X', angle),
        ("rotateY", _) => turn('Y', angle),
        ("rotateZ", _) => turn('Z', angle),
        // The first letter is the first rotation, so it stands last in the product.
        (order, Ok(v)) if order.starts_with("rotate") && order.len() == 9 => {
            order[6..].chars().fold(DMat4::IDENTITY, |place, axis| {
                turn(axis, DEGREE * v[(axis as usize).wrapping_sub('X' as usize).min(2)]) * place
            })
        }
        // Real part first.
        ("orient", _) => match values {
            [w, x, y, z] => DMat4::from_quat(DQuat::from_xyzw(*x, *y, *z, *w).normalize()),
            _ => DMat4::IDENTITY,
        },
        _ => DMat4::IDENTITY,
    }
}
