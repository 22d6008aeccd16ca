//! Opens the run folder: decides whether to start, resume, or leave a finished run as it is.
//!
//! Which changes of the scene allow an existing run to resume is defined in
//! `sessile_scene::run_identity`.

use std::collections::BTreeMap;

use sessile_frames::names::file_stem;
use sessile_frames::{
    Checkpoint, CostEstimate, FolderError, Progress, RunFolder, RunInfo, RunStatus, StepTotals, checkpoint,
};
use sessile_scene::{RunRelation, Scene, parse_file, print, same_run};

use super::saved::Identity;
use super::{RunError, RunOptions};
use crate::stepper::StepperState;

/// What to do with the run.
pub(super) enum Start {
    /// Simulate.
    Run(Box<Opened>),
    /// Nothing: it is finished.
    AlreadyDone { frame: u32, settled: bool },
}

/// A run folder that this process has locked, ready for the next step.
pub(super) struct Opened {
    pub folder: RunFolder,
    pub info: RunInfo,
    /// State of the run and of the model to resume from; `None` for a new run.
    pub resume_from: Option<(StepperState, Vec<u8>)>,
}

pub(super) fn open(
    scene: &Scene,
    identity: &Identity,
    options: &RunOptions,
    estimate: CostEstimate,
    progress: &dyn Progress,
) -> Result<Start, RunError> {
    let (folder, existing) = RunFolder::claim(&options.out)?;
    let Some(info) = existing else { return start(folder, scene, options, estimate) };
    // `run.json` is written first; without a scene beside it the run got no further.
    let started = folder.scene_path().exists();
    if options.fresh || !started {
        // The checkpoint is removed first: if this is interrupted, no run resumes with half of its
        // frames removed.
        checkpoint::remove(&folder.checkpoint_path()).map_err(FolderError::from)?;
        folder.remove_run()?;
        return start(folder, scene, options, estimate);
    }
    let relation = compare(&folder, scene, options)?;
    let saved = folder.read_checkpoint()?;
    let last_frame = u64::from(scene.time.last_frame());
    if info.status == RunStatus::Done && (info.settled || info.frames > last_frame) {
        if relation == RunRelation::Extends {
            // What changed may be the light.
            folder.write_info(&RunInfo { exposure: None, ..info.clone() })?;
            folder.write_scene(&print(scene))?;
        }
        return Ok(Start::AlreadyDone {
            // A run that did not come to rest has all frames of its scene.
            frame: u32::try_from(info.frames.saturating_sub(1)).unwrap_or(u32::MAX).min(scene.time.last_frame()),
            settled: info.settled,
        });
    }
    match saved {
        Some(checkpoint) => resume(folder, info, &checkpoint, scene, identity, options, progress),
        None => match folder.frames()?.last() {
            // The first checkpoint is written right after frame 0, so a run with more frames had
            // one.
            Some(&frame) if frame > 0 => Err(RunError::NoCheckpoint { folder: options.out.clone(), frame }),
            _ => {
                progress.notice(&format!(
                    "the run in {} has no checkpoint yet; starting from the beginning",
                    options.out.display()
                ));
                folder.remove_run()?;
                start(folder, scene, options, estimate)
            }
        },
    }
}

/// How the scene relates to the one in the folder; an error if it is a different run.
fn compare(folder: &RunFolder, scene: &Scene, options: &RunOptions) -> Result<RunRelation, RunError> {
    let file = folder.scene_path();
    let stored = parse_file(&file, &[]).map_err(|cause| RunError::StoredScene { file, cause })?.scene;
    match same_run(&stored, scene) {
        RunRelation::Different(keys) => Err(RunError::DifferentScene { folder: options.out.clone(), keys }),
        relation => Ok(relation),
    }
}

fn start(folder: RunFolder, scene: &Scene, options: &RunOptions, estimate: CostEstimate) -> Result<Start, RunError> {
    let info = RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        name: file_stem(&options.name),
        seed: scene.seed,
        threads: rayon::current_num_threads(),
        status: RunStatus::Running,
        settled: false,
        frames: 0,
        resumes: 0,
        steps: StepTotals::default(),
        stages: BTreeMap::new(),
        estimate: Some(estimate),
        exposure: None,
        error: None,
    };
    folder.write_info(&info)?;
    folder.write_scene(&print(scene))?;
    Ok(Start::Run(Box::new(Opened { folder, info, resume_from: None })))
}

fn resume(
    folder: RunFolder,
    mut info: RunInfo,
    checkpoint: &Checkpoint,
    scene: &Scene,
    identity: &Identity,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Start, RunError> {
    let (state, model) = StepperState::from_checkpoint(checkpoint, identity, &options.out)?;
    folder.remove_after(Some(u64::from(state.frame)), u64::from(scene.time.start_frame))?;
    folder.write_scene(&print(scene))?;
    info.threads = rayon::current_num_threads();
    info.status = RunStatus::Running;
    info.exposure = None;
    info.error = None;
    info.frames = u64::from(state.frame) + 1;
    info.steps = state.steps.clone();
    info.resumes = info.resumes.saturating_add(1);
    folder.write_info(&info)?;
    progress.notice(&format!(
        "resuming the run in {} from frame {} of {}, t = {} s",
        options.out.display(),
        state.frame,
        scene.time.last_frame(),
        checkpoint.at.time
    ));
    let resume_from = Some((state, model.to_vec()));
    Ok(Start::Run(Box::new(Opened { folder, info, resume_from })))
}
