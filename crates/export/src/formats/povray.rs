//! POV-Ray: one `.pov` per frame, `scene.inc` with what they share, and `animation.ini`, which renders them all.
//!
//! Drops of the pane model are what they are there, metaballs: POV-Ray's `blob` has the very kernel of ours, so its surface is ours without triangles. All other
//! drops are meshes. A unit of the files is 10 µm, for POV-Ray overlooks what is smaller than a hundredth of a unit.
//!
//! `right` is negative in the camera, which makes POV-Ray's left-handed coordinates ours. Light comes from the scene's environment by radiosity, and from its
//! sun and lamps.

use std::fmt::Write;

use glam::{DVec3, Vec3};
use sessile_frames::names::frame_file;
use sessile_scene::types::ModelKind;
use sessile_shapes::{Detail, Instance, Shape, THRESHOLD, volume_scale};

use crate::drawn::{self, DrawnMesh};
use crate::error::ExportError;
use crate::formats::placed_mesh;
use crate::job::Job;
use crate::looks::{LiquidShade, SceneLooks, SolidLook};
use crate::sky::write_environment;
use crate::source::{Shot, Source};
use crate::stagecraft::Stagecraft;

/// Units of the files in a meter.
const UNITS: f64 = 1e5;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let stagecraft = Stagecraft::without_meshes(job)?;
    let sky = write_environment(job, "textures/environment.hdr")?;
    stagecraft.put("scene.inc", shared(source, &stagecraft.looks, &sky).as_bytes())?;
    job.each_shot(|shot| {
        let text = frame(source, &stagecraft, &shot)?;
        stagecraft.put(&frame_file(shot.frame, "pov"), text.as_bytes())
    })?;
    let (first, last) = source.range();
    let [width, height] = source.scene.render.size;
    stagecraft.put(
        "animation.pov",
        b"#version 3.7;\n// The frame that the animation is at.\n#include concat(str(frame_number, -5, 0), \".pov\")\n",
    )?;
    let ini = format!(
        "; povray animation.ini renders all frames; povray 00000.pov +W{width} +H{height} one of them\n\
         Input_File_Name=animation.pov\nOutput_File_Name=picture\nWidth={width}\nHeight={height}\nInitial_Frame={first}\nFinal_Frame={last}\n\
         Subset_Start_Frame={first}\nSubset_End_Frame={last}\nAntialias=On\nAntialias_Threshold=0.1\nOutput_File_Type=N\n"
    );
    stagecraft.put("animation.ini", ini.as_bytes())
}

fn vector(v: DVec3) -> String {
    format!("<{}, {}, {}>", v.x, v.y, v.z)
}

fn place(p: DVec3) -> String {
    vector(p * UNITS)
}

fn color(c: Vec3) -> String {
    format!("rgb <{}, {}, {}>", c.x, c.y, c.z)
}

/// What all frames share: settings, light, the liquid, meshes of the solids that stay.
fn shared(source: &Source, looks: &SceneLooks, sky: &str) -> String {
    let mut text = format!(
        "// {}, by sessile. A unit is 10 micrometers.\n\
         global_settings {{ assumed_gamma 1.0 max_trace_level 24 radiosity {{ count 64 nearest_count 8 error_bound 0.6 recursion_limit 2 low_error_factor 0.6 }} }}\n\n\
         sky_sphere {{ pigment {{ image_map {{ hdr \"{sky}\" map_type 1 interpolate 2 }} rotate y * 90 }} }}\n",
        source.scene.title.replace('\n', " ")
    );
    let of = |c: [f64; 3]| Vec3::from_array(c.map(|c| c as f32));
    if let Some(sun) = &source.scene.lights.sun {
        // A light of 1 gives white ground the radiance 1; ours are told by irradiance.
        let from = vector(sun.direction * 1e9);
        let _ = writeln!(
            text,
            "light_source {{ {from} color {} parallel point_at 0 }}",
            color(of(sun.color) / std::f32::consts::PI)
        );
    }
    for lamp in &source.scene.lights.area {
        let normal = (lamp.look_at - lamp.center).normalize_or(DVec3::NEG_Y);
        let [x, y] =
            sessile_appearance::orthonormal_basis(normal.as_vec3()).map(|side| side.as_dvec3() * lamp.size * UNITS);
        // At distances beyond its size it falls off with the square.
        let _ = writeln!(
            text,
            "light_source {{ {} color {} area_light {}, {}, 5, 5 adaptive 1 jitter fade_power 2 fade_distance {} }}",
            place(lamp.center),
            color(of(lamp.color) / std::f32::consts::TAU),
            vector(x),
            vector(y),
            lamp.size * UNITS
        );
    }
    text += &liquid_material(&looks.shade());
    for (solid, look) in source.world.solids().iter().zip(&looks.solids) {
        if !solid.moves() {
            let _ = write!(text, "\n#declare Solid_{} = {}\n", look.name, mesh(&drawn::solid(&placed_mesh(solid))));
        }
    }
    text
}

fn liquid_material(shade: &LiquidShade) -> String {
    match shade.opaque {
        Some(c) if shade.metal => format!(
            "\n#declare Liquid = material {{ texture {{ pigment {{ {0} }} finish {{ ambient 0 diffuse 0 reflection {{ {0} metallic }} }} }} }}\n",
            color(c)
        ),
        Some(c) => format!(
            "\n#declare Liquid = material {{ texture {{ pigment {{ {} }} finish {{ ambient 0 diffuse 1 reflection {{ 0, 1 fresnel on }} conserve_energy }} }} interior {{ ior {} }} }}\n",
            color(c),
            shade.index
        ),
        None => {
            let deepest = shade.absorption.max_element().max(1e-6);
            // Beer and Lambert's law, told by the color at one depth.
            let through = (-shade.absorption / deepest).exp();
            format!(
                "\n#declare Liquid = material {{\n  texture {{ pigment {{ rgbt <1, 1, 1, 1> }} finish {{ ambient 0 diffuse 0 reflection {{ 0, 1 fresnel on }} conserve_energy }} }}\n  \
                 interior {{ ior {} fade_power 1001 fade_distance {} fade_color {} }}\n}}\n",
                shade.index,
                UNITS / f64::from(deepest),
                color(through)
            )
        }
    }
}

fn frame(source: &Source, stagecraft: &Stagecraft<'_>, shot: &Shot) -> Result<String, ExportError> {
    let camera = source.camera_at(shot.frame);
    let [width, height] = source.scene.render.size.map(f64::from);
    let aspect = width / height.max(1.0);
    let across = 2.0 * ((0.5 * camera.fov).tan() * aspect).atan();
    let mut text = format!(
        "#version 3.7;\n// {}, frame {}, {} s\n#include \"scene.inc\"\n\ncamera {{\n  perspective\n  location {}\n  right -x * {aspect}\n  up y\n  angle {}\n  look_at {}\n}}\n",
        source.scene.title.replace('\n', " "),
        shot.frame,
        shot.time,
        place(camera.eye),
        across.to_degrees(),
        place(camera.look_at)
    );
    let world = source.world_at(shot.time);
    for (index, (solid, look)) in world.solids().iter().zip(&stagecraft.looks.solids).enumerate() {
        let wet = stagecraft.wet_mask(index, shot.frame)?;
        let body = if solid.moves() {
            mesh(&drawn::solid(&placed_mesh(solid)))
        } else {
            format!("object {{ Solid_{} }}", look.name)
        };
        let _ = write!(text, "\nobject {{\n  {body}\n{}}}\n", solid_material(look, wet.as_deref()));
    }
    let shapes = if source.scene.model == ModelKind::Pane { source.folder.read_instances(shot.frame)? } else { None };
    match shapes {
        Some(drops) => drops.iter().for_each(|drop| text += &blob(drop, &stagecraft.looks)),
        None => {
            let liquid = drawn::liquid(&shot.liquid, &stagecraft.looks, &world);
            if !liquid.triangles.is_empty() {
                let _ = write!(text, "\nobject {{\n  {}\n  material {{ Liquid }}\n}}\n", mesh(&liquid));
            }
        }
    }
    Ok(text)
}

/// A drop as POV-Ray draws it by itself. On glass it is cut off at the solid and lifted by a hair; on opaque ground it is open below and goes on into it.
fn blob(drop: &Instance, looks: &SceneLooks) -> String {
    let Shape::Metaballs(balls) = &drop.shape else {
        let radius = (3.0 * drop.volume / (4.0 * std::f64::consts::PI)).cbrt();
        return format!(
            "\n// drop {}\nsphere {{ {}, {} material {{ Liquid }} }}\n",
            drop.drop,
            place(drop.frame.origin),
            radius * UNITS
        );
    };
    let scale = volume_scale(drop, &Detail::default()) * UNITS;
    let mut text = format!("\n// drop {}\n", drop.drop);
    let clear = drop.solid.and_then(|i| looks.solids.get(i as usize)).is_some_and(SolidLook::is_clear);
    let height = balls.iter().map(|ball| ball.center.z + ball.radii.z).fold(0.0, f64::max) * scale;
    let hair = 1e-3 * height;
    if clear {
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
    if clear {
        let _ = writeln!(text, "  }}\n  plane {{ -z, 0 }}\n  translate z * {hair}");
    } else {
        let _ = writeln!(text, "    clipped_by {{ plane {{ -z, {hair} }} }}");
    }
    let axes = drop.frame.axes;
    let origin = drop.frame.origin * UNITS;
    let rows = [axes.x_axis, axes.y_axis, axes.z_axis, origin].map(|v| format!("{}, {}, {}", v.x, v.y, v.z));
    let _ = writeln!(text, "  matrix <{}>\n  material {{ Liquid }}\n}}", rows.join(",\n          "));
    text
}

fn mesh(mesh: &DrawnMesh) -> String {
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

/// A solid's texture; where a mask says so, that of a wet surface.
fn solid_material(look: &SolidLook, wet: Option<&str>) -> String {
    if let Some(index) = look.glass {
        let interior = if look.body { format!("  interior {{ ior {index} }}\n") } else { String::new() };
        let reflection = if look.body { "reflection { 0, 1 fresnel on }" } else { "reflection 0.06" };
        return format!(
            "  texture {{ pigment {{ rgbt <1, 1, 1, 1> }} finish {{ ambient 0 diffuse 0 {reflection} conserve_energy }} }}\n{interior}"
        );
    }
    let texture = |color_of: Vec3, alpha: f32, coat: Option<f32>| {
        let pigment = match &look.texture {
            Some(file) => format!("image_map {{ png \"{file}\" interpolate 2 }}"),
            None => color(color_of),
        };
        let finish = if look.metal {
            format!(
                "ambient 0 diffuse 0 reflection {{ {} metallic }} specular 0.6 roughness {}",
                color(color_of),
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
    let dry = texture(look.color, look.alpha, look.coat);
    let mapping = if look.texture.is_some() || wet.is_some() { "uv_mapping " } else { "" };
    let body = match wet.filter(|_| !look.metal) {
        Some(mask) => {
            let p = 0.47 * look.porosity;
            let film = texture(look.color * (1.0 - p) / (Vec3::ONE - p * look.color), 0.03, Some(1.33));
            format!("image_pattern {{ png \"{mask}\" interpolate 2 }} texture_map {{ [0 {dry}] [1 {film}] }}")
        }
        None => dry,
    };
    format!("  texture {{ {mapping}{body} }}\n  interior {{ ior {} }}\n", look.coat.unwrap_or(1.33))
}
