//! Camera, lights and the backdrop.

use std::path::Path;

use glam::DVec3;

use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::resolve::solids::check_times;
use crate::types::{AreaLight, Camera, CameraKey, EnvironmentMap, Lights, Render};

pub(crate) fn check_camera(section: &Section<'_>, camera: &mut Camera) {
    check_direction(section, "position", camera.position, camera.look_at);
    check_times(section, "motion");
    for key in ["position", "look_at", "follow"].into_iter().filter(|key| section.has(key) && section.has("motion")) {
        section.cx.error(
            Diagnostic::new(&section.place_of(key), format!("`{key}` and `motion` exclude each other"))
                .label("a camera moves by its keys alone")
                .other(&section.place_of("motion"), "the keys")
                .help("remove one of the two"),
        );
    }
}

pub(crate) fn check_camera_key(section: &Section<'_>, key: &mut CameraKey) {
    check_direction(section, "position", section.given::<DVec3>("position"), Some(key.look_at));
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

/// Extensions of photographs, which have neither all directions nor linear light.
const PHOTOGRAPHS: [&str; 8] = ["jpg", "jpeg", "png", "tif", "tiff", "webp", "heic", "bmp"];

/// Records an ordinary photograph as an environment.
pub(crate) fn check_lights(section: &Section<'_>, lights: &mut Lights) {
    let EnvironmentMap::Image(file) = &lights.environment else { return };
    if !PHOTOGRAPHS.contains(&extension(file).as_str()) {
        return;
    }
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let place = section.place_of("environment");
    let message = "`environment` must be a lat-long image in linear light (.hdr or .exr), not a photograph";
    section.cx.error(Diagnostic::new(&place, message).label("a photograph does not show all directions").help(
        format!("to show it behind the scene, write backdrop = \"{name}\" in [render] and a built-in environment here"),
    ));
}

/// Records a backdrop that cannot be shown.
pub(crate) fn check_render(section: &Section<'_>, render: &mut Render) {
    let Some(file) = &render.backdrop else { return };
    let Some(problem) = section.cx.files.image_problem(file) else { return };
    section.complain("backdrop", format!("`backdrop`: {problem}"), "expected a PNG, JPEG or EXR image");
}

/// A file's extension in lower case.
fn extension(file: &Path) -> String {
    file.extension().map_or_else(String::new, |extension| extension.to_string_lossy().to_ascii_lowercase())
}
