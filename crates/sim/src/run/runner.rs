//! The main loop of a run: steps, frames, checkpoints, rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sessile_frames::names::safe_names;
use sessile_frames::{Activity, FrameId, Progress, RunFolder, RunInfo, RunStatus, StageSeconds};
use sessile_model::{Estimate, Model, StageTimer};
use sessile_scene::types::Scene;

use super::open::{Opened, Start, open};
use super::saved::Identity;
use super::{RunError, RunOptions, RunOutcome};
use crate::build::{BuildError, Built};
use crate::clock::{StageClock, StageTime};
use crate::stepper::{MeasuredFrame, StepFailure, Stepper, StepperState};

pub(super) fn run(
    build: impl FnOnce(&Scene) -> Result<Built, BuildError>,
    scene: &Scene,
    options: &RunOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let estimate = Estimate::new(scene, rayon::current_num_threads());
    estimate.check_memory().map_err(BuildError::Estimate)?;
    progress.notice(&estimate.line());
    estimate.warnings.iter().for_each(|warning| progress.notice(warning));
    // Errors in the scene are reported before the folder is touched.
    let Built { model, notices } = build(scene)?;
    let identity = Identity::of(scene)?;
    for notice in notices {
        progress.notice(&notice);
    }
    let opened = match open(scene, &identity, options, estimate.cost, progress)? {
        Start::Run(opened) => *opened,
        Start::AlreadyDone { frame, settled } => return Ok(RunOutcome::AlreadyDone { frame, settled }),
    };
    let mut runner = Runner::new(scene, options, identity, model, opened, progress)?;
    let result = runner.run(stop);
    runner.close(result)
}

struct Runner<'a> {
    scene: &'a Scene,
    options: &'a RunOptions,
    identity: Identity,
    stepper: Stepper,
    progress: &'a dyn Progress,
    folder: RunFolder,
    info: RunInfo,
    /// Names of the solids in file and folder names.
    solid_names: Vec<String>,
    clock: StageClock,
    resumed: bool,
    last_checkpoint: Instant,
}

impl<'a> Runner<'a> {
    fn new(
        scene: &'a Scene,
        options: &'a RunOptions,
        identity: Identity,
        mut model: Box<dyn Model>,
        opened: Opened,
        progress: &'a dyn Progress,
    ) -> Result<Self, RunError> {
        let Opened { folder, info, resume_from } = opened;
        let resumed = resume_from.is_some();
        let mut state = StepperState::default();
        if let Some((saved, model_state)) = resume_from {
            model.restore(&model_state).map_err(|cause| RunError::Restore { folder: options.out.clone(), cause })?;
            state = saved;
        }
        let spent = info.stages.iter().map(|(name, spent)| StageTime {
            name: name.clone(),
            wall_seconds: spent.wall_seconds,
            cpu_seconds: spent.cpu_seconds,
        });
        Ok(Self {
            scene,
            options,
            identity,
            solid_names: safe_names(&scene.solids.iter().map(|solid| solid.name.as_str()).collect::<Vec<_>>()),
            stepper: Stepper::resumed(scene.clone(), model, state),
            progress,
            folder,
            clock: StageClock::starting_from(spent.collect()),
            info,
            resumed,
            last_checkpoint: Instant::now(),
        })
    }

    /// Steps from frame to frame until the last one, rest, or a request to stop.
    fn run(&mut self, stop: &AtomicBool) -> Result<RunOutcome, RunError> {
        self.write_missing_solids()?;
        if self.resumed {
            self.restore_ages()?;
        } else {
            self.write_frame()?;
            self.write_checkpoint()?;
            self.write_info()?;
        }
        let last = self.scene.time.last_frame();
        let interval = self.scene.time.frame;
        let activity = Activity::Simulate { start: self.stepper.model().time() / interval, interval };
        self.progress.begin(activity, last as usize);
        self.report_progress();
        let mut settled = self.at_rest();
        while self.stepper.frame_number() < last && !settled {
            if !self.step_to_next_frame(stop)? {
                self.write_checkpoint()?;
                return Ok(RunOutcome::Stopped { frame: self.stepper.frame_number() });
            }
            self.write_frame()?;
            settled = self.at_rest();
            if self.checkpoint_is_due() {
                self.write_checkpoint()?;
            }
            self.write_info()?;
            self.report_progress();
        }
        self.write_checkpoint()?;
        Ok(RunOutcome::Done { frame: self.stepper.frame_number(), settled })
    }

    /// Continues from the ages in the wet maps of the last frame, if ages are recorded.
    fn restore_ages(&mut self) -> Result<(), RunError> {
        if !self.scene.output.wet_age && self.scene.output.drying.is_none() {
            return Ok(());
        }
        let frame = u64::from(self.stepper.frame_number());
        let mut maps = Vec::new();
        for (solid, name) in self.solid_names.iter().enumerate() {
            maps.extend(self.folder.read_wet(name, solid, frame)?);
        }
        self.stepper.restore_ages(maps);
        Ok(())
    }

    /// Steps until the time of the next frame or a request to stop; returns whether the time was
    /// reached.
    fn step_to_next_frame(&mut self, stop: &AtomicBool) -> Result<bool, RunError> {
        let target = self.stepper.next_frame_time();
        let next = self.stepper.frame_number() + 1;
        while self.stepper.frame_number() < next {
            if stop.load(Ordering::SeqCst) {
                return Ok(false);
            }
            let result = self.stepper.step(target, &mut self.clock);
            self.clock.pause();
            result.map_err(|failure| self.step_error(failure))?;
            self.report_notices();
            // A checkpoint between frames never counts a frame that is not written yet.
            let between = self.stepper.frame_number() < next;
            if between && self.options.checkpoint_seconds > 0.0 && self.checkpoint_is_due() {
                self.write_checkpoint()?;
            }
            if between {
                self.report_progress();
            }
        }
        Ok(true)
    }

    fn step_error(&self, failure: StepFailure) -> RunError {
        match failure {
            StepFailure::Model { step, time, cause } => RunError::Step {
                step,
                frame: self.stepper.frame_number(),
                time,
                cause,
                command: self.options.command.clone(),
            },
            StepFailure::Stuck { step, time, dt } => RunError::Stuck { step, time, dt },
        }
    }

    fn at_rest(&self) -> bool {
        self.scene.time.settle && self.stepper.at_rest()
    }

    fn checkpoint_is_due(&self) -> bool {
        self.last_checkpoint.elapsed().as_secs_f64() >= self.options.checkpoint_seconds
    }

    /// Writes the current frame. It is measured first, so that nothing is written of an invalid
    /// one.
    fn write_frame(&mut self) -> Result<(), RunError> {
        let fields = if self.scene.output.fields { self.stepper.model().fields() } else { None };
        let MeasuredFrame { frame, measures } = self.stepper.measured(&mut self.clock)?;
        self.report_notices();
        let number = measures.frame;

        self.clock.enter("write");
        let id = FrameId { frame: number, time: frame.time };
        self.folder.write_frame(id, &frame.liquid)?;
        if let Some(fields) = fields {
            self.folder.write_fields(id, &fields)?;
        }
        for map in &frame.wet {
            if let Some(name) = self.solid_names.get(map.solid) {
                self.folder.write_wet(name, number, map)?;
            }
        }
        self.folder.append_measures(&measures)?;
        self.clock.pause();

        if self.scene.time.settle {
            self.stepper.observe_rest(&measures);
        }
        self.info.frames = number + 1;
        Ok(())
    }

    fn write_missing_solids(&self) -> Result<(), RunError> {
        for (name, solid) in self.solid_names.iter().zip(self.stepper.model().world().solids()) {
            if !self.folder.solid_path(name).exists() {
                self.folder.write_solid(name, &solid.mesh_once())?;
            }
        }
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        self.clock.enter("checkpoint");
        let model = self.stepper.model();
        let checkpoint = self.stepper.state().to_checkpoint(&self.identity, model.time(), model.save());
        self.folder.write_checkpoint(&checkpoint)?;
        self.clock.pause();
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    fn write_info(&mut self) -> Result<(), RunError> {
        let seconds =
            |total: &StageTime| StageSeconds { wall_seconds: total.wall_seconds, cpu_seconds: total.cpu_seconds };
        self.info.stages = self.clock.totals().iter().map(|total| (total.name.clone(), seconds(total))).collect();
        self.info.steps = self.stepper.state().steps.clone();
        Ok(self.folder.write_info(&self.info)?)
    }

    /// Writes the final status to `run.json`.
    fn close(mut self, result: Result<RunOutcome, RunError>) -> Result<RunOutcome, RunError> {
        self.report_progress();
        self.progress.end();
        self.clock.pause();
        match &result {
            Ok(RunOutcome::Done { settled, .. }) => {
                self.info.status = RunStatus::Done;
                self.info.settled = *settled;
            }
            Ok(_) => self.info.status = RunStatus::Stopped,
            Err(error) => {
                self.info.status = RunStatus::Failed;
                self.info.error = Some(error.to_string());
            }
        }
        let written = self.write_info();
        // If the run failed, its error is reported rather than that of writing the status.
        let outcome = result?;
        written.map(|()| outcome)
    }

    fn report_notices(&mut self) {
        for text in self.stepper.take_notices() {
            self.progress.notice(&text);
        }
    }

    fn report_progress(&self) {
        let position = self.stepper.model().time() / self.scene.time.frame;
        let frame = self.stepper.frame_number();
        let fraction = (position - f64::from(frame)).clamp(0.0, 1.0);
        self.progress.advance(frame as usize, fraction);
    }
}
