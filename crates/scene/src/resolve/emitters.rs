//! Emitters: formats of their keys, checks.

use super::general::check_corners;
use super::solids::SolidName;
use crate::diagnostics::Diagnostic;
use crate::field::{Field, Format};
use crate::print::{Document, quantity_text, quoted};
use crate::quantities::{FEED, PLANAR_FEED};
use crate::reader::Section;
use crate::schema::Range;
use crate::tree::Value;
use crate::types::{Emitter, RainArea, RainBox, RainRadius, RainSizes};

/// A time, or `"never"` for an infinite one.
pub(crate) struct TimeOrNever;

impl Format<f64> for TimeOrNever {
    fn given(section: &Section<'_>, name: &'static str) -> Option<f64> {
        match section.node(name).map(|n| &n.value) {
            None => None,
            Some(Value::Text(text)) if text == "never" => None,
            Some(_) => section.get(name),
        }
    }

    fn print(time: &f64, out: &mut Document<'_>, name: &'static str) {
        if *time == f64::INFINITY {
            out.raw(name, quoted("never"));
        } else {
            out.value(name, time);
        }
    }

    fn placeholder() -> f64 {
        f64::INFINITY
    }
}

/// Records an emitter that stops before it starts.
pub(crate) fn check_times(section: &Section<'_>, emitter: &mut Emitter) {
    if emitter.stop <= emitter.start {
        section.cx.error(
            Diagnostic::new(&section.place_of("stop"), "`stop` must be after `start`")
                .label("not after the start")
                .other(&section.place_of("start"), "the start"),
        );
    }
}

/// A volume per time, or in a planar run an area per time.
pub(crate) struct FeedRate;

impl Format<f64> for FeedRate {
    fn given(section: &Section<'_>, name: &'static str) -> Option<f64> {
        let planar = section.cx.scope.planar.get();
        let (kind, example) = if planar { (&PLANAR_FEED, "\"0.5 mm^2/s\"") } else { (&FEED, "\"0.5 uL/s\"") };
        section.require(name, example);
        section.node(name).and_then(|node| section.quantity(name, node, kind, Range::Any))
    }

    fn print(rate: &f64, out: &mut Document<'_>, name: &'static str) {
        let kind = if out.scene.world.planar { &PLANAR_FEED } else { &FEED };
        out.raw(name, quoted(&quantity_text(*rate, kind)));
    }

    fn placeholder() -> f64 {
        0.0
    }
}

/// The name of a solid, or a box.
impl Field for RainArea {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        Self::given(section, name).unwrap_or(Self::Solid(SolidName::placeholder()))
    }

    fn given(section: &Section<'_>, name: &'static str) -> Option<Self> {
        if !matches!(section.node(name).map(|n| &n.value), Some(Value::Table(_))) {
            return SolidName::given(section, name).map(Self::Solid);
        }
        let RainBox { min, max } = Field::read(section, name);
        Some(Self::Box { min, max })
    }

    fn print(&self, out: &mut Document<'_>, name: &'static str) {
        match *self {
            Self::Solid(solid) => SolidName::print(&solid, out, name),
            Self::Box { min, max } => out.nested(name, &RainBox { min, max }),
        }
    }
}

pub(crate) fn check_box(section: &Section<'_>, _: &mut RainBox) {
    check_corners(section);
}

/// `{ min, max }`, one size for all, or `"marshall-palmer"`.
impl Field for RainSizes {
    fn read(section: &Section<'_>, name: &'static str) -> Self {
        Self::given(section, name).unwrap_or(Self::MarshallPalmer)
    }

    fn given(section: &Section<'_>, name: &'static str) -> Option<Self> {
        match section.node(name).map(|n| &n.value)? {
            Value::Text(text) if text == "marshall-palmer" => Some(Self::MarshallPalmer),
            Value::Table(_) => {
                let RainRadius { min, max } = Field::read(section, name);
                Some(Self::Uniform { min, max })
            }
            _ => section.get(name).map(|radius| Self::Uniform { min: radius, max: radius }),
        }
    }

    fn print(&self, out: &mut Document<'_>, name: &'static str) {
        match *self {
            Self::MarshallPalmer => out.raw(name, quoted("marshall-palmer")),
            Self::Uniform { min, max } => out.nested(name, &RainRadius { min, max }),
        }
    }
}

/// Records a range of radii whose bounds are in the wrong order.
pub(crate) fn check_radii(range: &Section<'_>, _: &mut RainRadius) {
    let [Some(min), Some(max)] = ["min", "max"].map(|key| range.given::<f64>(key)) else { return };
    if min > max {
        range.cx.error(
            Diagnostic::new(&range.place_of("min"), "`min` must not exceed `max`")
                .label("the smallest radius")
                .other(&range.place_of("max"), "the largest radius"),
        );
    }
}
