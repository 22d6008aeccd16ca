//! glTF 2.0, as JSON (`.gltf`) or binary (`.glb`): the triangles of the default scene, placed by its nodes, in one mesh.
//!
//! Read by hand: what a shape needs of the format is small, and every offset is checked against the buffer before use.
//! Buffers may be the binary chunk, `data:` addresses or files beside. Lines and points are left out, skins and morph
//! targets stay at rest. Sparse accessors and compressed geometry are refused.

mod accessor;
mod document;

use std::io;

use glam::{DMat4, DQuat, DVec3};

use self::accessor::Accessors;
use self::document::{Document, Mesh, Node, Primitive};
use super::error::{Fault, Place, Problem};
use super::{MAX_ELEMENTS, Resources};
use crate::TriMesh;

/// Required extensions under which the plain attributes no longer hold the shape.
const GEOMETRY_EXTENSIONS: [&str; 5] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "EXT_mesh_gpu_instancing",
    "KHR_gaussian_splatting",
];

pub(super) fn parse(bytes: &[u8], resources: &Resources<'_>) -> Result<TriMesh, Fault> {
    let container = document::open(bytes)?;
    let document: Document = container.document()?;
    for extension in &document.extensions_required {
        if GEOMETRY_EXTENSIONS.contains(&extension.as_str()) {
            let what = format!("the extension {extension}");
            let problem = Problem::Unsupported { what, advice: "export the mesh without compression or instancing" };
            return Err(Fault::new(Place::Item("extensionsRequired".to_owned()), problem));
        }
    }
    let buffers = document::load_buffers(&document, container.binary, resources)?;
    let accessors = Accessors { document: &document, buffers: &buffers };
    let mut scene = Merge::default();
    for (node, world_from_node) in placed_nodes(&document)? {
        let Some(mesh) = document.nodes[node].mesh else { continue };
        let Some(mesh) = document.meshes.get(mesh) else {
            return Err(out_of_range(format!("nodes[{node}].mesh"), "mesh", mesh, document.meshes.len()));
        };
        scene.add(mesh, &format!("nodes[{node}]"), world_from_node, &accessors)?;
    }
    Ok(scene.mesh)
}

/// The nodes of the default scene and their transforms, parents before children; all roots where no scene is given.
fn placed_nodes(document: &Document) -> Result<Vec<(usize, DMat4)>, Fault> {
    let num_nodes = document.nodes.len();
    let roots = match document.scenes.get(document.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.clone(),
        None if document.scenes.is_empty() => {
            let mut is_child = vec![false; num_nodes];
            for &child in document.nodes.iter().flat_map(|node| &node.children) {
                if let Some(flag) = is_child.get_mut(child) {
                    *flag = true;
                }
            }
            (0..num_nodes).filter(|&node| !is_child[node]).collect()
        }
        None => {
            let scene = document.scene.unwrap_or(0);
            return Err(out_of_range("scene".to_owned(), "scene", scene, document.scenes.len()));
        }
    };
    let mut placed = Vec::new();
    let mut seen = vec![false; num_nodes];
    let mut open: Vec<(usize, DMat4)> = roots.into_iter().rev().map(|node| (node, DMat4::IDENTITY)).collect();
    while let Some((index, world_from_parent)) = open.pop() {
        let place = || format!("nodes[{index}]");
        let Some(node) = document.nodes.get(index) else {
            return Err(out_of_range("the node tree".to_owned(), "node", index, num_nodes));
        };
        if std::mem::replace(&mut seen[index], true) {
            let expected = "each node once in the scene's tree";
            return Err(Fault::unexpected(Place::Item(place()), expected, "a second parent or a loop"));
        }
        let world_from_node = world_from_parent * local_transform(node);
        if !world_from_node.is_finite() {
            return Err(Fault::unexpected(Place::Item(place()), "a finite transform", "infinity or NaN"));
        }
        placed.push((index, world_from_node));
        open.extend(node.children.iter().rev().map(|&child| (child, world_from_node)));
    }
    Ok(placed)
}

fn local_transform(node: &Node) -> DMat4 {
    if let Some(matrix) = &node.matrix {
        return DMat4::from_cols_array(matrix);
    }
    let rotation = DQuat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    // Exporters round quaternions; one of no length is as good as none.
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY };
    let scale = DVec3::from(node.scale.unwrap_or([1.0; 3]));
    let translation = DVec3::from(node.translation.unwrap_or([0.0; 3]));
    DMat4::from_scale_rotation_translation(scale, rotation, translation)
}

/// The mesh that grows from all primitives.
#[derive(Default)]
struct Merge {
    mesh: TriMesh,
}

impl Merge {
    fn add(&mut self, mesh: &Mesh, node: &str, world_from_node: DMat4, accessors: &Accessors<'_>) -> Result<(), Fault> {
        // Primitives of one mesh often share their vertices.
        let mut shared: Vec<(usize, u32, usize)> = Vec::new();
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            let item = format!("{node}.mesh.primitives[{k}]");
            let (true, Some(position)) = (matches!(primitive.mode, 4..=6), primitive.attributes.position) else {
                continue;
            };
            let (base, num_vertices) = match shared.iter().find(|(accessor, ..)| *accessor == position) {
                Some(&(_, base, num_vertices)) => (base, num_vertices),
                None => {
                    let base = self.mesh.positions.len() as u32;
                    self.add_vertices(position, &item, world_from_node, accessors)?;
                    let num_vertices = self.mesh.positions.len() - base as usize;
                    shared.push((position, base, num_vertices));
                    (base, num_vertices)
                }
            };
            let corners = corners(primitive, &item, num_vertices, accessors)?;
            let uvs = match primitive.attributes.texcoord_0 {
                Some(accessor) => Some(accessors.texture_coordinates(accessor, num_vertices)?),
                None => None,
            };
            if let Some(uvs) = &uvs {
                self.mesh.corner_uvs.resize(self.mesh.triangles.len(), [glam::DVec2::ZERO; 3]);
                self.mesh.corner_uvs.extend(corners.iter().map(|t| t.map(|v| uvs[v as usize])));
            }
            let first = self.mesh.triangles.len();
            self.mesh.triangles.extend(corners.iter().map(|t| t.map(|v| base + v)));
            if !self.mesh.corner_uvs.is_empty() {
                self.mesh.corner_uvs.resize(self.mesh.triangles.len(), [glam::DVec2::ZERO; 3]);
            }
            if world_from_node.determinant() < 0.0 {
                self.mirror(first);
            }
            if self.mesh.triangles.len() > MAX_ELEMENTS {
                let problem = Problem::TooMany { what: "triangles", limit: MAX_ELEMENTS };
                return Err(Fault::new(Place::Item(item), problem));
            }
        }
        Ok(())
    }

    fn add_vertices(
        &mut self,
        accessor: usize,
        item: &str,
        world_from_node: DMat4,
        accessors: &Accessors<'_>,
    ) -> Result<(), Fault> {
        let positions = accessors.positions(accessor)?;
        if self.mesh.positions.len() + positions.len() > MAX_ELEMENTS {
            let problem = Problem::TooMany { what: "vertices", limit: MAX_ELEMENTS };
            return Err(Fault::new(Place::Item(item.to_owned()), problem));
        }
        for local in positions {
            let position = world_from_node.transform_point3(local);
            if !position.is_finite() {
                let found = *position.to_array().iter().find(|x| !x.is_finite()).unwrap_or(&f64::NAN);
                let problem = Problem::NonFinite { what: "vertex position".to_owned(), found };
                return Err(Fault::new(Place::Item(item.to_owned()), problem));
            }
            self.mesh.positions.push(position);
        }
        Ok(())
    }

    /// A transform that mirrors turns the winding round; turn it back.
    fn mirror(&mut self, first: usize) {
        self.mesh.triangles[first..].iter_mut().for_each(|triangle| triangle.swap(1, 2));
        if let Some(uvs) = self.mesh.corner_uvs.get_mut(first..) {
            uvs.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
    }
}

/// The triangles of a list (mode 4), a strip (5) or a fan (6).
fn corners(
    primitive: &Primitive,
    item: &str,
    num_vertices: usize,
    accessors: &Accessors<'_>,
) -> Result<Vec<[u32; 3]>, Fault> {
    let indices: Vec<u32> = match primitive.indices {
        Some(accessor) => accessors.indices(accessor)?,
        None => (0..num_vertices as u32).collect(),
    };
    if let Some(&index) = indices.iter().find(|&&index| index as usize >= num_vertices) {
        return Err(out_of_range(format!("{item}.indices"), "vertex", index as usize, num_vertices));
    }
    match primitive.mode {
        4 if indices.len().is_multiple_of(3) => Ok(indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect()),
        4 => {
            let found = format!("{}", indices.len());
            Err(Fault::unexpected(Place::Item(item.to_owned()), "a number of corners that 3 divides", found))
        }
        5 => {
            let turned = |(k, t): (usize, &[u32])| if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[0], t[2], t[1]] };
            Ok(indices.windows(3).enumerate().map(turned).collect())
        }
        _ => Ok(indices.get(1..).unwrap_or_default().windows(2).map(|pair| [pair[0], pair[1], indices[0]]).collect()),
    }
}

fn out_of_range(item: String, what: &'static str, index: usize, count: usize) -> Fault {
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    Fault::new(Place::Item(item), Problem::IndexOutOfRange { what, index, first: 0, count })
}

/// The path in a relative address, `%20` and the like resolved.
fn relative_path(uri: &str) -> io::Result<String> {
    let refused = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    if uri.starts_with(['/', '\\']) || uri.split(['/', '\\']).next().is_some_and(|first| first.contains(':')) {
        return refused("only files beside the mesh and data: addresses are read");
    }
    let mut path = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
        match byte {
            b'%' => match (digit(), digit()) {
                (Some(high), Some(low)) => path.push((16 * high + low) as u8),
                _ => return refused("a % without two hexadecimal digits"),
            },
            _ => path.push(byte),
        }
    }
    String::from_utf8(path).or_else(|_| refused("the name is not UTF-8"))
}

#[cfg(test)]
mod tests;
