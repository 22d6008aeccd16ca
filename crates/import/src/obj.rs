//! Wavefront OBJ with its material library: one part per object and material.

use std::path::Path;

use sessile_geometry::files::parse_obj;

use crate::error::ImportError;
use crate::model::{Model, ModelMaterial, NO_MATERIAL, Part, image_beside};

/// Keys of a material library that a solid's look has no counterpart for.
const LEFT_OUT: [(&str, &str); 4] = [
    ("map_Pr", "map of roughness"),
    ("map_Pm", "map of metalness"),
    ("map_Ke", "map of emitted light"),
    ("map_d", "map of opacity"),
];

/// Keys of relief: programs write normal maps under all of them, and heights under the last three.
const RELIEF: [&str; 4] = ["norm", "bump", "map_bump", "map_Bump"];

/// Options of an image in a material library, with the largest number of their values.
const IMAGE_OPTIONS: [(&str, usize); 12] = [
    ("-blendu", 1),
    ("-blendv", 1),
    ("-boost", 1),
    ("-bm", 1),
    ("-cc", 1),
    ("-clamp", 1),
    ("-imfchan", 1),
    ("-mm", 2),
    ("-o", 3),
    ("-s", 3),
    ("-t", 3),
    ("-texres", 1),
];

/// Reads an OBJ file; lengths are taken to be in meters.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let file = parse_obj(bytes).map_err(|error| error.in_file(path))?;
    let mut model = Model::default();
    for library in &file.material_libraries {
        read_materials(path, library, &mut model);
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut previous: Option<String> = None;
    let mut object = 0;
    for part in file.parts {
        object += usize::from(previous.as_ref().is_some_and(|previous| *previous != part.object));
        let name = if part.object.is_empty() { stem.clone() } else { part.object.clone() };
        let material = part.material.unwrap_or_else(|| NO_MATERIAL.to_owned());
        model.parts.push(Part { name, object, material, mesh: part.mesh, ..Part::default() });
        previous = Some(part.object);
    }
    model.notices.push("OBJ files have no unit: lengths were taken to be in meters".into());
    Ok(model)
}

/// Reads a material library; a missing one is reported as a notice.
fn read_materials(path: &Path, name: &str, model: &mut Model) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let bytes = match sessile_input::read_beside(folder, name, sessile_input::MAX_TEXT) {
        Ok(bytes) => bytes,
        Err(cause) => {
            model.notices.push(format!(
                "cannot read the material library {name}: {cause}; only the names of materials are kept"
            ));
            return;
        }
    };
    let mut left_out = Vec::new();
    // Relative to the library, which may be in a subfolder.
    let library = folder.join(name);
    let image_of = |words: &[&str], material: &ModelMaterial, left_out: &mut Vec<String>| {
        let image = image_name(words);
        let found = image_beside(library.parent().unwrap_or(folder), &image);
        if found.is_none() {
            left_out.push(format!("material {}: the image {image} was not found", material.name));
        }
        found
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
            // Phong exponent, converted as Blender does.
            (Some("Ns"), Some(value)) => material.roughness = 1.0 - (value / 1000.0).clamp(0.0, 1.0).sqrt(),
            (Some("d"), Some(value)) => material.transparent |= value < 0.9,
            (Some("map_Kd"), _) => {
                material.texture = image_of(&rest, material, &mut left_out);
            }
            (Some(key), _) if RELIEF.contains(&key) => {
                let map = image_of(&rest, material, &mut left_out);
                if map.as_ref().is_some_and(|map| key != "norm" && !map.is_normal_map()) {
                    left_out
                        .push(format!("material {}: its bump map has heights, which are not imported", material.name));
                } else if map.is_some() {
                    material.normal_map = map;
                }
            }
            (Some("Kd"), Some(red)) => {
                let channel = |i: usize| rest.get(i).and_then(|word: &&str| word.parse::<f64>().ok());
                material.color = Some([red, channel(1).unwrap_or(red), channel(2).unwrap_or(red)]);
            }
            (Some(key), _) if LEFT_OUT.iter().any(|(name, _)| *name == key) => {
                let what = LEFT_OUT.iter().find(|(name, _)| *name == key).map_or("", |(_, what)| what);
                left_out.push(format!("material {}: its {what} was not imported", material.name));
            }
            _ => {}
        }
    }
    model.notices.append(&mut left_out);
}

/// The file name of an image behind its options; it may have spaces.
fn image_name(words: &[&str]) -> String {
    let mut rest = words;
    while let [option, after @ ..] = rest
        && let Some((_, most)) = IMAGE_OPTIONS.iter().find(|(name, _)| name == option)
    {
        let is_value = |word: &&&str| matches!(**word, "on" | "off") || word.parse::<f64>().is_ok();
        // The channel of `-imfchan` is a letter.
        let values = after.iter().take(*most).take_while(|word| is_value(word) || *option == "-imfchan").count();
        // The last word is the name, even where it is a number.
        rest = &after[values.min(after.len().saturating_sub(1))..];
    }
    rest.join(" ")
}

#[cfg(test)]
mod tests {
    use super::image_name;

    #[test]
    fn names_of_images_follow_their_options() {
        for (line, name) in [
            ("bumps.png", "bumps.png"),
            ("-bm 0.5 my bumps.png", "my bumps.png"),
            ("-s 2 2 -o 0 0 0 -clamp on a.png", "a.png"),
            ("-imfchan r -mm 0 1 7", "7"),
            ("-unknown", "-unknown"),
            ("-bm", ""),
        ] {
            assert_eq!(image_name(&line.split_whitespace().collect::<Vec<_>>()), name, "{line}");
        }
    }
}
