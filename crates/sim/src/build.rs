//! From a scene to the model that runs it.

use sessile_droplet::DropletModel;
use sessile_model::Model;
use sessile_pane::Pane;
use sessile_scene::types::{ModelKind, Scene};
use sessile_surface::SurfaceModel;
use sessile_volume::Volume;
use sessile_world::World;

/// A model at time zero, and what there is to say about how it came to be.
pub struct Built {
    /// The model.
    pub model: Box<dyn Model>,
    /// What was repaired or assumed on the way, a line each.
    pub notices: Vec<String>,
}

/// Why a scene that reads well cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A solid or a source cannot be built.
    #[error("{0}")]
    World(String),
    /// The model cannot take the scene.
    #[error("{0}")]
    Model(String),
}

/// The name that a scene calls a model by.
pub fn model_name(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Pane => "pane",
        ModelKind::Droplet => "droplet",
        ModelKind::Surface => "surface",
        ModelKind::Volume => "volume",
    }
}

/// Builds the scene's solids and its model.
pub fn build(scene: &Scene) -> Result<Built, BuildError> {
    let world = World::build(scene).map_err(|error| BuildError::World(error.to_string()))?;
    let notices = world.notices.clone();
    let model: Box<dyn Model> = match scene.model {
        ModelKind::Pane => Box::new(Pane::new(scene, world).map_err(|error| BuildError::Model(error.to_string()))?),
        ModelKind::Droplet => {
            Box::new(DropletModel::new(scene, world).map_err(|error| BuildError::Model(error.to_string()))?)
        }
        ModelKind::Volume => Box::new(Volume::new(scene, world).map_err(|error| BuildError::Model(error.to_string()))?),
        ModelKind::Surface => {
            Box::new(SurfaceModel::new(scene, world).map_err(|error| BuildError::Model(error.to_string()))?)
        }
    };
    Ok(Built { model, notices })
}
