//! pbrt-v4: one scene per frame, with meshes and images beside it. `pbrt 00000.pbrt` renders it.
//!
//! pbrt's coordinates are left-handed, which a mirroring transform before the camera corrects. Its
//! environment images are square, in Clarberg's equal-area mapping of the sphere (pharr2023), so
//! ours is resampled.

use std::f32::consts::FRAC_PI_4;
use std::fmt::Write;

use glam::{Vec2, Vec3};
use sessile_appearance::{AppearanceError, Environment};
use sessile_frames::names::frame_file;
use sessile_output::escape::pbrt;

use crate::error::ExportError;
use crate::job::Job;
use crate::materials::{FILM_ALPHA, FILM_INDEX, LiquidParameters, SolidMaterial};
use crate::render_assets::{AreaLightAxes, RenderAssets, TextureV, linear_color};
use crate::source::Source;

/// Width and height of the environment image, in pixels.
const ENVIRONMENT_SIZE: usize = 1024;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let assets = RenderAssets::with_meshes(job, TextureV::Up)?;
    let environment = Environment::from_lights(&source.scene.lights).map_err(AppearanceError::from)?;
    job.write_file("textures/environment.pfm", &equal_area_image(&environment))?;
    job.for_each_frame(|frame| {
        let liquid_file = assets.write_frame_meshes(&frame)?;
        let mut text = header(source, frame.number);
        text += "LightSource \"infinite\" \"string filename\" \"textures/environment.pfm\"\n";
        text += &lights(source);
        if let Some(file) = liquid_file {
            text += &liquid_attributes(&assets.materials.liquid_parameters());
            text += &mesh_shape(&file);
        }
        for (index, material) in assets.materials.solids.iter().enumerate() {
            let wet = assets.wet_mask(index, frame.number)?;
            text += &solid(material, &assets.solid_file(index, frame.number), wet.as_deref());
        }
        job.write_file(&frame_file(frame.shown, "pbrt"), text.as_bytes())
    })
}

fn header(source: &Source, frame: u64) -> String {
    let camera = source.camera_at(frame);
    let [width, height] = source.scene.render.size;
    // pbrt's field of view is measured along the shorter side of the image.
    let half = (0.5 * camera.fov).tan() * (f64::from(width) / f64::from(height.max(1))).min(1.0);
    let focus = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
    let lens = if camera.lens_radius > 0.0 {
        format!(" \"float lensradius\" {} \"float focaldistance\" {focus}", camera.lens_radius)
    } else {
        String::new()
    };
    let (e, t, shown) = (camera.eye, camera.look_at, source.shown(frame));
    format!(
        "{}Scale -1 1 1\nLookAt {} {} {}  {} {} {}  0 1 0\n\
         Camera \"perspective\" \"float fov\" {}{lens}\n\
         Sampler \"zsobol\" \"integer pixelsamples\" {}\nIntegrator \"volpath\" \"integer maxdepth\" 24\n\
         Film \"rgb\" \"integer xresolution\" {width} \"integer yresolution\" {height} \"string filename\" \"{shown:05}.exr\"\n\n\
         WorldBegin\n",
        pbrt::comment(&format!("{}, frame {shown}, by sessile", source.scene.title)),
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
    let mut text = String::new();
    if let Some(sun) = &source.scene.lights.sun {
        let d = sun.direction;
        let _ = writeln!(
            text,
            "LightSource \"distant\" \"point3 from\" [ {} {} {} ] \"point3 to\" [ 0 0 0 ] {}",
            d.x,
            d.y,
            d.z,
            rgb("L", linear_color(sun.color))
        );
    }
    for light in &source.scene.lights.area {
        let AreaLightAxes { x, y, .. } = AreaLightAxes::of(light);
        let c = light.center.as_vec3();
        let corners = [c - x - y, c + x - y, c + x + y, c - x + y].map(|p| format!("{} {} {}", p.x, p.y, p.z));
        let _ = writeln!(
            text,
            "AttributeBegin\nAreaLightSource \"diffuse\" {}\n\
             Shape \"trianglemesh\" \"point3 P\" [ {} ] \"integer indices\" [ 0 1 2 0 2 3 ]\nAttributeEnd",
            rgb("L", linear_color(light.color)),
            corners.join("  ")
        );
    }
    text
}

/// Begins the liquid's attribute block: its material, and the medium inside.
fn liquid_attributes(liquid: &LiquidParameters) -> String {
    match liquid.opaque {
        Some(color) if liquid.metal => {
            format!("\nAttributeBegin\nMaterial \"conductor\" {} \"float roughness\" 0\n", rgb("reflectance", color))
        }
        Some(color) => format!(
            "\nAttributeBegin\nMaterial \"coateddiffuse\" {} \"float roughness\" 0 \"float eta\" {}\n",
            rgb("reflectance", color),
            liquid.index
        ),
        None => format!(
            "\nMakeNamedMedium \"liquid\" \"string type\" \"homogeneous\" {} \"rgb sigma_s\" [ 0 0 0 ]\n\
             AttributeBegin\nMediumInterface \"liquid\" \"\"\nMaterial \"dielectric\" \"float eta\" {}\n",
            rgb("sigma_a", liquid.absorption),
            liquid.index
        ),
    }
}

/// A solid with its material; where the mask is set, that of a wet surface.
fn solid(material: &SolidMaterial, file: &str, wet: Option<&str>) -> String {
    let [name, dry, film, amount] =
        ["", "-dry", "-film", "-wet"].map(|ending| pbrt::string(&format!("{}{ending}", material.name)));
    let mut text = String::from("\nAttributeBegin\n");
    if let Some(texture) = &material.texture {
        let _ =
            writeln!(text, "Texture {name} \"spectrum\" \"imagemap\" \"string filename\" {}", pbrt::string(texture));
    }
    let color_input = || match &material.texture {
        Some(_) => format!("\"texture reflectance\" {name}"),
        None => rgb("reflectance", material.color),
    };
    let relief = material
        .normal_map
        .as_ref()
        .map_or(String::new(), |file| format!(" \"string normalmap\" {}", pbrt::string(file)));
    let conductor = |alpha: f32| {
        format!("\"conductor\" {} \"float roughness\" {alpha} \"bool remaproughness\" false{relief}", color_input())
    };
    let opaque = |alpha: f32, coat: Option<f32>| {
        let base = if material.is_metal() {
            return conductor(alpha);
        } else if let Some(index) = coat {
            format!(
                "\"coateddiffuse\" {} \"float roughness\" {alpha} \"bool remaproughness\" false \"float eta\" {index}",
                color_input()
            )
        } else if material.transmittance != Vec3::ZERO {
            format!(
                "\"diffusetransmission\" {} {}",
                color_input(),
                rgb("transmittance", material.color * material.transmittance)
            )
        } else {
            format!("\"diffuse\" {}", color_input())
        };
        base + &relief
    };
    // In a named material the type is a parameter.
    let named = |description: &str| description.replacen('"', "\"string type\" \"", 1);
    if let Some(index) = material.glass {
        let kind = if material.closed { "dielectric" } else { "thindielectric" };
        let _ = writeln!(text, "Material \"{kind}\" \"float eta\" {index}");
        text += &mesh_shape(file);
        return text;
    }
    // The material of a surface of this roughness and coat, defined under a name: a mixture of
    // dielectric and metal needs the names of both.
    let define = |name: &str, alpha: f32, coat: Option<f32>| {
        let metallic = material.metallic;
        if metallic <= 0.0 || material.is_metal() {
            return format!("MakeNamedMaterial {name} {}\n", named(&opaque(alpha, coat)));
        }
        let [base, metal] = ["-base", "-metal"].map(|ending| format!("{}{ending}\"", &name[..name.len() - 1]));
        format!(
            "MakeNamedMaterial {base} {}\nMakeNamedMaterial {metal} {}\nMakeNamedMaterial {name} \
             \"string type\" \"mix\" \"string materials\" [ {base} {metal} ] \"float amount\" {metallic}\n",
            named(&opaque(alpha, coat)),
            named(&conductor(alpha))
        )
    };
    text += &define(&dry, material.alpha, material.coat);
    match wet.filter(|_| !material.is_metal()) {
        None => {
            let _ = writeln!(text, "NamedMaterial {dry}");
        }
        Some(mask) => {
            let coat = material.coat.unwrap_or(FILM_INDEX).max(FILM_INDEX);
            text += &define(&film, material.alpha.min(FILM_ALPHA), Some(coat));
            let _ = writeln!(
                text,
                "Texture {amount} \"float\" \"imagemap\" \"string filename\" {} \"string encoding\" \"linear\"\n\
                 Material \"mix\" \"string materials\" [ {dry} {film} ] \"texture amount\" {amount}",
                pbrt::string(mask),
            );
        }
    }
    text += &mesh_shape(file);
    text
}

/// A mesh, and the end of its attribute block.
fn mesh_shape(file: &str) -> String {
    format!("Shape \"plymesh\" \"string filename\" {}\nAttributeEnd\n", pbrt::string(file))
}

/// The environment in the equal-area mapping, as a PFM file, whose rows run from bottom to top.
fn equal_area_image(environment: &Environment) -> Vec<u8> {
    let mut bytes = format!("PF\n{ENVIRONMENT_SIZE} {ENVIRONMENT_SIZE}\n-1.0\n").into_bytes();
    for row in (0..ENVIRONMENT_SIZE).rev() {
        for column in 0..ENVIRONMENT_SIZE {
            let at = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) / ENVIRONMENT_SIZE as f32;
            for value in environment.radiance(direction(at)).to_array() {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
    bytes
}

/// The direction that a point of the unit square maps to (pharr2023, §3.8.3).
fn direction(at: Vec2) -> Vec3 {
    let p = 2.0 * at - 1.0;
    let a = p.abs();
    // Signed distance from the diagonal, and the radius in the disk that the octant maps to.
    let signed = 1.0 - (a.x + a.y);
    let r = 1.0 - signed.abs();
    let phi = if r == 0.0 { FRAC_PI_4 } else { ((a.y - a.x) / r + 1.0) * FRAC_PI_4 };
    let z = (1.0 - r * r).copysign(signed);
    let (sin, cos) = phi.sin_cos();
    let radius = r * (2.0 - r * r).max(0.0).sqrt();
    Vec3::new((cos * radius).copysign(p.x), (sin * radius).copysign(p.y), z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal areas of the square are equal solid angles, so means over the square are means over
    /// the sphere.
    #[test]
    fn the_mapping_preserves_area() {
        let size = 400;
        let (mut mean, mut squares) = (Vec3::ZERO, Vec3::ZERO);
        for i in 0..size * size {
            let at = Vec2::new((i % size) as f32 + 0.5, (i / size) as f32 + 0.5) / size as f32;
            let d = direction(at);
            assert!((d.length() - 1.0).abs() < 1e-5, "{d}");
            mean += d / (size * size) as f32;
            squares += d * d / (size * size) as f32;
        }
        assert!(mean.length() < 1e-3, "mean {mean}");
        assert!((squares - 1.0 / 3.0).abs().max_element() < 1e-3, "mean squares {squares}");
        assert!((direction(Vec2::splat(0.5)) - Vec3::Z).length() < 1e-5);
        assert!((direction(Vec2::ZERO) - Vec3::NEG_Z).length() < 1e-3);
    }
}
