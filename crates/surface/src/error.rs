//! Why a scene cannot be run by the surface model.

/// A scene that the surface model cannot take.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// Two-dimensional runs are the volume model's.
    #[error("the surface model has no planar form: set `world.planar = false`, or run it with --model volume")]
    Planar,
    /// Sides of the domain that are not open.
    #[error(
        "the surface model knows only open sides of the domain, and `{axis}` is not: leave it open, and put a plane among the solids where a wall should be"
    )]
    Side {
        /// Which axis.
        axis: &'static str,
    },
    /// Dew needs the models that place drops by themselves.
    #[error("emitters[{index}]: the surface model does not take dew; use the pane or droplet model")]
    Dew {
        /// Which emitter.
        index: usize,
    },
    /// A drop has no surface.
    #[error("drops[{index}]: no surface could be made of it: {reason}")]
    Drop {
        /// Which drop.
        index: usize,
        /// What to change.
        reason: &'static str,
    },
}
