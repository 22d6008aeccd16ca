//! Errors from the files that a scene's appearance names.

use crate::backdrop::BackdropError;
use crate::environment::EnvironmentError;
use crate::textures::TextureError;

/// A texture, the environment or the backdrop of a scene cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppearanceError {
    /// A texture.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// The environment.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The backdrop.
    #[error(transparent)]
    Backdrop(#[from] BackdropError),
}
