//! The materials, the environment and the backdrop of a scene, loaded once for all its images.

use std::sync::Arc;

use sessile_scene::types::Scene;

use crate::backdrop::{Backdrop, Photograph};
use crate::environment::Environment;
use crate::error::AppearanceError;
use crate::scene_materials::SceneMaterials;

/// Materials, environment and backdrop of a scene.
#[derive(Clone, Debug)]
pub struct SceneAssets {
    /// Materials of solids and liquid.
    pub materials: SceneMaterials,
    /// Light from infinity.
    pub environment: Arc<Environment>,
    /// The photograph behind everything.
    pub photograph: Option<Arc<Photograph>>,
}

impl SceneAssets {
    /// Reads the textures, the environment and the backdrop that a scene names.
    pub fn load(scene: &Scene) -> Result<Self, AppearanceError> {
        let materials = SceneMaterials::of(scene)?;
        let photograph = scene.render.backdrop.as_deref().map(Photograph::open).transpose()?.map(Arc::new);
        Ok(Self { materials, environment: Arc::new(Environment::from_lights(&scene.lights)?), photograph })
    }

    /// The backdrop of the scene's images of this size.
    pub fn backdrop(&self, scene: &Scene, size: [usize; 2]) -> Option<Arc<Backdrop>> {
        let photograph = self.photograph.as_ref()?;
        Some(Arc::new(Backdrop::of_photograph(photograph, scene, &self.environment, size)))
    }
}
