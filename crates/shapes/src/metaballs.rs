//! Metaballs: blobs whose fields add up, so that neighbours flow into one another (algan, §5).

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// One ellipsoidal component of a metaball shape, axes along its drop's local frame.
///
/// Its field is `strength · (1 − q²)²` for q < 1 and nothing beyond, q the distance from the centre in units of `radii`: the
/// kernel of POV-Ray's `blob` (povray, "Blob"), so that an exported scene draws the very same surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Centre in the local frame, in m.
    pub center: DVec3,
    /// Where the field ends along each axis, in m.
    pub radii: DVec3,
    /// Field at the centre.
    pub strength: f64,
}
