//! Scene text and measurements for the cases.

use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::{DropMeasures, DropState};
use sessile_model::Model;
use sessile_scene::text;
use sessile_wetting::Wetting;
use sessile_world::World;

use super::CaseError;
use crate::validate::common::{self, drops_of, only};
pub(super) use crate::validate::common::{GRAVITY, WATER, bisect_largest};

/// A material `m` by its angles in degrees, and further keys.
pub(super) fn material(advancing: f64, receding: f64, more: &str) -> String {
    format!("{}{more}\n", common::material(advancing, receding))
}

/// A plane `s` of it through the origin, tilted by `degrees` (0 floor, 90 wall, 180 ceiling)
/// towards +z; `size` in mm.
pub(super) fn tilted(degrees: f64, size: [f64; 2]) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    format!(
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos:.15}, {sin:.15}]\nsize = \"{} {} mm\"\n",
        size[0], size[1]
    )
}

/// A cap on `s`: `volume` in µL, `angle` in degrees, `center` in mm, `velocity` in m/s.
pub(super) fn cap(volume: f64, angle: f64, center: DVec3, velocity: DVec3) -> String {
    let velocity = format!("velocity = \"{} {} {} m/s\"\n", velocity.x, velocity.y, velocity.z);
    text::cap("s", center.into(), &format!("volume = \"{volume} uL\""), angle) + &velocity
}

/// The same for the laws of `sessile-wetting`.
pub(super) fn wetting(advancing: f64, receding: f64) -> Wetting {
    Wetting::smooth(advancing.to_radians(), receding.to_radians())
}

/// A running model.
pub(super) struct Simulation {
    pub model: DropletModel,
}

impl Simulation {
    /// Simulation of a scene: `head` are keys before all tables, `rest` the tables.
    pub fn new(head: &str, rest: &str) -> Result<Self, CaseError> {
        let scene = common::parse(&(text::header("droplet", head) + rest))?;
        Ok(Self { model: DropletModel::new(&scene, World::build(&scene)?)? })
    }

    /// Simulates `seconds`.
    pub fn run(&mut self, seconds: f64) -> Result<(), CaseError> {
        common::advance(&mut self.model, seconds, f64::INFINITY)?;
        Ok(())
    }

    /// Position of a drop, in m.
    pub fn position(&self, id: u32) -> Option<DVec3> {
        self.model.places().find(|&(drop, ..)| drop == id).map(|(_, place, _)| place)
    }

    /// State of a drop.
    pub fn state(&self, id: u32) -> Result<DropState, CaseError> {
        self.model
            .frame()
            .drops
            .into_iter()
            .find(|drop| drop.id == id)
            .ok_or_else(|| format!("drop {id} is gone").into())
    }

    /// Measures of the only drop; an error if there are several.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(drops_of(&self.model)?)
    }
}
