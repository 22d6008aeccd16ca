//! Builds the model that a scene names.

use sessile_droplet::{DropletError, DropletModel};
use sessile_model::Model;
use sessile_pane::{Pane, PaneError};
use sessile_scene::types::{ModelKind, Scene};
use sessile_surface::{SurfaceError, SurfaceModel};
use sessile_volume::{Volume, VolumeError};
use sessile_world::{World, WorldError};

/// A model at time zero.
pub struct Built {
    /// The model.
    pub model: Box<dyn Model>,
    /// Messages about what was repaired or assumed, one line each.
    pub notices: Vec<String>,
}

/// Why a valid scene cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A solid or an emitter cannot be built.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The pane model does not support the scene.
    #[error(transparent)]
    Pane(#[from] PaneError),
    /// The droplet model does not support the scene.
    #[error(transparent)]
    Droplet(#[from] DropletError),
    /// The surface model does not support the scene.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The volume model does not support the scene.
    #[error(transparent)]
    Volume(#[from] VolumeError),
}

/// Name of a model in scene files.
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
    let world = World::build(scene)?;
    let notices = world.notices.clone();
    let model: Box<dyn Model> = match scene.model {
        ModelKind::Pane => Box::new(Pane::new(scene, world)?),
        ModelKind::Droplet => Box::new(DropletModel::new(scene, world)?),
        ModelKind::Surface => Box::new(SurfaceModel::new(scene, world)?),
        ModelKind::Volume => Box::new(Volume::new(scene, world)?),
    };
    Ok(Built { model, notices })
}
