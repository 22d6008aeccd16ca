//! The state of a run beside the model's, and its conversion to and from a checkpoint.
//!
//! A checkpoint of another program version, scene or asset is rejected here; the version of the
//! file format and its checksum are verified by [`sessile_frames::checkpoint`].

use std::path::Path;

use serde::{Deserialize, Serialize};
use sessile_frames::{Block, Checkpoint, RunPosition, StepTotals};
use sessile_scene::simulation_identity;
use sessile_scene::types::Scene;

use super::RunError;
use super::assets::{self, Asset};
use crate::settle::Settling;
use crate::stepper::StepperState;

/// Block of the model's state.
const MODEL: &str = "model";
/// Block of [`SavedRun`].
const RUN: &str = "run";
/// Block of the step totals, as JSON. Checkpoints of format version 1 have none.
const STEPS: &str = "steps";

/// The block `run`, in postcard. Events are JSON text, because their serialization needs field
/// names.
#[derive(Serialize, Deserialize)]
struct SavedRun {
    scene: [u8; 32],
    assets: Vec<Asset>,
    frame: u32,
    steps: u64,
    pending: String,
    settling: Settling,
}

/// What a checkpoint must match for the run to resume from it.
pub(super) struct Identity {
    scene: [u8; 32],
    assets: Vec<Asset>,
}

impl Identity {
    /// Identity of a scene and of the files that it uses, with their present contents.
    pub fn of(scene: &Scene) -> Result<Self, RunError> {
        let assets = assets::of_scene(scene).map_err(|(file, cause)| RunError::Asset { file, cause })?;
        Ok(Self { scene: *blake3::hash(simulation_identity(scene).as_bytes()).as_bytes(), assets })
    }
}

impl StepperState {
    /// A checkpoint of this state.
    pub(super) fn to_checkpoint(&self, identity: &Identity, time: f64, model: Vec<u8>) -> Checkpoint {
        let saved = SavedRun {
            scene: identity.scene,
            assets: identity.assets.clone(),
            frame: self.frame,
            steps: self.steps.count,
            pending: serde_json::to_string(&self.pending_events).expect("events are plain data"),
            settling: self.settling.clone(),
        };
        let saved = postcard::to_stdvec(&saved).expect("run state is plain data");
        let steps = serde_json::to_vec(&self.steps).expect("step totals are plain data");
        let block = |name: &str, bytes| Block { name: name.into(), bytes };
        Checkpoint {
            at: RunPosition { program: env!("CARGO_PKG_VERSION").into(), frame: u64::from(self.frame), time },
            blocks: vec![block(RUN, saved), block(STEPS, steps), block(MODEL, model)],
        }
    }

    /// The state in a checkpoint, and the model's state, if they belong to the run of this
    /// `identity`.
    pub(super) fn from_checkpoint<'a>(
        checkpoint: &'a Checkpoint,
        identity: &Identity,
        folder: &Path,
    ) -> Result<(Self, &'a [u8]), RunError> {
        let incompatible = |reason: String| RunError::IncompatibleCheckpoint { folder: folder.to_owned(), reason };
        if checkpoint.at.program != env!("CARGO_PKG_VERSION") {
            return Err(incompatible(format!(
                "it was written by version {} of the program, and this is version {}; resume with that version",
                checkpoint.at.program,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let (Some(saved), Some(model)) = (checkpoint.block(RUN), checkpoint.block(MODEL)) else {
            return Err(incompatible("a block is missing".into()));
        };
        let saved: SavedRun =
            postcard::from_bytes(saved).map_err(|error| incompatible(format!("invalid run state ({error})")))?;
        if let Some(file) = assets::changed(&saved.assets, &identity.assets) {
            return Err(RunError::AssetChanged { file: file.to_owned(), folder: folder.to_owned() });
        }
        if saved.scene != identity.scene {
            return Err(incompatible("it belongs to another scene than the folder's scene.toml".into()));
        }
        let pending_events =
            serde_json::from_str(&saved.pending).map_err(|error| incompatible(format!("invalid events ({error})")))?;
        let steps = match checkpoint.block(STEPS) {
            Some(json) => {
                serde_json::from_slice(json).map_err(|error| incompatible(format!("invalid step totals ({error})")))?
            }
            None => StepTotals { count: saved.steps, ..StepTotals::default() },
        };
        Ok((Self { frame: saved.frame, steps, pending_events, settling: saved.settling }, model))
    }
}
