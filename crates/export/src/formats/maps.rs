//! Height and normal maps of the liquid on panes, as image sequences for game engines and shaders.
//!
//! ```text
//! maps.json                  sizes, scale of the heights, frame rate, names of the images
//! height/NAME-00000.png      16-bit gray: height of the liquid above the plane NAME
//! normal/NAME-00000.png      8-bit RGB: normal in (u, v, out of the plane), as (n + 1)/2
//! masks/NAME-00000.png       8-bit gray: wetness, where the run has wet maps
//! ```
//!
//! Columns run along u and the top row is v = 1, like wet maps. A texel has the highest free
//! surface over it of the drops that touch the plane; an overhang is hidden under it.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use serde_json::{Value, json};
use sessile_appearance::smooth_normals;
use sessile_frames::{Surface, measures_file};
use sessile_output::OutputError;
use sessile_world::{PlaneFrame, Solid};

use crate::error::ExportError;
use crate::job::Job;
use crate::materials::ExportMaterials;
use crate::render_assets::{encode_png, wet_mask_sequence};
use crate::source::LoadedFrame;

/// Size of a texel, in m, where the image does not become too large or too small.
const TEXEL: f64 = 0.1e-3;

/// Least and largest number of texels along the longer side.
const TEXELS: [f64; 2] = [256.0, 2048.0];

/// Widths and heights are multiples of this: textures are compressed in blocks.
const BLOCK: u32 = 4;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let materials = ExportMaterials::of(source)?;
    let planes: Vec<usize> =
        source.world.solids().iter().filter(|solid| solid.plane_frame().is_some()).map(Solid::index).collect();
    if planes.is_empty() {
        return Err(ExportError::NoPlane { folder: source.folder.root().to_owned() });
    }
    let highest = highest_drop(job)?;
    job.for_each_frame(|frame| {
        let world = source.world_at(frame.time);
        for &solid in &planes {
            let Some(plane) = world.solids()[solid].plane_frame() else { continue };
            write_maps(job, &materials.solids[solid].name, solid, &plane, &frame, highest)?;
        }
        Ok(())
    })?;
    let panes = planes.iter().map(|&solid| pane(job, &materials, solid, highest)).collect::<Result<Vec<_>, _>>()?;
    let (first, last) = source.shown_range();
    let description = json!({
        "title": source.scene.title,
        "first_frame": first,
        "last_frame": last,
        "fps": source.scene.render.fps,
        "seconds_per_frame": source.scene.time.frame,
        "refractive_index": materials.liquid_parameters().index,
        "panes": panes,
    });
    job.write_file("maps.json", format!("{description:#}\n").as_bytes())
}

/// Height of the highest drop of the exported frames, in m: white in the height maps.
fn highest_drop(job: &Job<'_>) -> Result<f64, ExportError> {
    let (first, last) = job.source.range();
    let mut highest = 1e-6_f64;
    measures_file::for_each(&job.source.folder.measures_path(), |measures| {
        if (first..=last).contains(&measures.frame) {
            let on_solids = measures.drops.iter().filter(|drop| drop.on.is_some());
            highest = on_solids.map(|drop| drop.height).fold(highest, f64::max);
        }
        true
    })?;
    Ok(highest)
}

/// Width and height of the maps of a plane.
fn texels(plane: &PlaneFrame) -> [u32; 2] {
    let longer = plane.size[0].max(plane.size[1]);
    let texel = longer / (longer / TEXEL).clamp(TEXELS[0], TEXELS[1]);
    plane.size.map(|side| ((side / texel).round() as u32).next_multiple_of(BLOCK).max(BLOCK))
}

/// Describes the maps of a plane, and writes its masks.
fn pane(job: &Job<'_>, materials: &ExportMaterials, solid: usize, highest: f64) -> Result<Value, ExportError> {
    let source = job.source;
    let Some(plane) = source.world.solids()[solid].plane_frame() else { return Ok(Value::Null) };
    let name = &materials.solids[solid].name;
    let masks = wet_mask_sequence(job, materials, solid)?;
    Ok(json!({
        "name": name,
        "solid": source.scene.solids[solid].name,
        "size_m": plane.size,
        "texels": texels(&plane),
        "height_of_white_m": highest,
        "height": format!("height/{name}-%05d.png"),
        "normal": format!("normal/{name}-%05d.png"),
        "wetness": (!masks.is_null()).then(|| format!("masks/{name}-%05d.png")),
    }))
}

fn write_maps(
    job: &Job<'_>,
    name: &str,
    solid: usize,
    plane: &PlaneFrame,
    frame: &LoadedFrame,
    highest: f64,
) -> Result<(), ExportError> {
    let size = texels(plane);
    let map = ReliefMap::of(&frame.liquid, solid, plane, size);
    let file = |kind: &str| format!("{kind}/{name}-{:05}.png", frame.shown);
    let heights: Vec<u8> = map
        .heights
        .iter()
        .flat_map(|&height| ((65535.0 * f64::from(height) / highest).round().clamp(0.0, 65535.0) as u16).to_be_bytes())
        .collect();
    job.write_file(&file("height"), &encode_gray_16(&file("height"), size, &heights)?)?;
    let normals: Vec<u8> =
        map.normals.iter().flat_map(Vec3::to_array).map(|n| (127.5 + 127.5 * n).round() as u8).collect();
    job.write_file(&file("normal"), &encode_png(&file("normal"), size, png::ColorType::Rgb, &normals)?)
}

fn encode_gray_16(name: &str, size: [u32; 2], pixels: &[u8]) -> Result<Vec<u8>, ExportError> {
    let encode = || -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Sixteen);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()?;
        Ok(bytes)
    };
    Ok(encode().map_err(|cause| OutputError::Write { path: name.into(), cause: std::io::Error::other(cause) })?)
}

/// Heights and normals of the liquid over a plane, row by row from the top.
struct ReliefMap {
    /// In m; 0 where there is no drop.
    heights: Vec<f32>,
    /// In the plane's (u, v, normal).
    normals: Vec<Vec3>,
}

/// A corner of a triangle over a plane: texel coordinates, height in m, normal in (u, v, normal).
#[derive(Clone, Copy)]
struct Corner {
    texel: DVec2,
    height: f64,
    normal: Vec3,
}

impl ReliefMap {
    fn of(liquid: &Surface, solid: usize, plane: &PlaneFrame, [width, height]: [u32; 2]) -> Self {
        let triangles = free_triangles_on(liquid, solid);
        let normals = smooth_normals(&liquid.positions, &triangles);
        let corner = |v: u32| {
            let (offset, normal) = (liquid.positions[v as usize] - plane.origin, normals[v as usize].as_dvec3());
            let local = |v: DVec3| DVec3::new(v.dot(plane.u), v.dot(plane.v), v.dot(plane.normal));
            let at = local(offset);
            let across = DVec2::new(0.5 + at.x / plane.size[0], 0.5 - at.y / plane.size[1]);
            let texel = across * DVec2::new(f64::from(width), f64::from(height));
            Corner { texel, height: at.z, normal: local(normal).as_vec3() }
        };
        let corners: Vec<[Corner; 3]> = triangles.iter().map(|triangle| triangle.map(corner)).collect();
        let mut rows: Vec<Vec<(f32, Vec3)>> = vec![vec![(0.0, Vec3::Z); width as usize]; height as usize];
        rows.par_iter_mut().enumerate().for_each(|(row, line)| {
            for triangle in &corners {
                draw_in_row(triangle, row, line);
            }
        });
        let texels = rows.into_iter().flatten();
        let (heights, normals) = texels.unzip();
        Self { heights, normals }
    }
}

/// The free triangles of the drops that touch a solid.
fn free_triangles_on(liquid: &Surface, solid: usize) -> Vec<[u32; 3]> {
    let faces = || liquid.triangles.iter().zip(&liquid.solids);
    let drop = |triangle: &[u32; 3]| liquid.drops[triangle[0] as usize];
    let mut touching: Vec<u32> =
        faces().filter(|(_, on)| usize::try_from(**on) == Ok(solid)).map(|(triangle, _)| drop(triangle)).collect();
    touching.sort_unstable();
    touching.dedup();
    let free = faces().filter(|(triangle, on)| **on < 0 && touching.binary_search(&drop(triangle)).is_ok());
    free.map(|(triangle, _)| *triangle).collect()
}

/// Draws the part of a triangle over one row of texels where it is above what is there.
fn draw_in_row(triangle: &[Corner; 3], row: usize, line: &mut [(f32, Vec3)]) {
    let [a, b, c] = triangle.map(|corner| corner.texel);
    let y = row as f64 + 0.5;
    if y < a.y.min(b.y).min(c.y) || y > a.y.max(b.y).max(c.y) {
        return;
    }
    let area = (b - a).perp_dot(c - a);
    if area == 0.0 {
        return;
    }
    let left = a.x.min(b.x).min(c.x).floor().max(0.0) as usize;
    let right = (a.x.max(b.x).max(c.x).ceil().max(0.0) as usize).min(line.len());
    for (column, texel) in line.iter_mut().enumerate().take(right).skip(left) {
        let p = DVec2::new(column as f64 + 0.5, y);
        let weights = [(b - p).perp_dot(c - p), (c - p).perp_dot(a - p), (a - p).perp_dot(b - p)].map(|w| w / area);
        if weights.iter().any(|&weight| weight < 0.0) {
            continue;
        }
        let height: f64 = weights.iter().zip(triangle).map(|(weight, corner)| weight * corner.height).sum();
        if height as f32 > texel.0 {
            let normal: Vec3 = weights.iter().zip(triangle).map(|(&weight, c)| weight as f32 * c.normal).sum();
            *texel = (height as f32, normal.with_z(normal.z.max(0.0)).try_normalize().unwrap_or(Vec3::Z));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedral drop over a square: the height is linear on its faces, and a drop that does
    /// not touch the plane leaves nothing.
    #[test]
    fn a_pyramid_has_its_heights_and_normals() {
        let plane = PlaneFrame { origin: DVec3::ZERO, u: DVec3::X, v: DVec3::Y, normal: DVec3::Z, size: [0.02, 0.02] };
        let corners = [(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)].map(|(x, y)| 1e-3 * DVec3::new(x, y, 0.0));
        let mut liquid = Surface {
            positions: corners.into_iter().chain([DVec3::new(0.0, 0.0, 2e-3)]).collect(),
            velocities: vec![DVec3::ZERO; 5],
            drops: vec![3; 5],
            triangles: vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 2, 1], [0, 3, 2]],
            solids: vec![-1, -1, -1, -1, 0, 0],
        };
        let size = texels(&plane);
        assert_eq!(size, [256, 256]);
        let map = ReliefMap::of(&liquid, 0, &plane, size);
        // Halfway up the right face: column 128 + 256 · 2/20.
        let at = |column: usize, row: usize| (map.heights[256 * row + column], map.normals[256 * row + column]);
        let (height, normal) = at(128 + 25, 128);
        assert!((height - 1e-3).abs() < 3e-5, "{height}");
        // Normals are smooth: straight at the tip, oblique at the rim.
        assert!(normal.x > 0.1 && normal.y.abs() < 0.02 && normal.z > 0.9, "{normal}");
        // The upper side of the image is +v.
        assert!(at(128, 128 - 25).1.y > 0.1, "{}", at(128, 103).1);
        assert_eq!(at(10, 10), (0.0, Vec3::Z));
        liquid.solids = vec![-1; 6];
        assert!(ReliefMap::of(&liquid, 0, &plane, size).heights.iter().all(|&height| height == 0.0));
    }
}
