//! `[pane]`, `[droplet]`, `[surface]` and `[volume]`: the models' own parameters.

use super::words::words;
use crate::declare::section;
use crate::quantities::{DAMPING, DRAG, LENGTH, STIFFNESS, TIME, VELOCITY, VOLUME as VOLUME_KIND};
use crate::schema::Default::Derived;
use crate::schema::Range::{NotNegative, Positive};
use crate::schema::ValueType::{Boolean, Integer, Number, Quantity, Table as Nested, Word};
use crate::schema::key;

section! {
    /// `[pane]`; `None` means derived (physical) or the paper's value (reproduction mode).
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PaneParameters: "[pane]" {
        /// Edge length of a cell, in m.
        pub cell: Option<f64> = key(
            Quantity(&LENGTH, Positive),
            Derived("from the size of the plane"),
            "edge length of a cell"
        ),
        /// Fine cells along a cell's edge.
        pub fine: Option<u32> = key(Integer(1, 5), Derived("4"), "fine cells along a cell's edge"),
        /// Volume above which a pinned drop starts to slide, in m³.
        pub static_weight: Option<f64> = key(
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("the largest drop pinned on a vertical plane"),
            "volume above which a pinned drop starts to slide"
        ),
        /// Volume below which a sliding drop stops, in m³.
        pub dynamic_weight: Option<f64> = key(
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("half of `static_weight`"),
            "volume below which a sliding drop stops, at most `static_weight`"
        ),
        /// Volume left behind in each cell that a drop leaves, in m³.
        pub residue: Option<f64> = key(
            Quantity(&VOLUME_KIND, NotNegative),
            Derived("5 % of `static_weight`"),
            "volume left behind in each cell, at most `dynamic_weight`"
        ),
        /// Time between two passes of the algorithm, in s.
        pub pass: Option<f64> = key(
            Quantity(&TIME, Positive),
            Derived("40 ms"),
            "time between two passes of the algorithm (fidelity = \"paper\"); drops move on evenly in between"
        ),
    }
}

section! {
    /// `[droplet]`: coefficients of the paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct DropletParameters: "[droplet]" {
        /// Viscous friction k_f, in kg/s (positive here).
        pub friction: Option<f64> = key(Quantity(&DRAG, Positive), Derived("the paper's"), "viscous friction k_f"),
        /// Radial slices M, at least 3.
        pub slices: Option<u32> = key(Integer(3, 256), Derived("3"), "radial slices"),
        /// Levels N, at least 1.
        pub levels: Option<u32> = key(Integer(1, 256), Derived("2"), "levels"),
        /// Spring stiffnesses.
        pub springs: SpringParameters = key(Nested(SpringParameters::TABLE), Derived("the paper's"), "spring stiffnesses"),
    }
}

section! {
    /// `[droplet.springs]`: stiffnesses, in N/m.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SpringParameters: "[droplet.springs]" {
        /// Longitudinal stiffness k_l.
        pub longitudinal: Option<f64> = key(
            Quantity(&STIFFNESS, Positive),
            Derived("the paper's"),
            "longitudinal stiffness k_l"
        ),
        /// Transverse stiffness k_t of the base.
        pub transverse: Option<f64> = key(
            Quantity(&STIFFNESS, Positive),
            Derived("the paper's"),
            "transverse stiffness k_t of the base"
        ),
        /// Stiffness towards the guide point.
        pub guide: Option<f64> = key(
            Quantity(&STIFFNESS, Positive),
            Derived("the paper's"),
            "stiffness towards the guide point"
        ),
        /// Stiffness of the volume link.
        pub volume: Option<f64> = key(
            Quantity(&STIFFNESS, Positive),
            Derived("the paper's"),
            "stiffness of the volume link"
        ),
    }
}

section! {
    /// `[surface]`: coefficients of the paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SurfaceParameters: "[surface]" {
        /// Damping μ, in 1/s.
        pub mu: Option<f64> = key(Quantity(&DAMPING, NotNegative), Derived("0.4 1/s"), "damping μ"),
        /// Laplacian damping η.
        pub eta: Option<f64> = key(Number(NotNegative), Derived("0"), "Laplacian damping η"),
        /// Speed ε lost to friction per step, in m/s.
        pub friction: Option<f64> = key(
            Quantity(&VELOCITY, NotNegative),
            Derived("25 mm/s"),
            "speed ε lost to friction per step"
        ),
        /// Contact-angle stiffness α.
        pub alpha: Option<f64> = key(Number(NotNegative), Derived("1e5"), "contact-angle stiffness α"),
        /// Dimensionless surface tension γ of the paper.
        pub gamma: Option<f64> = key(Number(NotNegative), Derived("0.2"), "dimensionless surface tension γ"),
        /// Volume correction.
        pub volume_correction: Option<VolumeCorrection> = key(
            Word(VolumeCorrection::NAMES),
            Derived("global"),
            "volume correction"
        ),
        /// Whether a drop may merge with itself.
        pub self_collision: Option<bool> = key(
            Boolean,
            Derived("false"),
            "whether parts of one drop that touch are merged"
        ),
        /// Longest time step, in s.
        pub dt: Option<f64> = key(
            Quantity(&TIME, Positive),
            Derived("1 ms; 1/120 s with `settle`; 2 ms for fidelity = \"paper\""),
            "longest time step"
        ),
    }
}

words! {
    /// Volume correction of the surface model.
    pub enum VolumeCorrection {
        /// By one-ring means.
        Local = "local",
        /// By one offset of the whole surface.
        Global = "global",
        /// Local, then global.
        Both = "both",
    }
}

section! {
    /// `[volume]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct VolumeParameters: "[volume]" {
        /// How the contact angle enters the curvature.
        pub curvature: Option<CurvatureMethod> = key(
            Word(CurvatureMethod::NAMES),
            Derived("extension; for fidelity = \"paper\", virtual-surface"),
            "how the contact angle enters the curvature"
        ),
        /// Order of the pressure condition at the free surface: 1 or 2.
        pub pressure_order: Option<u32> = key(
            Integer(1, 2),
            Derived("2; with virtual-surface, 1"),
            "order of the pressure condition at the free surface"
        ),
        /// Constant time step, in s.
        pub dt: Option<f64> = key(Quantity(&TIME, Positive), Derived("adaptive"), "constant time step"),
        /// Contact-line speed below which the contact line counts as static, in m/s.
        pub static_speed: Option<f64> = key(
            Quantity(&VELOCITY, NotNegative),
            Derived("1 mm/s"),
            "speed below which the contact line counts as static"
        ),
        /// Slip length, in m.
        pub slip: Option<f64> = key(
            Quantity(&LENGTH, NotNegative),
            Derived("10 nm"),
            "slip length; 0: contact lines slip by the cell, as in paper mode",
        ),
    }
}

words! {
    /// How the contact angle enters the volume model's curvature.
    pub enum CurvatureMethod {
        /// Virtual surface of Wang, Mucha and Turk.
        VirtualSurface = "virtual-surface",
        /// Level set extended into the solid at the contact angle.
        Extension = "extension",
    }
}
