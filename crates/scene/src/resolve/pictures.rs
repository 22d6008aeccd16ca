//! Camera, lights and picture settings.

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::quantities::{LENGTH, Sign};
use crate::reader::Section;
use crate::schema;
use crate::tree::Value;
use crate::types::{AreaLight, Camera, EnvironmentMap, EnvironmentPreset, Follow, Lights, Render, Sun};

pub(super) fn camera(top: &Section<'_>) -> Camera {
    let section = top.section("camera", &schema::CAMERA);
    let camera = Camera {
        position: section.vector("position", &LENGTH),
        look_at: section.vector("look_at", &LENGTH),
        fov: section.angle_between("fov", (0.0, 180.0), false).unwrap_or(Camera::default().fov),
        follow: follow(&section),
        aperture: section.quantity("aperture", &LENGTH, Sign::NotNegative).unwrap_or(0.0),
        focus: section.quantity("focus", &LENGTH, Sign::Positive),
    };
    same_point(&section, "position", camera.position, camera.look_at);
    section.finish();
    camera
}

/// A drop by its id, or the largest.
fn follow(section: &Section<'_>) -> Option<Follow> {
    match section.node("follow")?.value {
        Value::Text(_) => section.choice("follow", &[("largest", Follow::Largest)]).map(|(_, follow)| follow),
        _ => section.count("follow", &(1..=u64::from(u32::MAX))).map(|id| Follow::Drop(id as u32)),
    }
}

/// Records an eye, or lamp, that looks at itself.
fn same_point(section: &Section<'_>, key: &str, from: Option<DVec3>, to: Option<DVec3>) {
    if from.is_none() || from != to {
        return;
    }
    let message = format!("`{key}` and `look_at` must differ");
    let mut diagnostic = Diagnostic::new(&section.place_of(key), message).label("looks at itself");
    if section.has("look_at") {
        diagnostic = diagnostic.other(&section.place_of("look_at"), "the same point");
    }
    section.cx.error(diagnostic);
}

pub(super) fn lights(top: &Section<'_>) -> Lights {
    let section = top.section("lights", &schema::LIGHTS);
    let sun = section.section("sun", &schema::SUN);
    let lights = Lights {
        environment: environment(&section),
        strength: section.number_where("strength", "zero or more", |s| s >= 0.0).unwrap_or(1.0),
        sun: sun.present().then(|| Sun {
            direction: sun.direction("direction").unwrap_or(DVec3::new(1.0, 2.0, 1.0).normalize()),
            color: sun.color("color").unwrap_or([1.0; 3]),
            // What the real one spans.
            angle: sun.angle_between("angle", (0.0, 90.0), true).unwrap_or(0.53f64.to_radians()),
        }),
        area: section.sections("area", &schema::AREA_LIGHT).iter().map(area_light).collect(),
    };
    sun.finish();
    section.finish();
    lights
}

fn environment(section: &Section<'_>) -> EnvironmentMap {
    let chosen = if section.names_file("environment") {
        section.file("environment").map(EnvironmentMap::Image)
    } else {
        section.word("environment").map(EnvironmentMap::Preset)
    };
    chosen.unwrap_or(EnvironmentMap::Preset(EnvironmentPreset::Studio))
}

fn area_light(section: &Section<'_>) -> AreaLight {
    section.require("center", "\"0 300 0 mm\"");
    section.require("size", "\"100 mm\"");
    let center = section.vector("center", &LENGTH);
    let look_at = section.vector("look_at", &LENGTH).unwrap_or(DVec3::ZERO);
    same_point(section, "center", center, Some(look_at));
    let light = AreaLight {
        center: center.unwrap_or(DVec3::Y),
        look_at,
        size: section.quantity("size", &LENGTH, Sign::Positive).unwrap_or(1.0),
        color: section.color("color").unwrap_or([1.0; 3]),
    };
    section.finish();
    light
}

pub(super) fn render(top: &Section<'_>) -> Render {
    let section = top.section("render", &schema::RENDER);
    let default = Render::default();
    let between = |key: &str, from: f64, to: f64| {
        section.number_where(key, &format!("from {from} to {to}"), |value| (from..=to).contains(&value))
    };
    let render = Render {
        size: section.count_pair("size", &(1..=16384)).map_or(default.size, |size| size.map(|n| n as u32)),
        samples: section.count("samples", &(1..=1_000_000)).map_or(default.samples, |n| n as u32),
        denoise: section.flag("denoise").unwrap_or(default.denoise),
        shutter: between("shutter", 0.0, 1.0).unwrap_or(default.shutter),
        exposure: between("exposure", 1e-3, 1e3).unwrap_or(default.exposure),
        fps: between("fps", 0.1, 1000.0).unwrap_or(default.fps),
    };
    section.finish();
    render
}
