//! What a checkpoint holds beside the model's own state.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sessile_frames::checkpoint::Progress;
use sessile_frames::{Block, Checkpoint, Event};
use sessile_scene::simulation_identity;
use sessile_scene::types::Scene;

use super::RunError;
use super::assets::{self, Asset};
use crate::settle::Settling;

const MODEL: &str = "model";
const RUNNER: &str = "run";

/// A run between two steps, except for the model's state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Moment {
    /// The last frame that was written.
    pub frame: u32,
    /// Steps since the beginning.
    pub steps: u64,
    /// What happened since that frame.
    pub pending: Vec<Event>,
    /// How quiet the drops are.
    pub settling: Settling,
}

/// As it stands in the file. Events are JSON inside, since their form does not suit a format without field names.
#[derive(Serialize, Deserialize)]
struct Runner {
    scene: [u8; 32],
    assets: Vec<Asset>,
    frame: u32,
    steps: u64,
    pending: String,
    settling: Settling,
}

/// What a checkpoint must agree with to be taken up.
pub(super) struct Identity {
    scene: [u8; 32],
    assets: Vec<Asset>,
}

impl Identity {
    /// Of a scene and the files that it draws on, as they are now.
    pub fn of(scene: &Scene) -> Result<Self, RunError> {
        let assets = assets::of_scene(scene).map_err(|(file, cause)| RunError::Asset { file, cause })?;
        Ok(Self { scene: *blake3::hash(simulation_identity(scene).as_bytes()).as_bytes(), assets })
    }
}

impl Moment {
    /// A checkpoint of this moment.
    pub fn to_checkpoint(&self, identity: &Identity, time: f64, model: Vec<u8>) -> Checkpoint {
        let runner = Runner {
            scene: identity.scene,
            assets: identity.assets.clone(),
            frame: self.frame,
            steps: self.steps,
            pending: serde_json::to_string(&self.pending).expect("events are plain data"),
            settling: self.settling.clone(),
        };
        let runner = postcard::to_stdvec(&runner).expect("counters are plain data");
        Checkpoint {
            at: Progress { program: env!("CARGO_PKG_VERSION").into(), frame: u64::from(self.frame), time },
            blocks: vec![Block { name: RUNNER.into(), bytes: runner }, Block { name: MODEL.into(), bytes: model }],
        }
    }

    /// The moment that a checkpoint holds, and the model's state, if they belong to the run that `identity` tells.
    pub fn from_checkpoint<'a>(
        checkpoint: &'a Checkpoint,
        identity: &Identity,
        folder: &Path,
    ) -> Result<(Self, &'a [u8]), RunError> {
        let unfit = |reason: String| RunError::Unfit { folder: folder.to_owned(), reason };
        if checkpoint.at.program != env!("CARGO_PKG_VERSION") {
            return Err(unfit(format!(
                "version {} of the program wrote it, and this is {}; that version can go on with it",
                checkpoint.at.program,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let (Some(runner), Some(model)) = (checkpoint.block(RUNNER), checkpoint.block(MODEL)) else {
            return Err(unfit("a part of it is missing".into()));
        };
        let runner: Runner =
            postcard::from_bytes(runner).map_err(|error| unfit(format!("its counters do not read ({error})")))?;
        if let Some(file) = assets::changed(&runner.assets, &identity.assets) {
            return Err(RunError::AssetChanged { file: file.to_owned(), folder: folder.to_owned() });
        }
        if runner.scene != identity.scene {
            return Err(unfit("it is of another scene than the folder's scene.toml".into()));
        }
        let pending = serde_json::from_str(&runner.pending)
            .map_err(|error| unfit(format!("its events do not read ({error})")))?;
        Ok((Self { frame: runner.frame, steps: runner.steps, pending, settling: runner.settling }, model))
    }
}
