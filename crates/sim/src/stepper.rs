//! A model with the pacing of a run: steps end at frame times, events collect between frames, rest
//! is detected at frames.
//!
//! [`crate::run()`] and programs that step a scene themselves share it, so both make the same steps
//! and get the same bits. Frame k is at k times the scene's frame interval, by multiplication; a
//! step never passes a frame time, and one that ends within [`FRAME_TOLERANCE`] of it has reached
//! it.
//!
//! ```
//! use sessile_model::NoTimer;
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_sim::Stepper;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//!     model = "pane"
//!     time = { frames = 4, fps = 20 }
//!     [[solids]]
//!     name = "window"
//!     shape = "plane"
//!     normal = [0, 0, 1]
//!     size = "40 40 mm"
//!     [[drops]]
//!     shape = "cap"
//!     on = "window"
//!     volume = "5 uL"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let mut stepper = Stepper::new(scene)?;
//! while let Some(target) = stepper.next_stop(0.12) {
//!     stepper.step(target, &mut NoTimer)?;
//! }
//! assert_eq!(stepper.frame_number(), 2);
//! assert_eq!(stepper.measured(&mut NoTimer)?.measures.drops.len(), 1);
//! # Ok(())
//! # }
//! ```

use sessile_frames::{Event, Frame, FrameMeasures, MeasureError, StepTotals, WetMap};
use sessile_model::{Model, StageTimer, StepError};
use sessile_scene::types::{Output, Scene};

use crate::build::{BuildError, Built, build};
use crate::measuring::measure_frame;
use crate::settle::{DropPose, Settling};
use crate::shown_volume;
use crate::wet_age::WetAges;
use crate::wet_size::resized;

/// A step that ends within this fraction of a frame interval before a frame counts as having
/// reached it.
pub const FRAME_TOLERANCE: f64 = 1e-9;

/// What the next step depends on beside the model's state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepperState {
    /// Last frame reached.
    pub frame: u32,
    /// Totals over all steps since the initial state.
    pub steps: StepTotals,
    /// Events since the last frame that was measured.
    pub pending_events: Vec<Event>,
    /// Rest detection.
    pub settling: Settling,
}

/// A scene's model and its position between frames.
pub struct Stepper {
    scene: Scene,
    model: Box<dyn Model>,
    state: StepperState,
    ages: WetAges,
    notices: Vec<String>,
    /// Whether a frame has been reported that does not show its volume.
    shown_volume_reported: bool,
}

/// A frame as a run writes it: surfaces where there are few drops, with its measures.
#[derive(Clone, Debug)]
pub struct MeasuredFrame {
    /// Liquid, wet maps and volume balance.
    pub frame: Frame,
    /// What is measured on it.
    pub measures: FrameMeasures,
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepFailure {
    /// The model failed.
    #[error("step {step} at t = {time} s: {cause}")]
    Model {
        /// Number of steps before it.
        step: u64,
        /// Simulated time, in s.
        time: f64,
        /// The model's error, with advice.
        cause: Box<StepError>,
    },
    /// The step did not advance the time.
    #[error(
        "step {step} at t = {time} s advanced by {dt} s; the model is stuck. Try a coarser resolution, or report this \
         with the scene"
    )]
    Stuck {
        /// Number of steps before it.
        step: u64,
        /// Simulated time, in s.
        time: f64,
        /// Length of the step, in s.
        dt: f64,
    },
}

impl Stepper {
    /// The scene at time zero. Messages about what was repaired or assumed are in
    /// [`Stepper::take_notices`].
    pub fn new(scene: Scene) -> Result<Self, BuildError> {
        let Built { model, notices } = build(&scene)?;
        Ok(Self { notices, ..Self::resumed(scene, model, StepperState::default()) })
    }

    /// A model in a state that it was in before.
    pub(crate) fn resumed(scene: Scene, model: Box<dyn Model>, state: StepperState) -> Self {
        Self { scene, model, state, ages: WetAges::default(), notices: Vec::new(), shown_volume_reported: false }
    }

    /// Continues from the ages in the wet maps of the last frame.
    pub(crate) fn restore_ages(&mut self, maps: Vec<WetMap>) {
        self.ages = WetAges::restored(maps);
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The model, for interaction between two steps.
    pub fn model_mut(&mut self) -> &mut dyn Model {
        &mut *self.model
    }

    /// Number of the last frame reached; 0 is the initial state.
    pub fn frame_number(&self) -> u32 {
        self.state.frame
    }

    /// The position between frames and what goes with it.
    pub fn state(&self) -> &StepperState {
        &self.state
    }

    /// Simulated time, in s: exactly the frame's if the last step reached a frame.
    pub fn time(&self) -> f64 {
        let frame = self.time_of(self.state.frame);
        if (self.model.time() - frame).abs() <= self.tolerance() { frame } else { self.model.time() }
    }

    /// Messages for the user since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Where the next step must end at the latest on the way to `until` (in s): the next frame's
    /// time or `until`. `None` once `until` is reached.
    pub fn next_stop(&self, until: f64) -> Option<f64> {
        let next_frame = self.next_frame_time();
        let close = (until - next_frame).abs() <= self.tolerance();
        let target = if close { next_frame } else { next_frame.min(until) };
        (!self.reached(target)).then_some(target)
    }

    /// Time of the next frame, in s.
    pub fn next_frame_time(&self) -> f64 {
        self.time_of(self.state.frame + 1)
    }

    /// Makes one step that ends at `target` (in s, at most [`Stepper::next_frame_time`]) or
    /// earlier.
    pub fn step(&mut self, target: f64, timer: &mut dyn StageTimer) -> Result<(), StepFailure> {
        let (time, step) = (self.model.time(), self.state.steps.count);
        let report = self.model.step(target - time, timer);
        let report = report.map_err(|cause| StepFailure::Model { step, time, cause: Box::new(cause) })?;
        // Also false if the time is NaN.
        let advanced = self.model.time() > time;
        if !advanced {
            return Err(StepFailure::Stuck { step, time, dt: report.dt });
        }
        self.state.steps.record(report.dt, report.stages.iter());
        self.state.pending_events.extend(report.events);
        self.notices.extend(self.model.notices());
        if self.reached(self.next_frame_time()) {
            self.state.frame += 1;
        }
        Ok(())
    }

    /// The present state as a run writes it, with the events since the last call.
    pub fn measured(&mut self, timer: &mut dyn StageTimer) -> Result<MeasuredFrame, MeasureError> {
        let mut measured = self.measure(timer)?;
        let Output { wet_age, drying, .. } = self.scene.output;
        if wet_age || drying.is_some() {
            let frames = drying.map(|time| time / self.scene.time.frame);
            self.ages.advance(&mut measured.frame, self.model.world().solids(), frames);
        }
        self.state.pending_events.clear();
        self.compare_volumes(&measured.frame);
        Ok(measured)
    }

    /// Tells the user once if a frame does not show the volumes of its drops.
    fn compare_volumes(&mut self, frame: &Frame) {
        if self.shown_volume_reported {
            return;
        }
        let found = shown_volume::notice(frame, self.thickness());
        self.shown_volume_reported = found.is_some();
        self.notices.extend(found);
    }

    /// Thickness of a planar run, in m.
    fn thickness(&self) -> Option<f64> {
        if self.scene.world.planar { self.scene.resolution.cell } else { None }
    }

    fn measure(&self, timer: &mut dyn StageTimer) -> Result<MeasuredFrame, MeasureError> {
        let number = u64::from(self.state.frame);
        timer.enter("build frame");
        let mut frame = self.model.frame();
        frame.time = self.time();
        if let Some(size) = self.scene.output.wet_size {
            frame.wet = frame.wet.iter().map(|map| resized(map, size)).collect();
        }
        frame.liquid =
            frame.liquid.tessellate_if_few().map_err(|reason| MeasureError::Instance { frame: number, reason })?;
        timer.enter("measure");
        let events = &self.state.pending_events;
        let measures = measure_frame(&frame, number, events, self.model.world(), self.thickness())?;
        Ok(MeasuredFrame { frame, measures })
    }

    /// Takes a frame into account for rest detection; call it once at every frame.
    pub fn observe_rest(&mut self, measures: &FrameMeasures) {
        let drops = measures.drops.iter().map(DropPose::from).collect();
        self.state.settling.observe(measures.time, drops, &self.scene.liquid, self.scene.world.planar);
    }

    /// Measures the present frame for rest detection only; its events are kept.
    pub fn watch_rest(&mut self, timer: &mut dyn StageTimer) -> Result<(), MeasureError> {
        let measured = self.measure(timer)?;
        self.observe_rest(&measured.measures);
        Ok(())
    }

    /// Whether the drops are at rest and the scene changes nothing later.
    pub fn at_rest(&self) -> bool {
        self.state.settling.at_rest(&self.scene)
    }

    fn time_of(&self, frame: u32) -> f64 {
        f64::from(frame) * self.scene.time.frame
    }

    fn tolerance(&self) -> f64 {
        FRAME_TOLERANCE * self.scene.time.frame
    }

    fn reached(&self, target: f64) -> bool {
        target - self.model.time() <= self.tolerance()
    }
}

#[cfg(test)]
mod tests {
    use sessile_model::NoTimer;
    use sessile_scene::{NoFiles, parse_str};

    use super::*;

    fn stepper() -> Stepper {
        let text = "model = \"surface\"\ntime = { frames = 3, frame = \"0.7 ms\" }\nresolution.edge = \"0.3 mm\"\n\
             [[drops]]\nradius = \"0.7 mm\"\nmode = 2\namplitude = 0.05\n";
        Stepper::new(parse_str("s.toml", text, &[], &NoFiles).unwrap().scene).unwrap()
    }

    fn step_to(stepper: &mut Stepper, time: f64) {
        while let Some(target) = stepper.next_stop(time) {
            stepper.step(target, &mut NoTimer).unwrap();
        }
    }

    #[test]
    fn steps_end_at_frames_whatever_time_is_asked_for() {
        let (mut far, mut near) = (stepper(), stepper());
        step_to(&mut far, 2.1e-3);
        for k in 1..=3 {
            step_to(&mut near, f64::from(k) * 0.7e-3);
            assert_eq!((near.frame_number(), near.time()), (k, f64::from(k) * 0.7e-3));
        }
        assert_eq!(far.frame_number(), 3);
        assert_eq!(far.model().save(), near.model().save());
    }

    #[test]
    fn a_time_between_frames_is_reached_exactly() {
        let mut stepper = stepper();
        step_to(&mut stepper, 1e-3);
        assert!((stepper.time() - 1e-3).abs() < 1e-12, "{}", stepper.time());
        assert_eq!(stepper.frame_number(), 1);
        assert!(stepper.next_stop(1e-3).is_none() && stepper.next_stop(0.5e-3).is_none());
    }
}
