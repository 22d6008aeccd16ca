//! Scenes for the cases, and what is read off their runs.

use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::{DropMeasures, DropState};
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str};
use sessile_wetting::Wetting;
use sessile_world::World;

use super::CaseError;
pub(super) use crate::validate::stage::{GRAVITY, WATER, largest_that};
use crate::validate::stage::{drops_of, only};

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
            self.model.step(end - self.model.time(), &mut NoTimer)?;
        }
        Ok(())
    }

    /// Where the drop of this id stands, in m.
    pub fn place(&self, id: u32) -> Option<DVec3> {
        self.model.places().find(|&(drop, ..)| drop == id).map(|(_, place, _)| place)
    }

    /// Facts of the drop of this id.
    pub fn facts(&self, id: u32) -> Result<DropState, CaseError> {
        self.model
            .frame()
            .drops
            .into_iter()
            .find(|drop| drop.id == id)
            .ok_or_else(|| format!("drop {id} is gone").into())
    }

    /// What `sessile measure` says of the only drop.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(drops_of(&self.model)?)
    }
}
