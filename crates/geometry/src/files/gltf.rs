//! glTF 2.0, as JSON (`.gltf`) or binary (`.glb`): the triangles of the default scene in world
//! space.
//!
//! A reader of its own: a mesh needs little of the format, and every offset is checked against the
//! buffer before use. Buffers may be the binary chunk, `data:` URIs or files beside the document.
//! Lines and points are skipped. [`parse_gltf`] places the nodes as animations do at a time, and
//! [`gltf_motion`] samples animations, morph targets and skins; a mesh file on its own has the rest
//! state. Sparse vertices and compressed geometry are errors.

mod accessor;
mod animation;
mod document;

use std::io;

use glam::{DMat4, DQuat, DVec3};

use self::accessor::Accessors;
pub use self::animation::{GltfDeforming, GltfMotion, gltf_motion};
use self::document::{Document, Node, Primitive};
use super::error::{Location, MeshFileError, ParseError, Problem};
use super::{MAX_ELEMENTS, Resources};
use crate::TriMesh;

/// Required extensions under which the plain attributes no longer describe the geometry.
const GEOMETRY_EXTENSIONS: [&str; 5] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "EXT_mesh_gpu_instancing",
    "KHR_gaussian_splatting",
];

/// The default scene of a glTF file, with its nodes and primitives kept apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfScene {
    /// Index and world transform of each node of the scene, parents before children.
    pub nodes: Vec<(usize, DMat4)>,
    /// The triangle primitives of the nodes' meshes, in the order of `nodes`.
    pub primitives: Vec<GltfPrimitive>,
}

/// A triangle primitive in world space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfPrimitive {
    /// Index of its node.
    pub node: usize,
    /// Index in its mesh's list of primitives.
    pub primitive: usize,
    /// Its triangles.
    pub mesh: TriMesh,
}

/// Reads a glTF file with its nodes and primitives kept apart, at a time of its animations (in s).
/// `resources` fetches external buffers.
pub fn parse_gltf(bytes: &[u8], resources: &Resources<'_>, time: f64) -> Result<GltfScene, MeshFileError> {
    let mut scene = GltfScene::default();
    for_each_primitive(bytes, resources, Some(time), &mut scene.nodes, |placed, accessors| {
        let mut mesh = MeshBuilder::default();
        mesh.add(placed, &mut Vec::new(), accessors)?;
        scene.primitives.push(GltfPrimitive { node: placed.node, primitive: placed.index, mesh: mesh.mesh });
        Ok(())
    })?;
    Ok(scene)
}

/// The JSON document of a `.gltf` or `.glb` file.
pub fn gltf_json(bytes: &[u8]) -> Result<&[u8], MeshFileError> {
    Ok(document::open(bytes)?.json)
}

/// The bytes of a buffer view of a glTF file, such as those of an image.
pub fn gltf_view(bytes: &[u8], resources: &Resources<'_>, view: usize) -> Result<Vec<u8>, MeshFileError> {
    let container = document::open(bytes)?;
    let document: Document = container.document()?;
    let buffers = document::load_buffers(&document, container.binary, resources)?;
    let Some(found) = document.buffer_views.get(view) else {
        return Err(out_of_range("an image".to_owned(), "buffer view", view, document.buffer_views.len()).into());
    };
    let end = found.byte_offset.saturating_add(found.byte_length);
    let content = buffers.get(found.buffer).and_then(|buffer| buffer.get(found.byte_offset..end));
    let missing =
        || ParseError::unexpected(Location::Item(format!("bufferViews[{view}]")), "bytes of a buffer", "none");
    Ok(content.ok_or_else(missing)?.to_vec())
}

/// The bytes of a `data:` URI; `None` for any other, or if it is malformed.
pub fn data_uri(uri: &str) -> Option<Vec<u8>> {
    document::decode_data(uri.strip_prefix("data:")?).ok()
}

/// Reads all primitives of the default scene into one mesh.
pub(super) fn parse(bytes: &[u8], resources: &Resources<'_>) -> Result<TriMesh, ParseError> {
    let mut builder = MeshBuilder::default();
    // Primitives of one mesh often share their vertices.
    let mut shared = Vec::new();
    let mut node = None;
    for_each_primitive(bytes, resources, None, &mut Vec::new(), |placed, accessors| {
        if node.replace(placed.node) != Some(placed.node) {
            shared.clear();
        }
        builder.add(placed, &mut shared, accessors)
    })?;
    Ok(builder.mesh)
}

/// A triangle primitive with its place in the scene.
struct PlacedPrimitive<'a> {
    primitive: &'a Primitive,
    /// Accessor of its vertex positions.
    position: usize,
    node: usize,
    index: usize,
    world_from_node: DMat4,
    /// Whether it is mirrored, by its node or, if it has a skin, by the joints.
    is_mirrored: bool,
}

impl PlacedPrimitive<'_> {
    fn location(&self) -> String {
        format!("nodes[{}].mesh.primitives[{}]", self.node, self.index)
    }
}

/// Calls `take` for every triangle primitive of the default scene, at rest or at a time of the
/// animations (in s); points and lines are skipped.
fn for_each_primitive(
    bytes: &[u8],
    resources: &Resources<'_>,
    time: Option<f64>,
    nodes: &mut Vec<(usize, DMat4)>,
    mut take: impl FnMut(&PlacedPrimitive<'_>, &Accessors<'_>) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let container = document::open(bytes)?;
    let mut document: Document = container.document()?;
    for extension in &document.extensions_required {
        if GEOMETRY_EXTENSIONS.contains(&extension.as_str()) {
            let what = format!("the extension {extension}");
            let problem = Problem::Unsupported { what, advice: "export the mesh without compression or instancing" };
            return Err(ParseError::new(Location::Item("extensionsRequired".to_owned()), problem));
        }
    }
    let buffers = document::load_buffers(&document, container.binary, resources)?;
    if let Some(time) = time {
        animation::apply(&mut document, &buffers, time)?;
    }
    let accessors = Accessors { document: &document, buffers: &buffers };
    *nodes = placed_nodes(&document)?;
    for &(node, world_from_node) in &*nodes {
        let Some(mesh) = document.nodes[node].mesh else { continue };
        let is_mirrored = match document.nodes[node].skin {
            Some(skin) => animation::mirrors(skin, nodes, &accessors)?,
            None => world_from_node.determinant() < 0.0,
        };
        let Some(mesh) = document.meshes.get(mesh) else {
            return Err(out_of_range(format!("nodes[{node}].mesh"), "mesh", mesh, document.meshes.len()));
        };
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            if let (4..=6, Some(position)) = (primitive.mode, primitive.attributes.position) {
                take(&PlacedPrimitive { primitive, position, node, index, world_from_node, is_mirrored }, &accessors)?;
            }
        }
    }
    Ok(())
}

/// The nodes of the default scene and their transforms, parents before children; all roots where no
/// scene is given.
fn placed_nodes(document: &Document) -> Result<Vec<(usize, DMat4)>, ParseError> {
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
        let location = || format!("nodes[{index}]");
        let Some(node) = document.nodes.get(index) else {
            return Err(out_of_range("the node tree".to_owned(), "node", index, num_nodes));
        };
        if std::mem::replace(&mut seen[index], true) {
            let expected = "each node at most once in the scene";
            return Err(ParseError::unexpected(Location::Item(location()), expected, "a second parent or a cycle"));
        }
        let world_from_node = world_from_parent * local_transform(node);
        if !world_from_node.is_finite() {
            return Err(ParseError::unexpected(Location::Item(location()), "a finite transform", "infinity or NaN"));
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
    // Exporters round quaternions; one of length zero means no rotation.
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY };
    let scale = DVec3::from(node.scale.unwrap_or([1.0; 3]));
    let translation = DVec3::from(node.translation.unwrap_or([0.0; 3]));
    DMat4::from_scale_rotation_translation(scale, rotation, translation)
}

/// A mesh to which primitives are added.
#[derive(Default)]
struct MeshBuilder {
    mesh: TriMesh,
}

/// Vertices of an accessor that are in the mesh already.
#[derive(Clone, Copy)]
struct SharedVertices {
    accessor: usize,
    first: u32,
    count: usize,
}

impl MeshBuilder {
    /// Adds a primitive, whose vertices may be `shared` with earlier ones.
    fn add(
        &mut self,
        placed: &PlacedPrimitive<'_>,
        shared: &mut Vec<SharedVertices>,
        accessors: &Accessors<'_>,
    ) -> Result<(), ParseError> {
        let item = placed.location();
        let vertices = match shared.iter().find(|vertices| vertices.accessor == placed.position) {
            Some(&vertices) => vertices,
            None => {
                let first = self.mesh.positions.len() as u32;
                self.add_vertices(placed.position, &item, placed.world_from_node, accessors)?;
                let count = self.mesh.positions.len() - first as usize;
                shared.push(SharedVertices { accessor: placed.position, first, count });
                SharedVertices { accessor: placed.position, first, count }
            }
        };
        let corners = corners(placed.primitive, &item, vertices.count, accessors)?;
        if let Some(accessor) = placed.primitive.attributes.texcoord_0 {
            let uvs = accessors.texture_coordinates(accessor, vertices.count)?;
            self.mesh.corner_uvs.resize(self.mesh.triangles.len(), [glam::DVec2::ZERO; 3]);
            self.mesh.corner_uvs.extend(corners.iter().map(|t| t.map(|v| uvs[v as usize])));
        }
        let first = self.mesh.triangles.len();
        self.mesh.triangles.extend(corners.iter().map(|t| t.map(|v| vertices.first + v)));
        if !self.mesh.corner_uvs.is_empty() {
            self.mesh.corner_uvs.resize(self.mesh.triangles.len(), [glam::DVec2::ZERO; 3]);
        }
        if placed.is_mirrored {
            self.reverse_winding(first);
        }
        if self.mesh.triangles.len() > MAX_ELEMENTS {
            let problem = Problem::TooMany { what: "triangles", limit: MAX_ELEMENTS };
            return Err(ParseError::new(Location::Item(item), problem));
        }
        Ok(())
    }

    fn add_vertices(
        &mut self,
        accessor: usize,
        item: &str,
        world_from_node: DMat4,
        accessors: &Accessors<'_>,
    ) -> Result<(), ParseError> {
        let positions = accessors.positions(accessor)?;
        if self.mesh.positions.len() + positions.len() > MAX_ELEMENTS {
            let problem = Problem::TooMany { what: "vertices", limit: MAX_ELEMENTS };
            return Err(ParseError::new(Location::Item(item.to_owned()), problem));
        }
        for local in positions {
            let position = world_from_node.transform_point3(local);
            if !position.is_finite() {
                let found = *position.to_array().iter().find(|x| !x.is_finite()).unwrap_or(&f64::NAN);
                let problem = Problem::NonFinite { what: "vertex position".to_owned(), found };
                return Err(ParseError::new(Location::Item(item.to_owned()), problem));
            }
            self.mesh.positions.push(position);
        }
        Ok(())
    }

    /// Restores the winding of triangles from `first` on, which a mirroring transform has reversed.
    fn reverse_winding(&mut self, first: usize) {
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
) -> Result<Vec<[u32; 3]>, ParseError> {
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
            Err(ParseError::unexpected(Location::Item(item.to_owned()), "a number of corners divisible by 3", found))
        }
        5 => {
            let turned = |(k, t): (usize, &[u32])| if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[0], t[2], t[1]] };
            Ok(indices.windows(3).enumerate().map(turned).collect())
        }
        _ => Ok(indices.get(1..).unwrap_or_default().windows(2).map(|pair| [pair[0], pair[1], indices[0]]).collect()),
    }
}

fn out_of_range(item: String, what: &'static str, index: usize, count: usize) -> ParseError {
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    ParseError::new(Location::Item(item), Problem::IndexOutOfRange { what, index, first: 0, count })
}

/// The path in a relative URI, with percent-encoded characters decoded.
fn relative_path(uri: &str) -> io::Result<String> {
    let rejected = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    if uri.starts_with(['/', '\\']) || uri.split(['/', '\\']).next().is_some_and(|first| first.contains(':')) {
        return rejected("only files beside the mesh and data: URIs are read");
    }
    let mut path = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
        match byte {
            b'%' => match (digit(), digit()) {
                (Some(high), Some(low)) => path.push((16 * high + low) as u8),
                _ => return rejected("a % without two hexadecimal digits"),
            },
            _ => path.push(byte),
        }
    }
    String::from_utf8(path).or_else(|_| rejected("the name is not UTF-8"))
}

#[cfg(test)]
mod tests;
