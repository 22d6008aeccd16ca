//! Camera and lights.

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::field::Fields;
use crate::reader::Section;
use crate::types::{Camera, Lights};

pub(super) fn camera(top: &Section<'_>) -> Camera {
    let section = top.section("camera");
    let camera = Camera::read(&section);
    check_direction(&section, "position", camera.position, camera.look_at);
    camera
}

pub(super) fn lights(top: &Section<'_>) -> Lights {
    let section = top.section("lights");
    let lights = Lights::read(&section);
    for (light, inner) in lights.area.iter().zip(section.sections("area")) {
        check_direction(&inner, "center", inner.given::<DVec3>("center"), Some(light.look_at));
    }
    lights
}

/// Records a camera or light that faces its own position.
fn check_direction(section: &Section<'_>, key: &str, from: Option<DVec3>, to: Option<DVec3>) {
    if from.is_none() || from != to {
        return;
    }
    let message = format!("`{key}` and `look_at` must differ");
    let mut diagnostic = Diagnostic::new(&section.place_of(key), message).label("no viewing direction");
    if section.has("look_at") {
        diagnostic = diagnostic.other(&section.place_of("look_at"), "the same point");
    }
    section.cx.error(diagnostic);
}
