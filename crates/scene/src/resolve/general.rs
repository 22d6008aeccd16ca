//! Time, liquid, domain and resolution.

use glam::DVec3;
use sessile_wetting::{Liquid, LiquidPreset};

use super::equivalent_radius;
use crate::diagnostics::Diagnostic;
use crate::field::Fields;
use crate::presets;
use crate::print::quantity_text;
use crate::quantities::TIME;
use crate::reader::Section;
use crate::types::{Domain, Drop, DropShape, Emitter, EmitterKind, MeshScale, RainSizes, Resolution, Side, Time};
use crate::units::is_sensible;

/// Maximum number of frames of a run.
const MOST_FRAMES: f64 = 1e6;

pub(super) fn time(top: &Section<'_>) -> Time {
    let section = top.section("time");
    let time = Time::read(&section);
    if let (Some(duration), Some(frame)) = (section.given::<f64>("duration"), section.given::<f64>("frame")) {
        check_frames(&section, duration, frame);
    }
    time
}

/// Records a duration that is not an integer number of frames, or of too many.
fn check_frames(section: &Section<'_>, duration: f64, frame: f64) {
    let frames = duration / frame;
    if frames > MOST_FRAMES {
        section.complain(
            "duration",
            format!("a run has at most {MOST_FRAMES} frames, but this one has {frames:.3e}"),
            "too many frames",
        );
    } else if frames.round() < 1.0 || (frames - frames.round()).abs() > 1e-9 * frames {
        let below = frames.floor().max(1.0);
        // Twelve digits hide the rounding of the product.
        let tidy = |t: f64| format!("{t:.11e}").parse().unwrap_or(t);
        let show = |n: f64| quantity_text(tidy(n * frame), &TIME);
        section.cx.error(
            Diagnostic::new(&section.place_of("duration"), "`duration` must be an integer number of frames")
                .label(format!("{frames:.6} frames"))
                .other(&section.place_of("frame"), "the time between two frames")
                .help(format!("the nearest are \"{}\" and \"{}\"", show(below), show(below + 1.0))),
        );
    }
}

pub(super) fn liquid(top: &Section<'_>) -> (Liquid, &'static LiquidPreset) {
    let section = top.section("liquid");
    let name: String = section.value("preset");
    let found = presets::liquid(&name);
    if found.is_none() && section.given::<String>("preset").is_some() {
        let many = "`sessile liquids` lists them";
        section.unknown_word("preset", &name, "the liquid's preset", presets::liquid_names(), many);
    }
    let preset = found.unwrap_or_else(presets::default_liquid);
    let liquid = Liquid {
        density: section.get("density").unwrap_or(preset.liquid.density),
        viscosity: section.get("viscosity").unwrap_or(preset.liquid.viscosity),
        surface_tension: section.get("surface_tension").unwrap_or(preset.liquid.surface_tension),
        refractive_index: section.get("refractive_index").unwrap_or(preset.liquid.refractive_index),
    };
    section.finish();
    (liquid, preset)
}

pub(super) fn domain(top: &Section<'_>) -> Option<Domain> {
    let section = top.section("domain");
    if !section.present() {
        return None;
    }
    let (min, max) = corners(&section);
    let sides: [Side; 3] = ["x", "y", "z"].map(|key| section.value(key));
    let wall_material = section.get("wall_material");
    section.finish();
    Some(Domain { min, max, sides, wall_material })
}

/// `min` and `max`; each coordinate of `min` must be below that of `max`.
pub(super) fn corners(section: &Section<'_>) -> (DVec3, DVec3) {
    let corners = (section.get::<DVec3>("min"), section.get::<DVec3>("max"));
    let (Some(min), Some(max)) = corners else { return (DVec3::ZERO, DVec3::ONE) };
    let wrong: Vec<&str> = ["x", "y", "z"]
        .into_iter()
        .enumerate()
        .filter(|(axis, _)| min[*axis] >= max[*axis])
        .map(|(_, name)| name)
        .collect();
    if !wrong.is_empty() {
        section.cx.error(
            Diagnostic::new(&section.place_of("min"), format!("`min` must be below `max` in {}", wrong.join(" and ")))
                .label("the lower corner")
                .other(&section.place_of("max"), "the upper corner"),
        );
    }
    (min, max)
}

/// Cells across the smallest drop, by default.
const CELLS_ACROSS: f64 = 20.0;

pub(super) fn resolution(top: &Section<'_>, drops: &[Drop], emitters: &[Emitter]) -> Resolution {
    let resolution = Resolution::read(&top.section("resolution"));
    let diameters = drops.iter().filter_map(drop_diameter).chain(emitters.iter().filter_map(emitter_diameter));
    let derived = diameters.min_by(f64::total_cmp).map(|d| d / CELLS_ACROSS).filter(|cell| is_sensible(*cell));
    Resolution { cell: resolution.cell.or(derived), ..resolution }
}

/// The smallest extent of a drop that cells must resolve, in m.
fn drop_diameter(drop: &Drop) -> Option<f64> {
    match &drop.shape {
        DropShape::Sphere { amount, .. } | DropShape::Cap { amount, .. } => Some(2.0 * equivalent_radius(*amount)),
        DropShape::Box { min, max } => Some((*max - *min).min_element()),
        DropShape::Cylinder { radius, .. } => Some(2.0 * radius),
        DropShape::Mesh { scale: MeshScale::Height(height), .. } => Some(*height),
        DropShape::Mesh { scale: MeshScale::Factor(_), .. } => None,
    }
}

fn emitter_diameter(emitter: &Emitter) -> Option<f64> {
    match &emitter.kind {
        EmitterKind::Drip { radius, .. } | EmitterKind::Tap { radius, .. } => Some(2.0 * radius),
        EmitterKind::Rain { sizes: RainSizes::Uniform { min, .. }, .. } => Some(2.0 * min),
        EmitterKind::Rain { .. } | EmitterKind::Dew { .. } | EmitterKind::Feed { .. } => None,
    }
}
