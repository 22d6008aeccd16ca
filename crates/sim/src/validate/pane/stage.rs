//! Scenes for the cases, and what is read off their runs.

use glam::DVec3;
use sessile_frames::{Content, DropMeasures, Event, Frame, Setting, Solid, measure};
use sessile_geometry::{Closest, Distance};
use sessile_model::{Model, Untimed};
use sessile_scene::{NoFiles, parse_str};
use sessile_shapes::Instance;
use sessile_wetting::{Liquid, Wetting};

use super::CaseError;
use crate::build::build;

/// As scenes have it by default.
pub(super) const WATER: Liquid =
    Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };
/// In m/s².
pub(super) const GRAVITY: f64 = 9.8;

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
            events.extend(self.model.step(end - self.time(), &mut Untimed)?.events);
        }
        Ok(events)
    }

    /// The drops, as numbers.
    pub fn drops(&self) -> Result<Vec<Instance>, CaseError> {
        match self.frame().liquid {
            Content::Instances(drops) => Ok(drops),
            Content::Surfaces(_) => Err("the pane did not yield instances".into()),
        }
    }

    /// The drop of this id, while there is one.
    pub fn drop(&self, id: u32) -> Result<Option<Instance>, CaseError> {
        Ok(self.drops()?.into_iter().find(|drop| drop.drop == id))
    }

    /// What `sessile measure` says of every drop.
    pub fn measures(&self) -> Result<Vec<DropMeasures>, CaseError> {
        let shapes: Vec<Shape> = self.model.world().solids().iter().map(Shape).collect();
        let solids: Vec<Solid> = shapes.iter().map(|shape| Solid { name: shape.0.name(), shape }).collect();
        Ok(measure(&self.frame(), 0, &[], Setting { solids: &solids, planar: None })?.drops)
    }

    /// What `sessile measure` says of the only drop.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        let mut drops = self.measures()?;
        match drops.len() {
            1 => Ok(drops.remove(0)),
            count => Err(format!("there are {count} drops, not one").into()),
        }
    }
}

struct Shape<'a>(&'a sessile_world::Solid);

impl Distance for Shape<'_> {
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.0.signed_distance(point)
    }

    fn closest(&self, point: DVec3) -> Closest {
        self.0.closest(point)
    }
}

/// Largest value in `range` for which `holds`, to a relative 1/2000; it must hold at the lower end and not at the upper one.
pub(super) fn largest_that(
    [mut low, mut high]: [f64; 2],
    mut holds: impl FnMut(f64) -> Result<bool, CaseError>,
) -> Result<f64, CaseError> {
    if !holds(low)? || holds(high)? {
        return Err(format!("the threshold does not lie between {low} and {high}").into());
    }
    while high - low > 5e-4 * high {
        let middle = 0.5 * (low + high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}
