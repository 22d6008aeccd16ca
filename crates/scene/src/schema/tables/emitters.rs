//! Emitters.

use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Any, Positive};
use super::super::ValueType::{self, Direction, Name, OneOf, Quantity, Table as Nested, Vector, Word};
use super::solids::{MAX, MIN};
use super::{Table, key, table, variant};
use crate::quantities::{DEW, FEED, LENGTH, PLANAR_FEED, RAIN, TIME, VELOCITY};
use crate::types::EmitterType;

const POSITIVE_LENGTH: ValueType = Quantity(&LENGTH, Positive);

pub(crate) static EMITTER: Table = Table {
    title: "[[emitters]]",
    keys: &[
        key("kind", Word(EmitterType::NAMES), Value("\"drip\""), "kind of source"),
        key("start", Quantity(&TIME, Any), Value("\"0 s\""), "start time"),
        key("stop", OneOf(&[Quantity(&TIME, Any), Word(&["never"])]), Value("\"never\""), "end time, after `start`"),
    ],
    variant_key: "kind",
    variants: &[
        variant(
            "drip",
            &[
                key("at", Vector(&LENGTH), Value("\"0 20 0 mm\""), "center of each new drop"),
                key("radius", POSITIVE_LENGTH, Value("\"1 mm\""), "radius of each drop"),
                key("every", Quantity(&TIME, Positive), Value("\"1 s\""), "time between two drops"),
                key("velocity", Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "initial velocity"),
            ],
        ),
        variant(
            "tap",
            &[
                key("at", Vector(&LENGTH), Value("\"0 20 0 mm\""), "center of the outlet"),
                key("direction", Direction, Value("[0, -1, 0]"), "direction of the jet"),
                key("radius", POSITIVE_LENGTH, Value("\"1 mm\""), "radius of the outlet"),
                key("speed", Quantity(&VELOCITY, Positive), Value("\"0.3 m/s\""), "speed of the jet"),
            ],
        ),
        variant(
            "rain",
            &[
                key(
                    "over",
                    OneOf(&[Name("a solid"), Nested(&RAIN_BOX)]),
                    Derived("the only solid"),
                    "solid that it falls onto, or box that it falls through",
                ),
                key("rate", Quantity(&RAIN, Positive), Value("\"20 mm/h\""), "depth per time on a level surface"),
                key(
                    "radius",
                    OneOf(&[Word(&["marshall-palmer"]), POSITIVE_LENGTH, Nested(&RAIN_RADIUS)]),
                    Value("\"marshall-palmer\""),
                    "drop radius: Marshall-Palmer distribution, a uniform range, or one value",
                ),
                key(
                    "velocity",
                    Vector(&VELOCITY),
                    Derived("terminal speed by size, plus the wind"),
                    "velocity of the drops",
                ),
            ],
        ),
        variant(
            "dew",
            &[
                key("on", Name("a solid"), Derived("the only solid"), "solid that it condenses on"),
                key("rate", Quantity(&DEW, Positive), Value("\"1 uL/m^2/s\""), "volume per area and time"),
            ],
        ),
        variant(
            "feed",
            &[
                key("at", Vector(&LENGTH), Required("\"0 1 0 mm\""), "tip of a needle in a drop"),
                key(
                    "rate",
                    OneOf(&[Quantity(&FEED, Any), Quantity(&PLANAR_FEED, Any)]),
                    Required("\"0.5 uL/s\""),
                    "volume (in a planar run, area) per time; negative drains",
                ),
            ],
        ),
    ],
};

static RAIN_BOX: Table = table("the box of `over`", &[MIN, MAX]);

static RAIN_RADIUS: Table = table(
    "the range of `radius`",
    &[
        key("min", POSITIVE_LENGTH, Required("\"0.2 mm\""), "smallest radius"),
        key("max", POSITIVE_LENGTH, Required("\"1 mm\""), "largest radius"),
    ],
);
