//! Camera, lights and picture settings.

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::pictures::{ENVIRONMENTS, names_a_file};
use crate::quantities::{LENGTH, Sign};
use crate::reader::Section;
use crate::schema;
use crate::types::{AreaLight, Camera, Lights, Render, Sun};

pub(super) fn camera(top: &Section<'_>) -> Camera {
    let section = top.section("camera", &schema::CAMERA);
    let camera = Camera {
        position: section.vector("position", &LENGTH),
        look_at: section.vector("look_at", &LENGTH),
        fov: section.angle_between("fov", (0.0, 180.0), false).unwrap_or(35f64.to_radians()),
    };
    same_point(&section, "position", camera.position, camera.look_at);
    section.finish();
    camera
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

fn environment(section: &Section<'_>) -> String {
    let chosen = section.text("environment").and_then(|name| {
        if names_a_file(&name) {
            section.file("environment").map(|path| path.to_string_lossy().into_owned())
        } else {
            section.choice("environment", ENVIRONMENTS).map(|(name, ())| name.to_owned())
        }
    });
    chosen.unwrap_or_else(|| ENVIRONMENTS[0].0.to_owned())
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
    let size = section.count_pair("size", &(1..=16384)).unwrap_or([640, 360]);
    let render = Render {
        size: size.map(|n| n as u32),
        samples: section.count("samples", &(1..=1_000_000)).unwrap_or(64) as u32,
        fps: section.number_where("fps", "more than 0 and at most 1000", |f| f > 0.0 && f <= 1000.0).unwrap_or(30.0),
    };
    section.finish();
    render
}
