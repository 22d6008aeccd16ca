//! `[materials.NAME]`: wetting properties of a solid's surface.

use std::path::PathBuf;

use crate::declare::section;
use crate::quantities::{ANGLE as ANGLE_KIND, DRAG, FINE_LENGTH, PRESSURE, TENSION};
use crate::resolve::materials::{OneOrTwo, TableName, base, check};
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Closed, NotNegative, Open, Positive};
use crate::schema::ValueType::{self, File, Name, Number, OneOf, Quantity, QuantityPair, Table as Nested};
use crate::schema::{Key, Table, key, table};

/// A number, or an image over the solid's texture coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// The same value everywhere.
    Uniform(f64),
    /// Linear in the image's gray value.
    Image {
        /// Absolute path of the image.
        file: PathBuf,
        /// Value at gray 0.
        black: f64,
        /// Value at gray 1.
        white: f64,
    },
}

/// A contact angle.
const ANGLE: ValueType = Quantity(&ANGLE_KIND, Open(0.0, 180.0));

const ANGLE_OR_IMAGE: ValueType = OneOf(&[ANGLE, Nested(&IMAGE_OF_ANGLES)]);

/// A factor from 0 to 1.
const FACTOR: ValueType = Number(Closed(0.0, 1.0));

/// A bump height.
const BUMPS: ValueType = Quantity(&FINE_LENGTH, NotNegative);

/// An adhesion.
const ADHESION: ValueType = Quantity(&PRESSURE, NotNegative);

/// A coefficient of viscous friction.
const FRICTION: ValueType = Quantity(&DRAG, Positive);

section! {
    /// `[materials.NAME]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Material: "a material" {
        key "preset" = key(
            Name("a material preset"),
            Derived("none"),
            "one of `sessile materials`: default of the keys below"
        );
        /// The name by which solids refer to it.
        pub name via TableName: String,
        /// Dry advancing contact angle, in rad.
        pub advancing: Varying = key(
            ANGLE_OR_IMAGE,
            Derived("`receding`, or 90 deg"),
            "advancing contact angle on a dry surface"
        ) => |section| base(section).advancing,
        /// Receding contact angle, in rad.
        pub receding: Varying = key(
            ANGLE_OR_IMAGE,
            Derived("`advancing`, or 90 deg"),
            "receding contact angle"
        ) => |section| base(section).receding,
        /// Advancing angle where the surface is already wet, in rad; `None` for no wetting history.
        pub wet_advancing: Option<Varying> = key(
            ANGLE_OR_IMAGE,
            Derived("no wetting history"),
            "advancing contact angle where the surface is already wet"
        ) => |section| base(section).wet_advancing,
        /// Upper bound on the receding contact-line force, in N/m; `None` for no bound.
        pub receding_limit: Option<f64> = key(
            Quantity(&TENSION, NotNegative),
            Derived("no bound"),
            "upper bound on the receding contact-line force"
        ) => |section| base(section).receding_limit,
        /// Bump height along u and v, in m.
        pub roughness via OneOrTwo: [Varying; 2] = key(
            OneOf(&[BUMPS, QuantityPair(&FINE_LENGTH, NotNegative), Nested(&IMAGE_OF_BUMPS)]),
            Derived("0, or the preset's"),
            "bump height; two values are along the surface's u and v"
        ) => |section| base(section).roughness,
        /// Adhesion, in Pa (droplet model, reproduction mode).
        pub adhesion: Varying = key(
            OneOf(&[ADHESION, Nested(&IMAGE_OF_ADHESION)]),
            Derived("from `advancing`"),
            "adhesion (droplet model, fidelity = \"paper\")"
        ) => |section| base(section).adhesion,
        /// Viscous friction k_f, in kg/s (droplet model, reproduction mode); `None` for that of
        /// `[droplet]`.
        pub friction: Option<Varying> = key(
            OneOf(&[FRICTION, Nested(&IMAGE_OF_FRICTION)]),
            Derived("that of `droplet.friction`"),
            "viscous friction k_f (droplet model, fidelity = \"paper\")"
        ),
        /// Affinity, 0 to 1 (pane model, reproduction mode).
        pub affinity: Varying = key(
            OneOf(&[FACTOR, Nested(&IMAGE_OF_FACTORS)]),
            Derived("(1 + cos `advancing`)/2"),
            "affinity (pane model, fidelity = \"paper\")"
        ) => |section| base(section).affinity,
    } then check
}

pub(crate) static IMAGE_OF_ANGLES: Table = table(
    "an image",
    &[&[
        IMAGE,
        Key { name: "black", ..key(ANGLE, Required("\"60 deg\""), "angle where the image is black") },
        Key { name: "white", ..key(ANGLE, Required("\"110 deg\""), "angle where the image is white") },
    ]],
);

pub(crate) static IMAGE_OF_FACTORS: Table = table(
    "an image",
    &[&[
        IMAGE,
        Key { name: "black", ..key(FACTOR, Value("0"), "value where the image is black") },
        Key { name: "white", ..key(FACTOR, Value("1"), "value where the image is white") },
    ]],
);

pub(crate) static IMAGE_OF_BUMPS: Table = table(
    "an image",
    &[&[
        IMAGE,
        Key { name: "black", ..key(BUMPS, Value("\"0 um\""), "bump height where the image is black") },
        Key { name: "white", ..key(BUMPS, Required("\"500 um\""), "bump height where the image is white") },
    ]],
);

pub(crate) static IMAGE_OF_ADHESION: Table = table(
    "an image",
    &[&[
        IMAGE,
        Key { name: "black", ..key(ADHESION, Value("\"0 Pa\""), "adhesion where the image is black") },
        Key { name: "white", ..key(ADHESION, Required("\"20 Pa\""), "adhesion where the image is white") },
    ]],
);

pub(crate) static IMAGE_OF_FRICTION: Table = table(
    "an image",
    &[&[
        IMAGE,
        Key { name: "black", ..key(FRICTION, Required("\"0.2 g/s\""), "friction where the image is black") },
        Key { name: "white", ..key(FRICTION, Required("\"2 g/s\""), "friction where the image is white") },
    ]],
);

const IMAGE: Key = Key {
    name: "image",
    ..key(File("an image file"), Required("\"map.png\""), "image over the solid's texture coordinates")
};
