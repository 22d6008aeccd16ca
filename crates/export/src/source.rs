//! The run to be exported: its frames one at a time, its solids at each frame's time, its camera.

use std::path::Path;

use glam::DVec3;
use sessile_appearance::{Camera, DropTrack, frame_drop, frame_scene, frames_of_run, moved_camera, scene_of_run};
use sessile_frames::names::safe_names;
use sessile_frames::{FolderError, FrameSelection, RunFolder, RunInfo, RunStatus, Surface, measures_file};
use sessile_scene::types::Scene;
use sessile_world::{Pose, World};

use crate::error::ExportError;

/// A run opened for reading.
#[derive(Debug)]
pub struct Source {
    /// Its folder.
    pub folder: RunFolder,
    /// `run.json`.
    pub info: RunInfo,
    /// The scene as run.
    pub scene: Scene,
    /// Its solids at the start.
    pub world: World,
    /// File names of the solids, in the scene's order.
    pub solids: Vec<String>,
    /// The frames to export, in ascending order without gaps; never empty.
    pub frames: Vec<u64>,
    camera: Camera,
    followed: Option<DropTrack>,
}

/// One frame of a run.
#[derive(Clone, Debug)]
pub struct LoadedFrame {
    /// Its number in the run.
    pub number: u64,
    /// Its number in the names of exported files: counted from the scene's `time.start_frame`.
    pub shown: u64,
    /// Its time, in s.
    pub time: f64,
    /// The liquid.
    pub liquid: Surface,
}

impl Source {
    /// Opens a run and selects frames. Messages for the user are added to `notices`.
    pub fn open(run: &Path, selection: FrameSelection, notices: &mut Vec<String>) -> Result<Self, ExportError> {
        let folder = RunFolder::open(run)?;
        let info = folder.read_info()?;
        let scene = scene_of_run(&folder)?;
        let all = folder.frames()?;
        let frames = frames_of_run(&folder, selection, &all)?;
        if let Some(pair) = frames.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            return Err(ExportError::Gap { folder: run.to_owned(), before: pair[0], after: pair[1] });
        }
        notices.extend(unfinished_notice(&all, &info, &scene));
        let world = World::build(&scene)?;
        let aspect = f64::from(scene.render.size[0]) / f64::from(scene.render.size[1].max(1));
        let followed = match scene.camera.follow {
            Some(follow) => DropTrack::read(&folder.measures_path(), follow).map_err(FolderError::from)?,
            None => None,
        };
        let camera = match &followed {
            Some(drop) => frame_drop(&scene, &world, aspect, drop.first(), drop.radius()),
            None => frame_scene(&scene, &world, aspect),
        };
        let names: Vec<&str> = scene.solids.iter().map(|solid| solid.name.as_str()).collect();
        Ok(Self { solids: safe_names(&names), folder, info, scene, world, frames, camera, followed })
    }

    /// Reads a frame.
    pub fn read_frame(&self, number: u64) -> Result<LoadedFrame, ExportError> {
        let (liquid, id) = self.folder.read_frame(number)?;
        Ok(LoadedFrame { number, shown: self.shown(number), time: id.time, liquid })
    }

    /// The solids at a time, in s.
    pub fn world_at(&self, time: f64) -> World {
        let mut world = self.world.clone();
        world.advance_to(time);
        world
    }

    /// Poses of a solid in the exported frames.
    pub fn poses(&self, solid: usize) -> Vec<Pose> {
        let pose = |&frame: &u64| *self.world_at(self.time_of(frame)).solids()[solid].world_from_rest();
        self.frames.iter().map(pose).collect()
    }

    /// Time of a frame, in s.
    pub fn time_of(&self, frame: u64) -> f64 {
        frame as f64 * self.scene.time.frame
    }

    /// The camera of a frame, which moves by its keys, or along with the drop that it follows.
    pub fn camera_at(&self, frame: u64) -> Camera {
        let shift = self.followed.as_ref().map_or(DVec3::ZERO, |drop| drop.at(frame) - drop.first());
        let camera = Camera { eye: self.camera.eye + shift, look_at: self.camera.look_at + shift, ..self.camera };
        moved_camera(&self.scene, camera, self.time_of(frame))
    }

    /// Factor from radiance to what the run's images show; that of the scene until it is rendered.
    pub fn exposure(&self) -> f64 {
        self.info.exposure.unwrap_or(self.scene.render.exposure)
    }

    /// Whether the camera moves.
    pub fn camera_moves(&self) -> bool {
        self.followed.is_some() || !self.scene.camera.motion.is_empty()
    }

    /// Number of a frame in exported files.
    pub fn shown(&self, frame: u64) -> u64 {
        self.scene.time.shown_frame(frame)
    }

    /// First and last frame, as they are numbered in exported files.
    pub fn shown_range(&self) -> (u64, u64) {
        let (first, last) = self.range();
        (self.shown(first), self.shown(last))
    }

    /// First and last frame.
    pub fn range(&self) -> (u64, u64) {
        (self.frames.first().copied().unwrap_or_default(), self.frames.last().copied().unwrap_or_default())
    }

    /// Whether a solid has a wet map in any of the exported frames.
    pub fn has_wet_maps(&self, solid: usize) -> bool {
        self.frames.iter().any(|&frame| self.has_wet_map(solid, frame))
    }

    /// Whether a solid has a wet map in a frame.
    pub fn has_wet_map(&self, solid: usize, frame: u64) -> bool {
        self.folder.wet_path(&self.solids[solid], frame).is_file()
    }

    /// Whether the liquid was simulated on a grid, whose fields a run may write.
    pub fn used_a_grid(&self) -> Result<bool, ExportError> {
        let mut used = false;
        measures_file::for_each(&self.folder.measures_path(), |frame| {
            used = frame.active_cells > 0;
            !used
        })?;
        Ok(used)
    }
}

/// A message about frames that a run has not written, if there are any.
fn unfinished_notice(frames: &[u64], info: &RunInfo, scene: &Scene) -> Option<String> {
    let expected = u64::from(scene.time.last_frame());
    let last = frames.last().filter(|last| **last < expected && !info.settled)?;
    let state = match info.status {
        RunStatus::Running => "is still running or was interrupted",
        RunStatus::Failed => "failed",
        RunStatus::Stopped => "was stopped",
        RunStatus::Done => "ended early",
    };
    Some(format!("the run {state}: it has frames up to {last} of {expected}; exporting those"))
}
