//! Builds the model that a scene names.

use sessile_droplet::{DropletError, DropletModel};
use sessile_model::{Estimate, Model, free_memory};
use sessile_pane::{Pane, PaneError};
use sessile_scene::types::{ModelKind, Scene};
use sessile_surface::{SurfaceError, SurfaceModel};
use sessile_volume::{MemoryEstimate, Volume, VolumeError};
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
    Estimate::new(scene, 1).check_memory().map_err(BuildError::Estimate)?;
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

#[cfg(test)]
mod tests {
    use sessile_scene::{NoFiles, parse_str};

    use super::*;

    /// Reproducers R1: in the studio and in Python too, which have no run of their own.
    #[test]
    fn models_that_cannot_fit_are_refused_before_anything_is_built() {
        for (model, key) in [("volume", "cell"), ("surface", "edge")] {
            let rest = format!(
                "[resolution]\n{key} = \"1 nm\"\n[[solids]]\nname = \"t\"\n[[drops]]\nshape = \"cap\"\nvolume = \"4 uL\"\n"
            );
            let text = format!("model = \"{model}\"\n[time]\nduration = \"2 ms\"\nframe = \"1 ms\"\n{rest}");
            let scene = parse_str("a.toml", &text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}")).scene;
            let error = build(&scene).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(&format!("set resolution.{key} to at least")), "{model}: {error}");
        }
    }

    #[test]
    fn ordinary_scenes_get_no_warning() {
        for scene in crate::scenes::SCENES {
            let parsed = parse_str(scene.name, scene.text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}"));
            let estimate = Estimate::new(&parsed.scene, 2);
            let tight = |warning: &String| warning.contains("free memory");
            assert!(estimate.warnings.iter().all(tight), "{}: {:?}", scene.name, estimate.warnings);
            assert_eq!(estimate.problem(8e9), None, "{}: {}", scene.name, estimate.line());
        }
    }
}
