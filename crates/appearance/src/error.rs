//! Errors from the files that a scene's appearance names.

use crate::environment::EnvironmentError;
use crate::textures::TextureError;

/// A texture or an environment of a scene cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppearanceError {
    /// A texture.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// The environment.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}
