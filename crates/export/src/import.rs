//! From a user's model to a scene: solids, materials named after the model's, camera and frame range, ready to edit.
//!
//! Each object of the model becomes a solid; its mesh is written in meters, y up, at its place, into the folder
//! `SCENE.files` beside the scene. What a file cannot say (how water wets a material) is guessed from its look, and the scene says so in comments.

mod gltf;
mod model;
mod obj;
pub(crate) mod usd;
mod usda;
pub(crate) mod usdc;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sessile_geometry::files::write_ply;

use crate::destination::{Destination, Layout};
use crate::error::{ExportError, ImportError};
use crate::names::unique;
use model::{Model, ModelMaterial};

/// What came of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Solids in the scene.
    pub solids: usize,
    /// What the user should know.
    pub notices: Vec<String>,
    /// The scene file.
    pub scene: PathBuf,
}

/// Turns a model file into a scene file with its meshes beside it, all or nothing.
pub fn import_model(file: &Path, scene: &Path, force: bool) -> Result<Imported, ImportError> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    let read = match extension.as_str() {
        "obj" => obj::read,
        "glb" | "gltf" => gltf::read,
        "usda" | "usdc" | "usd" => usd::read,
        _ => return Err(ImportError::UnknownFormat { path: file.to_owned() }),
    };
    let bytes = fs::read(file).map_err(|cause| ImportError::Read { path: file.to_owned(), cause })?;
    let mut model: Model = read(file, &bytes)?;
    model.parts.retain(|part| !part.mesh.triangles.is_empty());
    model.unite();
    if model.parts.is_empty() {
        let what = "there is no mesh in it that could become a solid".to_owned();
        return Err(ImportError::Contents { path: file.to_owned(), what });
    }
    let destination = Destination::new(scene, Layout::FileAndFolder, force).map_err(into_import)?;
    let mut taken = Vec::new();
    let names: Vec<String> = model.parts.iter().map(|part| unique(&part.name, &mut taken)).collect();
    for (part, name) in model.parts.iter().zip(&names) {
        let mut sink = destination.inside(&format!("{name}.ply")).map_err(into_import)?;
        sink.put(&write_ply(&part.mesh)).map_err(into_import)?;
        sink.finish().map_err(into_import)?;
    }
    let text = scene_text(&model, &names, file, &destination.companion_name());
    let mut sink = destination.file().map_err(into_import)?;
    sink.text(&text).map_err(into_import)?;
    sink.finish().map_err(into_import)?;
    let path = destination.path().to_owned();
    destination.commit().map_err(into_import)?;
    Ok(Imported { solids: names.len(), notices: model.notices, scene: path })
}

fn into_import(error: ExportError) -> ImportError {
    match error {
        ExportError::Exists { path } => ImportError::Exists { path },
        ExportError::Write { path, cause } => ImportError::Write { path, cause },
        other => ImportError::Write { path: PathBuf::new(), cause: std::io::Error::other(other.to_string()) },
    }
}

fn quoted(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A length with a unit that suits it.
fn length(meters: f64) -> String {
    format!("{} mm", rounded(meters * 1e3))
}

/// Seven digits: as many as models hold, without the noise of what lies beyond.
fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

fn scene_text(model: &Model, names: &[String], file: &Path, folder: &str) -> String {
    let source = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut text = format!(
        "title = {}\nmodel = \"droplet\"              # drops as particles on meshes; also surface and volume, which cost more\n\n",
        quoted(&format!("Drops on {source}"))
    );
    let (interval, count) = model.timing();
    // Ten digits: a whole number of frames, without the last bits of the product.
    let duration = rounded(interval * 1e3) * f64::from(count);
    let duration: f64 = format!("{duration:.9e}").parse().unwrap_or(duration);
    let _ = write!(
        text,
        "[time]\nduration = \"{} ms\"\nframe = \"{} ms\"              # {}\n\n",
        duration,
        rounded(interval * 1e3),
        match model.frames {
            Some(_) => "the model's frame range and rate; slow it down by making this shorter",
            None => "the model has no frame range: a second at 24 frames",
        }
    );
    let mut used: Vec<&str> = model.parts.iter().map(|part| part.material.as_str()).collect();
    used.sort_unstable();
    used.dedup();
    let _ = writeln!(text, "# How water wets them is a guess by their look; `sessile materials` lists measured ones.");
    for name in used {
        let material = model.materials.iter().find(|material| material.name == name);
        let _ = write!(text, "[materials.{}]\npreset = \"{}\"\n\n", quoted(name), preset(material));
    }
    for (part, name) in model.parts.iter().zip(names) {
        let material = model.materials.iter().find(|material| material.name == part.material);
        let _ = write!(
            text,
            "[[solids]]\nname = {}\nmaterial = {}\nshape = \"mesh\"\nfile = {}\nscale = 1                        # the mesh is in meters\nlook = \"{}\"\n",
            quoted(name),
            quoted(&part.material),
            quoted(&format!("{folder}/{name}.ply")),
            look(material)
        );
        if let Some(texture) = material.and_then(|material| material.texture.as_ref()) {
            let _ = writeln!(text, "texture = {}", quoted(&texture.to_string_lossy()));
        }
        text.push('\n');
    }
    let largest = model.largest().map_or("", |index| names[index].as_str());
    let _ = write!(
        text,
        "# An example, to be replaced by what you want: rain on the largest part.\n[[emitters]]\nkind = \"rain\"\nover = {}\nrate = \"100 mm/h\"\n\n\
         # [[drops]]                      # or drops that are there from the start\n# shape = \"sphere\"\n# center = \"0 100 0 mm\"\n# volume = \"20 uL\"\n\n",
        quoted(largest)
    );
    if let Some(camera) = &model.camera {
        let point = |p: glam::DVec3| format!("{} {} {} mm", rounded(p.x * 1e3), rounded(p.y * 1e3), rounded(p.z * 1e3));
        let _ = write!(
            text,
            "[camera]\nposition = \"{}\"\nlook_at = \"{}\"\nfov = \"{} deg\"\n\n",
            point(camera.eye),
            point(camera.look_at),
            rounded(camera.fov.to_degrees())
        );
    }
    let [low, high] = model.bounds();
    let _ = writeln!(
        text,
        "# The model's extent: {} wide, {} high, {} deep.",
        length(high.x - low.x),
        length(high.y - low.y),
        length(high.z - low.z)
    );
    if let Some((_, _, fps)) = model.frames {
        let _ = write!(text, "\n[render]\nfps = {fps:?}\n");
    }
    text
}

fn preset(material: Option<&ModelMaterial>) -> &'static str {
    match material {
        Some(m) if m.clear => "glass",
        Some(m) if m.metallic > 0.5 => "steel",
        _ => "acrylic",
    }
}

fn look(material: Option<&ModelMaterial>) -> &'static str {
    match material {
        Some(m) if m.clear => "glass",
        Some(m) if m.metallic > 0.5 => "metal",
        Some(m) if m.roughness < 0.35 => "plastic",
        _ => "matte",
    }
}

#[cfg(test)]
mod tests;
