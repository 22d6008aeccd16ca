//! `[[emitters]]`: sources of liquid.

use glam::DVec3;

use super::SolidName;
use super::solids::{MAX, MIN};
use crate::declare::{section, variants};
use crate::field::Fields;
use crate::quantities::{DEW, FEED, LENGTH, PLANAR_FEED, RAIN, TIME, VELOCITY};
use crate::resolve;
use crate::resolve::emitters::{FeedRate, TimeOrNever};
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Any, Positive};
use crate::schema::ValueType::{self, Direction, Name, OneOf, Quantity, Table as Nested, Vector, Word};
use crate::schema::key;

const POSITIVE_LENGTH: ValueType = Quantity(&LENGTH, Positive);

const RATE_OF_FEED: ValueType = OneOf(&[Quantity(&FEED, Any), Quantity(&PLANAR_FEED, Any)]);

section! {
    /// `[[emitters]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Emitter: "[[emitters]]", "kind" selects EmitterKind {
        /// Kind of source.
        pub kind: EmitterKind = key(Word(EmitterType::NAMES), Value("\"drip\""), "kind of source"),
        /// Start time, in s.
        pub start: f64 = key(Quantity(&TIME, Any), Value("\"0 s\""), "start time"),
        /// End time, in s; may be infinite.
        pub stop via TimeOrNever: f64 = key(
            OneOf(&[Quantity(&TIME, Any), Word(&["never"])]),
            Value("\"never\""),
            "end time, after `start`"
        ),
    } then resolve::emitters::check_times
}

variants! {
    /// A source of liquid.
    #[derive(Clone, Debug, PartialEq)]
    pub enum EmitterKind named by EmitterType {
        placeholder = Self::Feed { at: DVec3::ZERO, rate: 0.0 };
        /// A drop at regular intervals.
        Drip = "drip" {
            /// Center, in m.
            at: DVec3 = key(Vector(&LENGTH), Value("\"0 20 0 mm\""), "center of each new drop"),
            /// Radius, in m.
            radius: f64 = key(POSITIVE_LENGTH, Value("\"1 mm\""), "radius of each drop"),
            /// Period, in s.
            every: f64 = key(Quantity(&TIME, Positive), Value("\"1 s\""), "time between two drops"),
            /// Initial velocity, in m/s.
            velocity: DVec3 = key(Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "initial velocity"),
        },
        /// A steady jet.
        Tap = "tap" {
            /// Center of the outlet, in m.
            at: DVec3 = key(Vector(&LENGTH), Value("\"0 20 0 mm\""), "center of the outlet"),
            /// Unit vector along the jet.
            direction: DVec3 = key(Direction, Value("[0, -1, 0]"), "direction of the jet"),
            /// Radius of the outlet, in m.
            radius: f64 = key(POSITIVE_LENGTH, Value("\"1 mm\""), "radius of the outlet"),
            /// Speed, in m/s.
            speed: f64 = key(Quantity(&VELOCITY, Positive), Value("\"0.3 m/s\""), "speed of the jet"),
        },
        /// Randomly placed falling drops.
        Rain = "rain" {
            /// Where it falls.
            over: RainArea = key(
                OneOf(&[Name("a solid"), Nested(RainBox::TABLE)]),
                Derived("the only solid"),
                "solid that it falls onto, or box that it falls through"
            ),
            /// Depth per time on a level surface, in m/s.
            rate: f64 = key(Quantity(&RAIN, Positive), Value("\"20 mm/h\""), "depth per time on a level surface"),
            /// Drop sizes.
            sizes as "radius": RainSizes = key(
                OneOf(&[Word(&["marshall-palmer"]), POSITIVE_LENGTH, Nested(RainRadius::TABLE)]),
                Value("\"marshall-palmer\""),
                "drop radius: Marshall-Palmer distribution, a uniform range, or one value"
            ),
            /// Fall velocity, in m/s; `None` for terminal speed by size, plus the wind.
            velocity: Option<DVec3> = key(
                Vector(&VELOCITY),
                Derived("terminal speed by size, plus the wind"),
                "velocity of the drops"
            ),
        },
        /// Condensation.
        Dew = "dew" {
            /// Index into [`Scene::solids`](super::Scene::solids).
            on via SolidName: usize = key(Name("a solid"), Derived("the only solid"), "solid that it condenses on"),
            /// Volume per area and time, in m/s.
            rate: f64 = key(Quantity(&DEW, Positive), Value("\"1 uL/m^2/s\""), "volume per area and time"),
        },
        /// A needle in a drop.
        Feed = "feed" {
            /// Tip of the needle, in m.
            at: DVec3 = key(Vector(&LENGTH), Required("\"0 1 0 mm\""), "tip of a needle in a drop"),
            /// Volume per time, in m³/s (planar: m²/s); negative drains.
            rate via FeedRate: f64 = key(
                RATE_OF_FEED,
                Required("\"0.5 uL/s\""),
                "volume (in a planar run, area) per time; negative drains"
            ),
        },
    }
}

/// Where rain falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainArea {
    /// Onto a solid: index into [`Scene::solids`](super::Scene::solids).
    Solid(usize),
    /// Through a box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
}

section! {
    /// The box that rain falls through, as written.
    pub(crate) struct RainBox: "the box of `over`" {
        pub min: DVec3 = MIN,
        pub max: DVec3 = MAX,
    } then resolve::emitters::check_box
}

/// Size distribution of raindrops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainSizes {
    /// Marshall–Palmer distribution at the emitter's rate.
    MarshallPalmer,
    /// Radius uniform between two bounds, in m.
    Uniform {
        /// Smallest radius, in m.
        min: f64,
        /// Largest radius, in m.
        max: f64,
    },
}

section! {
    /// The range of raindrop radii, as written.
    pub(crate) struct RainRadius: "the range of `radius`" {
        pub min: f64 = key(POSITIVE_LENGTH, Required("\"0.2 mm\""), "smallest radius"),
        pub max: f64 = key(POSITIVE_LENGTH, Required("\"1 mm\""), "largest radius"),
    } then resolve::emitters::check_radii
}
