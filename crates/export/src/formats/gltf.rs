//! glTF 2.0 as one `.glb` file, for the web and game engines.
//!
//! - Every frame whose liquid differs from the one before is a mesh of its own; frames with the
//!   same triangles share them. Animated scales and translations show one at a time: the others are
//!   points a thousand kilometers away ([`FAR`]), which programs leave out because they are not in
//!   view. Programs without animation show the first.
//! - Positions have 16 bits and normals 8 (KHR_mesh_quantization); frames of more than a quarter of
//!   a megabyte are coarser than the run's ([`frame_mesh`]).
//! - The liquid has transmission, a refractive index and absorption (KHR_materials_transmission,
//!   _ior, _volume). So has glass; a pane is thin and has no volume.
//! - A solid that gets wet has a node per state of wetness, with a roughness texture, shown one at
//!   a time like the liquid ([`wet`]).
//! - Drop ids are the attribute `_DROP`, as floats: glTF has no wide enough integer attribute.
//! - Time is that of the video: frame k is at k / `render.fps` seconds after the first.
//!
//! Frames are read three times: to find the coarseness, to find sizes and bounds, which come first
//! in the file, and to write them; one is in memory at a time.

mod document;
mod frame_mesh;
mod scene;
mod wet;

use glam::DVec3;
use serde_json::json;

use self::document::{
    Array, BYTE, Buffer, Document, FLOAT, INDICES, SHORT, Shown, UNSIGNED_INT, UNSIGNED_SHORT, VERTICES,
};
use self::frame_mesh::{Coarseness, FrameMesh, Lattice, index_bytes};
use crate::error::ExportError;
use crate::job::Job;
use crate::materials::ExportMaterials;

/// Where hidden meshes are, in m: out of view of any camera.
const FAR: [f32; 3] = [0.0, -1e6, 0.0];

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let coarseness = Coarseness::of_run(job)?;
    let layouts = frame_layouts(job, coarseness)?;
    let lattice = Lattice::of(layouts.iter().map(|layout| layout.bounds));
    let materials = ExportMaterials::of(job.source)?;
    let mut file = Document::new(job);
    file.materials(&materials);
    // Everything but the liquid's arrays, which are written frame by frame behind it.
    let mut scene = Buffer::default();
    file.solids(&materials, &mut scene)?;
    file.camera(&mut scene);
    let liquid = add_frames(&mut file, &mut scene, &layouts, lattice);
    let mut sink = file.begin(scene.len() + liquid)?;
    sink.put(&scene.bytes)?;
    let mut k = 0;
    job.for_each_frame(|frame| {
        let layout = &layouts[k];
        k += 1;
        let mut arrays = Buffer::default();
        if layout.shares != Shares::Everything {
            let mesh = FrameMesh::of(&frame.liquid, coarseness);
            mesh.write_vertices(&mut arrays, lattice, lattice.center(layout.bounds));
            if layout.shares == Shares::Nothing {
                mesh.write_triangles(&mut arrays);
            }
        }
        Ok(sink.put(&arrays.bytes)?)
    })?;
    file.end(sink)
}

/// What a frame has in common with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shares {
    Nothing,
    Triangles,
    Everything,
}

/// Sizes and bounds of a frame's arrays, which precede them in the file.
struct FrameLayout {
    vertices: usize,
    triangles: usize,
    bounds: [DVec3; 2],
    shares: Shares,
}

fn frame_layouts(job: &Job<'_>, coarseness: Coarseness) -> Result<Vec<FrameLayout>, ExportError> {
    let mut layouts: Vec<FrameLayout> = Vec::new();
    let mut before: Option<FrameMesh> = None;
    for &frame in &job.source.frames {
        job.check_stop()?;
        let mesh = FrameMesh::of(&job.source.read_frame(frame)?.liquid, coarseness);
        let shares = match &before {
            Some(before) if mesh == *before => Shares::Everything,
            Some(before) if mesh.has_triangles_of(before) => Shares::Triangles,
            _ => Shares::Nothing,
        };
        let bounds = mesh.bounds();
        layouts.push(FrameLayout { vertices: mesh.positions.len(), triangles: mesh.triangles.len(), bounds, shares });
        before = Some(mesh);
    }
    Ok(layouts)
}

/// Adds a mesh for every frame that differs from the one before; returns the size of their arrays,
/// which follow those of `scene`, in bytes.
fn add_frames(file: &mut Document<'_>, scene: &mut Buffer, layouts: &[FrameLayout], lattice: Lattice) -> usize {
    let count = layouts.len();
    let starts: Vec<usize> = (0..count).filter(|&k| layouts[k].shares != Shares::Everything).collect();
    let step = lattice.step as f32;
    let mut shown = Vec::new();
    for (i, &from) in starts.iter().enumerate() {
        let until = starts.get(i + 1).copied().unwrap_or(count);
        let center = lattice.center(layouts[from].bounds).as_vec3().to_array();
        let shown_as = Shown { from, until, translation: center, scale: step };
        let tracks = if layouts[from].triangles > 0 { file.visibility(scene, &shown_as) } else { None };
        shown.push((shown_as, tracks));
    }
    let begin = scene.len();
    let mut at = begin;
    // Accessors of the drops and indices of the last frame that has its own.
    let mut shared = [0; 2];
    for (shown, tracks) in shown {
        let layout = &layouts[shown.from];
        if layout.triangles == 0 {
            continue;
        }
        let vertices = add_vertices(file, &mut at, layout, lattice);
        if layout.shares == Shares::Nothing {
            shared = add_triangles(file, &mut at, layout);
        }
        let primitive = json!({
            "attributes": { "POSITION": vertices[0], "NORMAL": vertices[1], "_DROP": shared[0] },
            "indices": shared[1],
            "material": 0
        });
        let name = format!("liquid {:05}", file.frame_number(shown.from));
        let mesh = file.mesh(json!({ "name": name, "primitives": [primitive] }));
        let node = file.node(json!({ "name": name, "mesh": mesh }));
        file.show(node, &shown, tracks);
        file.requires("KHR_mesh_quantization");
    }
    at - begin
}

/// Adds the accessors of a frame's positions and normals, which will start at `at`.
fn add_vertices(file: &mut Document<'_>, at: &mut usize, layout: &FrameLayout, lattice: Lattice) -> [usize; 2] {
    let center = lattice.center(layout.bounds);
    let [low, high] = layout.bounds.map(|corner| lattice.quantized(corner, center));
    let count = layout.vertices;
    let array = Array { start: *at, count, component: SHORT, kind: "VEC3", stride: Some(8), target: Some(VERTICES) };
    let position = file.array(&array, Some((json!(low), json!(high))), false);
    *at += 8 * count;
    let array = Array { start: *at, component: BYTE, stride: Some(4), ..array };
    let normal = file.array(&array, None, true);
    *at += 4 * count;
    [position, normal]
}

/// Adds the accessors of a frame's drops and vertex indices, which will start at `at`.
fn add_triangles(file: &mut Document<'_>, at: &mut usize, layout: &FrameLayout) -> [usize; 2] {
    let (count, target) = (layout.vertices, Some(VERTICES));
    let array = Array { start: *at, count, component: FLOAT, kind: "SCALAR", stride: None, target };
    let drop = file.array(&array, None, false);
    *at += 4 * count;
    let bytes = index_bytes(layout.vertices);
    let component = if bytes == 2 { UNSIGNED_SHORT } else { UNSIGNED_INT };
    let array = Array { start: *at, count: 3 * layout.triangles, component, target: Some(INDICES), ..array };
    let indices = file.array(&array, None, false);
    *at += (3 * bytes * layout.triangles).next_multiple_of(4);
    [drop, indices]
}
