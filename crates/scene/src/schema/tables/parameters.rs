//! The models' own parameters.

use super::super::Default::Derived;
use super::super::Range::{NotNegative, Positive};
use super::super::ValueType::{Boolean, Integer, Number, Quantity, Table as Nested, Word};
use super::{Table, key, table};
use crate::quantities::{DAMPING, DRAG, LENGTH, STIFFNESS, TIME, VELOCITY, VOLUME as VOLUME_KIND};
use crate::types::{CurvatureMethod, VolumeCorrection};

pub(super) static PANE: Table = table(
    "[pane]",
    &[
        key("cell", Quantity(&LENGTH, Positive), Derived("from the size of the plane"), "edge length of a cell"),
        key("fine", Integer(1, 5), Derived("4"), "fine cells along a cell's edge"),
        key(
            "static_weight",
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("the largest drop pinned on a vertical plane"),
            "volume above which a pinned drop starts to slide",
        ),
        key(
            "dynamic_weight",
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("half of `static_weight`"),
            "volume below which a sliding drop stops, at most `static_weight`",
        ),
        key(
            "residue",
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("5 % of `static_weight`"),
            "volume left behind in each cell, at most `dynamic_weight`",
        ),
    ],
);

pub(super) static DROPLET: Table = table(
    "[droplet]",
    &[
        key("friction", Quantity(&DRAG, Positive), Derived("the paper's"), "viscous friction k_f"),
        key("slices", Integer(3, 256), Derived("3"), "radial slices"),
        key("levels", Integer(1, 256), Derived("2"), "levels"),
        key("springs", Nested(&SPRINGS), Derived("the paper's"), "spring stiffnesses"),
    ],
);

static SPRINGS: Table = table(
    "[droplet.springs]",
    &[
        key("longitudinal", Quantity(&STIFFNESS, Positive), Derived("the paper's"), "longitudinal stiffness k_l"),
        key(
            "transverse",
            Quantity(&STIFFNESS, Positive),
            Derived("the paper's"),
            "transverse stiffness k_t of the base",
        ),
        key("guide", Quantity(&STIFFNESS, Positive), Derived("the paper's"), "stiffness towards the guide point"),
        key("volume", Quantity(&STIFFNESS, Positive), Derived("the paper's"), "stiffness of the volume link"),
    ],
);

pub(super) static SURFACE: Table = table(
    "[surface]",
    &[
        key("mu", Quantity(&DAMPING, NotNegative), Derived("0.4 1/s"), "damping μ"),
        key("eta", Number(NotNegative), Derived("0"), "Laplacian damping η"),
        key("friction", Quantity(&VELOCITY, NotNegative), Derived("20 mm/s"), "speed ε lost to friction per step"),
        key("alpha", Number(NotNegative), Derived("1e5"), "contact-angle stiffness α"),
        key("gamma", Number(NotNegative), Derived("0.2"), "dimensionless surface tension γ"),
        key("volume_correction", Word(VolumeCorrection::NAMES), Derived("global"), "volume correction"),
        key("self_collision", Boolean, Derived("false"), "whether parts of one drop that touch are merged"),
        key(
            "dt",
            Quantity(&TIME, Positive),
            Derived("1 ms; 1/120 s with `settle`; 2 ms for fidelity = \"paper\""),
            "longest time step",
        ),
    ],
);

pub(super) static VOLUME: Table = table(
    "[volume]",
    &[
        key(
            "curvature",
            Word(CurvatureMethod::NAMES),
            Derived("extension; for fidelity = \"paper\", virtual-surface"),
            "how the contact angle enters the curvature",
        ),
        key(
            "pressure_order",
            Integer(1, 2),
            Derived("2; with virtual-surface, 1"),
            "order of the pressure condition at the free surface",
        ),
        key("dt", Quantity(&TIME, Positive), Derived("adaptive"), "constant time step"),
        key(
            "static_speed",
            Quantity(&VELOCITY, NotNegative),
            Derived("1 mm/s"),
            "speed below which the contact line counts as static",
        ),
        key("slip", Quantity(&LENGTH, NotNegative), Derived("0 mm"), "slip length"),
    ],
);
