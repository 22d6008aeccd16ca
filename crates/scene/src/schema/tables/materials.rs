//! Materials.

use super::super::Default::{Derived, Required, Value};
use super::super::Range::{Closed, NotNegative, Open, Positive};
use super::super::ValueType::{self, File, Name, Number, OneOf, Quantity, QuantityPair, Table as Nested};
use super::{Table, key, table};
use crate::quantities::{ANGLE as ANGLE_KIND, DRAG, FINE_LENGTH, PRESSURE, TENSION};

/// A contact angle.
const ANGLE: ValueType = Quantity(&ANGLE_KIND, Open(0.0, 180.0));

const ANGLE_OR_IMAGE: ValueType = OneOf(&[ANGLE, Nested(&IMAGE_OF_ANGLES)]);

/// A factor from 0 to 1.
const FACTOR: ValueType = Number(Closed(0.0, 1.0));

pub(crate) static MATERIAL: Table = table(
    "a material",
    &[
        key(
            "preset",
            Name("a material preset"),
            Derived("none"),
            "one of `sessile materials`: default of the keys below",
        ),
        key("advancing", ANGLE_OR_IMAGE, Derived("`receding`, or 90 deg"), "advancing contact angle on a dry surface"),
        key("receding", ANGLE_OR_IMAGE, Derived("`advancing`, or 90 deg"), "receding contact angle"),
        key(
            "wet_advancing",
            ANGLE_OR_IMAGE,
            Derived("no wetting history"),
            "advancing contact angle where the surface is already wet",
        ),
        key(
            "receding_limit",
            Quantity(&TENSION, NotNegative),
            Derived("no bound"),
            "upper bound on the receding contact-line force",
        ),
        key(
            "roughness",
            OneOf(&[Quantity(&FINE_LENGTH, NotNegative), QuantityPair(&FINE_LENGTH, NotNegative)]),
            Derived("0, or the preset's"),
            "bump height; two values are along the surface's u and v",
        ),
        key(
            "adhesion",
            Quantity(&PRESSURE, NotNegative),
            Derived("from `advancing`"),
            "adhesion (droplet model, fidelity = \"paper\")",
        ),
        key(
            "friction",
            Quantity(&DRAG, Positive),
            Derived("that of `droplet.friction`"),
            "viscous friction k_f (droplet model, fidelity = \"paper\")",
        ),
        key(
            "affinity",
            OneOf(&[FACTOR, Nested(&IMAGE_OF_FACTORS)]),
            Derived("(1 + cos `advancing`)/2"),
            "affinity (pane model, fidelity = \"paper\")",
        ),
    ],
);

pub(crate) static IMAGE_OF_ANGLES: Table = table(
    "an image",
    &[
        key("image", File("an image file"), Required("\"map.png\""), "image over the solid's texture coordinates"),
        key("black", ANGLE, Required("\"60 deg\""), "angle where the image is black"),
        key("white", ANGLE, Required("\"110 deg\""), "angle where the image is white"),
    ],
);

pub(crate) static IMAGE_OF_FACTORS: Table = table(
    "an image",
    &[
        key("image", File("an image file"), Required("\"affinity.png\""), "image over the solid's texture coordinates"),
        key("black", FACTOR, Value("0"), "value where the image is black"),
        key("white", FACTOR, Value("1"), "value where the image is white"),
    ],
);
