//! Alembic: the liquid with velocities and drop ids, and the solids, as polygon meshes in one Ogawa
//! archive.
//!
//! Alembic stores time in seconds, which programs convert to frames at their own rate. A second of
//! the archive is therefore a second of the *video*: frame k is at k / `render.fps`. Velocities are
//! in m per second of the video, so that motion blur fits the visible motion: v · (time between
//! frames) · fps, which equals v where the video runs in real time. Faces wind clockwise, as
//! Alembic requires.

mod ogawa;

use glam::DVec3;
use sessile_output::Identifiers;

use self::ogawa::{Archive, Object, Pod, Property};
use crate::error::ExportError;
use crate::formats::solid_meshes::world_mesh;
use crate::job::Job;
use crate::source::Source;

const MESH: &str = "schema=AbcGeom_PolyMesh_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const GEOMETRY: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const POINTS: &str = "geoScope=vtx;interpretation=point";
const VELOCITIES: &str = "geoScope=vtx;interpretation=vector";
const BOX: &str = "interpretation=box";
const IDS: &str = "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=int32_t";
const FACE_IDS: &str = "arrayExtent=1;geoScope=uni;isGeomParam=true;podExtent=1;podName=int32_t";
const COORDINATES: &str =
    "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t";

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let fps = source.scene.render.fps;
    // Simulated seconds per second of the video.
    let time_scale = source.scene.time.frame * fps;
    let mut archive = Archive::new(job.destination.file()?)?;
    let mut taken = Identifiers::default();
    let mut objects = vec![liquid(job, &mut archive, taken.unique("liquid"), time_scale)?];
    for (index, solid) in source.world.solids().iter().enumerate() {
        let name = taken.unique(solid.name());
        let frames = if solid.moves() { source.frames.as_slice() } else { &source.frames[..1] };
        objects.push(self::solid(&mut archive, name, (source, index), frames)?);
    }
    let metadata =
        format!("_ai_AlembicVersion=1.8.0;_ai_Application=sessile {};FramesPerTimeUnit={fps}", source.info.version);
    let (first, _) = source.shown_range();
    archive.finish(&objects, &metadata, source.frames.len() as u32, first as f64 / fps, 1.0 / fps)
}

fn liquid(job: &Job<'_>, archive: &mut Archive, name: String, time_scale: f64) -> Result<Object, ExportError> {
    let mut columns: [Vec<u64>; 7] = Default::default();
    job.for_each_frame(|frame| {
        let liquid = &frame.liquid;
        let indices: Vec<i32> = clockwise(&liquid.triangles);
        let velocities: Vec<DVec3> = liquid.velocities.iter().map(|v| *v * time_scale).collect();
        let drops: Vec<i32> = liquid.drops.iter().map(|drop| drop.cast_signed()).collect();
        let samples = [
            bounds(&liquid.positions),
            vectors(&liquid.positions),
            integers(&indices),
            integers(&vec![3; liquid.triangles.len()]),
            vectors(&velocities),
            integers(&drops),
            integers(&liquid.solids),
        ];
        for (column, sample) in columns.iter_mut().zip(&samples) {
            column.push(archive.sample(sample)?);
        }
        Ok(())
    })?;
    let [boxes, points, indices, counts, velocities, drops, solids] = columns;
    let ids = vec![
        Property::array("drop", IDS, Pod::Int32, 1, drops),
        Property::array("solid", FACE_IDS, Pod::Int32, 1, solids),
    ];
    let geometry = vec![
        Property::scalar(".selfBnds", BOX, Pod::Float64, 6, boxes),
        Property::array("P", POINTS, Pod::Float32, 3, points),
        Property::array(".faceIndices", "", Pod::Int32, 1, indices),
        Property::array(".faceCounts", "", Pod::Int32, 1, counts),
        Property::array(".velocities", VELOCITIES, Pod::Float32, 3, velocities),
        Property::compound(".arbGeomParams", "", ids),
    ];
    Ok(Object { name, meta: MESH, properties: vec![Property::compound(".geom", GEOMETRY, geometry)] })
}

/// A solid; a moving one has its points written for each of the `frames`.
fn solid(
    archive: &mut Archive,
    name: String,
    (source, index): (&Source, usize),
    frames: &[u64],
) -> Result<Object, ExportError> {
    let rest = source.world.solids()[index].mesh();
    let (mut boxes, mut points) = (Vec::new(), Vec::new());
    for &frame in frames {
        let placed = world_mesh(&source.world_at(source.time_of(frame)).solids()[index]).positions;
        boxes.push(archive.sample(&bounds(&placed))?);
        points.push(archive.sample(&vectors(&placed))?);
    }
    let indices = archive.sample(&integers(&clockwise(&rest.triangles)))?;
    let counts = archive.sample(&integers(&vec![3; rest.triangles.len()]))?;
    let mut geometry = vec![
        Property::scalar(".selfBnds", BOX, Pod::Float64, 6, boxes),
        Property::array("P", POINTS, Pod::Float32, 3, points),
        Property::array(".faceIndices", "", Pod::Int32, 1, vec![indices]),
        Property::array(".faceCounts", "", Pod::Int32, 1, vec![counts]),
    ];
    if !rest.corner_uvs.is_empty() {
        let corners = rest.corner_uvs.iter().flat_map(|[a, b, c]| [*c, *b, *a]);
        let bytes: Vec<u8> = corners.flat_map(|uv| uv.as_vec2().to_array()).flat_map(f32::to_le_bytes).collect();
        let uvs = archive.sample(&bytes)?;
        geometry.push(Property::array("uv", COORDINATES, Pod::Float32, 2, vec![uvs]));
    }
    Ok(Object { name, meta: MESH, properties: vec![Property::compound(".geom", GEOMETRY, geometry)] })
}

fn clockwise(triangles: &[[u32; 3]]) -> Vec<i32> {
    triangles.iter().flat_map(|&[a, b, c]| [c, b, a]).map(u32::cast_signed).collect()
}

fn vectors(values: &[DVec3]) -> Vec<u8> {
    values.iter().flat_map(|v| v.as_vec3().to_array()).flat_map(f32::to_le_bytes).collect()
}

fn integers(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn bounds(points: &[DVec3]) -> Vec<u8> {
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [low, high] = points.iter().fold(start, |[low, high], p| [low.min(*p), high.max(*p)]);
    let [low, high] = if points.is_empty() { [DVec3::ZERO; 2] } else { [low, high] };
    [low.to_array(), high.to_array()].concat().into_iter().flat_map(f64::to_le_bytes).collect()
}
