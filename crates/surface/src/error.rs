//! Errors of building the model.

/// Why the surface model cannot simulate a scene.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The scene is two-dimensional, which only the volume model supports.
    #[error("the surface model has no planar form: set `world.planar = false`, or run it with --model volume")]
    Planar,
    /// A side of the domain is not open.
    #[error(
        "the surface model supports only open sides of the domain, and `{axis}` is not: leave it open, and put a plane among the solids where a wall should be"
    )]
    Side {
        /// The axis: `x`, `y` or `z`.
        axis: &'static str,
    },
    /// The scene has dew, which only the pane and droplet models support.
    #[error("emitters.{index}: the surface model does not support dew; use the pane or droplet model")]
    Dew {
        /// Index of the emitter.
        index: usize,
    },
    /// A drop could not be meshed.
    #[error("drops.{index}: no surface could be made: {reason}")]
    Drop {
        /// Index of the drop.
        index: usize,
        /// What is wrong and what to change.
        reason: &'static str,
    },
}
