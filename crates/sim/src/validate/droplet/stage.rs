//! Scenes for the cases, and what is read off their runs.

use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::{DropFacts, DropMeasures, Setting, Solid, measure};
use sessile_geometry::{Closest, Distance};
use sessile_model::{Model, Untimed};
use sessile_scene::{NoFiles, parse_str};
use sessile_wetting::{Liquid, Wetting};
use sessile_world::World;

use super::CaseError;

/// As scenes have it by default.
pub(super) const WATER: Liquid =
    Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };
/// In m/s².
pub(super) const GRAVITY: f64 = 9.8;

/// A material `m` by its angles in degrees, and what else it says.
pub(super) fn material(advancing: f64, receding: f64, more: &str) -> String {
    format!("[materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n{more}\n")
}

/// A plane of it through the origin, tilted by so many degrees (0 a floor, 90 a wall, 180 a ceiling) towards +z, sides in mm.
pub(super) fn tilted(degrees: f64, size: [f64; 2]) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    format!(
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos:.15}, {sin:.15}]\nsize = \"{} {} mm\"\n",
        size[0], size[1]
    )
}

/// A cap that stands at this place (in mm), of so many µL and degrees, with a velocity in m/s.
pub(super) fn cap(volume: f64, angle: f64, center: DVec3, velocity: DVec3) -> String {
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{} {} {} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n\
         velocity = \"{} {} {} m/s\"\n",
        center.x, center.y, center.z, velocity.x, velocity.y, velocity.z
    )
}

/// As the laws take it.
pub(super) fn wetting(advancing: f64, receding: f64) -> Wetting {
    Wetting::smooth(advancing.to_radians(), receding.to_radians())
}

/// A model at work.
pub(super) struct Stage {
    pub model: DropletModel,
}

impl Stage {
    /// `head` are keys before all tables, `rest` the tables.
    pub fn new(head: &str, rest: &str) -> Result<Self, CaseError> {
        let text = format!("model = \"droplet\"\n{head}\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{rest}");
        let scene = parse_str("case.toml", &text, &[], &NoFiles).map_err(|wrong| wrong.to_string())?.scene;
        Ok(Self { model: DropletModel::new(&scene, World::build(&scene)?)? })
    }

    /// Runs for so many seconds.
    pub fn run(&mut self, seconds: f64) -> Result<(), CaseError> {
        let end = self.model.time() + seconds;
        while self.model.time() < end - 1e-9 * seconds {
            self.model.step(end - self.model.time(), &mut Untimed)?;
        }
        Ok(())
    }

    /// Where the drop of this id stands, in m.
    pub fn place(&self, id: u32) -> Option<DVec3> {
        self.model.places().find(|&(drop, ..)| drop == id).map(|(_, place, _)| place)
    }

    /// Facts of the drop of this id.
    pub fn facts(&self, id: u32) -> Result<DropFacts, CaseError> {
        self.model
            .frame()
            .drops
            .into_iter()
            .find(|drop| drop.id == id)
            .ok_or_else(|| format!("drop {id} is gone").into())
    }

    /// What `sessile measure` says of the only drop.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        let shapes: Vec<Shape> = self.model.world().solids().iter().map(Shape).collect();
        let solids: Vec<Solid> = shapes.iter().map(|shape| Solid { name: shape.0.name(), shape }).collect();
        let mut drops = measure(&self.model.frame(), 0, &[], Setting { solids: &solids, planar: None })?.drops;
        if drops.len() == 1 {
            Ok(drops.remove(0))
        } else {
            Err(format!("there are {} drops, not one", drops.len()).into())
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
