//! Builds the model that a scene names.

use sessile_droplet::{DropletError, DropletModel};
use sessile_model::Model;
use sessile_pane::{Pane, PaneError};
use sessile_scene::types::{ModelKind, Scene};
use sessile_surface::{SurfaceError, SurfaceModel};
use sessile_volume::{MemoryEstimate, Volume, VolumeError};
use sessile_world::{World, WorldError};

use crate::estimate::Estimate;

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
    /// By the estimate, the run needs more memory than there is.
    #[error("{0}")]
    Estimate(String),
    /// The model needs more memory than there is.
    #[error(
        "the liquid at the start needs about {cells:.1e} cells, {needed_gb:.1} GB, and this machine has {memory_gb:.1} GB free: set resolution.cell to at least {wanted_mm:.4} mm"
    )]
    Memory {
        /// Active cells.
        cells: f64,
        /// Memory for them, in GB.
        needed_gb: f64,
        /// Free memory, in GB.
        memory_gb: f64,
        /// Cell size that would fit, in mm.
        wanted_mm: f64,
    },
}

/// Builds the scene's solids and its model, if by the estimate they fit into the memory.
pub fn build(scene: &Scene) -> Result<Built, BuildError> {
    Estimate::new(scene, 1).check_memory()?;
    build_in(scene, World::build(scene)?)
}

/// Builds a scene's model in its world.
pub fn build_in(scene: &Scene, world: World) -> Result<Built, BuildError> {
    let notices = world.notices.clone();
    let model: Box<dyn Model> = match scene.model {
        ModelKind::Pane => Box::new(Pane::new(scene, world)?),
        ModelKind::Droplet => Box::new(DropletModel::new(scene, world)?),
        ModelKind::Surface => Box::new(SurfaceModel::new(scene, world)?),
        ModelKind::Volume => {
            check_memory(&Volume::required_memory(scene, &world)?)?;
            Box::new(Volume::new(scene, world)?)
        }
    };
    Ok(Built { model, notices })
}

/// Fails if the liquid needs more than nine tenths of the free memory, where that is known.
fn check_memory(needed: &MemoryEstimate) -> Result<(), BuildError> {
    let Some(free) = free_memory() else { return Ok(()) };
    if needed.bytes < 0.9 * free {
        return Ok(());
    }
    Err(BuildError::Memory {
        cells: needed.cells,
        needed_gb: needed.bytes / 1e9,
        memory_gb: free / 1e9,
        wanted_mm: 1e3 * needed.cell_size * (needed.bytes / (0.8 * free)).cbrt(),
    })
}

/// Memory that the system can still hand out, in bytes.
pub(crate) fn free_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}
