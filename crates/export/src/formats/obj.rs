//! Wavefront OBJ: one text file per frame with one object per drop; solids with texture
//! coordinates.

use std::fmt::Write;

use glam::DVec3;
use sessile_frames::Surface;
use sessile_frames::names::frame_file;
use sessile_geometry::TriMesh;
use sessile_output::escape::obj;

use super::solid_meshes;
use crate::drops::split_by_drop;
use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    solid_meshes::write(job, "obj", |name, mesh| solid_text(name, mesh).into_bytes())?;
    job.for_each_frame(|frame| {
        let parts = split_by_drop(&frame.liquid);
        if job.split {
            for (drop, surface) in &parts {
                let name = format!("{:05}/drop-{:05}.obj", frame.shown, drop.unwrap_or_default());
                job.write_file(&name, drop_text(drop.unwrap_or_default(), surface, 0).as_bytes())?;
            }
            return Ok(());
        }
        let mut sink = job.destination.inside(&frame_file(frame.shown, "obj"))?;
        sink.text(&format!("# frame {}, {} s, meters, y up\n", frame.shown, frame.time))?;
        let mut base = 0;
        for (drop, surface) in &parts {
            sink.text(&drop_text(drop.unwrap_or_default(), surface, base))?;
            base += surface.positions.len();
        }
        Ok(sink.finish()?)
    })
}

/// Writes a vertex in the shortest form that reads back exactly; frames have single precision.
fn push_point(text: &mut String, p: DVec3) {
    let p = p.as_vec3();
    let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
}

fn drop_text(id: u32, surface: &Surface, base: usize) -> String {
    let mut text = format!("o drop-{id}\n");
    surface.positions.iter().for_each(|p| push_point(&mut text, *p));
    for t in &surface.triangles {
        let [a, b, c] = t.map(|v| v as usize + base + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}

fn solid_text(name: &str, mesh: &TriMesh) -> String {
    let mut text = format!("o {}\n", obj::name(name));
    mesh.positions.iter().for_each(|p| push_point(&mut text, *p));
    for uv in mesh.corner_uvs.iter().flatten() {
        let _ = writeln!(text, "vt {} {}", uv.x as f32, uv.y as f32);
    }
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|v| v as usize + 1);
        if mesh.corner_uvs.is_empty() {
            let _ = writeln!(text, "f {a} {b} {c}");
        } else {
            let uv = 3 * t + 1;
            let _ = writeln!(text, "f {a}/{uv} {b}/{} {c}/{}", uv + 1, uv + 2);
        }
    }
    text
}
