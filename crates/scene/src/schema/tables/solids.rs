//! Solids.

use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Any, OpenClosed, Positive};
use super::super::ValueType::{
    Boolean, Direction, File, List, Name, Number, OneOf, Quantity, Size, Text, Vector, Word,
};
use super::{Key, Table, image_key, key, table, variant};
use crate::quantities::{ANGLE, LENGTH, TIME};
use crate::types::{Look, SolidKind, TexturePattern};

pub(crate) static SOLID: Table = Table {
    title: "[[solids]]",
    keys: &[
        key("name", Text, Derived("solid0, solid1, ... by position"), "unique name; also used as a file name"),
        key("material", Name("a material"), Value("\"glass\""), "a material of the scene, or a preset"),
        key("shape", Word(SolidKind::NAMES), Value("\"plane\""), "shape"),
        key("rotate", Vector(&ANGLE), Value("\"0 0 0 deg\""), "rotation about the x, then y, then z axis"),
        key("move", Vector(&LENGTH), Value("\"0 0 0 mm\""), "translation, after the rotation"),
        key("motion", List(&MOTION), Derived("at rest"), "motion after `rotate` and `move`; linear between keys"),
        image_key("look", Word(Look::NAMES), Value("\"matte\""), "appearance"),
        image_key(
            "texture",
            OneOf(&[Word(TexturePattern::NAMES), File("an image file")]),
            Derived("the look's own color"),
            "texture: a built-in pattern or an image file",
        ),
    ],
    variant_key: "shape",
    variants: &[
        variant(
            "plane",
            &[
                key("point", Vector(&LENGTH), Value("\"0 0 0 mm\""), "a point on the plane"),
                key("normal", Direction, Value("[0, 1, 0]"), "normal, out of the solid"),
                SIZE_OF_PLANE,
            ],
        ),
        variant("box", &[MIN, MAX]),
        variant(
            "sphere",
            &[
                key("center", Vector(&LENGTH), Value("\"0 0 0 mm\""), "center"),
                RADIUS,
                key("inside", Boolean, Value("false"), "whether the liquid is inside the sphere"),
            ],
        ),
        variant(
            "cylinder",
            &[
                FROM,
                TO,
                RADIUS,
                key(
                    "wall",
                    Quantity(&LENGTH, Positive),
                    Derived("not hollow"),
                    "wall thickness of a hollow pipe, less than `radius`",
                ),
            ],
        ),
        variant(
            "leaf",
            &[
                key("point", Vector(&LENGTH), Value("\"0 0 0 mm\""), "a point on the valley line"),
                key("axis", Direction, Value("[1, 0, 0]"), "direction of the valley line"),
                key(
                    "angle",
                    Quantity(&ANGLE, OpenClosed(0.0, 180.0)),
                    Value("\"120 deg\""),
                    "angle between the two half-planes, on the upper side",
                ),
                key(
                    "size",
                    Size(&LENGTH),
                    Derived("covers the domain; 256 mm square in open space"),
                    "length along the axis and width across it",
                ),
            ],
        ),
        variant("mesh", &[key("file", FILE, Required("\"bunny.ply\""), "OBJ, PLY, STL or glTF file"), HEIGHT, SCALE]),
    ],
};

const FILE: super::ValueType = File("a mesh file");

const SIZE_OF_PLANE: Key = key(
    "size",
    Size(&LENGTH),
    Derived("covers the domain; 256 mm square in open space"),
    "width and height of the meshed part around `point`",
);

pub(super) const MIN: Key = key("min", Vector(&LENGTH), Required("\"-5 0 -5 mm\""), "lower corner");
pub(super) const MAX: Key = key("max", Vector(&LENGTH), Required("\"5 10 5 mm\""), "upper corner");
pub(super) const FROM: Key = key("from", Vector(&LENGTH), Required("\"0 0 0 mm\""), "center of one end");
pub(super) const TO: Key = key("to", Vector(&LENGTH), Required("\"0 50 0 mm\""), "center of the other end");
pub(super) const RADIUS: Key = key("radius", Quantity(&LENGTH, Positive), Required("\"5 mm\""), "outer radius");
pub(super) const HEIGHT: Key =
    key("height", Quantity(&LENGTH, Positive), Derived("`scale`"), "y extent to which the mesh is scaled");
pub(super) const SCALE: Key = key("scale", Number(Positive), Value("1"), "factor from the file's units to meters");

static MOTION: Table = table(
    "a key of `motion`",
    &[
        key("at", Quantity(&TIME, Any), Required("\"0 s\""), "time; times must increase"),
        key("move", Vector(&LENGTH), Value("\"0 0 0 mm\""), "translation at that time"),
        key("rotate", Vector(&ANGLE), Value("\"0 0 0 deg\""), "rotation at that time"),
    ],
);
