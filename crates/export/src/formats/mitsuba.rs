//! Mitsuba 3: one XML scene per frame, with meshes and images beside it. `mitsuba 00000.xml` renders it in linear light, in the units of our own pictures.

use std::fmt::Write;

use glam::Vec3;
use sessile_appearance::orthonormal_basis;
use sessile_frames::names::frame_file;

use crate::drawn;
use crate::error::ExportError;
use crate::job::Job;
use crate::looks::{LiquidShade, SolidLook};
use crate::sky::write_environment;
use crate::source::Source;
use crate::stagecraft::Stagecraft;

/// Most bounces of light: enough to pass through a drop that shines into another.
const BOUNCES: u32 = 24;

/// Absorption, in 1/m, from which on light must be followed through the liquid; less is not seen in drops.
const COLORED: f32 = 5.0;

/// Diffuse light under a water surface that the surface throws back (lekner1988), and roughness α of a film: as in our own pictures.
const INNER_REFLECTANCE: f32 = 0.47;
const FILM_ALPHA: f32 = 0.03;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let source = job.source;
    let stagecraft = Stagecraft::new(job, true)?;
    let sky = write_environment(job, "textures/environment.hdr")?;
    job.each_shot(|shot| {
        let world = source.world_at(shot.time);
        stagecraft.moving_solids(shot.frame, &world, true)?;
        let liquid = drawn::liquid(&shot.liquid, &stagecraft.looks, &world);
        let mesh = format!("liquid/{}", frame_file(shot.frame, "ply"));
        stagecraft.put(&mesh, &liquid.ply(true))?;
        let mut text = head(source, shot.frame, &stagecraft.looks.shade());
        let _ = write!(
            text,
            "\n    <emitter type=\"envmap\">\n        <string name=\"filename\" value=\"{sky}\"/>\n    </emitter>\n"
        );
        text += &lights(source);
        text += &water(&stagecraft.looks.shade());
        if !liquid.triangles.is_empty() {
            text += &shape(&mesh, "liquid", stagecraft.looks.shade().absorption.max_element() > COLORED);
        }
        for (index, look) in stagecraft.looks.solids.iter().enumerate() {
            let wet = stagecraft.wet_mask(index, shot.frame)?;
            text += &material(look, wet.as_deref());
            text += &shape(&stagecraft.solid_file(index, shot.frame), &format!("solid-{}", look.name), false);
        }
        text += "</scene>\n";
        stagecraft.put(&frame_file(shot.frame, "xml"), text.as_bytes())
    })
}

fn head(source: &Source, frame: u64, shade: &LiquidShade) -> String {
    let camera = source.camera_at(frame);
    let [width, height] = source.scene.render.size;
    let integrator = if shade.absorption.max_element() > COLORED { "volpath" } else { "path" };
    let point = |p: glam::DVec3| format!("{}, {}, {}", p.x, p.y, p.z);
    let (kind, lens) = if camera.lens_radius > 0.0 {
        let focus = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
        let lens = format!(
            "        <float name=\"aperture_radius\" value=\"{}\"/>\n        <float name=\"focus_distance\" value=\"{focus}\"/>\n",
            camera.lens_radius
        );
        ("thinlens", lens)
    } else {
        ("perspective", String::new())
    };
    // Drops are millimeters: the planes that nothing is seen beyond must be nearer than Mitsuba's own.
    let distance = camera.eye.distance(camera.look_at);
    format!(
        r#"<scene version="3.0.0">
    <!-- {title}, frame {frame}, by sessile -->
    <integrator type="{integrator}">
        <integer name="max_depth" value="{BOUNCES}"/>
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
        title = source.scene.title.replace("--", "–").replace(['<', '>', '&'], " "),
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
    let color = |c: [f64; 3]| Vec3::from_array(c.map(|c| c as f32));
    let mut text = String::new();
    if let Some(sun) = &source.scene.lights.sun {
        let d = -sun.direction;
        let _ = writeln!(
            text,
            "    <emitter type=\"directional\">\n        <vector name=\"direction\" value=\"{}, {}, {}\"/>\n        {}\n    </emitter>",
            d.x,
            d.y,
            d.z,
            rgb("irradiance", color(sun.color))
        );
    }
    for lamp in &source.scene.lights.area {
        let normal = (lamp.look_at - lamp.center).normalize_or(glam::DVec3::NEG_Y).as_vec3();
        let [x, y] = orthonormal_basis(normal).map(|side| side * (0.5 * lamp.size) as f32);
        let c = lamp.center.as_vec3();
        let _ = writeln!(
            text,
            "    <shape type=\"rectangle\">\n        <transform name=\"to_world\">\n            <matrix value=\"{} {} {} {} {} {} {} {} {} {} {} {} 0 0 0 1\"/>\n        \
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
            rgb("radiance", color(lamp.color))
        );
    }
    text
}

fn water(shade: &LiquidShade) -> String {
    match shade.opaque {
        Some(color) if shade.metal => format!(
            "\n    <bsdf type=\"conductor\" id=\"liquid\">\n        <string name=\"material\" value=\"none\"/>\n        {}\n    </bsdf>\n",
            rgb("specular_reflectance", color)
        ),
        Some(color) => format!(
            "\n    <bsdf type=\"plastic\" id=\"liquid\">\n        <float name=\"int_ior\" value=\"{}\"/>\n        {}\n    </bsdf>\n",
            shade.index,
            rgb("diffuse_reflectance", color)
        ),
        None => {
            let mut text = format!(
                "\n    <bsdf type=\"dielectric\" id=\"liquid\">\n        <float name=\"int_ior\" value=\"{}\"/>\n        <float name=\"ext_ior\" value=\"1\"/>\n    </bsdf>\n",
                shade.index
            );
            if shade.absorption.max_element() > COLORED {
                let _ = write!(
                    text,
                    "    <medium type=\"homogeneous\" id=\"inside\">\n        {}\n        {}\n    </medium>\n",
                    rgb("sigma_t", shade.absorption),
                    rgb("albedo", Vec3::ZERO)
                );
            }
            text
        }
    }
}

fn shape(file: &str, bsdf: &str, medium: bool) -> String {
    let inside = if medium { "\n        <ref name=\"interior\" id=\"inside\"/>" } else { "" };
    format!(
        "    <shape type=\"ply\">\n        <string name=\"filename\" value=\"{file}\"/>\n        <ref id=\"{bsdf}\"/>{inside}\n    </shape>\n"
    )
}

/// A solid's material; where it is wet, a smoother and darker one shows.
fn material(look: &SolidLook, wet: Option<&str>) -> String {
    let id = format!("solid-{}", look.name);
    if let Some(index) = look.glass {
        let kind = if look.body { "dielectric" } else { "thindielectric" };
        return format!(
            "\n    <bsdf type=\"{kind}\" id=\"{id}\">\n        <float name=\"int_ior\" value=\"{index}\"/>\n    </bsdf>\n"
        );
    }
    let dry = opaque(look, look.color, look.alpha, look.coat);
    let Some(mask) = wet.filter(|_| !look.metal) else {
        return format!("\n    <bsdf type=\"twosided\" id=\"{id}\">\n        {dry}\n    </bsdf>\n");
    };
    let p = INNER_REFLECTANCE * look.porosity;
    let color = look.color * (1.0 - p) / (Vec3::ONE - p * look.color);
    let film = opaque(look, color, FILM_ALPHA.min(look.alpha), Some(look.coat.unwrap_or(1.33).max(1.33)));
    format!(
        "\n    <bsdf type=\"twosided\" id=\"{id}\">\n        <bsdf type=\"blendbsdf\">\n            <texture name=\"weight\" type=\"bitmap\">\n                \
         <string name=\"filename\" value=\"{mask}\"/>\n                <boolean name=\"raw\" value=\"true\"/>\n                <string name=\"wrap_mode\" value=\"clamp\"/>\n            \
         </texture>\n            {dry}\n            {film}\n        </bsdf>\n    </bsdf>\n"
    )
}

fn opaque(look: &SolidLook, color: Vec3, alpha: f32, coat: Option<f32>) -> String {
    let paint = |name: &str| match &look.texture {
        Some(file) => {
            format!("<texture name=\"{name}\" type=\"bitmap\"><string name=\"filename\" value=\"{file}\"/></texture>")
        }
        None => rgb(name, color),
    };
    if look.metal {
        return format!(
            "<bsdf type=\"roughconductor\"><string name=\"material\" value=\"none\"/><string name=\"distribution\" value=\"ggx\"/><float name=\"alpha\" value=\"{alpha}\"/>{}</bsdf>",
            paint("specular_reflectance")
        );
    }
    match coat {
        Some(index) => format!(
            "<bsdf type=\"roughplastic\"><string name=\"distribution\" value=\"ggx\"/><float name=\"alpha\" value=\"{alpha}\"/><float name=\"int_ior\" value=\"{index}\"/>{}</bsdf>",
            paint("diffuse_reflectance")
        ),
        None => format!("<bsdf type=\"diffuse\">{}</bsdf>", paint("reflectance")),
    }
}
