//! Liquid present at the start.

use glam::DVec3;
use sessile_scene::types::Scene;

use crate::error::WorldError;
use crate::solid::Solid;

/// A drop of the scene, built: a shape that models turn into their own form.
#[derive(Clone, Debug)]
pub struct InitialDrop {
    velocity: DVec3,
}

impl InitialDrop {
    /// Builds the scene's drops.
    pub(crate) fn build_all(
        scene: &Scene,
        _solids: &[Solid],
        _notices: &mut Vec<String>,
    ) -> Result<Vec<Self>, WorldError> {
        Ok(scene.drops.iter().map(|d| Self { velocity: d.velocity }).collect())
    }
    /// Initial velocity, in m/s.
    pub fn velocity(&self) -> DVec3 {
        self.velocity
    }
}
