//! What a run folder makes of a scene: begin, go on, or leave it as it is.

use std::collections::BTreeMap;

use sessile_frames::{Checkpoint, RunFolder, RunInfo, RunStatus, checkpoint};
use sessile_scene::{RunRelation, Scene, parse_file, print, same_run};

use super::saved::{Identity, Moment};
use super::{Progress, RunError, RunOptions};

/// What is to be done.
pub(super) enum Start {
    /// Step.
    Run(Box<Opened>),
    /// Nothing.
    AlreadyDone { frame: u32, settled: bool },
}

/// A folder that this process holds, ready for the next step.
pub(super) struct Opened {
    pub folder: RunFolder,
    pub info: RunInfo,
    /// Where to go on from; `None` at the beginning.
    pub resumed: Option<Resumed>,
}

/// A moment to go on from, and the model's state at it.
pub(super) struct Resumed {
    pub moment: Moment,
    pub model: Vec<u8>,
}

pub(super) fn open(
    scene: &Scene,
    identity: &Identity,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Start, RunError> {
    let (folder, before) = RunFolder::claim(&options.out)?;
    let Some(info) = before else { return begin(folder, scene, options) };
    // `run.json` is written first; without a scene beside it the run got no further.
    let begun = folder.scene_path().exists();
    if options.fresh || !begun {
        // The checkpoint goes first: should this be interrupted, nothing goes on from a run whose frames are half gone.
        checkpoint::remove(&folder.checkpoint_path()).map_err(sessile_frames::FolderError::from)?;
        folder.remove_run()?;
        return begin(folder, scene, options);
    }
    let relation = compare(&folder, scene, options)?;
    let saved = folder.read_checkpoint()?;
    let last_frame = u64::from(scene.time.last_frame());
    if info.status == RunStatus::Done && (info.settled || info.frames > last_frame) {
        if relation == RunRelation::Extends {
            folder.write_scene(&print(scene))?;
        }
        return Ok(Start::AlreadyDone {
            frame: u32::try_from(info.frames.saturating_sub(1)).unwrap_or(u32::MAX),
            settled: info.settled,
        });
    }
    match saved {
        Some(checkpoint) => go_on(folder, info, &checkpoint, scene, identity, options, progress),
        None => match folder.frames()?.last() {
            // The first checkpoint comes right behind frame 0, so more frames than that had one.
            Some(&frame) if frame > 0 => Err(RunError::NoCheckpoint { folder: options.out.clone(), frame }),
            _ => {
                progress.notice(&format!(
                    "the run in {} has no checkpoint yet; it starts from the beginning",
                    options.out.display()
                ));
                folder.remove_run()?;
                begin(folder, scene, options)
            }
        },
    }
}

/// How the scene asked for relates to the one in the folder; an error where it is another run's.
fn compare(folder: &RunFolder, scene: &Scene, options: &RunOptions) -> Result<RunRelation, RunError> {
    let file = folder.scene_path();
    let kept = parse_file(&file, &[]).map_err(|reason| RunError::KeptScene { file, reason: reason.to_string() })?.scene;
    match same_run(&kept, scene) {
        RunRelation::Different(keys) => Err(RunError::OtherScene { folder: options.out.clone(), keys }),
        relation => Ok(relation),
    }
}

fn begin(folder: RunFolder, scene: &Scene, options: &RunOptions) -> Result<Start, RunError> {
    let info = RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        name: options.name.clone(),
        seed: scene.seed,
        threads: rayon::current_num_threads(),
        status: RunStatus::Running,
        settled: false,
        frames: 0,
        resumes: 0,
        stages: BTreeMap::new(),
        error: None,
    };
    folder.write_info(&info)?;
    folder.write_scene(&print(scene))?;
    Ok(Start::Run(Box::new(Opened { folder, info, resumed: None })))
}

fn go_on(
    folder: RunFolder,
    mut info: RunInfo,
    checkpoint: &Checkpoint,
    scene: &Scene,
    identity: &Identity,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Start, RunError> {
    let (moment, model) = Moment::from_checkpoint(checkpoint, identity, &options.out)?;
    folder.drop_after(Some(u64::from(moment.frame)))?;
    folder.write_scene(&print(scene))?;
    info.threads = rayon::current_num_threads();
    info.status = RunStatus::Running;
    info.error = None;
    info.frames = u64::from(moment.frame) + 1;
    info.resumes += 1;
    folder.write_info(&info)?;
    progress.notice(&format!(
        "the run in {} goes on from frame {} of {}, t = {} s",
        options.out.display(),
        moment.frame,
        scene.time.last_frame(),
        checkpoint.at.time
    ));
    let resumed = Some(Resumed { moment, model: model.to_vec() });
    Ok(Start::Run(Box::new(Opened { folder, info, resumed })))
}
