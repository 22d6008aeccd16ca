//! Emitters: sources of liquid.

use glam::DVec3;

use super::general::corners;
use super::{SolidNames, UNKNOWN};
use crate::diagnostics::Diagnostic;
use crate::quantities::{FEED, PLANAR_FEED};
use crate::reader::Section;
use crate::schema::Range;
use crate::tree::Value;
use crate::types::{Emitter, EmitterKind, EmitterType, RainArea, RainSizes, Solid};

pub(super) fn read(top: &Section<'_>, planar: bool, solids: &[Solid], names: &SolidNames) -> Vec<Emitter> {
    let emitter = |section: &Section<'_>| {
        let placeholder = EmitterKind::Feed { at: DVec3::ZERO, rate: 0.0 };
        let kind = section.select().map_or(placeholder, |kind| read_kind(section, kind, planar, solids, names));
        let (start, stop) = (section.value("start"), stop(section));
        if stop <= start {
            section.cx.error(
                Diagnostic::new(&section.place_of("stop"), "`stop` must be after `start`")
                    .label("not after the start")
                    .other(&section.place_of("start"), "the start"),
            );
        }
        section.finish();
        Emitter { kind, start, stop }
    };
    top.sections("emitters").iter().map(emitter).collect()
}

/// A time, or `"never"`.
fn stop(section: &Section<'_>) -> f64 {
    match section.node("stop").map(|n| &n.value) {
        None => f64::INFINITY,
        Some(Value::Text(text)) if text == "never" => f64::INFINITY,
        Some(_) => section.get("stop").unwrap_or(f64::INFINITY),
    }
}

fn read_kind(
    section: &Section<'_>,
    kind: EmitterType,
    planar: bool,
    solids: &[Solid],
    names: &SolidNames,
) -> EmitterKind {
    match kind {
        EmitterType::Drip => EmitterKind::Drip {
            at: section.value("at"),
            radius: section.value("radius"),
            every: section.value("every"),
            velocity: section.value("velocity"),
        },
        EmitterType::Tap => EmitterKind::Tap {
            at: section.value("at"),
            direction: section.value("direction"),
            radius: section.value("radius"),
            speed: section.value("speed"),
        },
        EmitterType::Rain => EmitterKind::Rain {
            over: rain_area(section, solids, names),
            rate: section.value("rate"),
            sizes: rain_sizes(section),
            velocity: section.get("velocity"),
        },
        EmitterType::Dew => {
            EmitterKind::Dew { on: names.find(section, "on", solids).unwrap_or(UNKNOWN), rate: section.value("rate") }
        }
        EmitterType::Feed => EmitterKind::Feed { at: section.value("at"), rate: feed_rate(section, planar) },
    }
}

/// A volume per time, or in a planar run an area per time.
fn feed_rate(section: &Section<'_>, planar: bool) -> f64 {
    let (kind, example) = if planar { (&PLANAR_FEED, "\"0.5 mm^2/s\"") } else { (&FEED, "\"0.5 uL/s\"") };
    section.require("rate", example);
    section.node("rate").and_then(|node| section.quantity("rate", node, kind, Range::Any)).unwrap_or(0.0)
}

fn rain_area(section: &Section<'_>, solids: &[Solid], names: &SolidNames) -> RainArea {
    if !matches!(section.node("over").map(|n| &n.value), Some(Value::Table(_))) {
        return RainArea::Solid(names.find(section, "over", solids).unwrap_or(UNKNOWN));
    }
    let area = section.section("over");
    let (min, max) = corners(&area);
    area.finish();
    RainArea::Box { min, max }
}

/// `{ min, max }`, one size for all, or `"marshall-palmer"`.
fn rain_sizes(section: &Section<'_>) -> RainSizes {
    match section.node("radius").map(|n| &n.value) {
        None => RainSizes::MarshallPalmer,
        Some(Value::Text(text)) if text == "marshall-palmer" => RainSizes::MarshallPalmer,
        Some(Value::Table(_)) => rain_range(&section.section("radius")),
        Some(_) => section.get("radius").map_or(RainSizes::MarshallPalmer, |r| RainSizes::Uniform { min: r, max: r }),
    }
}

fn rain_range(range: &Section<'_>) -> RainSizes {
    let bounds = ["min", "max"].map(|key| range.get::<f64>(key));
    range.finish();
    let [Some(min), Some(max)] = bounds else { return RainSizes::MarshallPalmer };
    if min > max {
        range.cx.error(
            Diagnostic::new(&range.place_of("min"), "`min` must not exceed `max`")
                .label("the smallest radius")
                .other(&range.place_of("max"), "the largest radius"),
        );
    }
    RainSizes::Uniform { min, max }
}
