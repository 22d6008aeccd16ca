//! STL: one binary file per frame or drop, facet normals pointing out of the liquid.
//!
//! Lengths are in meters; many programs assume that STL files are in millimeters.

use glam::DVec3;
use sessile_frames::names::frame_file;

use super::solid_meshes;
use crate::drops::split_by_drop;
use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    solid_meshes::write(job, "stl", |name, mesh| encode(name, &mesh.positions, &mesh.triangles))?;
    job.for_each_frame(|frame| {
        let parts = if job.split { split_by_drop(&frame.liquid) } else { vec![(None, frame.liquid)] };
        for (drop, surface) in parts {
            let (name, title) = match drop {
                Some(id) => {
                    (format!("{:05}/drop-{id:05}.stl", frame.shown), format!("drop {id}, frame {}", frame.shown))
                }
                None => (frame_file(frame.shown, "stl"), format!("frame {}", frame.shown)),
            };
            job.write_file(&name, &encode(&title, &surface.positions, &surface.triangles))?;
        }
        Ok(())
    })
}

fn encode(title: &str, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(84 + 50 * triangles.len());
    // 80 bytes that must not begin with "solid", which marks a text file.
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
