//! A session saved as a run folder, which `sessile render`, `measure`, `export` and `studio` open.
//!
//! Frames begin with the moment at which saving begins, and follow each other by ticks: a frame
//! takes as many ticks as come closest to the scene's frame interval. The folder's scene is that of
//! the first frame; how solids and gravity were moved by hand since is in its keys. What a
//! hand did to the liquid is in the frames only, so the run cannot be resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::{DVec3, EulerRot};
use sessile_frames::names::{file_stem, safe_names};
use sessile_frames::{Event, FrameId, RunFolder, RunInfo, RunStatus, StepTotals};
use sessile_scene::types::{MotionKey, SolidShape};
use sessile_scene::{Keyed, Scene, print};
use sessile_sim::measure_frame;
use sessile_world::Solid;

use crate::session::Session;

/// Writes the frames of a session.
#[derive(Debug)]
pub struct RunWriter {
    folder: RunFolder,
    info: RunInfo,
    scene: Scene,
    solid_names: Vec<String>,
    /// Scene of the session that is saved.
    generation: u32,
    /// Tick of the first frame.
    first: u64,
    /// Ticks per frame.
    stride: u64,
    /// Events since the last frame.
    events: Vec<Event>,
    /// Motion of each solid, one key per frame.
    motion: Vec<Vec<MotionKey>>,
    /// Gravity of each frame, in m/s².
    gravity: Vec<(f64, DVec3)>,
}

impl RunWriter {
    /// Creates the folder and writes the present moment as its first frame.
    pub fn begin(root: &Path, session: &Session) -> Result<Self, String> {
        let mut scene = session.scene_of_now();
        let stride = (scene.time.frame / session.tick_length()).round().max(1.0);
        scene.time.frame = stride * session.tick_length();
        scene.time.settle = false;
        scene.solids = session.scene().solids.clone();
        let (folder, existing) = RunFolder::claim(root).map_err(|error| error.to_string())?;
        if existing.is_some() {
            return Err(format!("{} contains a run already", root.display()));
        }
        let name = root.file_name().map_or_else(|| "studio".into(), |name| name.to_string_lossy().into_owned());
        let info = RunInfo {
            version: env!("CARGO_PKG_VERSION").into(),
            name: file_stem(&name),
            seed: scene.seed,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            status: RunStatus::Running,
            settled: false,
            frames: 0,
            resumes: 0,
            steps: StepTotals::default(),
            stages: BTreeMap::new(),
            estimate: None,
            exposure: None,
            error: None,
        };
        let names: Vec<&str> = scene.solids.iter().map(|solid| solid.name.as_str()).collect();
        let mut writer = Self {
            solid_names: safe_names(&names),
            motion: vec![Vec::new(); scene.solids.len()],
            folder,
            info,
            scene,
            generation: session.generation(),
            first: session.ticks(),
            stride: stride as u64,
            events: Vec::new(),
            gravity: Vec::new(),
        };
        writer.write_solids(session)?;
        writer.write_frame(session)?;
        Ok(writer)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.root()
    }

    /// Frames written so far.
    pub fn frames(&self) -> u64 {
        self.info.frames
    }

    /// Whether the session still shows the scene that is saved.
    pub fn fits(&self, session: &Session) -> bool {
        session.generation() == self.generation
    }

    /// Takes a tick of the session into account: every few ticks it becomes a frame.
    pub fn after_tick(&mut self, session: &mut Session) -> Result<(), String> {
        self.events.append(&mut session.take_events());
        if session.ticks() - self.first < self.info.frames * self.stride {
            return Ok(());
        }
        self.write_frame(session)
    }

    /// Writes the scene and the status of a complete run.
    pub fn end(mut self) -> Result<(), String> {
        self.info.status = RunStatus::Done;
        self.write_scene()?;
        self.folder.write_info(&self.info).map_err(|error| error.to_string())
    }

    fn write_frame(&mut self, session: &Session) -> Result<(), String> {
        let number = self.info.frames;
        let time = number as f64 * self.scene.time.frame;
        let (model, world) = (session.model(), session.model().world());
        let mut frame = model.frame();
        frame.time = time;
        frame.liquid = frame.liquid.tessellate_if_few().map_err(|reason| reason.to_string())?;
        let planar = self.scene.world.planar.then_some(self.scene.resolution.cell).flatten();
        let measures = measure_frame(&frame, number, &self.events, world, planar).map_err(|error| error.to_string())?;
        self.events.clear();
        let written = || {
            self.folder.write_frame(FrameId { frame: number, time }, &frame.liquid)?;
            for map in &frame.wet {
                if let Some(name) = self.solid_names.get(map.solid) {
                    self.folder.write_wet(name, number, map)?;
                }
            }
            self.folder.append_measures(&measures)
        };
        written().map_err(|error| error.to_string())?;
        self.info.frames = number + 1;
        self.gravity.push((time, world.gravity()));
        for (keys, solid) in self.motion.iter_mut().zip(world.solids()) {
            keys.push(key_of(solid, time));
        }
        if number == 0 {
            self.write_scene()?;
        }
        self.folder.write_info(&self.info).map_err(|error| error.to_string())
    }

    fn write_solids(&mut self, session: &Session) -> Result<(), String> {
        // `run.json` marks the folder as a run from the first moment.
        self.folder.write_info(&self.info).map_err(|error| error.to_string())?;
        for (name, solid) in self.solid_names.iter().zip(session.model().world().solids()) {
            self.folder.write_solid(name, &solid.mesh_once()).map_err(|error| error.to_string())?;
        }
        let Some(uploads) = session.upload_folder() else { return Ok(()) };
        // Models from the page end with the session: the run keeps its own copy.
        for solid in &mut self.scene.solids {
            if let SolidShape::Mesh { file, .. } = &mut solid.shape
                && file.starts_with(uploads)
                && let Some(name) = file.file_name().map(PathBuf::from)
            {
                let copy = self.folder.root().join(&name);
                std::fs::copy(&*file, &copy).map_err(|error| format!("cannot write {}: {error}", copy.display()))?;
                *file = name;
            }
        }
        Ok(())
    }

    /// Writes the scene with the motion up to the last frame.
    fn write_scene(&mut self) -> Result<(), String> {
        let last = self.info.frames.saturating_sub(1).max(1);
        self.scene.time.duration = last as f64 * self.scene.time.frame;
        self.scene.world.gravity = Keyed { keys: without_repeats(&self.gravity, |(_, a), (_, b)| a == b) };
        for (solid, keys) in self.scene.solids.iter_mut().zip(&self.motion) {
            let same = |a: &MotionKey, b: &MotionKey| a.shift == b.shift && a.rotate == b.rotate;
            solid.motion = without_repeats(keys, same);
            if let [only] = &solid.motion[..]
                && only.shift == DVec3::ZERO
                && only.rotate == DVec3::ZERO
            {
                solid.motion.clear();
            }
        }
        self.folder.write_scene(&print(&self.scene)).map_err(|error| error.to_string())
    }
}

/// The pose of a solid as a key of its motion.
fn key_of(solid: &Solid, time: f64) -> MotionKey {
    let pose = solid.world_from_rest();
    let pivot = solid.velocity().pivot;
    let (z, y, x) = pose.rotation.to_euler(EulerRot::ZYX);
    MotionKey { at: time, shift: pivot - pose.apply_inverse(pivot), rotate: DVec3::new(x, y, z) }
}

/// Leaves out what repeats the key before and the key after it.
fn without_repeats<T: Copy>(keys: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for (k, key) in keys.iter().enumerate() {
        let repeats_last = k > 0 && same(&keys[k - 1], key);
        let repeats_next = keys.get(k + 1).is_none_or(|next| same(key, next));
        if !(repeats_last && repeats_next) {
            kept.push(*key);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_bend_a_motion_are_kept() {
        let keys: Vec<(u32, u32)> = [0, 0, 0, 1, 2, 2, 2].into_iter().enumerate().map(|(k, v)| (k as u32, v)).collect();
        let kept = without_repeats(&keys, |a, b| a.1 == b.1);
        assert_eq!(kept, [(0, 0), (2, 0), (3, 1), (4, 2)]);
        assert_eq!(without_repeats(&keys[..3], |a, b| a.1 == b.1), [(0, 0)]);
    }
}
