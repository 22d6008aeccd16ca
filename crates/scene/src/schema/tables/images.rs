//! Camera, lights and render settings.

use super::super::Affects;
use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Closed, NotNegative, Open, OpenClosed, Positive};
use super::super::ValueType::{
    Boolean, Color, Direction, File, Integer, IntegerPair, List, Number, OneOf, Quantity, Table as Nested, Vector, Word,
};
use super::{Key, Table, image_key, table};
use crate::quantities::{ANGLE, LENGTH};
use crate::types::EnvironmentPreset;

pub(super) static CAMERA: Table = table(
    "[camera]",
    &[
        image_key("position", Vector(&LENGTH), Derived("automatic framing"), "eye point"),
        image_key("look_at", Vector(&LENGTH), Derived("automatic framing"), "point at the image center"),
        image_key("fov", Quantity(&ANGLE, Open(0.0, 180.0)), Value("\"35 deg\""), "vertical field of view"),
        image_key(
            "follow",
            OneOf(&[Integer(1, u32::MAX as u64), Word(&["largest"])]),
            Derived("a fixed camera"),
            "drop to keep at the image center: its id, or the largest one",
        ),
        image_key(
            "aperture",
            Quantity(&LENGTH, NotNegative),
            Value("\"0 mm\""),
            "diameter of the lens aperture; 0 for no depth of field",
        ),
        image_key("focus", Quantity(&LENGTH, Positive), Derived("distance to the image center"), "focus distance"),
    ],
);

pub(super) static LIGHTS: Table = table(
    "[lights]",
    &[
        image_key(
            "environment",
            OneOf(&[Word(EnvironmentPreset::NAMES), File("an image file")]),
            Value("\"studio\""),
            "environment map: a built-in one or an image file (.hdr, .exr)",
        ),
        image_key("strength", Number(NotNegative), Value("1"), "factor on the environment map"),
        image_key("sun", Nested(&SUN), Derived("none"), "directional light"),
        image_key("area", List(&AREA_LIGHT), Derived("none"), "square area lights"),
    ],
);

static SUN: Table = table(
    "[lights.sun]",
    &[
        image_key("direction", Direction, Value("[1, 2, 1]"), "direction towards the light"),
        image_key("color", Color, Value("1"), "irradiance on a surface facing the light, per channel"),
        image_key("angle", Quantity(&ANGLE, OpenClosed(0.0, 90.0)), Value("\"0.53 deg\""), "angular diameter"),
    ],
);

static AREA_LIGHT: Table = table(
    "[[lights.area]]",
    &[
        image_key("center", Vector(&LENGTH), Required("\"0 300 0 mm\""), "center"),
        image_key("look_at", Vector(&LENGTH), Value("\"0 0 0 mm\""), "point that the light faces"),
        image_key("size", Quantity(&LENGTH, Positive), Required("\"100 mm\""), "edge length"),
        image_key("color", Color, Value("1"), "radiance per channel"),
    ],
);

pub(super) static RENDER: Table = table(
    "[render]",
    &[
        image_key("size", IntegerPair(1, 16384), Value("[640, 360]"), "image width and height in pixels"),
        image_key("samples", Integer(1, 1_000_000), Value("64"), "maximum number of samples per pixel"),
        image_key("denoise", Boolean, Value("true"), "whether to denoise the image"),
        image_key(
            "shutter",
            Number(Closed(0.0, 1.0)),
            Value("0"),
            "shutter time as a fraction of the frame interval; 0 for no motion blur",
        ),
        image_key("exposure", Number(Closed(1e-3, 1e3)), Value("1"), "factor on the automatic exposure"),
        Key {
            name: "fps",
            value: Number(Closed(0.1, 1000.0)),
            default: Value("30"),
            doc: "frames per second of the video",
            affects: Affects::Video,
        },
    ],
);
