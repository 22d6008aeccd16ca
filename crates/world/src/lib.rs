//! A scene's solids and sources of water, built.

/// A scene's solids and sources, at a moment.
#[derive(Clone, Debug, Default)]
pub struct World {}
