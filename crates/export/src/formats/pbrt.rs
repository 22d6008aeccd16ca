//! pbrt-v4: one scene per frame, with meshes and images beside it. `pbrt 00000.pbrt` renders it.
//!
//! pbrt's coordinates are left-handed: a mirror in front of the camera sets that right. Its environment images are square, in Clarberg's equal-area mapping
//! of the sphere (pharr2023), so ours is mapped anew.

use std::f32::consts::FRAC_PI_4;
use std::fmt::Write;

use glam::{Vec2, Vec3};
use sessile_appearance::{AppearanceError, Environment, orthonormal_basis};
use sessile_frames::names::frame_file;

use crate::drawn;
use crate::error::ExportError;
use crate::job::Job;
use crate::looks::{LiquidShade, SolidLook};
use crate::source::Source;
use crate::stagecraft::Stagecraft;

/// Side of the environment's image, in pixels.
const SKY: usize = 1024;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let stagecraft = Stagecraft::new(job, false)?;
    let environment = Environment::from_lights(&source.scene.lights).map_err(AppearanceError::from)?;
    stagecraft.put("textures/environment.pfm", &equal_area(&environment))?;
    job.each_shot(|shot| {
        let world = source.world_at(shot.time);
        stagecraft.moving_solids(shot.frame, &world, false)?;
        let liquid = drawn::liquid(&shot.liquid, &stagecraft.looks, &world);
        let mesh = format!("liquid/{}", frame_file(shot.frame, "ply"));
        stagecraft.put(&mesh, &liquid.ply(false))?;
        let mut text = head(source, shot.frame);
        text += "LightSource \"infinite\" \"string filename\" \"textures/environment.pfm\"\n";
        text += &lights(source);
        if !liquid.triangles.is_empty() {
            text += &water(&stagecraft.looks.shade());
            let _ = write!(text, "Shape \"plymesh\" \"string filename\" \"{mesh}\"\nAttributeEnd\n");
        }
        for (index, look) in stagecraft.looks.solids.iter().enumerate() {
            let wet = stagecraft.wet_mask(index, shot.frame)?;
            text += &solid(look, &stagecraft.solid_file(index, shot.frame), wet.as_deref());
        }
        stagecraft.put(&frame_file(shot.frame, "pbrt"), text.as_bytes())
    })
}

fn head(source: &Source, frame: u64) -> String {
    let camera = source.camera_at(frame);
    let [width, height] = source.scene.render.size;
    // pbrt's angle of view is that across the shorter side.
    let half = (0.5 * camera.fov).tan() * (f64::from(width) / f64::from(height.max(1))).min(1.0);
    let focus = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
    let lens = if camera.lens_radius > 0.0 {
        format!(" \"float lensradius\" {} \"float focaldistance\" {focus}", camera.lens_radius)
    } else {
        String::new()
    };
    let (e, t) = (camera.eye, camera.look_at);
    format!(
        "# {}, frame {frame}, by sessile\nScale -1 1 1\nLookAt {} {} {}  {} {} {}  0 1 0\nCamera \"perspective\" \"float fov\" {}{lens}\n\
         Sampler \"zsobol\" \"integer pixelsamples\" {}\nIntegrator \"volpath\" \"integer maxdepth\" 24\n\
         Film \"rgb\" \"integer xresolution\" {width} \"integer yresolution\" {height} \"string filename\" \"{frame:05}.exr\"\n\nWorldBegin\n",
        source.scene.title.replace('\n', " "),
        e.x,
        e.y,
        e.z,
        t.x,
        t.y,
        t.z,
        (2.0 * half.atan()).to_degrees(),
        source.scene.render.samples.next_power_of_two(),
    )
}

fn rgb(name: &str, c: Vec3) -> String {
    format!("\"rgb {name}\" [ {} {} {} ]", c.x, c.y, c.z)
}

fn lights(source: &Source) -> String {
    let color = |c: [f64; 3]| Vec3::from_array(c.map(|c| c as f32));
    let mut text = String::new();
    if let Some(sun) = &source.scene.lights.sun {
        let d = sun.direction;
        let _ = writeln!(
            text,
            "LightSource \"distant\" \"point3 from\" [ {} {} {} ] \"point3 to\" [ 0 0 0 ] {}",
            d.x,
            d.y,
            d.z,
            rgb("L", color(sun.color))
        );
    }
    for lamp in &source.scene.lights.area {
        let normal = (lamp.look_at - lamp.center).normalize_or(glam::DVec3::NEG_Y).as_vec3();
        let [x, y] = orthonormal_basis(normal).map(|side| side * (0.5 * lamp.size) as f32);
        let c = lamp.center.as_vec3();
        let corners = [c - x - y, c + x - y, c + x + y, c - x + y].map(|p| format!("{} {} {}", p.x, p.y, p.z));
        let _ = writeln!(
            text,
            "AttributeBegin\nAreaLightSource \"diffuse\" {}\nShape \"trianglemesh\" \"point3 P\" [ {} ] \"integer indices\" [ 0 1 2 0 2 3 ]\nAttributeEnd",
            rgb("L", color(lamp.color)),
            corners.join("  ")
        );
    }
    text
}

/// Opens the liquid's attributes: what it is made of, and what is inside.
fn water(shade: &LiquidShade) -> String {
    match shade.opaque {
        Some(color) if shade.metal => {
            format!("\nAttributeBegin\nMaterial \"conductor\" {} \"float roughness\" 0\n", rgb("reflectance", color))
        }
        Some(color) => format!(
            "\nAttributeBegin\nMaterial \"coateddiffuse\" {} \"float roughness\" 0 \"float eta\" {}\n",
            rgb("reflectance", color),
            shade.index
        ),
        None => format!(
            "\nMakeNamedMedium \"liquid\" \"string type\" \"homogeneous\" {} \"rgb sigma_s\" [ 0 0 0 ]\nAttributeBegin\nMediumInterface \"liquid\" \"\"\nMaterial \"dielectric\" \"float eta\" {}\n",
            rgb("sigma_a", shade.absorption),
            shade.index
        ),
    }
}

fn solid(look: &SolidLook, file: &str, wet: Option<&str>) -> String {
    let name = &look.name;
    let mut text = String::from("\nAttributeBegin\n");
    if let Some(texture) = &look.texture {
        let _ = writeln!(text, "Texture \"{name}\" \"spectrum\" \"imagemap\" \"string filename\" \"{texture}\"");
    }
    let paint = || match &look.texture {
        Some(_) => format!("\"texture reflectance\" \"{name}\""),
        None => rgb("reflectance", look.color),
    };
    let opaque = |alpha: f32, coat: Option<f32>| {
        if look.metal {
            format!(
                "\"conductor\" {} \"float roughness\" {alpha} \"bool remaproughness\" false",
                rgb("reflectance", look.color)
            )
        } else if let Some(index) = coat {
            format!(
                "\"coateddiffuse\" {} \"float roughness\" {alpha} \"bool remaproughness\" false \"float eta\" {index}",
                paint()
            )
        } else if look.through != Vec3::ZERO {
            format!("\"diffusetransmission\" {} {}", paint(), rgb("transmittance", look.color * look.through))
        } else {
            format!("\"diffuse\" {}", paint())
        }
    };
    // As a named material the type is a parameter.
    let named = |material: &str| material.replacen('"', "\"string type\" \"", 1);
    match (look.glass, wet.filter(|_| !look.metal)) {
        (Some(index), _) => {
            let kind = if look.body { "dielectric" } else { "thindielectric" };
            let _ = writeln!(text, "Material \"{kind}\" \"float eta\" {index}");
        }
        (None, None) => {
            let _ = writeln!(text, "Material {}", opaque(look.alpha, look.coat));
        }
        (None, Some(mask)) => {
            let film = opaque(look.alpha.min(0.03), Some(look.coat.unwrap_or(1.33).max(1.33)));
            let _ = writeln!(
                text,
                "Texture \"{name}-wet\" \"float\" \"imagemap\" \"string filename\" \"{mask}\" \"string encoding\" \"linear\"\n\
                 MakeNamedMaterial \"{name}-dry\" {}\nMakeNamedMaterial \"{name}-film\" {}\n\
                 Material \"mix\" \"string materials\" [ \"{name}-dry\" \"{name}-film\" ] \"texture amount\" \"{name}-wet\"",
                named(&opaque(look.alpha, look.coat)),
                named(&film)
            );
        }
    }
    let _ = write!(text, "Shape \"plymesh\" \"string filename\" \"{file}\"\nAttributeEnd\n");
    text
}

/// The environment over the equal-area square, as a PFM file, whose rows run from the bottom.
fn equal_area(environment: &Environment) -> Vec<u8> {
    let mut bytes = format!("PF\n{SKY} {SKY}\n-1.0\n").into_bytes();
    for row in (0..SKY).rev() {
        for column in 0..SKY {
            let at = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) / SKY as f32;
            for value in environment.radiance(direction(at)).to_array() {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
    bytes
}

/// The direction that a point of the unit square stands for (pharr2023, §3.8.3).
fn direction(at: Vec2) -> Vec3 {
    let p = 2.0 * at - 1.0;
    let a = p.abs();
    // Distance from the diagonal, and with it the radius in the disc that the octant is mapped to.
    let signed = 1.0 - (a.x + a.y);
    let r = 1.0 - signed.abs();
    let phi = if r == 0.0 { FRAC_PI_4 } else { ((a.y - a.x) / r + 1.0) * FRAC_PI_4 };
    let z = (1.0 - r * r).copysign(signed);
    let (sin, cos) = phi.sin_cos();
    let side = r * (2.0 - r * r).max(0.0).sqrt();
    Vec3::new((cos * side).copysign(p.x), (sin * side).copysign(p.y), z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal areas of the square are equal solid angles, and opposite corners of the mapping meet: means over the square are means over the sphere.
    #[test]
    fn the_square_covers_the_sphere_evenly() {
        let side = 400;
        let (mut mean, mut squares) = (Vec3::ZERO, Vec3::ZERO);
        for i in 0..side * side {
            let at = Vec2::new((i % side) as f32 + 0.5, (i / side) as f32 + 0.5) / side as f32;
            let d = direction(at);
            assert!((d.length() - 1.0).abs() < 1e-5, "{d}");
            mean += d / (side * side) as f32;
            squares += d * d / (side * side) as f32;
        }
        assert!(mean.length() < 1e-3, "mean {mean}");
        assert!((squares - 1.0 / 3.0).abs().max_element() < 1e-3, "mean squares {squares}");
        assert!((direction(Vec2::splat(0.5)) - Vec3::Z).length() < 1e-5);
        assert!((direction(Vec2::ZERO) - Vec3::NEG_Z).length() < 1e-3);
    }
}
