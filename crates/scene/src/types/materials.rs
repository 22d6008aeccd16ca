//! `[materials.NAME]`: wetting properties of a solid's surface.

use std::path::PathBuf;

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

/// `[materials.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The name by which solids refer to it.
    pub name: String,
    /// Dry advancing contact angle, in rad.
    pub advancing: Varying,
    /// Receding contact angle, in rad.
    pub receding: Varying,
    /// Advancing angle where the surface is already wet, in rad; `None` for no wetting history.
    pub wet_advancing: Option<Varying>,
    /// Upper bound on the receding contact-line force, in N/m; `None` for no bound.
    pub receding_limit: Option<f64>,
    /// Bump height along u and v, in m.
    pub roughness: [f64; 2],
    /// Adhesion, in Pa (droplet model, reproduction mode).
    pub adhesion: f64,
    /// Viscous friction k_f, in kg/s (droplet model, reproduction mode); `None` for that of
    /// `[droplet]`.
    pub friction: Option<f64>,
    /// Affinity, 0 to 1 (pane model, reproduction mode).
    pub affinity: Varying,
}
