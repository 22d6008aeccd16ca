//! Time, liquid, world, domain, resolution and output.

use glam::DVec3;
use sessile_wetting::{Liquid, LiquidPreset};

use super::radius_of;
use crate::diagnostics::Diagnostic;
use crate::presets;
use crate::quantities::{ACCELERATION, DENSITY, LENGTH, Sign, TENSION, TIME, VELOCITY, VISCOSITY};
use crate::reader::Section;
use crate::schema;
use crate::tree::Value;
use crate::types::{
    Domain, Drop, DropShape, Emitter, EmitterKind, Keyed, MeshScale, Output, RainSizes, Resolution, Side, Time,
    WorldSettings,
};
use crate::units::is_sensible;

/// Frames are numbered in file names and in memory; nobody can use more.
const MOST_FRAMES: f64 = 1e6;

pub(super) fn time(top: &Section<'_>) -> Time {
    let section = top.section("time", &schema::TIME);
    section.require("duration", "\"30 ms\"");
    section.require("frame", "\"1 ms\"");
    let duration = section.quantity("duration", &TIME, Sign::Positive);
    let frame = section.quantity("frame", &TIME, Sign::Positive);
    let settle = section.flag("settle").unwrap_or(false);
    if let (Some(duration), Some(frame)) = (duration, frame) {
        let frames = duration / frame;
        if frames > MOST_FRAMES {
            section.complain(
                "duration",
                format!("a run has at most 1000000 frames, but here are {frames:.3e}"),
                "too many frames",
            );
        } else if frames.round() < 1.0 || (frames - frames.round()).abs() > 1e-9 * frames {
            let below = frames.floor().max(1.0);
            // Twelve digits hide the rounding of the product.
            let tidy = |t: f64| format!("{t:.11e}").parse().unwrap_or(t);
            let show = |n: f64| crate::print::quantity_text(tidy(n * frame), &TIME);
            section.cx.error(
                Diagnostic::new(&section.place_of("duration"), "`duration` must be a whole number of frames")
                    .label(format!("{frames:.6} frames"))
                    .other(&section.place_of("frame"), "the time between two frames")
                    .help(format!("the nearest are \"{}\" and \"{}\"", show(below), show(below + 1.0))),
            );
        }
    }
    section.finish();
    Time { duration: duration.unwrap_or(1.0), frame: frame.unwrap_or(1.0), settle }
}

pub(super) fn liquid(top: &Section<'_>) -> (Liquid, &'static LiquidPreset) {
    let section = top.section("liquid", &schema::LIQUID);
    let named = section.text("preset").and_then(|name| {
        let found = presets::liquid(&name);
        if found.is_none() {
            section.unknown_word(
                "preset",
                &name,
                "the liquid's preset",
                presets::liquid_names(),
                "`sessile liquids` lists them",
            );
        }
        found
    });
    let preset = named.unwrap_or_else(presets::default_liquid);
    let mut liquid = preset.liquid;
    for (key, kind, value) in [
        ("density", &DENSITY, &mut liquid.density),
        ("viscosity", &VISCOSITY, &mut liquid.viscosity),
        ("surface_tension", &TENSION, &mut liquid.surface_tension),
    ] {
        if let Some(given) = section.quantity(key, kind, Sign::Positive) {
            *value = given;
        }
    }
    if let Some(index) = section.number_where("refractive_index", "from 1 to 10", |n| (1.0..=10.0).contains(&n)) {
        liquid.refractive_index = index;
    }
    section.finish();
    (liquid, preset)
}

pub(super) fn world(top: &Section<'_>) -> WorldSettings {
    let section = top.section("world", &schema::WORLD);
    let standard = DVec3::new(0.0, -9.8, 0.0);
    let gravity = match section.node("gravity").map(|n| &n.value) {
        Some(Value::List(list)) if list.iter().any(|n| matches!(n.value, Value::Table(_))) || list.is_empty() => {
            keyed_gravity(&section)
        }
        _ => vec![(0.0, section.vector("gravity", &ACCELERATION).unwrap_or(standard))],
    };
    let wind = section.vector("wind", &VELOCITY).unwrap_or(DVec3::ZERO);
    let planar = section.flag("planar").unwrap_or(false);
    section.finish();
    WorldSettings { gravity: Keyed { keys: gravity }, wind, planar }
}

fn keyed_gravity(section: &Section<'_>) -> Vec<(f64, DVec3)> {
    let mut keys: Vec<(f64, DVec3)> = Vec::new();
    let sections = section.sections("gravity", &schema::GRAVITY_KEY);
    if sections.is_empty() {
        section.complain("gravity", "`gravity` needs at least one key", "an empty list");
    }
    for key in &sections {
        key.require("at", "\"0 s\"");
        key.require("value", "\"0 -9.8 0 m/s^2\"");
        let at = key.quantity("at", &TIME, Sign::Any);
        let value = key.vector("value", &ACCELERATION);
        if let Some(at) = at {
            rising(key, keys.last().map(|k| k.0), at);
            keys.push((at, value.unwrap_or(DVec3::ZERO)));
        }
        key.finish();
    }
    if keys.is_empty() {
        keys.push((0.0, DVec3::ZERO));
    }
    keys
}

/// Records a key that is not later than the one before it.
pub(super) fn rising(key: &Section<'_>, before: Option<f64>, at: f64) {
    if before.is_some_and(|before| at <= before) {
        let before = crate::print::quantity_text(before.unwrap_or(0.0), &TIME);
        key.complain("at", "the times of keys must rise", format!("not later than the key before, at {before}"));
    }
}

pub(super) fn domain(top: &Section<'_>) -> Option<Domain> {
    let section = top.section("domain", &schema::DOMAIN);
    if !section.present() {
        return None;
    }
    let (min, max) = corners(&section);
    let sides = ["x", "y", "z"].map(|key| section.word(key).unwrap_or(Side::Open));
    let wall_material = section.text("wall_material");
    section.finish();
    Some(Domain { min, max, sides, wall_material })
}

/// `min` and `max`, each coordinate of `min` below that of `max`.
pub(super) fn corners(section: &Section<'_>) -> (DVec3, DVec3) {
    section.require("min", "\"-5 0 -5 mm\"");
    section.require("max", "\"5 10 5 mm\"");
    let (Some(min), Some(max)) = (section.vector("min", &LENGTH), section.vector("max", &LENGTH)) else {
        return (DVec3::ZERO, DVec3::ONE);
    };
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

/// Cells across the smallest drop, when the scene says nothing.
const CELLS_ACROSS: f64 = 20.0;
/// The shortest edge, when the scene says nothing, in m.
const EDGE: f64 = 0.4e-3;

pub(super) fn resolution(top: &Section<'_>, drops: &[Drop], emitters: &[Emitter]) -> Resolution {
    let section = top.section("resolution", &schema::RESOLUTION);
    let across = drops
        .iter()
        .filter_map(drop_diameter)
        .chain(emitters.iter().filter_map(emitter_diameter))
        .min_by(f64::total_cmp);
    let cell = section
        .quantity("cell", &LENGTH, Sign::Positive)
        .or_else(|| across.map(|d| d / CELLS_ACROSS).filter(|cell| is_sensible(*cell)));
    let edge = section.quantity("edge", &LENGTH, Sign::Positive).unwrap_or(EDGE);
    section.finish();
    Resolution { cell, edge }
}

/// The smallest extent that a drop's cells must resolve, in m.
fn drop_diameter(drop: &Drop) -> Option<f64> {
    match &drop.shape {
        DropShape::Sphere { amount, .. } | DropShape::Cap { amount, .. } => Some(2.0 * radius_of(*amount)),
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

pub(super) fn output(top: &Section<'_>) -> Output {
    let section = top.section("output", &schema::OUTPUT);
    let fields = section.flag("fields").unwrap_or(false);
    section.finish();
    Output { fields }
}
