//! Drops.

use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Open, Positive};
use super::super::ValueType::{Direction, File, Integer, Name, Number, Quantity, Vector, Word};
use super::solids::{FROM, HEIGHT, MAX, MIN, SCALE, TO};
use super::{Key, Table, key, variant};
use crate::quantities::{ANGLE, AREA, LENGTH, VELOCITY, VOLUME};
use crate::types::DropKind;

pub(crate) static DROP: Table = Table {
    title: "[[drops]]",
    keys: &[
        key("shape", Word(DropKind::NAMES), Value("\"sphere\""), "shape"),
        key("velocity", Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "initial velocity"),
    ],
    variant_key: "shape",
    variants: &[
        variant(
            "sphere",
            &[
                key("center", Vector(&LENGTH), Value("\"0 0 0 mm\""), "center"),
                VOLUME_OF_DROP,
                AREA_OF_DROP,
                RADIUS_OF_DROP,
                key("mode", Integer(0, 32), Value("0"), "Legendre mode of the perturbation, 2 or more; 0 for none"),
                key("amplitude", Number(Open(-1.0, 1.0)), Value("0"), "amplitude of the mode, relative to the radius"),
                key("axis", Direction, Value("[0, 1, 0]"), "axis of the mode"),
            ],
        ),
        variant(
            "cap",
            &[
                key("on", Name("a solid"), Derived("the only solid"), "solid that the cap sits on"),
                key(
                    "center",
                    Vector(&LENGTH),
                    Value("\"0 0 0 mm\""),
                    "center of the footprint, projected onto the solid",
                ),
                VOLUME_OF_DROP,
                AREA_OF_DROP,
                RADIUS_OF_DROP,
                key(
                    "contact_angle",
                    Quantity(&ANGLE, Open(0.0, 180.0)),
                    Derived("the material's advancing angle"),
                    "initial contact angle",
                ),
            ],
        ),
        variant("box", &[MIN, MAX]),
        variant(
            "cylinder",
            &[
                FROM,
                TO,
                key("radius", Quantity(&LENGTH, Positive), Required("\"5 mm\""), "radius"),
                key(
                    "amplitude",
                    Number(Open(-1.0, 1.0)),
                    Value("0"),
                    "amplitude of the perturbation, relative to the radius",
                ),
                key(
                    "wavelength",
                    Quantity(&LENGTH, Positive),
                    Derived("no perturbation"),
                    "wavelength of the perturbation",
                ),
            ],
        ),
        variant(
            "mesh",
            &[
                key("file", File("a mesh file"), Required("\"drop.ply\""), "a closed mesh: OBJ, PLY, STL or glTF file"),
                HEIGHT,
                SCALE,
                key("rotate", Vector(&ANGLE), Value("\"0 0 0 deg\""), "rotation about the x, then y, then z axis"),
                key("move", Vector(&LENGTH), Value("\"0 0 0 mm\""), "translation, after the rotation"),
            ],
        ),
    ],
};

const VOLUME_OF_DROP: Key = key("volume", Quantity(&VOLUME, Positive), Derived("from `radius`"), "volume");
const AREA_OF_DROP: Key = key("area", Quantity(&AREA, Positive), Derived("from `radius`"), "area in a planar run");
const RADIUS_OF_DROP: Key = key(
    "radius",
    Quantity(&LENGTH, Positive),
    Value("\"1 mm\""),
    "radius of the sphere (in a planar run, the circle) of the same volume",
);
