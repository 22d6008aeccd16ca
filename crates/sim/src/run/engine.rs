//! The loop of a run: steps, frames, checkpoints, rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sessile_frames::instances::surface_of;
use sessile_frames::names::safe_names;
use sessile_frames::{
    FrameGeometry, FrameId, INSTANCE_THRESHOLD, MeasureError, RunFolder, RunInfo, RunStatus, StageSeconds,
};
use sessile_model::{Model, StageTimer};
use sessile_scene::types::Scene;

use super::open::{Opened, Start, open};
use super::saved::{Identity, Moment};
use super::{Finish, Progress, RunError, RunOptions, Status};
use crate::build::{BuildError, Built};
use crate::clock::{StageClock, StageTime};
use crate::measuring::measure_frame;
use crate::settle::DropPose;

/// A step that ends within this fraction of a frame interval from the frame has reached it; what is left would be rounding.
const FRAME_SLACK: f64 = 1e-9;

pub(super) fn run(
    build: impl FnOnce(&Scene) -> Result<Built, BuildError>,
    scene: &Scene,
    options: &RunOptions,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Finish, RunError> {
    // What is wrong with the scene is said before the folder is touched.
    let Built { model, notices } = build(scene)?;
    let identity = Identity::of(scene)?;
    for notice in notices {
        progress.notice(&notice);
    }
    let opened = match open(scene, &identity, options, progress)? {
        Start::Run(opened) => *opened,
        Start::AlreadyDone { frame, settled } => return Ok(Finish::AlreadyDone { frame, settled }),
    };
    let mut engine = Engine::new(scene, options, identity, model, opened, progress)?;
    let result = engine.run(stop);
    engine.close(result)
}

struct Engine<'a> {
    scene: &'a Scene,
    options: &'a RunOptions,
    identity: Identity,
    model: Box<dyn Model>,
    progress: &'a mut dyn Progress,
    folder: RunFolder,
    info: RunInfo,
    /// The solids' names as files and folders carry them.
    solid_names: Vec<String>,
    clock: StageClock,
    moment: Moment,
    at_beginning: bool,
    started: Instant,
    time_at_start: f64,
    last_checkpoint: Instant,
}

impl<'a> Engine<'a> {
    fn new(
        scene: &'a Scene,
        options: &'a RunOptions,
        identity: Identity,
        mut model: Box<dyn Model>,
        opened: Opened,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, RunError> {
        let Opened { folder, info, resumed } = opened;
        let at_beginning = resumed.is_none();
        let mut moment = Moment::default();
        if let Some(resumed) = resumed {
            model.restore(&resumed.model).map_err(|cause| RunError::Restore { folder: options.out.clone(), cause })?;
            moment = resumed.moment;
        }
        let spent = info.stages.iter().map(|(name, spent)| StageTime {
            name: name.clone(),
            wall_seconds: spent.wall_seconds,
            cpu_seconds: spent.cpu_seconds,
        });
        let now = Instant::now();
        Ok(Self {
            scene,
            options,
            identity,
            time_at_start: model.time(),
            solid_names: safe_names(&scene.solids.iter().map(|solid| solid.name.as_str()).collect::<Vec<_>>()),
            model,
            progress,
            folder,
            clock: StageClock::starting_from(spent.collect()),
            info,
            moment,
            at_beginning,
            started: now,
            last_checkpoint: now,
        })
    }

    /// Steps from frame to frame until the last one, rest, or a request to stop.
    fn run(&mut self, stop: &AtomicBool) -> Result<Finish, RunError> {
        self.write_missing_solids()?;
        if self.at_beginning {
            self.write_frame()?;
            self.write_checkpoint()?;
            self.write_info()?;
        }
        self.progress.begin(&self.options.out, &self.status());
        let last = self.scene.time.last_frame();
        let mut settled = self.at_rest();
        while self.moment.frame < last && !settled {
            if !self.step_to_next_frame(stop)? {
                self.write_checkpoint()?;
                return Ok(Finish::Stopped { frame: self.moment.frame });
            }
            self.moment.frame += 1;
            self.write_frame()?;
            settled = self.at_rest();
            if self.checkpoint_is_due() {
                self.write_checkpoint()?;
            }
            self.write_info()?;
            self.progress.advance(&self.status());
        }
        self.write_checkpoint()?;
        Ok(Finish::Done { frame: self.moment.frame, settled })
    }

    /// Steps until the next frame's time, or until asked to stop; whether the time was reached.
    fn step_to_next_frame(&mut self, stop: &AtomicBool) -> Result<bool, RunError> {
        let interval = self.scene.time.frame;
        let target = f64::from(self.moment.frame + 1) * interval;
        while target - self.model.time() > FRAME_SLACK * interval {
            if stop.load(Ordering::SeqCst) {
                return Ok(false);
            }
            let time = self.model.time();
            let report = self.model.step(target - time, &mut self.clock);
            self.clock.pause();
            let (step, frame) = (self.moment.steps, self.moment.frame);
            let report = report.map_err(|cause| RunError::Step {
                step,
                frame,
                time,
                cause: Box::new(cause),
                command: self.options.command.clone(),
            })?;
            // Also false for a time that is no number.
            let advanced = self.model.time() > time;
            if !advanced {
                return Err(RunError::Stuck { step, time, dt: report.dt });
            }
            self.moment.steps += 1;
            self.moment.pending.extend(report.events);
            for text in self.model.notices() {
                self.progress.notice(&text);
            }
            if self.options.checkpoint_seconds > 0.0 && self.checkpoint_is_due() {
                self.write_checkpoint()?;
            }
            self.progress.advance(&self.status());
        }
        Ok(true)
    }

    fn at_rest(&self) -> bool {
        self.scene.time.settle && self.moment.settling.at_rest(self.scene)
    }

    fn checkpoint_is_due(&self) -> bool {
        self.last_checkpoint.elapsed().as_secs_f64() >= self.options.checkpoint_seconds
    }

    /// Writes the frame that the moment counts: measured first, so that nothing is written of one that cannot be.
    fn write_frame(&mut self) -> Result<(), RunError> {
        let number = u64::from(self.moment.frame);
        self.clock.enter("build frame");
        let mut frame = self.model.frame();
        frame.time = f64::from(self.moment.frame) * self.scene.time.frame;
        let mut shapes = None;
        if let FrameGeometry::Instances(drops) = &frame.liquid
            && drops.len() <= INSTANCE_THRESHOLD
        {
            // They will be written as surfaces; made here, they are made once.
            let surface = surface_of(drops).map_err(|reason| MeasureError::Instance { frame: number, reason })?;
            if let FrameGeometry::Instances(drops) =
                std::mem::replace(&mut frame.liquid, FrameGeometry::Surfaces(surface))
            {
                shapes = Some(drops);
            }
        }
        let fields = if self.scene.output.fields { self.model.fields() } else { None };

        self.clock.enter("measure");
        let planar = if self.scene.world.planar { self.scene.resolution.cell } else { None };
        let measures = measure_frame(&frame, number, &self.moment.pending, self.model.world().solids(), planar)?;

        self.clock.enter("write");
        let stamp = FrameId { frame: number, time: frame.time };
        self.folder.write_frame(stamp, &frame.liquid)?;
        if let Some(shapes) = shapes {
            self.folder.write_shapes(stamp, &shapes)?;
        }
        if let Some(fields) = fields {
            self.folder.write_fields(stamp, &fields)?;
        }
        for map in &frame.wet {
            if let Some(name) = self.solid_names.get(map.solid) {
                self.folder.write_wet(name, number, map)?;
            }
        }
        self.folder.append_measures(&measures)?;
        self.clock.pause();

        self.moment.pending.clear();
        if self.scene.time.settle {
            let drops = measures.drops.iter().map(|drop| DropPose {
                id: drop.id,
                volume: drop.volume,
                centroid: drop.centroid,
                height: drop.height,
                base_radius: drop.base_radius,
            });
            self.moment.settling.observe(frame.time, drops.collect(), &self.scene.liquid, self.scene.world.planar);
        }
        self.info.frames = number + 1;
        Ok(())
    }

    fn write_missing_solids(&self) -> Result<(), RunError> {
        for (name, solid) in self.solid_names.iter().zip(self.model.world().solids()) {
            if !self.folder.solid_path(name).exists() {
                self.folder.write_solid(name, solid.mesh())?;
            }
        }
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        self.clock.enter("checkpoint");
        let checkpoint = self.moment.to_checkpoint(&self.identity, self.model.time(), self.model.save());
        self.folder.write_checkpoint(&checkpoint)?;
        self.clock.pause();
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    fn write_info(&mut self) -> Result<(), RunError> {
        let seconds =
            |total: &StageTime| StageSeconds { wall_seconds: total.wall_seconds, cpu_seconds: total.cpu_seconds };
        self.info.stages = self.clock.totals().iter().map(|total| (total.name.clone(), seconds(total))).collect();
        Ok(self.folder.write_info(&self.info)?)
    }

    /// Says in `run.json` how it ended.
    fn close(mut self, result: Result<Finish, RunError>) -> Result<Finish, RunError> {
        self.progress.end(&self.status());
        self.clock.pause();
        match &result {
            Ok(Finish::Done { settled, .. }) => {
                self.info.status = RunStatus::Done;
                self.info.settled = *settled;
            }
            Ok(_) => {}
            Err(error) => {
                self.info.status = RunStatus::Failed;
                self.info.error = Some(error.to_string());
            }
        }
        let written = self.write_info();
        // Where the run failed, that is what must be told, not that a full disk does not take the reason either.
        let finish = result?;
        written.map(|()| finish)
    }

    fn status(&self) -> Status {
        let time = self.model.time();
        Status {
            frame: self.moment.frame,
            last_frame: self.scene.time.last_frame(),
            time,
            duration: self.scene.time.duration,
            simulated: time - self.time_at_start,
            wall: self.started.elapsed(),
        }
    }
}
