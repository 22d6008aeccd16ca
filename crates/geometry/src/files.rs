//! Mesh files: OBJ, PLY, STL and glTF 2 read into a [`TriMesh`], and PLY written.
//!
//! Files are not trusted. Counts in a header are checked against the size of the file before memory
//! is allocated, indices against their range, and coordinates must be finite; an error gives the
//! file, the line, byte or entry, what was expected there and what was found. Meshes are not
//! changed: vertices keep their order, and holes, inconsistent orientation and duplicates are left
//! to [`crate::repair`]. The exceptions are STL, which has no shared vertices, so that equal
//! corners are merged; and polygons, which are triangulated (a fan where convex, ear clipping where
//! not).
//!
//! Texture coordinates have v pointing up, as in OBJ; those of glTF, whose v points down, are
//! converted. A corner without coordinates in a file that has some gets (0, 0).
//!
//! ```
//! use sessile_geometry::files::{self, MeshFormat};
//!
//! let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
//! let mesh = files::parse_mesh(text, MeshFormat::Obj, &files::no_resources)?;
//! assert_eq!(mesh.triangles, [[0, 1, 2]]);
//! # Ok::<(), files::MeshFileError>(())
//! ```

mod error;
mod gltf;
mod obj;
mod ply;
mod ply_header;
mod ply_write;
mod polygons;
mod stl;
mod tokens;

use std::io;
use std::path::Path;

use sessile_input::{FileSystem, Reader};

pub use error::{Location, MeshFileError, Problem};
pub use gltf::{
    GltfDeforming, GltfMotion, GltfPrimitive, GltfScene, data_uri, gltf_json, gltf_motion, gltf_view, parse_gltf,
};
pub use obj::{ObjFile, ObjPart, parse_obj};
pub use ply_write::write_ply;

use crate::TriMesh;

/// Most vertices or triangles that a file may expand to. Ten times what the models can use, and a
/// bound on the memory of a glTF file that has one mesh at many nodes.
const MAX_ELEMENTS: usize = 1 << 26;

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY: text, or binary of either byte order.
    Ply,
    /// Stereolithography STL: text or binary.
    Stl,
    /// glTF 2.0: JSON (`.gltf`) or binary (`.glb`), distinguished by their first bytes.
    Gltf,
}

impl MeshFormat {
    /// The format of a file by its extension.
    fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply),
            "stl" => Some(Self::Stl),
            "gltf" | "glb" => Some(Self::Gltf),
            _ => None,
        }
    }
}

/// Fetches a file that a mesh file refers to, by its relative path; only glTF refers to any.
pub type Resources<'a> = dyn Fn(&str) -> io::Result<Vec<u8>> + 'a;

/// The [`Resources`] of a mesh in memory: there are none.
pub fn no_resources(_relative_path: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, "the mesh was read from memory, without other files"))
}

/// Reads a mesh file; its extension selects the format.
pub fn read_mesh(path: &Path) -> Result<TriMesh, MeshFileError> {
    read_mesh_from(path, &FileSystem)
}

/// Reads a mesh file from the file system or from memory; its extension selects the format.
pub fn read_mesh_from(path: &Path, files: &dyn Reader) -> Result<TriMesh, MeshFileError> {
    let format = MeshFormat::of_path(path).ok_or_else(|| MeshFileError::UnknownFormat { path: path.to_owned() })?;
    let bytes = files
        .read(path, sessile_input::MAX_MESH)
        .map_err(|source| MeshFileError::Read { path: path.to_owned(), source })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| files.read_beside(folder, name, sessile_input::MAX_MESH);
    parse_mesh(&bytes, format, &beside).map_err(|error| error.in_file(path))
}

/// Reads a mesh from memory. `resources` fetches the buffers of a glTF document that are in other
/// files.
pub fn parse_mesh(bytes: &[u8], format: MeshFormat, resources: &Resources<'_>) -> Result<TriMesh, MeshFileError> {
    let mesh = match format {
        MeshFormat::Obj => obj::parse(bytes)?,
        MeshFormat::Ply => ply::parse(bytes)?,
        MeshFormat::Stl => stl::parse(bytes)?,
        MeshFormat::Gltf => gltf::parse(bytes, resources)?,
    };
    if mesh.triangles.is_empty() {
        let problem = Problem::NoTriangles { vertices: mesh.positions.len() };
        return Err(MeshFileError::Malformed { file: None, location: Location::Whole, problem });
    }
    Ok(mesh)
}
