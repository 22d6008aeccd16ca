//! Animations: nodes that move, morph targets and skins, sampled at given times.
//!
//! All animations of the file play together. Between keyframes, values are interpolated as the file
//! says (LINEAR, STEP or CUBICSPLINE); outside them the first or last value holds. A vertex is
//!
//! ```text
//! p(t) = Σ_j w_j W_j(t) B_j (p + Σ_k m_k(t) d_k)
//! ```
//!
//! with the displacements d_k of morph targets and their weights m_k, and, for a skin, the joints'
//! world transforms W_j, inverse bind matrices B_j and weights w_j (the glTF 2.0 specification,
//! skins and animations).

use std::borrow::Cow;

use glam::{DMat4, DQuat, DVec3, DVec4};
use sessile_numerics::math;

use super::accessor::Accessors;
use super::document::{self, Channel, Document, Node, Skin};
use super::{ParseError, Resources, out_of_range, placed_nodes};
use crate::files::MeshFileError;

/// The motion of a glTF scene at a list of times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfMotion {
    /// World transforms of the nodes (see [`super::GltfScene::nodes`]) at each time.
    pub poses: Vec<Vec<(usize, DMat4)>>,
    /// Primitives that morph or have a skin.
    pub deforming: Vec<GltfDeforming>,
}

/// A primitive whose vertices move relative to its node.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfDeforming {
    /// Index of its node.
    pub node: usize,
    /// Index in its mesh's list of primitives.
    pub primitive: usize,
    /// Vertices in world space at each time.
    pub positions: Vec<Vec<DVec3>>,
}

/// Samples the animations of a glTF file at `times` (in s). `resources` fetches external buffers.
pub fn gltf_motion(bytes: &[u8], resources: &Resources<'_>, times: &[f64]) -> Result<GltfMotion, MeshFileError> {
    let container = document::open(bytes)?;
    let mut document: Document = container.document()?;
    let buffers = document::load_buffers(&document, container.binary, resources)?;
    let tracks = tracks(&Accessors { document: &document, buffers: &buffers })?;
    let mut motion = GltfMotion { deforming: deforming(&document), ..GltfMotion::default() };
    let mut weights: Vec<Vec<Vec<f64>>> = Vec::new();
    for &time in times {
        for track in &tracks {
            track.apply(&mut document.nodes[track.node], time);
        }
        motion.poses.push(placed_nodes(&document)?);
        weights.push(document.nodes.iter().map(|node| node.weights.clone()).collect());
    }
    let accessors = Accessors { document: &document, buffers: &buffers };
    for deforming in &mut motion.deforming {
        let shape = Shape::read(deforming, &accessors)?;
        for (poses, weights) in motion.poses.iter().zip(&weights) {
            deforming.positions.push(shape.at(poses, &weights[deforming.node]));
        }
    }
    Ok(motion)
}

/// Places the nodes as the animations do at a time (in s).
pub(super) fn apply(document: &mut Document, buffers: &[Cow<'_, [u8]>], time: f64) -> Result<(), ParseError> {
    for track in tracks(&Accessors { document, buffers })? {
        track.apply(&mut document.nodes[track.node], time);
    }
    Ok(())
}

/// Whether the joints of a skin mirror its mesh; `poses` are the nodes' world transforms.
pub(super) fn mirrors(skin: usize, poses: &[(usize, DMat4)], accessors: &Accessors<'_>) -> Result<bool, ParseError> {
    let Some(skin) = accessors.document.skins.get(skin) else { return Ok(false) };
    let Some(&(joint, bind)) = joints(skin, accessors)?.first() else { return Ok(false) };
    Ok((pose_of(joint, poses) * bind).determinant() < 0.0)
}

/// World transform of a node; the identity for one that is not in the scene.
fn pose_of(node: usize, poses: &[(usize, DMat4)]) -> DMat4 {
    poses.iter().find(|(k, _)| *k == node).map_or(DMat4::IDENTITY, |(_, pose)| *pose)
}

/// Nodes of the joints of a skin, with their inverse bind matrices.
fn joints(skin: &Skin, accessors: &Accessors<'_>) -> Result<Vec<(usize, DMat4)>, ParseError> {
    let binds = match skin.inverse_bind_matrices {
        Some(accessor) => accessors.numbers(accessor, "MAT4", 16)?,
        None => Vec::new(),
    };
    let bind = |k: usize| binds.as_chunks::<16>().0.get(k).map_or(DMat4::IDENTITY, DMat4::from_cols_array);
    Ok(skin.joints.iter().enumerate().map(|(k, joint)| (*joint, bind(k))).collect())
}

/// Primitives that have a skin, or morph targets that are animated or applied.
fn deforming(document: &Document) -> Vec<GltfDeforming> {
    let channels = || document.animations.iter().flat_map(|animation| &animation.channels);
    let morphs = |node: usize| channels().any(|c| c.target.node == Some(node) && c.target.path == "weights");
    let mut found = Vec::new();
    for (index, node) in document.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh.and_then(|mesh| document.meshes.get(mesh)) else { continue };
        let applied = node.weights.iter().chain(&mesh.weights).any(|weight| *weight != 0.0);
        for (primitive, own) in mesh.primitives.iter().enumerate() {
            let is_drawn = (4..=6).contains(&own.mode) && own.attributes.position.is_some();
            if is_drawn && (node.skin.is_some() || ((applied || morphs(index)) && !own.targets.is_empty())) {
                found.push(GltfDeforming { node: index, primitive, positions: Vec::new() });
            }
        }
    }
    found
}

/// How values between keyframes are found.
#[derive(Clone, Copy, PartialEq)]
enum Interpolation {
    Linear,
    Step,
    Cubic,
}

/// An animated property of a node.
struct Track {
    node: usize,
    path: String,
    interpolation: Interpolation,
    times: Vec<f64>,
    /// Values of all keyframes; three for each (in-tangent, value, out-tangent) if cubic.
    values: Vec<f64>,
    /// Numbers of a value.
    width: usize,
}

/// The tracks of all animations; those that make no sense are left out.
fn tracks(accessors: &Accessors<'_>) -> Result<Vec<Track>, ParseError> {
    let document = accessors.document;
    let mut tracks = Vec::new();
    for animation in &document.animations {
        for Channel { sampler, target } in &animation.channels {
            let (Some(node), Some(sampler)) = (target.node, animation.samplers.get(*sampler)) else { continue };
            if node >= document.nodes.len() {
                return Err(out_of_range("an animation".to_owned(), "node", node, document.nodes.len()));
            }
            let (shape, components) = match target.path.as_str() {
                "translation" | "scale" => ("VEC3", 3),
                "rotation" => ("VEC4", 4),
                "weights" => ("SCALAR", 1),
                _ => continue,
            };
            let interpolation = match sampler.interpolation.as_deref() {
                Some("STEP") => Interpolation::Step,
                Some("CUBICSPLINE") => Interpolation::Cubic,
                _ => Interpolation::Linear,
            };
            let times = accessors.numbers(sampler.input, "SCALAR", 1)?;
            let values = accessors.numbers(sampler.output, shape, components)?;
            let parts = if interpolation == Interpolation::Cubic { 3 } else { 1 };
            let width = values.len() / (times.len() * parts).max(1);
            if width > 0 && values.len() == width * times.len() * parts && times.is_sorted() {
                tracks.push(Track { node, path: target.path.clone(), interpolation, times, values, width });
            }
        }
    }
    Ok(tracks)
}

impl Track {
    fn apply(&self, node: &mut Node, time: f64) {
        let value = self.at(time);
        match (self.path.as_str(), value.as_slice()) {
            ("translation", &[x, y, z]) => node.translation = Some([x, y, z]),
            ("scale", &[x, y, z]) => node.scale = Some([x, y, z]),
            ("rotation", &[x, y, z, w]) => node.rotation = Some([x, y, z, w]),
            ("weights", weights) => node.weights = weights.to_vec(),
            _ => {}
        }
    }

    /// Part `part` of keyframe `k`.
    fn key(&self, k: usize, part: usize) -> &[f64] {
        let parts = if self.interpolation == Interpolation::Cubic { 3 } else { 1 };
        &self.values[(k * parts + part) * self.width..][..self.width]
    }

    fn value(&self, k: usize) -> &[f64] {
        self.key(k, usize::from(self.interpolation == Interpolation::Cubic))
    }

    fn at(&self, time: f64) -> Vec<f64> {
        let next = self.times.partition_point(|at| *at <= time);
        if next == 0 || next == self.times.len() {
            return self.value(next.saturating_sub(1)).to_vec();
        }
        let (a, b) = (next - 1, next);
        let span = self.times[b] - self.times[a];
        let s = (time - self.times[a]) / span;
        let (from, to) = (self.value(a), self.value(b));
        match self.interpolation {
            Interpolation::Step => from.to_vec(),
            Interpolation::Linear => match (self.path.as_str(), from, to) {
                ("rotation", &[x, y, z, w], &[u, v, p, q]) => {
                    math::slerp(DQuat::from_xyzw(x, y, z, w), DQuat::from_xyzw(u, v, p, q), s).to_array().to_vec()
                }
                _ => from.iter().zip(to).map(|(a, b)| a + (b - a) * s).collect(),
            },
            Interpolation::Cubic => {
                let (out, into) = (self.key(a, 2), self.key(b, 0));
                let (s2, s3) = (s * s, s * s * s);
                let weights =
                    [2.0 * s3 - 3.0 * s2 + 1.0, span * (s3 - 2.0 * s2 + s), 3.0 * s2 - 2.0 * s3, span * (s3 - s2)];
                let blend =
                    |k: usize| from[k] * weights[0] + out[k] * weights[1] + to[k] * weights[2] + into[k] * weights[3];
                (0..self.width).map(blend).collect()
            }
        }
    }
}

/// A primitive that morphs or has a skin.
struct Shape {
    node: usize,
    positions: Vec<DVec3>,
    targets: Vec<Vec<DVec3>>,
    /// Weights of morph targets where the node has none.
    default_weights: Vec<f64>,
    skin: Option<VertexSkin>,
}

/// The skin of a primitive.
struct VertexSkin {
    /// Nodes of the joints, with their inverse bind matrices.
    joints: Vec<(usize, DMat4)>,
    /// Up to four joints of each vertex, with their weights.
    vertices: Vec<[(usize, f64); 4]>,
}

impl Shape {
    fn read(deforming: &GltfDeforming, accessors: &Accessors<'_>) -> Result<Self, ParseError> {
        let document = accessors.document;
        let node = &document.nodes[deforming.node];
        let mesh = &document.meshes[node.mesh.unwrap_or_default()];
        let primitive = &mesh.primitives[deforming.primitive];
        let positions = accessors.positions(primitive.attributes.position.unwrap_or_default())?;
        let vectors = |accessor: usize| -> Result<Vec<DVec3>, ParseError> {
            let numbers = accessors.numbers(accessor, "VEC3", 3)?;
            Ok(numbers.as_chunks::<3>().0.iter().map(|v| DVec3::from_array(*v)).collect())
        };
        let targets = primitive.targets.iter().filter_map(|target| target.position).map(vectors);
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        let skin = match node.skin.and_then(|skin| document.skins.get(skin)) {
            Some(skin) => Some(Self::skin(skin, primitive.attributes.joints_weights(), positions.len(), accessors)?),
            None => None,
        };
        Ok(Self { node: deforming.node, positions, targets, default_weights: mesh.weights.clone(), skin })
    }

    fn skin(
        skin: &Skin,
        attributes: Option<(usize, usize)>,
        count: usize,
        accessors: &Accessors<'_>,
    ) -> Result<VertexSkin, ParseError> {
        let joints = joints(skin, accessors)?;
        let Some((indices, weights)) = attributes else {
            return Ok(VertexSkin { joints, vertices: vec![[(0, 0.0); 4]; count] });
        };
        let (indices, weights) = (accessors.numbers(indices, "VEC4", 4)?, accessors.numbers(weights, "VEC4", 4)?);
        let own = indices.as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0);
        let mut own: Vec<[(usize, f64); 4]> =
            own.map(|(j, w)| std::array::from_fn(|k| (j[k] as usize, w[k]))).collect();
        own.resize(count, [(0, 0.0); 4]);
        Ok(VertexSkin { joints, vertices: own })
    }

    /// The vertices in world space.
    fn at(&self, poses: &[(usize, DMat4)], weights: &[f64]) -> Vec<DVec3> {
        let weights = if weights.is_empty() { &self.default_weights } else { weights };
        let mut local = self.positions.clone();
        for (target, weight) in self.targets.iter().zip(weights) {
            local.iter_mut().zip(target).for_each(|(p, d)| *p += *d * *weight);
        }
        let Some(VertexSkin { joints, vertices }) = &self.skin else {
            let own = pose_of(self.node, poses);
            return local.into_iter().map(|p| own.transform_point3(p)).collect();
        };
        let joints: Vec<DMat4> = joints.iter().map(|(node, bind)| pose_of(*node, poses) * *bind).collect();
        let blend = |(p, own): (&DVec3, &[(usize, f64); 4])| {
            let parts = own.iter().filter_map(|(joint, weight)| Some((joints.get(*joint)?, *weight)));
            let sum = parts.fold(DVec4::ZERO, |sum, (joint, weight)| sum + *joint * p.extend(1.0) * weight);
            if sum.w > 0.0 { sum.truncate() / sum.w } else { *p }
        };
        local.iter().zip(vertices).map(blend).collect()
    }
}
