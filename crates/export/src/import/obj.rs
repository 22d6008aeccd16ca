//! Wavefront OBJ with its material library: a part for every object and material.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use glam::{DVec2, DVec3};

use super::model::{Model, ModelMaterial, NO_MATERIAL, Part, triangulate};
use crate::error::ImportError;

#[derive(Default)]
struct Faces {
    counts: Vec<usize>,
    indices: Vec<usize>,
    uvs: Vec<DVec2>,
}

/// Reads an OBJ file; lengths are taken for meters.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let text = String::from_utf8_lossy(bytes);
    let wrong =
        |line: usize, what: &str| ImportError::Contents { path: path.to_owned(), what: format!("line {line}: {what}") };
    let mut model = Model::default();
    let (mut points, mut coordinates) = (Vec::new(), Vec::new());
    let (mut object, mut material) = (String::new(), NO_MATERIAL.to_owned());
    let mut order: Vec<(String, String)> = Vec::new();
    let mut parts: BTreeMap<(String, String), Faces> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("v") => {
                let values: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
                let [x, y, z, ..] = values[..] else { return Err(wrong(number, "a vertex needs three numbers")) };
                points.push(DVec3::new(x, y, z));
            }
            Some("vt") => {
                let values: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
                let [u, v, ..] = values[..] else { return Err(wrong(number, "texture coordinates need two numbers")) };
                coordinates.push(DVec2::new(u, v));
            }
            Some("o" | "g") => object = words.collect::<Vec<_>>().join(" "),
            Some("usemtl") => material = words.collect::<Vec<_>>().join(" "),
            Some("mtllib") => {
                let name = words.collect::<Vec<_>>().join(" ");
                read_materials(path, &name, &mut model);
            }
            Some("f") => {
                let key = (object.clone(), material.clone());
                let faces = parts.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Faces::default()
                });
                let mut corners = 0;
                for word in words {
                    let mut fields = word.split('/');
                    let vertex = fields.next().and_then(|field| index(field, points.len()));
                    let vertex = vertex.ok_or_else(|| wrong(number, "a face names a vertex that is not there"))?;
                    let uv = fields.next().and_then(|field| index(field, coordinates.len()));
                    faces.indices.push(vertex);
                    faces.uvs.extend(uv.map(|uv| coordinates[uv]));
                    corners += 1;
                }
                faces.counts.push(corners);
            }
            _ => {}
        }
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // Faces of one object may come in several runs.
    let objects: Vec<String> = order.iter().fold(Vec::new(), |mut seen, (object, _)| {
        if !seen.contains(object) {
            seen.push(object.clone());
        }
        seen
    });
    order.sort_by_key(|(object, _)| objects.iter().position(|seen| seen == object));
    for key in order {
        let Some(faces) = parts.remove(&key) else { continue };
        let (object, material) = key;
        let mesh = triangulate(&points, &faces.counts, &faces.indices, &faces.uvs)
            .ok_or_else(|| wrong(0, "a coordinate is not a finite number"))?;
        let number = objects.iter().position(|seen| *seen == object).unwrap_or_default();
        let name = if object.is_empty() { stem.clone() } else { object };
        model.parts.push(Part { name, object: number, material, mesh });
    }
    model.notices.push("an OBJ file has no unit: its lengths were taken for meters".into());
    Ok(model)
}

/// An index as OBJ counts: from 1, or from the end.
fn index(field: &str, count: usize) -> Option<usize> {
    let number: i64 = field.parse().ok()?;
    let place = if number < 0 { i64::try_from(count).ok()? + number } else { number - 1 };
    usize::try_from(place).ok().filter(|place| *place < count)
}

fn read_materials(path: &Path, name: &str, model: &mut Model) {
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    let Ok(bytes) = fs::read(&file) else {
        model.notices.push(format!("the material library {name} is not there; materials keep their names only"));
        return;
    };
    for line in String::from_utf8_lossy(&bytes).lines() {
        let mut words = line.split_whitespace();
        let key = words.next();
        let rest: Vec<&str> = words.collect();
        let number = rest.first().and_then(|word| word.parse::<f64>().ok());
        if key == Some("newmtl") {
            model.materials.push(ModelMaterial { name: rest.join(" "), roughness: 0.5, ..ModelMaterial::default() });
            continue;
        }
        let Some(material) = model.materials.last_mut() else { continue };
        match (key, number) {
            (Some("Pm"), Some(value)) => material.metallic = value,
            (Some("Pr"), Some(value)) => material.roughness = value,
            // Phong's exponent, as Blender turns it.
            (Some("Ns"), Some(value)) => material.roughness = 1.0 - (value / 1000.0).clamp(0.0, 1.0).sqrt(),
            (Some("d"), Some(value)) => material.clear |= value < 0.9,
            (Some("map_Kd"), _) => {
                material.texture = rest
                    .last()
                    .map(|name| file.with_file_name(name))
                    .filter(|file| file.is_file())
                    .and_then(|file| std::path::absolute(file).ok());
            }
            _ => {}
        }
    }
}
