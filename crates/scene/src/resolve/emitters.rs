//! Emitters: sources of liquid.

use glam::DVec3;

use super::basics::corners;
use super::{SolidNames, UNKNOWN, is_planar};
use crate::diagnostics::Diagnostic;
use crate::quantities::{DEW, FEED, LENGTH, PLANAR_FEED, RAIN, Sign, TIME, VELOCITY};
use crate::reader::Section;
use crate::schema;
use crate::tree::Value;
use crate::types::{Emitter, EmitterKind, RainArea, RainSizes, Solid, WorldSettings};

#[derive(Clone, Copy)]
enum Kind {
    Drip,
    Tap,
    Rain,
    Dew,
    Feed,
}

const KINDS: &[(&str, Kind)] =
    &[("drip", Kind::Drip), ("tap", Kind::Tap), ("rain", Kind::Rain), ("dew", Kind::Dew), ("feed", Kind::Feed)];

pub(super) fn read(top: &Section<'_>, world: &WorldSettings, solids: &[Solid], names: &SolidNames) -> Vec<Emitter> {
    top.sections("emitters", &schema::EMITTER)
        .iter()
        .map(|section| {
            let kind = if section.has("kind") { section.choice("kind", KINDS) } else { Some(KINDS[0]) };
            let kind = kind.map(|(name, kind)| {
                section.set_variant(name);
                read_kind(section, kind, world, solids, names)
            });
            let start = section.quantity("start", &TIME, Sign::Any).unwrap_or(0.0);
            let stop = stop(section);
            if stop <= start {
                section.cx.error(
                    Diagnostic::new(&section.place_of("stop"), "`stop` must be after `start`")
                        .label("not after")
                        .other(&section.place_of("start"), "the start"),
                );
            }
            section.finish();
            let stand_in = EmitterKind::Feed { at: DVec3::ZERO, rate: 0.0 };
            Emitter { kind: kind.unwrap_or(stand_in), start, stop }
        })
        .collect()
}

/// A time, or `"never"`.
fn stop(section: &Section<'_>) -> f64 {
    match section.node("stop").map(|n| &n.value) {
        None => f64::INFINITY,
        Some(Value::Text(text)) if text == "never" => f64::INFINITY,
        Some(_) => section.quantity("stop", &TIME, Sign::Any).unwrap_or(f64::INFINITY),
    }
}

fn read_kind(
    section: &Section<'_>,
    kind: Kind,
    world: &WorldSettings,
    solids: &[Solid],
    names: &SolidNames,
) -> EmitterKind {
    let above = || section.vector("at", &LENGTH).unwrap_or(DVec3::new(0.0, 0.02, 0.0));
    let radius = || section.quantity("radius", &LENGTH, Sign::Positive).unwrap_or(1e-3);
    match kind {
        Kind::Drip => EmitterKind::Drip {
            at: above(),
            radius: radius(),
            every: section.quantity("every", &TIME, Sign::Positive).unwrap_or(1.0),
            velocity: section.vector("velocity", &VELOCITY).unwrap_or(DVec3::ZERO),
        },
        Kind::Tap => EmitterKind::Tap {
            at: above(),
            direction: section.direction("direction").unwrap_or(DVec3::NEG_Y),
            radius: radius(),
            speed: section.quantity("speed", &VELOCITY, Sign::Positive).unwrap_or(0.3),
        },
        Kind::Rain => EmitterKind::Rain {
            over: rain_area(section, solids, names),
            rate: section.quantity("rate", &RAIN, Sign::Positive).unwrap_or(0.02 / 3600.0),
            sizes: rain_sizes(section),
            velocity: section.vector("velocity", &VELOCITY),
        },
        Kind::Dew => EmitterKind::Dew {
            on: names.find(section, "on", solids).unwrap_or(UNKNOWN),
            rate: section.quantity("rate", &DEW, Sign::Positive).unwrap_or(1e-9),
        },
        Kind::Feed => {
            let (kind, example) =
                if is_planar(world) { (&PLANAR_FEED, "\"0.5 mm^2/s\"") } else { (&FEED, "\"0.5 uL/s\"") };
            section.require("at", "\"0 1 0 mm\"");
            section.require("rate", example);
            EmitterKind::Feed {
                at: section.vector("at", &LENGTH).unwrap_or(DVec3::ZERO),
                rate: section.quantity("rate", kind, Sign::Any).unwrap_or(0.0),
            }
        }
    }
}

fn rain_area(section: &Section<'_>, solids: &[Solid], names: &SolidNames) -> RainArea {
    if !matches!(section.node("over").map(|n| &n.value), Some(Value::Table(_))) {
        return RainArea::Solid(names.find(section, "over", solids).unwrap_or(UNKNOWN));
    }
    let area = section.section("over", &schema::RAIN_BOX);
    let (min, max) = corners(&area);
    area.finish();
    RainArea::Box { min, max }
}

/// `{ min, max }`, one size for all, or `"marshall-palmer"`.
fn rain_sizes(section: &Section<'_>) -> RainSizes {
    match section.node("radius").map(|n| &n.value) {
        None => RainSizes::MarshallPalmer,
        Some(Value::Text(text)) if text == "marshall-palmer" => RainSizes::MarshallPalmer,
        Some(Value::Table(_)) => {
            let range = section.section("radius", &schema::RAIN_RADIUS);
            range.require("min", "\"0.2 mm\"");
            range.require("max", "\"1 mm\"");
            let bounds = ["min", "max"].map(|key| range.quantity(key, &LENGTH, Sign::Positive));
            range.finish();
            let [Some(min), Some(max)] = bounds else { return RainSizes::MarshallPalmer };
            if min > max {
                section.cx.error(
                    Diagnostic::new(&range.place_of("min"), "`min` must not exceed `max`")
                        .label("the smallest radius")
                        .other(&range.place_of("max"), "the largest radius"),
                );
            }
            RainSizes::Uniform { min, max }
        }
        Some(_) => section
            .quantity("radius", &LENGTH, Sign::Positive)
            .map_or(RainSizes::MarshallPalmer, |r| RainSizes::Uniform { min: r, max: r }),
    }
}
