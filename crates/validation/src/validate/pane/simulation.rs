//! Scene text and measurements for the cases.

use sessile_frames::{DropMeasures, Event, Frame, FrameGeometry};
use sessile_model::Model;
use sessile_scene::text;
use sessile_shapes::Instance;
use sessile_sim::build;
use sessile_wetting::Wetting;

use super::CaseError;
use crate::validate::common::{self, drops_of, only};
pub(super) use crate::validate::common::{GRAVITY, WATER, bisect_largest};

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

    /// Keys of a material in a scene.
    pub fn keys(self) -> String {
        format!("advancing = \"{} deg\"\nreceding = \"{} deg\"\n", self.advancing, self.receding)
    }

    /// The same for the laws of `sessile-wetting`.
    pub fn wetting(self) -> Wetting {
        Wetting::smooth(self.advancing.to_radians(), self.receding.to_radians())
    }
}

/// Scene text with a pane through the origin, tilted by `degrees` (0 floor, 90 wall, 180 ceiling);
/// `size` in mm.
///
/// `head` are keys before all tables.
pub(super) fn tilted(head: &str, degrees: f64, size: [f64; 2], material: &str) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let [across, up] = size;
    format!(
        "{}[materials.m]\n{material}\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos:.15}, {sin:.15}]\n\
         size = \"{across} {up} mm\"\n",
        text::header("pane", head)
    )
}

/// A cap on the pane: `volume` in µL, `angle` in degrees, center in mm.
pub(super) fn cap(volume: f64, angle: f64, center: [f64; 3]) -> String {
    text::cap("pane", center, &format!("volume = \"{volume} uL\""), angle)
}

/// A running model.
pub(super) struct Simulation {
    model: Box<dyn Model>,
}

impl Simulation {
    pub fn new(scene: &str) -> Result<Self, CaseError> {
        Ok(Self { model: build(&common::parse(scene)?)?.model })
    }

    pub fn time(&self) -> f64 {
        self.model.time()
    }

    pub fn frame(&self) -> Frame {
        self.model.frame()
    }

    /// Simulates `seconds` and returns the events.
    pub fn run(&mut self, seconds: f64) -> Result<Vec<Event>, CaseError> {
        common::advance(&mut *self.model, seconds, f64::INFINITY)
    }

    /// Instances of all drops.
    pub fn drops(&self) -> Result<Vec<Instance>, CaseError> {
        match self.frame().liquid {
            FrameGeometry::Instances(drops) => Ok(drops),
            _ => Err("the pane did not yield instances".into()),
        }
    }

    /// Instance of a drop; `None` if it does not exist.
    pub fn drop(&self, id: u32) -> Result<Option<Instance>, CaseError> {
        Ok(self.drops()?.into_iter().find(|drop| drop.drop == id))
    }

    /// Measures of all drops.
    pub fn measures(&self) -> Result<Vec<DropMeasures>, CaseError> {
        drops_of(&*self.model)
    }

    /// Measures of the only drop; an error if there are several.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(self.measures()?)
    }
}
