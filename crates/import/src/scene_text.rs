//! The text of an imported scene.

use std::fmt::Write;

use glam::DVec3;
use sessile_scene::quoted;

use crate::model::{Model, ModelCamera, ModelImage, ModelMaterial};
use crate::staging::write_staging;

/// Frames per second that a scene accepts.
const FPS: std::ops::RangeInclusive<f64> = 0.1..=1000.0;

/// Bound on the camera's coordinates, in m, below that of a scene.
const FARTHEST: f64 = 1e12;

/// The scene file of a model whose meshes are `folder/NAME.ply`, one for each name.
pub fn scene_text(model: &Model, names: &[String], source: &str, folder: &str) -> String {
    let mut text = format!(
        "title = {}\nmodel = \"droplet\"              # drops as particles on meshes; also surface and volume, which cost \
         more\n\n",
        quoted(&format!("Drops on {source}"))
    );
    write_time(&mut text, model);
    write_materials(&mut text, model);
    for (index, name) in names.iter().enumerate() {
        write_solid(&mut text, model, index, name, folder);
    }
    let largest = model.largest().map_or("", |index| names[index].as_str());
    let _ = write!(
        text,
        "# An example, to be replaced: rain on the largest solid.\n[[emitters]]\nkind = \"rain\"\nover = {}\n\
         rate = \"100 mm/h\"\n\n\
         # [[drops]]                      # or drops that exist from the start\n# shape = \"sphere\"\n\
         # center = \"0 100 0 mm\"\n# volume = \"20 uL\"\n\n",
        quoted(largest)
    );
    if !write_camera(&mut text, model) {
        write_staging(&mut text, model, names);
    }
    let [low, high] = model.bounds();
    let [width, height, depth] = (high - low).to_array().map(|length| rounded(length * 1e3));
    let _ = writeln!(text, "# The model's extent: {width} mm wide, {height} mm high, {depth} mm deep.");
    // Other rates are for slow motion: the images then play at the scene's default.
    if let Some((_, _, fps)) = model.frames.filter(|(_, _, fps)| FPS.contains(fps)) {
        let _ = write!(text, "\n[render]\nfps = {fps:?}\n");
    }
    text
}

fn write_time(text: &mut String, model: &Model) {
    let (fps, count) = model.timing();
    let comment = match model.frames {
        Some(_) => "the model's frame range and rate; multiply both for slow motion",
        None => "the model has no frame range: one second at 24 frames per second",
    };
    let _ = write!(text, "[time]\nframes = {count}\nfps = {}              # {comment}\n", rounded(fps));
    if let Some(first) = model.frames.map(|(first, _, _)| first).filter(|first| (1.0..=1e6).contains(first)) {
        let _ = writeln!(
            text,
            "start_frame = {}               # number of the first frame in images and exports",
            first.round()
        );
    }
    text.push('\n');
}

fn write_materials(text: &mut String, model: &Model) {
    let mut used: Vec<&str> = model.parts.iter().map(|part| part.material.as_str()).collect();
    used.sort_unstable();
    used.dedup();
    text.push_str("# Wetting properties are guessed from the look; `sessile materials` lists measured ones.\n");
    for name in used {
        let _ = write!(text, "[materials.{}]\npreset = \"{}\"\n\n", quoted(name), preset(model.material(name)));
    }
}

fn write_solid(text: &mut String, model: &Model, index: usize, name: &str, folder: &str) {
    let part = &model.parts[index];
    let material = model.material(&part.material);
    let _ = write!(
        text,
        "[[solids]]\nname = {}\nmaterial = {}\nshape = \"mesh\"\nfile = {}\n\
         scale = 1                        # the mesh is in meters\nlook = \"{}\"\n",
        quoted(name),
        quoted(&part.material),
        quoted(&format!("{folder}/{name}.ply")),
        look(material)
    );
    if let Some(material) = material {
        write_appearance(text, material);
    }
    if !part.motion.is_empty() {
        let _ = writeln!(text, "move = \"{}\"            # the origin of its motion", millimeters(part.origin));
        text.push_str("motion = [\n");
        for key in &part.motion {
            let [x, y, z] = key.angles.to_array().map(|angle| rounded(angle.to_degrees()));
            let _ = writeln!(
                text,
                "    {{ at = \"{} ms\", move = \"{}\", rotate = \"{x} {y} {z} deg\" }},",
                rounded(key.at * 1e3),
                millimeters(key.shift)
            );
        }
        text.push_str("]\n");
        if part.motion.len() > 2 {
            text.push_str("interpolation = \"smooth\"         # sampled frame by frame\n");
        }
    }
    if !part.deform.is_empty() {
        text.push_str("deform = [\n");
        for (sample, (at, _)) in part.deform.iter().enumerate() {
            let file = quoted(&format!("{folder}/{}", crate::sample_name(name, sample)));
            let _ = writeln!(text, "    {{ at = \"{} ms\", file = {file} }},", rounded(at * 1e3));
        }
        text.push_str("]\n");
    }
    if let Some(material) = material {
        for (key, role, image) in images_of(material) {
            let file = match image {
                ModelImage::File(file) => file.to_string_lossy().into_owned(),
                ModelImage::Stored(bytes) => format!("{folder}/{}", image_name(model, &material.name, role, bytes)),
            };
            let _ = writeln!(text, "{key} = {}", quoted(&file));
        }
    }
    text.push('\n');
}

/// The images of a material: the key of a solid, what it shows, and the image.
pub fn images_of(material: &ModelMaterial) -> impl Iterator<Item = (&'static str, &'static str, &ModelImage)> {
    let own = [("texture", "color", &material.texture), ("normal_map", "normals", &material.normal_map)];
    // Clear glass is smooth.
    let kept = own.into_iter().filter(|(key, ..)| !(material.transparent && *key == "normal_map"));
    kept.filter_map(|(key, role, image)| Some((key, role, image.as_ref()?)))
}

/// File name of an image that is stored in the model.
pub fn image_name(model: &Model, material: &str, role: &str, bytes: &[u8]) -> String {
    let index = model.materials.iter().position(|other| other.name == material).unwrap_or_default();
    format!("material.{index}.{role}.{}", ModelImage::extension(bytes))
}

/// Writes the color, roughness and metalness of a material.
fn write_appearance(text: &mut String, material: &ModelMaterial) {
    // Four digits are finer than an 8-bit image.
    let short = |value: f64| (value.clamp(0.0, 1.0) * 1e4).round() / 1e4;
    let is_white = |color: &[f64; 3]| color.iter().all(|channel| *channel >= 1.0);
    let factor_of_image = |color: &[f64; 3]| material.texture.is_some() && is_white(color);
    if let Some([r, g, b]) = material.color.filter(|color| !factor_of_image(color)).map(|c| c.map(srgb).map(short)) {
        let _ = writeln!(text, "color = [{r}, {g}, {b}]");
    }
    if !material.transparent {
        let (roughness, metallic) = (short(material.roughness), short(material.metallic));
        let _ = writeln!(text, "roughness_look = {roughness}\nmetallic = {metallic}");
    }
}

/// The sRGB code of a linear value, from 0 to 1 (iec61966).
fn srgb(linear: f64) -> f64 {
    let linear = if linear.is_finite() { linear.clamp(0.0, 1.0) } else { 0.5 };
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Writes the camera; whether the model has a valid one.
fn write_camera(text: &mut String, model: &Model) -> bool {
    let in_range = |p: DVec3| p.is_finite() && p.abs().max_element() < FARTHEST;
    let all_in_range = |camera: &&ModelCamera| {
        let own = [camera.eye, camera.look_at];
        camera.motion.iter().flat_map(|(_, place)| place).chain(&own).all(|p| in_range(*p))
    };
    let camera = model.camera.as_ref().filter(all_in_range);
    let Some(camera) = camera.filter(|camera| (1e-3..179.9).contains(&camera.fov.to_degrees())) else { return false };
    text.push_str("[camera]\n");
    if camera.motion.is_empty() {
        let [eye, look_at] = [camera.eye, camera.look_at].map(millimeters);
        let _ = write!(text, "position = \"{eye}\"\nlook_at = \"{look_at}\"\n");
    } else {
        text.push_str("motion = [\n");
        for (at, place) in &camera.motion {
            let [eye, look_at] = place.map(millimeters);
            let at = rounded(at * 1e3);
            let _ = writeln!(text, "    {{ at = \"{at} ms\", position = \"{eye}\", look_at = \"{look_at}\" }},");
        }
        text.push_str("]\ninterpolation = \"smooth\"         # sampled frame by frame\n");
    }
    let _ = write!(text, "fov = \"{} deg\"\n\n", rounded(camera.fov.to_degrees()));
    true
}

/// A vector of a scene, in mm.
fn millimeters(p: DVec3) -> String {
    let [x, y, z] = p.to_array().map(|length| rounded(length * 1e3));
    format!("{x} {y} {z} mm")
}

/// The value rounded to seven significant digits, the precision of model files.
fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

fn preset(material: Option<&ModelMaterial>) -> &'static str {
    match material {
        Some(m) if m.transparent => "glass",
        Some(m) if m.metallic > 0.5 => "steel",
        _ => "acrylic",
    }
}

fn look(material: Option<&ModelMaterial>) -> &'static str {
    match material {
        Some(m) if m.transparent => "glass",
        Some(m) if m.metallic > 0.5 => "metal",
        Some(m) if m.roughness < 0.35 => "plastic",
        _ => "matte",
    }
}
