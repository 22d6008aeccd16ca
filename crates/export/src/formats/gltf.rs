//! glTF 2.0 as one `.glb` file, for the web and game engines.
//!
//! - A single frame is one mesh. Several frames with the same triangles are one mesh with a morph
//!   target per further frame and animated weights. Otherwise every frame is a mesh of its own, and
//!   animated scales show one at a time; programs without animation show the first.
//! - The liquid has transmission, a refractive index and absorption (KHR_materials_transmission,
//!   _ior, _volume). So has glass; a pane is thin and has no volume.
//! - Drop ids are the attribute `_DROP`, as floats: glTF has no wide enough integer attribute.
//! - Time is that of the video: frame k is at k / `render.fps` seconds after the first.
//!
//! Frames are read twice: first to find sizes and bounds, which come first in the file, then to
//! write them; one is in memory at a time.

mod document;
mod scene;

use glam::Vec3;
use serde_json::{Value, json};
use sessile_appearance::smooth_normals;
use sessile_frames::Surface;

use self::document::{Buffer, Document, FLOAT, INDICES, UNSIGNED_INT, VERTICES, bounds_of};
use crate::error::ExportError;
use crate::job::Job;
use crate::materials::ExportMaterials;
use crate::render_mesh::unit_normal;
use crate::source::LoadedFrame;

/// Most morph targets: the table of their weights grows with the square of their number.
const MAX_TARGETS: usize = 2000;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let layouts = frame_layouts(job)?;
    let fixed_topology =
        layouts.len() > 1 && layouts.len() <= MAX_TARGETS && layouts.iter().all(|layout| layout.same_triangles);
    let materials = ExportMaterials::of(job.source)?;
    let mut file = Document::new(job);
    file.materials(&materials);
    // Everything but the liquid's arrays, which are written frame by frame behind it.
    let mut scene = Buffer::default();
    file.solids(&materials, &mut scene)?;
    file.camera(&mut scene);
    let liquid = if fixed_topology {
        add_morph_targets(&mut file, &mut scene, &layouts)
    } else {
        add_frame_meshes(&mut file, &mut scene, &layouts)
    };
    let mut sink = file.begin(scene.len() + liquid)?;
    sink.put(&scene.bytes)?;
    let mut first: Option<(Vec<Vec3>, Vec<Vec3>)> = None;
    job.for_each_frame(|frame| {
        let (points, normals) = points_and_normals(&frame.liquid);
        let mut arrays = Buffer::default();
        match &first {
            Some((base, base_normals)) if fixed_topology => {
                arrays.vectors(points.iter().zip(base).map(|(p, b)| *p - *b));
                arrays.vectors(normals.iter().zip(base_normals).map(|(n, b)| *n - *b));
            }
            _ => {
                arrays.vectors(points.iter().copied());
                arrays.vectors(normals.iter().copied());
                arrays.floats(frame.liquid.drops.iter().map(|drop| *drop as f32));
                arrays.integers(frame.liquid.triangles.iter().flatten().copied());
            }
        }
        if first.is_none() && fixed_topology {
            first = Some((points, normals));
        }
        Ok(sink.put(&arrays.bytes)?)
    })?;
    file.end(sink)
}

/// Sizes and bounds of a frame's arrays, which precede them in the file.
struct FrameLayout {
    vertices: usize,
    triangles: usize,
    bounds: [Vec3; 2],
    /// Bounds of the vertex displacements since the first frame, if the triangles are the same.
    displacement: [Vec3; 2],
    /// Bounds of the changes of normals since the first frame, if the triangles are the same.
    normal_change: [Vec3; 2],
    same_triangles: bool,
}

fn points_and_normals(liquid: &Surface) -> (Vec<Vec3>, Vec<Vec3>) {
    let points = liquid.positions.iter().map(|p| p.as_vec3()).collect();
    let normals = smooth_normals(&liquid.positions, &liquid.triangles);
    (points, normals.into_iter().map(unit_normal).collect())
}

fn frame_layouts(job: &Job<'_>) -> Result<Vec<FrameLayout>, ExportError> {
    let mut layouts: Vec<FrameLayout> = Vec::new();
    let mut first: Option<(LoadedFrame, Vec<Vec3>, Vec<Vec3>)> = None;
    for &frame in &job.source.frames {
        job.check_stop()?;
        let frame = job.source.read_frame(frame)?;
        let (points, normals) = points_and_normals(&frame.liquid);
        let same = first.as_ref().filter(|(start, ..)| {
            !frame.liquid.triangles.is_empty()
                && start.liquid.triangles == frame.liquid.triangles
                && start.liquid.drops == frame.liquid.drops
        });
        let (displacement, normal_change) =
            same.map_or(([Vec3::ZERO; 2], [Vec3::ZERO; 2]), |(_, base, base_normals)| {
                (
                    bounds_of(points.iter().zip(base).map(|(p, b)| *p - *b)),
                    bounds_of(normals.iter().zip(base_normals).map(|(n, b)| *n - *b)),
                )
            });
        layouts.push(FrameLayout {
            vertices: points.len(),
            triangles: frame.liquid.triangles.len(),
            bounds: bounds_of(points.iter().copied()),
            displacement,
            normal_change,
            same_triangles: first.is_none() || same.is_some(),
        });
        if first.is_none() {
            first = Some((frame, points, normals));
        }
    }
    Ok(layouts)
}

/// Adds the accessors of a frame's arrays, which will start at `at`; returns the primitive.
fn primitive(file: &mut Document<'_>, at: &mut usize, layout: &FrameLayout) -> Value {
    let position = file.reserve(at, layout.vertices, 12, FLOAT, "VEC3", Some(layout.bounds), Some(VERTICES));
    let normal = file.reserve(at, layout.vertices, 12, FLOAT, "VEC3", None, Some(VERTICES));
    let drop = file.reserve(at, layout.vertices, 4, FLOAT, "SCALAR", None, Some(VERTICES));
    let indices = file.reserve(at, 3 * layout.triangles, 4, UNSIGNED_INT, "SCALAR", None, Some(INDICES));
    json!({
        "attributes": { "POSITION": position, "NORMAL": normal, "_DROP": drop },
        "indices": indices,
        "material": 0
    })
}

/// Adds one mesh with morph targets; returns the size of its arrays, which follow those of `scene`,
/// in bytes.
fn add_morph_targets(file: &mut Document<'_>, scene: &mut Buffer, layouts: &[FrameLayout]) -> usize {
    // Frame k has weight 1 for target k and 0 for the others; the first frame is the mesh itself.
    let targets = layouts.len() - 1;
    let times = file.frame_times(scene, layouts.len());
    let start = scene.len();
    scene.floats((0..layouts.len() * targets).map(|i| if i / targets == i % targets + 1 { 1.0 } else { 0.0 }));
    let weights = file.accessor(start, layouts.len() * targets, FLOAT, "SCALAR", None, None);
    let begin = scene.len();
    let mut at = begin;
    let mut primitive = primitive(file, &mut at, &layouts[0]);
    let morphs: Vec<Value> = layouts[1..]
        .iter()
        .map(|layout| {
            let position =
                file.reserve(&mut at, layout.vertices, 12, FLOAT, "VEC3", Some(layout.displacement), Some(VERTICES));
            let normal =
                file.reserve(&mut at, layout.vertices, 12, FLOAT, "VEC3", Some(layout.normal_change), Some(VERTICES));
            json!({ "POSITION": position, "NORMAL": normal })
        })
        .collect();
    primitive["targets"] = json!(morphs);
    let mesh = file.mesh(json!({ "name": "liquid", "primitives": [primitive], "weights": vec![0.0; targets] }));
    let node = file.node(json!({ "name": "liquid", "mesh": mesh }));
    file.animate(node, "weights", times, weights, "LINEAR");
    at - begin
}

/// Adds a mesh for every frame, one of which is visible at a time; returns the size of their arrays
/// in bytes.
fn add_frame_meshes(file: &mut Document<'_>, scene: &mut Buffer, layouts: &[FrameLayout]) -> usize {
    let count = layouts.len();
    let mut tracks = Vec::new();
    for (k, layout) in layouts.iter().enumerate() {
        let animated = layout.triangles > 0 && count > 1;
        tracks.push(animated.then(|| visibility_track(file, scene, k, count)));
    }
    let begin = scene.len();
    let mut at = begin;
    for (k, (layout, track)) in layouts.iter().zip(tracks).enumerate() {
        if layout.triangles == 0 {
            // Vertices without triangles are in the file, but no mesh uses them.
            at += 28 * layout.vertices;
            continue;
        }
        let primitive = primitive(file, &mut at, layout);
        let name = format!("liquid {:05}", file.frame_number(k));
        let mesh = file.mesh(json!({ "name": name, "primitives": [primitive] }));
        let scale = if k == 0 { [1.0; 3] } else { [0.0; 3] };
        let node = file.node(json!({ "name": name, "mesh": mesh, "scale": scale }));
        if let Some((times, scales)) = track {
            file.animate(node, "scale", times, scales, "STEP");
        }
    }
    at - begin
}

/// Adds the scale animation that shows mesh `k` of `count` from its frame until the next; returns
/// the accessors of times and scales.
fn visibility_track(file: &mut Document<'_>, scene: &mut Buffer, k: usize, count: usize) -> (usize, usize) {
    let fps = file.frames_per_second();
    let mut keys: Vec<(f64, f32)> = Vec::new();
    if k > 0 {
        keys.push((0.0, 0.0));
    }
    keys.push((k as f64 / fps, 1.0));
    if k + 1 < count {
        keys.push(((k + 1) as f64 / fps, 0.0));
    }
    let start = scene.len();
    scene.floats(keys.iter().map(|(time, _)| *time as f32));
    let times = file.accessor_of_times(start, keys.iter().map(|(time, _)| *time as f32));
    let start = scene.len();
    scene.vectors(keys.iter().map(|(_, scale)| Vec3::splat(*scale)));
    let scales = file.accessor(start, keys.len(), FLOAT, "VEC3", None, None);
    (times, scales)
}
