//! Turns model files of other programs into scenes that are ready to edit.
//!
//! [`import_model`] reads OBJ, glTF, USD, Alembic, PLY and STL, [`import_files`] also sequences of
//! PLY or OBJ files. Each object of the model becomes a solid; its mesh is written in meters, y up,
//! with its transform applied, into the folder `SCENE.files` beside the scene. The scene also gets
//! the materials' names and appearance, the camera, motion and the frame range. How water wets a
//! material is not part of these formats: it is guessed from its look, and a comment in the scene
//! says so.
//!
//! ```no_run
//! use std::path::Path;
//!
//! let imported = sessile_import::import_model(Path::new("table.usdc"), Path::new("table.toml"), false)?;
//! assert!(imported.solids > 0);
//! # Ok::<(), sessile_import::ImportError>(())
//! ```

mod alembic;
mod error;
mod gltf;
mod mesh_over_time;
mod model;
mod motion;
mod obj;
mod polygons;
mod scene_text;
mod sequence;
mod staging;
mod subdivision;
pub mod usd;

use std::path::{Path, PathBuf};

use sessile_geometry::TriMesh;
use sessile_geometry::files::write_ply;
use sessile_output::{Destination, Identifiers, Layout};

use model::{Model, ModelImage};

pub use error::ImportError;

/// The result of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Number of solids in the scene.
    pub solids: usize,
    /// What the user should know.
    pub notices: Vec<String>,
    /// The scene file.
    pub scene: PathBuf,
    /// Names of the solids with the lower and upper corner of their bounding boxes, in m.
    pub boxes: Vec<(String, [[f64; 3]; 2])>,
}

/// Turns a model file into a scene file with its meshes beside it, all or nothing.
pub fn import_model(file: &Path, scene: &Path, force: bool) -> Result<Imported, ImportError> {
    write_scene(&read_model(file)?, file, scene, force)
}

/// Turns the mesh files of consecutive frames, `fps` of them per second, into a scene with one
/// deforming solid; a single file is imported as [`import_model`] does.
pub fn import_files(files: &[PathBuf], fps: f64, scene: &Path, force: bool) -> Result<Imported, ImportError> {
    match files {
        [file] => import_model(file, scene, force),
        [first, ..] => {
            let mut model = sequence::read_sequence(files, fps)?;
            model.name_materials();
            write_scene(&model, first, scene, force)
        }
        [] => Err(ImportError::NoMesh { path: scene.to_owned() }),
    }
}

/// Writes the scene of a model that was read from `file`.
fn write_scene(model: &Model, file: &Path, scene: &Path, force: bool) -> Result<Imported, ImportError> {
    let destination = Destination::new(scene, Layout::FileAndFolder, force)?;
    let mut taken = Identifiers::default();
    let names: Vec<String> = model.parts.iter().map(|part| taken.unique(&part.name)).collect();
    for (part, name) in model.parts.iter().zip(&names) {
        let mut mesh_file = destination.inside(&format!("{name}.ply"))?;
        mesh_file.put(&write_ply(&part.mesh))?;
        mesh_file.finish()?;
        for (sample, (_, positions)) in part.deform.iter().enumerate() {
            let mut sample_file = destination.inside(&sample_name(name, sample))?;
            sample_file.put(&write_ply(&TriMesh { positions: positions.clone(), ..part.mesh.clone() }))?;
            sample_file.finish()?;
        }
    }
    for material in &model.materials {
        for (_, role, image) in scene_text::images_of(material) {
            if let ModelImage::Stored(bytes) = image {
                let name = scene_text::image_name(model, &material.name, role, bytes);
                let mut image_file = destination.inside(&name)?;
                image_file.put(bytes)?;
                image_file.finish()?;
            }
        }
    }
    let source = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut scene_file = destination.file()?;
    scene_file.text(&scene_text::scene_text(model, &names, &source, &destination.companion_name()))?;
    scene_file.finish()?;
    let path = destination.path().to_owned();
    destination.commit()?;
    let boxes = model.parts.iter().map(|part| part.bounds().map(|corner| corner.to_array()));
    let boxes = names.iter().cloned().zip(boxes).collect();
    Ok(Imported { solids: names.len(), notices: model.notices.clone(), scene: path, boxes })
}

/// File name of a sample of a deforming mesh.
fn sample_name(name: &str, sample: usize) -> String {
    format!("{name}.deform.{sample:05}.ply")
}

/// Whether a file is a 3D model by the ending of its name, rather than a scene.
pub fn is_model(file: &Path) -> bool {
    const MODELS: [&str; 12] =
        ["obj", "glb", "gltf", "usda", "usdc", "usd", "usdz", "ply", "stl", "abc", "fbx", "blend"];
    MODELS.contains(&extension(file).as_str())
}

/// Whether [`import_model`] reads files with this ending.
pub fn is_importable(file: &Path) -> bool {
    const KNOWN: [&str; 10] = ["obj", "glb", "gltf", "usda", "usdc", "usd", "usdz", "abc", "ply", "stl"];
    KNOWN.contains(&extension(file).as_str())
}

fn extension(file: &Path) -> String {
    file.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Reads a model file, with one part per object.
fn read_model(file: &Path) -> Result<Model, ImportError> {
    let read = match extension(file).as_str() {
        "obj" => obj::read,
        "glb" | "gltf" => gltf::read,
        "usda" | "usdc" | "usd" | "usdz" => usd::read,
        "abc" => alembic::read,
        "ply" | "stl" => sequence::read,
        _ => return Err(ImportError::UnknownFormat { path: file.to_owned() }),
    };
    let bytes = sessile_input::read(file, sessile_input::MAX_MESH)
        .map_err(|cause| ImportError::Read { path: file.to_owned(), cause })?;
    let mut model: Model = read(file, &bytes)?;
    model.parts.retain(|part| !part.mesh.triangles.is_empty());
    model.merge_parts_of_objects();
    model.name_materials();
    if model.parts.is_empty() {
        return Err(ImportError::NoMesh { path: file.to_owned() });
    }
    Ok(model)
}

#[cfg(test)]
mod tests;
