//! The materials and the environment of a scene, loaded once for all its images.

use std::sync::Arc;

use sessile_scene::types::Scene;

use crate::environment::Environment;
use crate::error::AppearanceError;
use crate::scene_materials::SceneMaterials;

/// Materials and environment of a scene.
#[derive(Clone, Debug)]
pub struct SceneAssets {
    /// Materials of solids and liquid.
    pub materials: SceneMaterials,
    /// Light from infinity.
    pub environment: Arc<Environment>,
}

impl SceneAssets {
    /// Reads the textures and the environment that a scene names.
    pub fn load(scene: &Scene) -> Result<Self, AppearanceError> {
        let materials = SceneMaterials::of(scene)?;
        Ok(Self { materials, environment: Arc::new(Environment::from_lights(&scene.lights)?) })
    }
}
