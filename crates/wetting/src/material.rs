//! Wetting of a solid by a liquid at a point.

use serde::{Deserialize, Serialize};

use crate::materials::{default_adhesion, default_affinity};

/// Wetting of a solid at a point, shared by all four models.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wetting {
    /// Dry advancing contact angle θ_a, in rad.
    pub advancing: f64,
    /// Receding contact angle θ_r, in rad.
    pub receding: f64,
    /// Advancing angle on an already wetted surface, in rad; its presence turns the wetting history
    /// on.
    pub wet_advancing: Option<f64>,
    /// Bound on the receding line force, in N/m.
    pub receding_limit: Option<f64>,
    /// Bump height along the surface's u and v, in m.
    pub roughness: [f64; 2],
    /// Adhesion of the droplet model's paper mode, in Pa.
    pub adhesion: f64,
    /// Affinity to water of the pane model's paper mode, 0 to 1.
    pub affinity: f64,
}

impl Wetting {
    /// A smooth solid with these advancing and receding angles (in rad), no wetting history, and
    /// the papers' parameters at their defaults.
    pub fn smooth(advancing: f64, receding: f64) -> Self {
        Self {
            advancing,
            receding,
            wet_advancing: None,
            receding_limit: None,
            roughness: [0.0; 2],
            adhesion: default_adhesion(advancing),
            affinity: default_affinity(advancing),
        }
    }
}
