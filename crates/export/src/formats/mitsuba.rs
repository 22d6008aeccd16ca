//! Mitsuba 3: one XML scene per frame, with meshes and images beside it.
//!
//! `mitsuba 00000.xml` renders a linear image in the radiometric units of our own renderer.

use std::fmt::Write;

use glam::Vec3;
use sessile_frames::names::frame_file;
use sessile_output::escape::xml;

use crate::environment_file::write_environment;
use crate::error::ExportError;
use crate::job::Job;
use crate::materials::{FILM_ALPHA, FILM_INDEX, LiquidParameters, SolidMaterial};
use crate::render_assets::{AreaLightAxes, RenderAssets, TextureV, linear_color};
use crate::source::Source;

/// Longest light path: enough to pass through several drops in a row.
const MAX_BOUNCES: u32 = 24;

/// Absorption, in 1/m, above which the liquid is exported as a participating medium; weaker
/// absorption is invisible in drops.
const VISIBLE_ABSORPTION: f32 = 5.0;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let assets = RenderAssets::with_meshes(job, TextureV::Down)?;
    let environment = write_environment(job, "textures/environment.hdr")?;
    let liquid = assets.materials.liquid_parameters();
    job.for_each_frame(|frame| {
        let liquid_file = assets.write_frame_meshes(&frame)?;
        let mut text = header(source, frame.number, &liquid);
        let _ = write!(
            text,
            "\n    <emitter type=\"envmap\">\n        <string name=\"filename\" value=\"{}\"/>\n    \
             </emitter>\n",
            xml::text(&environment)
        );
        text += &lights(source);
        text += &liquid_material(&liquid);
        if let Some(file) = liquid_file {
            text += &shape(&file, "liquid", liquid.absorption.max_element() > VISIBLE_ABSORPTION);
        }
        for (index, material) in assets.materials.solids.iter().enumerate() {
            let wet = assets.wet_mask(index, frame.number)?;
            text += &solid_material(material, wet.as_deref());
            text += &shape(&assets.solid_file(index, frame.number), &format!("solid-{}", material.name), false);
        }
        text += "</scene>\n";
        job.write_file(&frame_file(frame.shown, "xml"), text.as_bytes())
    })
}

fn header(source: &Source, frame: u64, liquid: &LiquidParameters) -> String {
    let camera = source.camera_at(frame);
    let [width, height] = source.scene.render.size;
    let integrator = if liquid.absorption.max_element() > VISIBLE_ABSORPTION { "volpath" } else { "path" };
    let point = |p: glam::DVec3| format!("{}, {}, {}", p.x, p.y, p.z);
    let (kind, lens) = if camera.lens_radius > 0.0 {
        let focus = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
        let lens = format!(
            "        <float name=\"aperture_radius\" value=\"{}\"/>\n        \
             <float name=\"focus_distance\" value=\"{focus}\"/>\n",
            camera.lens_radius
        );
        ("thinlens", lens)
    } else {
        ("perspective", String::new())
    };
    // Drops are millimeters in size: the clipping planes must be nearer than Mitsuba's defaults.
    let distance = camera.eye.distance(camera.look_at);
    format!(
        r#"<scene version="3.0.0">
    {comment}
    <integrator type="{integrator}">
        <integer name="max_depth" value="{MAX_BOUNCES}"/>
    </integrator>

    <sensor type="{kind}">
        <string name="fov_axis" value="y"/>
        <float name="fov" value="{fov}"/>
        <float name="near_clip" value="{near}"/>
        <float name="far_clip" value="{far}"/>
{lens}        <transform name="to_world">
            <lookat origin="{eye}" target="{target}" up="0, 1, 0"/>
        </transform>
        <sampler type="multijitter">
            <integer name="sample_count" value="{samples}"/>
        </sampler>
        <film type="hdrfilm">
            <integer name="width" value="{width}"/>
            <integer name="height" value="{height}"/>
            <rfilter type="box"/>
        </film>
    </sensor>
"#,
        comment = xml::comment(&format!("{}, frame {}, by sessile", source.scene.title, source.shown(frame))),
        fov = camera.fov.to_degrees(),
        near = 1e-3 * distance,
        far = 1e4 * distance,
        eye = point(camera.eye),
        target = point(camera.look_at),
        samples = source.scene.render.samples,
    )
}

fn rgb(name: &str, color: Vec3) -> String {
    format!("<rgb name=\"{name}\" value=\"{}, {}, {}\"/>", color.x, color.y, color.z)
}

fn lights(source: &Source) -> String {
    let mut text = String::new();
    if let Some(sun) = &source.scene.lights.sun {
        let d = -sun.direction;
        let _ = writeln!(
            text,
            "    <emitter type=\"directional\">\n        <vector name=\"direction\" value=\"{}, {}, {}\"/>\n        \
             {}\n    </emitter>",
            d.x,
            d.y,
            d.z,
            rgb("irradiance", linear_color(sun.color))
        );
    }
    for light in &source.scene.lights.area {
        let AreaLightAxes { x, y, normal } = AreaLightAxes::of(light);
        let c = light.center.as_vec3();
        let _ = writeln!(
            text,
            "    <shape type=\"rectangle\">\n        <transform name=\"to_world\">\n            \
             <matrix value=\"{} {} {} {} {} {} {} {} {} {} {} {} 0 0 0 1\"/>\n        \
             </transform>\n        <emitter type=\"area\">{}</emitter>\n    </shape>",
            x.x,
            y.x,
            normal.x,
            c.x,
            x.y,
            y.y,
            normal.y,
            c.y,
            x.z,
            y.z,
            normal.z,
            c.z,
            rgb("radiance", linear_color(light.color))
        );
    }
    text
}

fn liquid_material(liquid: &LiquidParameters) -> String {
    match liquid.opaque {
        Some(color) if liquid.metal => format!(
            "\n    <bsdf type=\"conductor\" id=\"liquid\">\n        \
             <string name=\"material\" value=\"none\"/>\n        {}\n    </bsdf>\n",
            rgb("specular_reflectance", color)
        ),
        Some(color) => format!(
            "\n    <bsdf type=\"plastic\" id=\"liquid\">\n        <float name=\"int_ior\" value=\"{}\"/>\n        \
             {}\n    </bsdf>\n",
            liquid.index,
            rgb("diffuse_reflectance", color)
        ),
        None => {
            let mut text = format!(
                "\n    <bsdf type=\"dielectric\" id=\"liquid\">\n        \
                 <float name=\"int_ior\" value=\"{}\"/>\n        <float name=\"ext_ior\" value=\"1\"/>\n    </bsdf>\n",
                liquid.index
            );
            if liquid.absorption.max_element() > VISIBLE_ABSORPTION {
                let _ = write!(
                    text,
                    "    <medium type=\"homogeneous\" id=\"inside\">\n        {}\n        {}\n    </medium>\n",
                    rgb("sigma_t", liquid.absorption),
                    rgb("albedo", Vec3::ZERO)
                );
            }
            text
        }
    }
}

fn shape(file: &str, bsdf: &str, medium: bool) -> String {
    let (file, bsdf) = (xml::text(file), xml::text(bsdf));
    let inside = if medium { "\n        <ref name=\"interior\" id=\"inside\"/>" } else { "" };
    format!(
        "    <shape type=\"ply\">\n        <string name=\"filename\" value=\"{file}\"/>\n        \
         <ref id=\"{bsdf}\"/>{inside}\n    </shape>\n"
    )
}

/// Material of a solid, blended with that of a wet surface by the mask.
fn solid_material(material: &SolidMaterial, wet: Option<&str>) -> String {
    let id = xml::text(&format!("solid-{}", material.name));
    if let Some(index) = material.glass {
        let kind = if material.closed { "dielectric" } else { "thindielectric" };
        let tint = material.surface_tint();
        let tint = if tint == Vec3::ONE { String::new() } else { rgb("specular_transmittance", tint) };
        return format!(
            "\n    <bsdf type=\"{kind}\" id=\"{id}\">\n        <float name=\"int_ior\" value=\"{index}\"/>{tint}\n    \
             </bsdf>\n"
        );
    }
    let dry = opaque(material, material.color, material.alpha, material.coat);
    let Some(mask) = wet.filter(|_| !material.is_metal()) else {
        let dry = with_relief(material, dry);
        return format!("\n    <bsdf type=\"twosided\" id=\"{id}\">\n        {dry}\n    </bsdf>\n");
    };
    let mask = xml::text(mask);
    let film_index = material.coat.unwrap_or(FILM_INDEX).max(FILM_INDEX);
    let film = opaque(material, material.wet_color(), FILM_ALPHA.min(material.alpha), Some(film_index));
    let blend = format!(
        "<bsdf type=\"blendbsdf\">\n            \
         <texture name=\"weight\" type=\"bitmap\">\n                \
         <string name=\"filename\" value=\"{mask}\"/>\n                \
         <boolean name=\"raw\" value=\"true\"/>\n                \
         <string name=\"wrap_mode\" value=\"clamp\"/>\n            \
         </texture>\n            {dry}\n            {film}\n        </bsdf>"
    );
    let blend = with_relief(material, blend);
    format!("\n    <bsdf type=\"twosided\" id=\"{id}\">\n        {blend}\n    </bsdf>\n")
}

/// A material with the relief of the solid's normal map.
fn with_relief(material: &SolidMaterial, bsdf: String) -> String {
    let Some(file) = &material.normal_map else { return bsdf };
    let file = xml::text(file);
    format!(
        "<bsdf type=\"normalmap\">\n            <texture name=\"normalmap\" type=\"bitmap\">\n                \
         <string name=\"filename\" value=\"{file}\"/>\n                \
         <boolean name=\"raw\" value=\"true\"/>\n            </texture>\n            {bsdf}\n        </bsdf>"
    )
}

fn opaque(material: &SolidMaterial, color: Vec3, alpha: f32, coat: Option<f32>) -> String {
    let color_input = |name: &str| match &material.texture {
        Some(file) => {
            let file = xml::text(file);
            format!("<texture name=\"{name}\" type=\"bitmap\"><string name=\"filename\" value=\"{file}\"/></texture>")
        }
        None => rgb(name, color),
    };
    if material.metallic > 0.0 {
        let metal = format!(
            "<bsdf type=\"roughconductor\"><string name=\"material\" value=\"none\"/><string name=\"distribution\" value=\"ggx\"/><float name=\"alpha\" value=\"{alpha}\"/>{}</bsdf>",
            color_input("specular_reflectance")
        );
        if material.is_metal() {
            return metal;
        }
        let dielectric = opaque(&SolidMaterial { metallic: 0.0, ..material.clone() }, color, alpha, coat);
        return format!(
            "<bsdf type=\"blendbsdf\"><float name=\"weight\" value=\"{}\"/>{dielectric}{metal}</bsdf>",
            material.metallic
        );
    }
    match coat {
        Some(index) => format!(
            "<bsdf type=\"roughplastic\"><string name=\"distribution\" value=\"ggx\"/><float name=\"alpha\" value=\"{alpha}\"/><float name=\"int_ior\" value=\"{index}\"/>{}</bsdf>",
            color_input("diffuse_reflectance")
        ),
        None => format!("<bsdf type=\"diffuse\">{}</bsdf>", color_input("reflectance")),
    }
}
