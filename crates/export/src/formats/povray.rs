//! POV-Ray: one `.pov` file per frame, `scene.inc` with what they share, and `animation.ini`, which
//! renders all of them.
//!
//! Frames whose drops are all spheres or metaballs are written as `sphere` and `blob` objects:
//! POV-Ray's blob has the kernel of our metaballs, so the surface is exact and needs no triangles.
//! All other frames are meshes. A unit of the files is 10 µm, because POV-Ray ignores details
//! smaller than a hundredth of a unit.
//!
//! A negative `right` vector of the camera turns POV-Ray's left-handed coordinates into ours. Light
//! comes from the scene's environment by radiosity, and from its sun and area lights.

use std::fmt::Write;

use glam::{DVec3, Vec3};
use sessile_appearance::orthonormal_basis;
use sessile_frames::names::frame_file;
use sessile_numerics::sphere_radius;
use sessile_output::escape::povray;
use sessile_shapes::{Detail, Instance, Shape, THRESHOLD, volume_scale};

use crate::environment_file::write_environment;
use crate::error::ExportError;
use crate::formats::world_mesh;
use crate::job::Job;
use crate::materials::{ExportMaterials, FILM_ALPHA, FILM_INDEX, LiquidParameters, SolidMaterial};
use crate::render_assets::{RenderAssets, linear_color};
use crate::render_mesh::{RenderMesh, liquid_mesh, solid_mesh};
use crate::source::{LoadedFrame, Source};

/// Units of the files per meter.
const UNITS: f64 = 1e5;

/// Gap between liquid and glass, and depth to which liquid extends into opaque solids, as a
/// fraction of the drop's height.
const CONTACT_OFFSET: f64 = 1e-3;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let assets = RenderAssets::with_textures(job)?;
    let environment = write_environment(job, "textures/environment.hdr")?;
    job.write_file("scene.inc", shared_text(source, &assets.materials, &environment).as_bytes())?;
    job.for_each_frame(|frame| {
        let text = frame_text(source, &assets, &frame)?;
        job.write_file(&frame_file(frame.shown, "pov"), text.as_bytes())
    })?;
    let (first, last) = source.shown_range();
    let [width, height] = source.scene.render.size;
    job.write_file(
        "animation.pov",
        b"#version 3.7;\n// The frame that the animation is at.\n#include concat(str(frame_number, -5, 0), \".pov\")\n",
    )?;
    let ini = format!(
        "; povray animation.ini renders all frames; povray {first:05}.pov +W{width} +H{height} one of them\n\
         Input_File_Name=animation.pov\nOutput_File_Name=picture\nWidth={width}\nHeight={height}\n\
         Initial_Frame={first}\nFinal_Frame={last}\nSubset_Start_Frame={first}\nSubset_End_Frame={last}\n\
         Antialias=On\nAntialias_Threshold=0.1\nOutput_File_Type=N\n"
    );
    job.write_file("animation.ini", ini.as_bytes())
}

fn vector(v: DVec3) -> String {
    format!("<{}, {}, {}>", v.x, v.y, v.z)
}

fn point(p: DVec3) -> String {
    vector(p * UNITS)
}

fn color(c: Vec3) -> String {
    format!("rgb <{}, {}, {}>", c.x, c.y, c.z)
}

/// What all frames share: settings, lights, the liquid's material, meshes of the solids that do not
/// move.
fn shared_text(source: &Source, materials: &ExportMaterials, environment: &str) -> String {
    let mut text = format!(
        "{}global_settings {{ assumed_gamma 1.0 max_trace_level 24 radiosity {{ count 64 nearest_count 8 error_bound 0.6 recursion_limit 2 low_error_factor 0.6 }} }}\n\n\
         \
         sky_sphere {{ pigment {{ image_map {{ hdr {} map_type 1 interpolate 2 }} rotate y * 90 }} }}\n",
        povray::comment(&format!("{}, by sessile. A unit is 10 micrometers.", source.scene.title)),
        povray::string(environment)
    );
    text += &lights(source);
    text += &liquid_material(&materials.liquid_parameters());
    for (solid, material) in source.world.solids().iter().zip(&materials.solids) {
        if !solid.moves() {
            let _ = write!(text, "\n#declare Solid_{} = {}\n", material.name, mesh(&solid_mesh(&world_mesh(solid))));
        }
    }
    text
}

fn lights(source: &Source) -> String {
    let mut text = String::new();
    if let Some(sun) = &source.scene.lights.sun {
        // A light of intensity 1 gives a white surface the radiance 1; ours are given by
        // irradiance.
        let from = vector(sun.direction * 1e9);
        let _ = writeln!(
            text,
            "light_source {{ {from} color {} parallel point_at 0 }}",
            color(linear_color(sun.color) / std::f32::consts::PI)
        );
    }
    for light in &source.scene.lights.area {
        let normal = (light.look_at - light.center).normalize_or(DVec3::NEG_Y);
        let [x, y] = orthonormal_basis(normal.as_vec3()).map(|edge| edge.as_dvec3() * light.size * UNITS);
        // Beyond a distance of its size, the light falls off with the square of the distance.
        let _ = writeln!(
            text,
            "light_source {{ {} color {} area_light {}, {}, 5, 5 adaptive 1 jitter fade_power 2 fade_distance {} }}",
            point(light.center),
            color(linear_color(light.color) / std::f32::consts::TAU),
            vector(x),
            vector(y),
            light.size * UNITS
        );
    }
    text
}

fn liquid_material(liquid: &LiquidParameters) -> String {
    match liquid.opaque {
        Some(c) if liquid.metal => format!(
            "\n\
             #declare Liquid = material {{ texture {{ pigment {{ {0} }} finish {{ ambient 0 diffuse 0 reflection {{ {0} metallic }} }} }} }}\n",
            color(c)
        ),
        Some(c) => format!(
            "\n\
             #declare Liquid = material {{ texture {{ pigment {{ {} }} finish {{ ambient 0 diffuse 1 reflection {{ 0, 1 fresnel on }} conserve_energy }} }} interior {{ ior {} }} }}\n",
            color(c),
            liquid.index
        ),
        None => {
            let strongest = liquid.absorption.max_element().max(1e-6);
            // Beer–Lambert law, given by the color at one depth.
            let transmittance = (-liquid.absorption / strongest).exp();
            format!(
                "\n#declare Liquid = material {{\n  \
                 texture {{ pigment {{ rgbt <1, 1, 1, 1> }} finish {{ ambient 0 diffuse 0 reflection {{ 0, 1 fresnel on }} conserve_energy }} }}\n  \
                 \
                 interior {{ ior {} fade_power 1001 fade_distance {} fade_color {} }}\n}}\n",
                liquid.index,
                UNITS / f64::from(strongest),
                color(transmittance)
            )
        }
    }
}

fn frame_text(source: &Source, assets: &RenderAssets<'_>, frame: &LoadedFrame) -> Result<String, ExportError> {
    let camera = source.camera_at(frame.number);
    let [width, height] = source.scene.render.size.map(f64::from);
    let aspect = width / height.max(1.0);
    let horizontal_fov = 2.0 * ((0.5 * camera.fov).tan() * aspect).atan();
    let mut text = format!(
        "#version 3.7;\n{}#include \"scene.inc\"\n\ncamera {{\n  perspective\n  location {}\n  \
         right -x * {aspect}\n  up y\n  angle {}\n  look_at {}\n}}\n",
        povray::comment(&format!("{}, frame {}, {} s", source.scene.title, frame.shown, frame.time)),
        point(camera.eye),
        horizontal_fov.to_degrees(),
        point(camera.look_at)
    );
    let world = source.world_at(frame.time);
    for (index, (solid, material)) in world.solids().iter().zip(&assets.materials.solids).enumerate() {
        let wet = assets.wet_mask(index, frame.number)?;
        let body = if solid.moves() {
            mesh(&solid_mesh(&world_mesh(solid)))
        } else {
            format!("object {{ Solid_{} }}", material.name)
        };
        let _ = write!(text, "\nobject {{\n  {body}\n{}}}\n", solid_material(material, wet.as_deref()));
    }
    match source.folder.read_instances(frame.number)?.filter(|drops| drops.iter().all(has_native_shape)) {
        Some(drops) => drops.iter().for_each(|drop| text += &native_drop(drop, &assets.materials)),
        None => {
            let liquid = liquid_mesh(&frame.liquid, &assets.materials, &world);
            if !liquid.triangles.is_empty() {
                let _ = write!(text, "\nobject {{\n  {}\n  material {{ Liquid }}\n}}\n", mesh(&liquid));
            }
        }
    }
    Ok(text)
}

/// Whether POV-Ray has a primitive for the shape of a drop.
fn has_native_shape(drop: &Instance) -> bool {
    matches!(drop.shape, Shape::Sphere | Shape::Metaballs(_))
}

/// A drop as a `sphere` or `blob`. On glass it is cut off at the solid and lifted slightly; on
/// opaque solids it is open below and extends into the solid.
fn native_drop(drop: &Instance, materials: &ExportMaterials) -> String {
    let Shape::Metaballs(balls) = &drop.shape else {
        return format!(
            "\n// drop {}\nsphere {{ {}, {} material {{ Liquid }} }}\n",
            drop.drop,
            point(drop.frame.origin),
            sphere_radius(drop.volume) * UNITS
        );
    };
    let scale = volume_scale(drop, &Detail::default()) * UNITS;
    let mut text = format!("\n// drop {}\n", drop.drop);
    let solid = drop.solid.and_then(|i| materials.solids.get(i as usize));
    let on_glass = solid.is_some_and(SolidMaterial::is_transparent);
    let height = balls.iter().map(|ball| ball.center.z + ball.radii.z).fold(0.0, f64::max) * scale;
    let offset = CONTACT_OFFSET * height;
    if on_glass {
        text += "intersection {\n  ";
    }
    let _ = writeln!(text, "blob {{\n    threshold {THRESHOLD}");
    for ball in balls {
        let _ = writeln!(
            text,
            "    sphere {{ 0, 1, {} scale {} translate {} }}",
            ball.strength,
            vector(ball.radii * scale),
            vector(ball.center * scale)
        );
    }
    if on_glass {
        let _ = writeln!(text, "  }}\n  plane {{ -z, 0 }}\n  translate z * {offset}");
    } else {
        let _ = writeln!(text, "    clipped_by {{ plane {{ -z, {offset} }} }}");
    }
    let axes = drop.frame.axes;
    let origin = drop.frame.origin * UNITS;
    let rows = [axes.x_axis, axes.y_axis, axes.z_axis, origin].map(|v| format!("{}, {}, {}", v.x, v.y, v.z));
    let _ = writeln!(text, "  matrix <{}>\n  material {{ Liquid }}\n}}", rows.join(",\n          "));
    text
}

fn mesh(mesh: &RenderMesh) -> String {
    let mut text = format!("mesh2 {{\n    vertex_vectors {{ {}", mesh.positions.len());
    for p in &mesh.positions {
        let p = p.as_dvec3() * UNITS;
        let _ = write!(text, ", <{:.4},{:.4},{:.4}>", p.x, p.y, p.z);
    }
    let _ = write!(text, " }}\n    normal_vectors {{ {}", mesh.normals.len());
    for n in &mesh.normals {
        let _ = write!(text, ", <{:.5},{:.5},{:.5}>", n.x, n.y, n.z);
    }
    if !mesh.uvs.is_empty() {
        let _ = write!(text, " }}\n    uv_vectors {{ {}", mesh.uvs.len());
        for uv in &mesh.uvs {
            let _ = write!(text, ", <{:.6},{:.6}>", uv.x, uv.y);
        }
    }
    let _ = write!(text, " }}\n    face_indices {{ {}", mesh.triangles.len());
    for [a, b, c] in &mesh.triangles {
        let _ = write!(text, ", <{a},{b},{c}>");
    }
    text += " }\n  }";
    text
}

/// Texture of a solid; where the mask is set, that of a wet surface.
fn solid_material(material: &SolidMaterial, wet: Option<&str>) -> String {
    if let Some(index) = material.glass {
        let interior = if material.closed { format!("  interior {{ ior {index} }}\n") } else { String::new() };
        let reflection = if material.closed { "reflection { 0, 1 fresnel on }" } else { "reflection 0.06" };
        let tint = material.surface_tint();
        let filter = format!("rgbf <{}, {}, {}, 1>", tint.x, tint.y, tint.z);
        return format!(
            "  texture {{ pigment {{ {filter} }} finish {{ ambient 0 diffuse 0 {reflection} conserve_energy }} }}\n\
             {interior}"
        );
    }
    let texture = |color_of: Vec3, alpha: f32, coat: Option<f32>| {
        let pigment = match &material.texture {
            Some(file) => format!("image_map {{ png {} interpolate 2 }}", povray::string(file)),
            None => color(color_of),
        };
        let finish = if material.metallic > 0.0 {
            format!(
                "ambient 0 diffuse {} reflection {{ {} metallic }} specular 0.6 roughness {}",
                1.0 - material.metallic,
                color(color_of * material.metallic),
                alpha.max(0.001)
            )
        } else {
            match coat {
                Some(_) if alpha < 0.1 => {
                    "ambient 0 diffuse 1 reflection { 0, 1 fresnel on } conserve_energy".to_owned()
                }
                Some(_) => format!("ambient 0 diffuse 1 specular 0.2 roughness {}", (alpha * alpha).max(0.001)),
                None => "ambient 0 diffuse 1".to_owned(),
            }
        };
        format!("pigment {{ {pigment} }} finish {{ {finish} }}")
    };
    let dry = texture(material.color, material.alpha, material.coat);
    let mapping = if material.texture.is_some() || wet.is_some() { "uv_mapping " } else { "" };
    let body = match wet.filter(|_| !material.is_metal()) {
        Some(mask) => {
            let film = texture(material.wet_color(), FILM_ALPHA, Some(FILM_INDEX));
            let mask = povray::string(mask);
            format!("image_pattern {{ png {mask} interpolate 2 }} texture_map {{ [0 {dry}] [1 {film}] }}")
        }
        None => dry,
    };
    format!("  texture {{ {mapping}{body} }}\n  interior {{ ior {} }}\n", material.coat.unwrap_or(FILM_INDEX))
}
