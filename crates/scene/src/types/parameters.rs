//! `[pane]`, `[droplet]`, `[surface]` and `[volume]`: the models' own parameters.

use super::words::words;
use crate::field::fields;

fields! {
    /// `[pane]`; `None` means derived (physical) or the paper's value (reproduction mode).
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PaneParameters {
        /// Edge length of a cell, in m.
        pub cell: Option<f64>,
        /// Fine cells along a cell's edge.
        pub fine: Option<u32>,
        /// Volume above which a pinned drop starts to slide, in m³.
        pub static_weight: Option<f64>,
        /// Volume below which a sliding drop stops, in m³.
        pub dynamic_weight: Option<f64>,
        /// Volume left behind in each cell that a drop leaves, in m³.
        pub residue: Option<f64>,
    }
}

fields! {
    /// `[droplet]`: coefficients of the paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct DropletParameters {
        /// Viscous friction k_f, in kg/s (positive here).
        pub friction: Option<f64>,
        /// Radial slices M, at least 3.
        pub slices: Option<u32>,
        /// Levels N, at least 1.
        pub levels: Option<u32>,
        /// Spring stiffnesses.
        pub springs: SpringParameters,
    }
}

fields! {
    /// `[droplet.springs]`: stiffnesses, in N/m.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SpringParameters {
        /// Longitudinal stiffness k_l.
        pub longitudinal: Option<f64>,
        /// Transverse stiffness k_t of the base.
        pub transverse: Option<f64>,
        /// Stiffness towards the guide point.
        pub guide: Option<f64>,
        /// Stiffness of the volume link.
        pub volume: Option<f64>,
    }
}

fields! {
    /// `[surface]`: coefficients of the paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SurfaceParameters {
        /// Damping μ, in 1/s.
        pub mu: Option<f64>,
        /// Laplacian damping η.
        pub eta: Option<f64>,
        /// Speed ε lost to friction per step, in m/s.
        pub friction: Option<f64>,
        /// Contact-angle stiffness α.
        pub alpha: Option<f64>,
        /// Dimensionless surface tension γ of the paper.
        pub gamma: Option<f64>,
        /// Volume correction.
        pub volume_correction: Option<VolumeCorrection>,
        /// Whether a drop may merge with itself.
        pub self_collision: Option<bool>,
        /// Longest time step, in s.
        pub dt: Option<f64>,
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

fields! {
    /// `[volume]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct VolumeParameters {
        /// How the contact angle enters the curvature.
        pub curvature: Option<CurvatureMethod>,
        /// Order of the pressure condition at the free surface: 1 or 2.
        pub pressure_order: Option<u32>,
        /// Constant time step, in s.
        pub dt: Option<f64>,
        /// Contact-line speed below which the contact line counts as static, in m/s.
        pub static_speed: Option<f64>,
        /// Slip length, in m.
        pub slip: Option<f64>,
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
