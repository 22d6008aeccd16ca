//! Meshes without materials and objects: PLY and STL files, and sequences of PLY or OBJ files, one
//! for each frame.

use std::path::{Path, PathBuf};

use sessile_geometry::files::{MeshFormat, no_resources, parse_mesh, read_mesh};

use crate::error::ImportError;
use crate::extension;
use crate::model::{Model, NO_MATERIAL, Part};

/// Most vertices of all frames together.
const MAX_VERTICES: usize = 100_000_000;

/// Reads a PLY or STL file; lengths are taken to be in meters.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    let (format, kind) = if extension(path) == "stl" { (MeshFormat::Stl, "STL") } else { (MeshFormat::Ply, "PLY") };
    let mesh = parse_mesh(bytes, format, &no_resources).map_err(|error| error.in_file(path))?;
    let (name, _) = name_and_number(path);
    let mut model = Model::default();
    model.parts.push(Part { name, material: NO_MATERIAL.to_owned(), mesh, ..Part::default() });
    model.notices.push(format!("{kind} files have no unit: lengths were taken to be in meters"));
    Ok(model)
}

/// Whether files with this ending can be the frames of a sequence. The vertices of an STL file have
/// no order that could be compared.
pub fn can_be_sequence(path: &Path) -> bool {
    matches!(extension(path).as_str(), "ply" | "obj")
}

/// Reads the meshes of consecutive frames as one deforming part. They must have the same topology.
pub fn read_sequence(files: &[PathBuf], fps: f64) -> Result<Model, ImportError> {
    let Some(first_file) = files.first() else { return Ok(Model::default()) };
    let (name, number) = name_and_number(first_file);
    let mut part = Part { name, material: NO_MATERIAL.to_owned(), ..Part::default() };
    for (frame, file) in files.iter().enumerate() {
        let wrong = |problem: String| ImportError::Sequence { path: file.clone(), problem };
        if !can_be_sequence(file) {
            return Err(wrong("a sequence consists of PLY or OBJ files; give any other model alone".to_owned()));
        }
        let mesh = read_mesh(file)?;
        if frame == 0 {
            part.mesh = mesh.clone();
        }
        let first = &part.mesh;
        if mesh.positions.len() != first.positions.len() || mesh.triangles != first.triangles {
            return Err(wrong(format!(
                "its topology differs from that of {} ({} vertices and {} triangles, not {} and {}): a deforming solid \
                 keeps its vertices and triangles; export the sequence without remeshing",
                first_file.display(),
                mesh.positions.len(),
                mesh.triangles.len(),
                first.positions.len(),
                first.triangles.len()
            )));
        }
        if files.len().saturating_mul(mesh.positions.len()) > MAX_VERTICES {
            return Err(wrong(format!(
                "the frames have more than {MAX_VERTICES} vertices together; simplify the mesh"
            )));
        }
        part.deform.push((frame as f64 / fps, mesh.positions));
    }
    let first = number.unwrap_or(0.0);
    let mut model = Model { frames: Some((first, first + (files.len() - 1) as f64, fps)), ..Model::default() };
    model.parts.push(part);
    model.notices.push("PLY and OBJ files have no unit: lengths were taken to be in meters".to_owned());
    Ok(model)
}

/// The name of a file without the number of its frame, and that number.
fn name_and_number(path: &Path) -> (String, Option<f64>) {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let base = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = stem[base.len()..].parse().ok();
    let name = base.trim_end_matches(['.', '_', '-', ' ']);
    (if name.is_empty() { stem.clone() } else { name.to_owned() }, number)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{ImportError, import_files};

    fn ply(z: [f64; 4], flipped: bool) -> String {
        let faces = if flipped { "3 0 1 2\n3 1 3 2\n" } else { "3 0 1 2\n3 0 2 3\n" };
        format!(
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
             element face 2\nproperty list uchar int vertex_indices\nend_header\n\
             0 {} 0\n0 {} 1\n1 {} 1\n1 {} 0\n{faces}",
            z[0], z[1], z[2], z[3]
        )
    }

    /// Four frames at 25 per second that start at number 7, given out of order.
    #[test]
    fn numbered_files_become_one_deforming_solid() {
        let folder = tempfile::tempdir().unwrap();
        let file = |number: u32| folder.path().join(format!("cloth_{number:04}.ply"));
        for number in 7..11 {
            let rise = f64::from(number - 7) * 0.1;
            fs::write(file(number), ply([0.0, 0.0, rise, rise], false)).unwrap();
        }
        let scene = folder.path().join("cloth.toml");
        let done = import_files(&[file(7), file(8), file(9), file(10)], 25.0, &scene, false).unwrap();
        let text = fs::read_to_string(&scene).unwrap();
        assert_eq!((done.solids, text.matches("cloth.deform.").count()), (1, 4), "{text}");
        for line in ["name = \"cloth\"", "frames = 3\n", "fps = 25 ", "start_frame = 7", "{ at = \"120 ms\""] {
            assert!(text.contains(line), "no {line:?} in\n{text}");
        }
        sessile_scene::parse_file(&scene, &[]).unwrap_or_else(|error| panic!("{error}"));
        let sample = folder.path().join("cloth.toml.files/cloth.deform.00003.ply");
        assert!((sessile_geometry::files::read_mesh(&sample).unwrap().positions[2].y - 0.3).abs() < 1e-6);
    }

    #[test]
    fn a_sequence_that_changes_its_topology_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.1.ply", "a.2.ply"].map(|name| folder.path().join(name));
        fs::write(&files[0], ply([0.0; 4], false)).unwrap();
        fs::write(&files[1], ply([0.0; 4], true)).unwrap();
        let scene = folder.path().join("a.toml");
        let error = import_files(&files, 24.0, &scene, false).unwrap_err();
        assert!(error.to_string().contains("a.2.ply: its topology differs from that of"), "{error}");
        assert!(!scene.exists());
        let mixed = [files[0].clone(), folder.path().join("b.glb")];
        assert!(matches!(import_files(&mixed, 24.0, &scene, false), Err(ImportError::Sequence { .. })));
    }
}
