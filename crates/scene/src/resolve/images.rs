//! Camera and lights.

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::types::{AreaLight, Camera};

pub(crate) fn check_camera(section: &Section<'_>, camera: &mut Camera) {
    check_direction(section, "position", camera.position, camera.look_at);
}

pub(crate) fn check_area_light(section: &Section<'_>, light: &mut AreaLight) {
    check_direction(section, "center", section.given::<DVec3>("center"), Some(light.look_at));
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
