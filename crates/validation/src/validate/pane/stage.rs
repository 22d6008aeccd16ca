//! Scenes for the cases, and what is read off their runs.

use sessile_frames::{DropMeasures, Event, Frame, FrameGeometry};
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str};
use sessile_shapes::Instance;
use sessile_wetting::Wetting;

use super::CaseError;
pub(super) use crate::validate::stage::{GRAVITY, WATER, largest_that};
use crate::validate::stage::{drops_of, only};
use sessile_sim::build;

/// A material by its two angles, in degrees.
#[derive(Clone, Copy)]
pub(super) struct Angles {
    pub advancing: f64,
    pub receding: f64,
}

impl Angles {
    pub fn new(advancing: f64, receding: f64) -> Self {
        Self { advancing, receding }
    }

    /// For a legend: `90°/60°`.
    pub fn name(self) -> String {
        format!("{}°/{}°", self.advancing, self.receding)
    }

    /// As a scene's material has it.
    pub fn keys(self) -> String {
        format!("advancing = \"{} deg\"\nreceding = \"{} deg\"\n", self.advancing, self.receding)
    }

    /// As the laws take it.
    pub fn wetting(self) -> Wetting {
        Wetting::smooth(self.advancing.to_radians(), self.receding.to_radians())
    }
}

/// A scene's text: a pane through the origin tilted by so many degrees (0 a floor, 90 a wall, 180 a ceiling), its sides in mm.
///
/// `head` takes keys that stand before all tables.
pub(super) fn tilted(head: &str, degrees: f64, size: [f64; 2], material: &str) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let [across, up] = size;
    format!(
        "model = \"pane\"\n{head}\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[materials.m]\n{material}\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos:.15}, {sin:.15}]\n\
         size = \"{across} {up} mm\"\n"
    )
}

/// A cap that stands at this place (in mm), of so many µL and degrees.
pub(super) fn cap(volume: f64, angle: f64, [x, y, z]: [f64; 3]) -> String {
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"pane\"\ncenter = \"{x} {y} {z} mm\"\nvolume = \"{volume} uL\"\n\
         contact_angle = \"{angle} deg\"\n"
    )
}

/// A model at work.
pub(super) struct Stage {
    model: Box<dyn Model>,
}

impl Stage {
    pub fn new(scene: &str) -> Result<Self, CaseError> {
        let scene = parse_str("case.toml", scene, &[], &NoFiles).map_err(|wrong| wrong.to_string())?.scene;
        Ok(Self { model: build(&scene)?.model })
    }

    pub fn time(&self) -> f64 {
        self.model.time()
    }

    pub fn frame(&self) -> Frame {
        self.model.frame()
    }

    /// Runs for so many seconds and says what happened.
    pub fn run(&mut self, seconds: f64) -> Result<Vec<Event>, CaseError> {
        let end = self.time() + seconds;
        let mut events = Vec::new();
        // Rounding in the sum of steps must not make one of nothing.
        while self.time() < end - 1e-9 * seconds {
            events.extend(self.model.step(end - self.time(), &mut NoTimer)?.events);
        }
        Ok(events)
    }

    /// The drops, as numbers.
    pub fn drops(&self) -> Result<Vec<Instance>, CaseError> {
        match self.frame().liquid {
            FrameGeometry::Instances(drops) => Ok(drops),
            _ => Err("the pane did not yield instances".into()),
        }
    }

    /// The drop of this id, while there is one.
    pub fn drop(&self, id: u32) -> Result<Option<Instance>, CaseError> {
        Ok(self.drops()?.into_iter().find(|drop| drop.drop == id))
    }

    /// What `sessile measure` says of every drop.
    pub fn measures(&self) -> Result<Vec<DropMeasures>, CaseError> {
        drops_of(&*self.model)
    }

    /// What `sessile measure` says of the only drop.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(self.measures()?)
    }
}
