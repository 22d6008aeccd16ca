//! Camera, ground and lights for models that have none.
//!
//! Water is seen by its highlights and by what it refracts, so a model without a camera is set up
//! as a photographer would: a three-quarter view from the front and slightly above, on a dark
//! glossy ground, with one small bright light, a second one behind that draws bright rims, and a
//! lens wide enough to blur the background.

use std::fmt::Write;

use glam::DVec3;

use crate::model::Model;

/// Direction from the model to the camera: 35° to the right of the front, 16° above.
const TOWARDS_CAMERA: DVec3 = DVec3::new(0.551, 0.276, 0.787);

/// Vertical field of view, in degrees.
const FOV: f64 = 30.0;

/// Distance to the camera over the diameter of its aperture.
const DISTANCE_PER_APERTURE: f64 = 80.0;

/// Bound on positions and sizes of models that are staged, in m.
const FARTHEST: f64 = 1e6;

/// A part whose height is less than this fraction of its width lies flat, and is a ground if it is
/// as wide as the model and at its bottom.
const FLAT: f64 = 0.02;

/// Writes what a model without a camera lacks.
pub fn write_staging(text: &mut String, model: &Model, names: &[String]) {
    let [low, high] = model.bounds();
    let (middle, radius) = (0.5 * (low + high), 0.5 * (high - low).length());
    if !(middle.abs().max_element() < FARTHEST && radius > 0.0 && radius < FARTHEST) {
        return;
    }
    if !has_ground(model, low, high) {
        let name = if names.iter().any(|name| name == "ground") { "ground plane" } else { "ground" };
        let at = DVec3::new(middle.x, low.y, middle.z);
        let _ = write!(
            text,
            "# The model has no ground: remove this if it hangs or flies.\n[[solids]]\nname = \"{name}\"\n\
             material = \"acrylic\"\nshape = \"plane\"\npoint = \"{}\"\nsize = \"{1} {1} mm\"\nlook = \"rubber\"\n\n",
            millimeters(at),
            rounded(8e3 * radius)
        );
    }
    let distance = 1.1 * radius / (0.5 * FOV.to_radians()).sin();
    let light_at = |direction: DVec3| millimeters(middle + 4.0 * radius * direction.normalize());
    let _ = write!(
        text,
        "# The model has no camera: a three-quarter view, with a small bright light and one behind for bright rims.\n\
         [camera]\nposition = \"{}\"\nlook_at = \"{}\"\nfov = \"{FOV} deg\"\naperture = \"{} mm\"\n\n\
         [lights]\nenvironment = \"studio\"\nstrength = 0.5\n\n\
         [[lights.area]]\ncenter = \"{}\"\nlook_at = \"{}\"\nsize = \"{} mm\"\ncolor = [250, 240, 225]\n\n\
         [[lights.area]]\ncenter = \"{}\"\nlook_at = \"{}\"\nsize = \"{} mm\"\ncolor = [260, 280, 310]\n\n",
        millimeters(middle + distance * TOWARDS_CAMERA.normalize()),
        millimeters(middle),
        rounded(1e3 * distance / DISTANCE_PER_APERTURE),
        light_at(DVec3::new(-0.7, 1.0, 0.6)),
        millimeters(middle),
        rounded(400.0 * radius),
        light_at(DVec3::new(-0.3, 0.8, -1.0)),
        millimeters(middle),
        rounded(400.0 * radius),
    );
}

/// Whether a flat part at the bottom is as wide as the model.
fn has_ground(model: &Model, low: DVec3, high: DVec3) -> bool {
    let extent = high - low;
    model.parts.iter().any(|part| {
        let positions = || part.mesh.positions.iter().copied();
        let (bottom, top) =
            (positions().fold(DVec3::INFINITY, DVec3::min), positions().fold(-DVec3::INFINITY, DVec3::max));
        let size = top - bottom;
        let width = size.x.min(size.z);
        width > 0.0
            && size.y < FLAT * width
            && size.x.max(size.z) > 0.9 * extent.x.max(extent.z)
            && bottom.y < low.y + FLAT * width
    })
}

fn millimeters(point: DVec3) -> String {
    let [x, y, z] = point.to_array().map(|length| rounded(length * 1e3));
    format!("{x} {y} {z} mm")
}

/// The value rounded to four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
