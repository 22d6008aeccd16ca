//! The top level, time, liquid, world, domain, resolution and output.

use super::super::Affects;
use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Any, Closed, Positive};
use super::super::ValueType::{
    Boolean, Integer, List, Name, Named, Number, OneOf, Quantity, Table as Nested, Text, Vector, Word,
};
use super::drops::DROP;
use super::emitters::EMITTER;
use super::images::{CAMERA, LIGHTS, RENDER};
use super::materials::MATERIAL;
use super::parameters::{DROPLET, PANE, SURFACE, VOLUME};
use super::solids::SOLID;
use super::{Key, Table, image_key, key, table};
use crate::quantities::{ACCELERATION, ANGLE, DENSITY, LENGTH, TENSION, TIME as TIME_KIND, VELOCITY, VISCOSITY};
use crate::types::{Fidelity, ModelKind, Side};

pub(crate) static SCENE: Table = table(
    "the scene",
    &[
        Key {
            name: "title",
            value: Text,
            default: Value("\"\""),
            doc: "one-line description",
            affects: Affects::Nothing,
        },
        key(
            "model",
            Word(ModelKind::NAMES),
            Required("\"pane\", \"droplet\", \"surface\" or \"volume\""),
            "model that simulates the scene",
        ),
        key(
            "fidelity",
            Word(Fidelity::NAMES),
            Value("\"physical\""),
            "parameters from liquid and materials (physical), or the paper's own operators (paper)",
        ),
        // TOML readers guarantee no more than 63 bits.
        key("seed", Integer(0, i64::MAX as u64), Value("1"), "seed of all random numbers"),
        key("time", Nested(&TIME), Required("{ duration = \"30 ms\", frame = \"1 ms\" }"), "duration and frames"),
        key("liquid", Nested(&LIQUID), Derived("water"), "properties of the liquid"),
        key("world", Nested(&WORLD), Derived("gravity only"), "gravity, wind, number of dimensions"),
        key("domain", Nested(&DOMAIN), Derived("open, unbounded space"), "bounds of the simulated space"),
        key("resolution", Nested(&RESOLUTION), Derived("see there"), "cell and edge sizes"),
        key("materials", Named(&MATERIAL), Derived("presets only"), "wetting properties, by name"),
        key("solids", List(&SOLID), Derived("none"), "solids"),
        key("drops", List(&DROP), Derived("none"), "liquid present at the start"),
        key("emitters", List(&EMITTER), Derived("none"), "sources of liquid"),
        key("pane", Nested(&PANE), Derived("derived values"), "parameters of the pane model"),
        key("droplet", Nested(&DROPLET), Derived("derived values"), "parameters of the droplet model"),
        key("surface", Nested(&SURFACE), Derived("derived values"), "parameters of the surface model"),
        key("volume", Nested(&VOLUME), Derived("derived values"), "parameters of the volume model"),
        image_key("camera", Nested(&CAMERA), Derived("automatic framing"), "camera"),
        image_key("lights", Nested(&LIGHTS), Derived("a studio"), "lights"),
        image_key("render", Nested(&RENDER), Derived("see there"), "render settings"),
        key("output", Nested(&OUTPUT), Derived("see there"), "optional output"),
    ],
);

static TIME: Table = table(
    "[time]",
    &[
        key(
            "duration",
            Quantity(&TIME_KIND, Positive),
            Required("\"30 ms\""),
            "simulated time: an integer number of frames, at most one million",
        ),
        key("frame", Quantity(&TIME_KIND, Positive), Required("\"1 ms\""), "time between two frames"),
        key("settle", Boolean, Value("false"), "add drag and stop when all drops are at rest"),
    ],
);

static LIQUID: Table = table(
    "[liquid]",
    &[
        image_key(
            "preset",
            Name("a liquid preset"),
            Value("\"water\""),
            "one of `sessile liquids`: default of the keys below, and appearance",
        ),
        key("density", Quantity(&DENSITY, Positive), Derived("the preset's"), "density"),
        key("viscosity", Quantity(&VISCOSITY, Positive), Derived("the preset's"), "kinematic viscosity"),
        key("surface_tension", Quantity(&TENSION, Positive), Derived("the preset's"), "surface tension against air"),
        image_key("refractive_index", Number(Closed(1.0, 10.0)), Derived("the preset's"), "refractive index"),
    ],
);

static WORLD: Table = table(
    "[world]",
    &[
        key(
            "gravity",
            OneOf(&[Vector(&ACCELERATION), List(&GRAVITY_KEY)]),
            Value("\"0 -9.8 0 m/s^2\""),
            "gravity; a list of keys is linear between them and constant outside",
        ),
        key(
            "tilt",
            OneOf(&[Quantity(&ANGLE, Any), List(&TILT_KEY)]),
            Value("\"0 deg\""),
            "turns gravity about the z axis, from -y towards +x; a list of keys is linear between them and constant outside",
        ),
        key("wind", Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "wind velocity"),
        key("planar", Boolean, Value("false"), "two-dimensional run in the x-y plane (volume model)"),
    ],
);

static GRAVITY_KEY: Table = table(
    "a key of `gravity`",
    &[
        key("at", Quantity(&TIME_KIND, Any), Required("\"0 s\""), "time; times must increase"),
        key("value", Vector(&ACCELERATION), Required("\"0 -9.8 0 m/s^2\""), "gravity at that time"),
    ],
);

static TILT_KEY: Table = table(
    "a key of `tilt`",
    &[
        key("at", Quantity(&TIME_KIND, Any), Required("\"0 s\""), "time; times must increase"),
        key("value", Quantity(&ANGLE, Any), Required("\"30 deg\""), "tilt at that time"),
    ],
);

static DOMAIN: Table = table(
    "[domain]",
    &[
        key("min", Vector(&LENGTH), Required("\"-5 0 -5 mm\""), "lower corner"),
        key("max", Vector(&LENGTH), Required("\"5 10 5 mm\""), "upper corner"),
        key("x", Word(Side::NAMES), Value("\"open\""), "boundary condition on the two x sides"),
        key("y", Word(Side::NAMES), Value("\"open\""), "boundary condition on the two y sides"),
        key("z", Word(Side::NAMES), Value("\"open\""), "boundary condition on the two z sides"),
        key("wall_material", Name("a material"), Derived("a contact angle of 90 deg"), "material of the walls"),
    ],
);

static RESOLUTION: Table = table(
    "[resolution]",
    &[
        key(
            "cell",
            Quantity(&LENGTH, Positive),
            Derived("20 cells across the smallest drop"),
            "volume model: cell size",
        ),
        key(
            "edge",
            Quantity(&LENGTH, Positive),
            Value("\"0.4 mm\""),
            "surface and droplet models: shortest edge (the longest is three times as long)",
        ),
    ],
);

static OUTPUT: Table = table(
    "[output]",
    &[key("fields", Boolean, Value("false"), "volume model: write level set, velocity and pressure with every frame")],
);
