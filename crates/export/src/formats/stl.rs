//! STL: one binary file per frame (or per drop), facet normals out of the liquid. Lengths are meters, though many programs take STL for millimeters.

use glam::DVec3;
use sessile_frames::names::frame_file;

use super::solid_files;
use crate::drops::split;
use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    solid_files::write(job, "stl", |name, mesh| encode(name, &mesh.positions, &mesh.triangles))?;
    job.each_shot(|shot| {
        let parts = if job.split { split(&shot.liquid) } else { vec![(None, shot.liquid)] };
        for (drop, surface) in parts {
            let (name, title) = match drop {
                Some(id) => (format!("{:05}/drop-{id:05}.stl", shot.frame), format!("drop {id}, frame {}", shot.frame)),
                None => (frame_file(shot.frame, "stl"), format!("frame {}", shot.frame)),
            };
            let mut sink = job.destination.inside(&name)?;
            sink.put(&encode(&title, &surface.positions, &surface.triangles))?;
            sink.finish()?;
        }
        Ok(())
    })
}

fn encode(title: &str, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(84 + 50 * triangles.len());
    // 80 bytes that must not begin with "solid", which would announce text.
    let title = format!("sessile: {title} (meters)");
    let title = title.bytes().map(|byte| if byte.is_ascii_graphic() { byte } else { b' ' });
    bytes.extend(title.chain(std::iter::repeat(b' ')).take(80));
    bytes.extend_from_slice(&(triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for vector in [normal, a, b, c] {
            vector.as_vec3().to_array().iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        bytes.extend_from_slice(&[0, 0]);
    }
    bytes
}
