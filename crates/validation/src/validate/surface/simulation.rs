//! Scene text and measurements for the cases.

use glam::DVec3;
use sessile_frames::DropMeasures;
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_surface::{check, check_crossings};
use sessile_world::World;

use super::CaseError;
pub(super) use crate::validate::common::{GRAVITY, WATER};
use crate::validate::common::{drops_of, only};

/// World table without gravity.
pub(super) const ZERO_GRAVITY: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

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

/// A cap on `s`: `volume` in µL, `angle` in degrees, `center` in mm.
pub(super) fn cap(volume: f64, angle: f64, center: DVec3) -> String {
    let DVec3 { x, y, z } = center;
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {y} {z} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n"
    )
}

/// A sphere: `radius` and `center` in mm, `velocity` in m/s.
pub(super) fn sphere(radius: f64, center: DVec3, velocity: DVec3) -> String {
    format!(
        "[[drops]]\nshape = \"sphere\"\nradius = \"{radius} mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{} {} {} m/s\"\n",
        center.x, center.y, center.z, velocity.x, velocity.y, velocity.z
    )
}

/// Shortest edge for about `triangles` liquid–air triangles on an area in mm², in mm; the mean edge
/// is twice as long.
pub(super) fn edge_for(triangles: f64, area: f64) -> f64 {
    0.5 * (area / triangles / 0.433).sqrt()
}

/// A running model.
pub(super) struct Simulation {
    pub model: SurfaceModel,
}

impl Simulation {
    /// Simulation of a scene: `time` are further keys of the table `time`, `rest` the other tables.
    pub fn new(time: &str, rest: &str) -> Result<Self, CaseError> {
        let text = format!("model = \"surface\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{time}\n{rest}");
        let scene = parse_str("case.toml", &text, &[], &NoFiles).map_err(|wrong| wrong.to_string())?.scene;
        Ok(Self { model: SurfaceModel::new(&scene, World::build(&scene)?)? })
    }

    /// Simulates `seconds`, in steps of at most `most` seconds.
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

    /// Simulates `seconds`.
    pub fn run(&mut self, seconds: f64) -> Result<(), CaseError> {
        self.run_by(seconds, f64::INFINITY)
    }

    /// Measures of all drops.
    pub fn drops(&self) -> Result<Vec<DropMeasures>, CaseError> {
        drops_of(&self.model)
    }

    /// Measures of the only drop; an error if there are several.
    pub fn only_drop(&self) -> Result<DropMeasures, CaseError> {
        only(self.drops()?)
    }
}
