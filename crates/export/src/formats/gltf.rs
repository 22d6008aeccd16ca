//! glTF 2.0 as one `.glb`: for the web and game engines.
//!
//! - One frame is a mesh. Several frames of the same triangles are one mesh with a morph target per further frame and animated weights. Otherwise every frame is a mesh
//!   of its own, and animated scales let one of them be seen at a time; without animation it is the first.
//! - The liquid has transmission, its refractive index and its absorption (KHR_materials_transmission, _ior, _volume). Glass too; a pane is thin, so it has no volume.
//! - Drop ids are the attribute `_DROP`, as floats, for glTF has no other number there that would hold them.
//! - Time runs as in the video: frame k stands at k / `render.fps` seconds, from the first frame on.
//!
//! Frames are read twice: to know sizes and bounds, which come first in the file, and to write them; one is in memory at a time.

mod buffer;
mod scenery;

use glam::Vec3;
use sessile_appearance::smooth_normals;
use sessile_frames::Surface;

use crate::error::ExportError;
use crate::job::Job;
use crate::looks::SceneLooks;
use crate::source::Shot;
use buffer::{Buffer, FLOAT, UNSIGNED_INT, points_bounds};
use serde_json::{Value, json};

/// Most morph targets: the table of their weights grows with the square of it.
const MOST_TARGETS: usize = 2000;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let plans = plan(job)?;
    let fixed = plans.len() > 1 && plans.len() <= MOST_TARGETS && plans.iter().all(|plan| plan.same_triangles);
    let looks = SceneLooks::of(job.source)?;
    let mut file = buffer::Document::new(job);
    file.materials(&looks);
    let mut small = Buffer::default();
    file.solids(&looks, &mut small)?;
    file.camera(&mut small);
    let liquid = if fixed { morphing(&mut file, &mut small, &plans) } else { switching(&mut file, &mut small, &plans) };
    let mut sink = file.begin(small.len() + liquid)?;
    sink.put(&small.bytes)?;
    let mut first: Option<(Vec<Vec3>, Vec<Vec3>)> = None;
    job.each_shot(|shot| {
        let (points, normals) = arrays(&shot.liquid);
        let mut part = Buffer::default();
        match &first {
            Some((base, base_normals)) if fixed => {
                part.vectors(points.iter().zip(base).map(|(p, b)| *p - *b));
                part.vectors(normals.iter().zip(base_normals).map(|(n, b)| *n - *b));
            }
            _ => {
                part.vectors(points.iter().copied());
                part.vectors(normals.iter().copied());
                part.floats(shot.liquid.drops.iter().map(|drop| *drop as f32));
                part.numbers(shot.liquid.triangles.iter().flatten().copied());
            }
        }
        if first.is_none() && fixed {
            first = Some((points, normals));
        }
        Ok(sink.put(&part.bytes)?)
    })?;
    file.end(sink)
}

/// What must be known of a frame before it is written.
struct Plan {
    vertices: usize,
    triangles: usize,
    bounds: [Vec3; 2],
    /// Bounds of the way of each vertex from the first frame, if the triangles are the same.
    moved: [Vec3; 2],
    turned: [Vec3; 2],
    same_triangles: bool,
}

fn arrays(liquid: &Surface) -> (Vec<Vec3>, Vec<Vec3>) {
    let points = liquid.positions.iter().map(|p| p.as_vec3()).collect();
    let normals = smooth_normals(&liquid.positions, &liquid.triangles);
    // A vertex of no triangle has no normal, but glTF wants one.
    (points, normals.into_iter().map(|n| n.try_normalize().unwrap_or(Vec3::Y)).collect())
}

fn plan(job: &Job<'_>) -> Result<Vec<Plan>, ExportError> {
    let mut plans: Vec<Plan> = Vec::new();
    let mut first: Option<(Shot, Vec<Vec3>, Vec<Vec3>)> = None;
    for &frame in &job.source.frames {
        job.check_stop()?;
        let shot = job.source.shot(frame)?;
        let (points, normals) = arrays(&shot.liquid);
        let same = first.as_ref().filter(|(start, ..)| {
            !shot.liquid.triangles.is_empty()
                && start.liquid.triangles == shot.liquid.triangles
                && start.liquid.drops == shot.liquid.drops
        });
        let (moved, turned) = same.map_or(([Vec3::ZERO; 2], [Vec3::ZERO; 2]), |(_, base, base_normals)| {
            (
                points_bounds(points.iter().zip(base).map(|(p, b)| *p - *b)),
                points_bounds(normals.iter().zip(base_normals).map(|(n, b)| *n - *b)),
            )
        });
        plans.push(Plan {
            vertices: points.len(),
            triangles: shot.liquid.triangles.len(),
            bounds: points_bounds(points.iter().copied()),
            moved,
            turned,
            same_triangles: first.is_none() || same.is_some(),
        });
        if first.is_none() {
            first = Some((shot, points, normals));
        }
    }
    Ok(plans)
}

/// Accessors of a frame's arrays, `at` being where they will lie; gives the primitive.
fn primitive(file: &mut buffer::Document<'_>, at: &mut usize, plan: &Plan) -> Value {
    let position = file.later(at, plan.vertices, 12, FLOAT, "VEC3", Some(plan.bounds), Some(buffer::VERTICES));
    let normal = file.later(at, plan.vertices, 12, FLOAT, "VEC3", None, Some(buffer::VERTICES));
    let drop = file.later(at, plan.vertices, 4, FLOAT, "SCALAR", None, Some(buffer::VERTICES));
    let indices = file.later(at, 3 * plan.triangles, 4, UNSIGNED_INT, "SCALAR", None, Some(buffer::INDICES));
    json!({
        "attributes": { "POSITION": position, "NORMAL": normal, "_DROP": drop },
        "indices": indices,
        "material": 0
    })
}

/// One mesh whose vertices move: gives the bytes of its arrays, which lie behind those of `small`.
fn morphing(file: &mut buffer::Document<'_>, small: &mut Buffer, plans: &[Plan]) -> usize {
    // Weights: frame k shows target k alone; the first frame is the mesh itself.
    let targets = plans.len() - 1;
    let times = file.frame_times(small, 0, plans.len());
    let start = small.len();
    small.floats((0..plans.len() * targets).map(|i| if i / targets == i % targets + 1 { 1.0 } else { 0.0 }));
    let weights = file.accessor(start, plans.len() * targets, FLOAT, "SCALAR", None, None);
    let begin = small.len();
    let mut at = begin;
    let mut whole = primitive(file, &mut at, &plans[0]);
    let morphs: Vec<Value> = plans[1..]
        .iter()
        .map(|plan| {
            let position =
                file.later(&mut at, plan.vertices, 12, FLOAT, "VEC3", Some(plan.moved), Some(buffer::VERTICES));
            let normal =
                file.later(&mut at, plan.vertices, 12, FLOAT, "VEC3", Some(plan.turned), Some(buffer::VERTICES));
            json!({ "POSITION": position, "NORMAL": normal })
        })
        .collect();
    whole["targets"] = json!(morphs);
    let mesh = file.mesh(json!({ "name": "liquid", "primitives": [whole], "weights": vec![0.0; targets] }));
    let node = file.node(json!({ "name": "liquid", "mesh": mesh }));
    file.animate(node, "weights", times, weights, "LINEAR");
    at - begin
}

/// A mesh for every frame, one of which is seen.
fn switching(file: &mut buffer::Document<'_>, small: &mut Buffer, plans: &[Plan]) -> usize {
    let count = plans.len();
    let fps = file.frames_per_second();
    // Each mesh is seen from its frame on until the next one's; the first and the last one have no neighbor on one side.
    let mut tracks = Vec::new();
    for (k, plan) in plans.iter().enumerate() {
        if plan.triangles == 0 || count == 1 {
            tracks.push(None);
            continue;
        }
        let mut keys: Vec<(f64, f32)> = Vec::new();
        if k > 0 {
            keys.push((0.0, 0.0));
        }
        keys.push((k as f64 / fps, 1.0));
        if k + 1 < count {
            keys.push(((k + 1) as f64 / fps, 0.0));
        }
        let start = small.len();
        small.floats(keys.iter().map(|(time, _)| *time as f32));
        let times = file.accessor_of_times(start, keys.iter().map(|(time, _)| *time as f32));
        let start = small.len();
        small.vectors(keys.iter().map(|(_, scale)| Vec3::splat(*scale)));
        let scales = file.accessor(start, keys.len(), FLOAT, "VEC3", None, None);
        tracks.push(Some((times, scales)));
    }
    let begin = small.len();
    let mut at = begin;
    for (k, (plan, track)) in plans.iter().zip(tracks).enumerate() {
        if plan.triangles == 0 {
            // Nothing to see, but its arrays of nothing are written too: vertices without triangles take their place.
            at += 28 * plan.vertices;
            continue;
        }
        let whole = primitive(file, &mut at, plan);
        let name = format!("liquid {:05}", file.frame_number(k));
        let mesh = file.mesh(json!({ "name": name, "primitives": [whole] }));
        let scale = if k == 0 { [1.0; 3] } else { [0.0; 3] };
        let node = file.node(json!({ "name": name, "mesh": mesh, "scale": scale }));
        if let Some((times, scales)) = track {
            file.animate(node, "scale", times, scales, "STEP");
        }
    }
    at - begin
}
