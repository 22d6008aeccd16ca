//! Scenes for the cases, and what is read off their runs.

use glam::DVec3;
use sessile_frames::DropMeasures;
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_surface::{check, check_crossings};
use sessile_world::World;

use super::CaseError;
pub(super) use crate::validate::stage::{GRAVITY, WATER};
use crate::validate::stage::{drops_of, only};

/// A table for scenes without weight.
pub(super) const WEIGHTLESS: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

/// A material `m` by its angles in degrees.
pub(super) fn material(advancing: f64, receding: f64) -> String {
    format!("[materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n")
}

/// A plane `s` of it through the origin.
pub(super) fn plane(normal: [f64; 3]) -> String {
    format!(
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = {normal:?}\nsize = \"1000 1000 mm\"\n"
    )
}

/// A cap on `s` at a place in mm, of so many µL and degrees.
pub(super) fn cap(volume: f64, angle: f64, place: DVec3) -> String {
    let DVec3 { x, y, z } = place;
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {y} {z} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n"
    )
}

/// A ball of a radius in mm at a place in mm with a velocity in m/s.
pub(super) fn ball(radius: f64, place: DVec3, velocity: DVec3) -> String {
    format!(
        "[[drops]]\nshape = \"sphere\"\nradius = \"{radius} mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{} {} {} m/s\"\n",
        place.x, place.y, place.z, velocity.x, velocity.y, velocity.z
    )
}

/// Shortest edge for about so many triangles against air on a surface of some mm², in mm: edges are twice as long in the mean.
pub(super) fn edge_for(triangles: f64, area: f64) -> f64 {
    0.5 * (area / triangles / 0.433).sqrt()
}

/// A model at work.
pub(super) struct Stage {
    pub model: SurfaceModel,
}

impl Stage {
    /// `time` are more keys of its table, `rest` the other tables.
    pub fn new(time: &str, rest: &str) -> Result<Self, CaseError> {
        let text = format!("model = \"surface\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{time}\n{rest}");
        let scene = parse_str("case.toml", &text, &[], &NoFiles).map_err(|wrong| wrong.to_string())?.scene;
        Ok(Self { model: SurfaceModel::new(&scene, World::build(&scene)?)? })
    }

    /// Runs for so many seconds, in steps of `most` seconds at most.
    pub fn run_by(&mut self, seconds: f64, most: f64) -> Result<(), CaseError> {
        let end = self.model.time() + seconds;
        while self.model.time() < end - 1e-9 * seconds {
            self.model.step((end - self.model.time()).min(most), &mut NoTimer)?;
        }
        for drop in self.model.drops() {
            check(&drop.mesh)
                .and_then(|()| check_crossings(&drop.mesh))
                .map_err(|flaw| format!("drop {}: {flaw}", drop.id))?;
        }
        Ok(())
    }

    /// Runs for so many seconds.
    pub fn run(&mut self, seconds: f64) -> Result<(), CaseError> {
        self.run_by(seconds, f64::INFINITY)
    }

    /// What `sessile measure` says of the drops.
    pub fn drops(&self) -> Result<Vec<DropMeasures>, CaseError> {
        drops_of(&self.model)
    }

    /// What `sessile measure` says of the only drop.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(self.drops()?)
    }
}
