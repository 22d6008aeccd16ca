//! Mesh readers and mesh repair: an error or a sound mesh.

use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;
use sessile_geometry::files::{MeshFormat, no_resources, parse_mesh, write_ply};
use sessile_geometry::repair::{Closure, repair, repair_with};

/// Larger meshes are only read: repair is near linear, and small ones reach all of it.
const MAX_TRIANGLES: usize = 2000;

pub fn obj(data: &[u8]) {
    mesh(data, MeshFormat::Obj);
}

pub fn ply(data: &[u8]) {
    mesh(data, MeshFormat::Ply);
}

pub fn stl(data: &[u8]) {
    mesh(data, MeshFormat::Stl);
}

pub fn gltf(data: &[u8]) {
    mesh(data, MeshFormat::Gltf);
}

/// Buffers of glTF documents that lie in other files are found to hold the document itself.
fn mesh(bytes: &[u8], format: MeshFormat) {
    let Ok(mesh) = parse_mesh(bytes, format, &|_| Ok(bytes.to_vec())) else { return };
    assert_sound(&mesh);
    if mesh.triangles.len() > MAX_TRIANGLES {
        return;
    }
    // Coordinates beyond single precision become infinite when written, and are refused when read.
    if let Ok(again) = parse_mesh(&write_ply(&mesh), MeshFormat::Ply, &no_resources) {
        assert_eq!(again.triangles.len(), mesh.triangles.len());
    }
    if let Ok((sheet, report)) = repair_with(mesh.clone(), Closure::Optional) {
        assert_sound(&sheet);
        assert!(Connectivity::new(&sheet.triangles).is_ok(), "{report}");
    }
    if let Ok((solid, report)) = repair(mesh) {
        assert_sound(&solid);
        let connectivity =
            Connectivity::new(&solid.triangles).unwrap_or_else(|error| panic!("{error} after: {report}"));
        assert_eq!(connectivity.boundary().count(), 0, "{report}");
    }
}

fn assert_sound(mesh: &TriMesh) {
    assert!(!mesh.triangles.is_empty());
    assert!(mesh.positions.iter().all(|position| position.is_finite()));
    assert!(mesh.triangles.as_flattened().iter().all(|&vertex| (vertex as usize) < mesh.positions.len()));
    assert!(mesh.corner_uvs.is_empty() || mesh.corner_uvs.len() == mesh.triangles.len());
    assert!(mesh.corner_uvs.as_flattened().iter().all(|uv| uv.is_finite()));
}
