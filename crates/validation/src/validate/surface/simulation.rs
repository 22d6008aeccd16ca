//! Scene text and measurements for the cases.

use glam::DVec3;
use sessile_frames::DropMeasures;
use sessile_model::Model;
use sessile_scene::text;
use sessile_surface::SurfaceModel;
use sessile_world::World;

use super::CaseError;
use crate::validate::common::{self, drops_of, only};
pub(super) use crate::validate::common::{GRAVITY, WATER, material};

/// World table without gravity.
pub(super) const ZERO_GRAVITY: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

/// A plane `s` of it through the origin.
pub(super) fn plane(normal: [f64; 3]) -> String {
    text::plane("s", "m", normal, [1000.0; 2])
}

/// A cap on `s`: `volume` in µL, `angle` in degrees, `center` in mm.
pub(super) fn cap(volume: f64, angle: f64, center: DVec3) -> String {
    text::cap("s", center.into(), &format!("volume = \"{volume} uL\""), angle)
}

/// A sphere: `radius` and `center` in mm, `velocity` in m/s.
pub(super) fn sphere(radius: f64, center: DVec3, velocity: DVec3) -> String {
    text::sphere(&format!("radius = \"{radius} mm\""), center.into(), velocity.into())
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
        let scene = common::parse(&format!("{}{time}\n{rest}", text::header("surface", "")))?;
        Ok(Self { model: SurfaceModel::new(&scene, World::build(&scene)?)? })
    }

    /// Simulates `seconds`, in steps of at most `most` seconds.
    pub fn run_by(&mut self, seconds: f64, most: f64) -> Result<(), CaseError> {
        common::advance(&mut self.model, seconds, most)?;
        self.model.check_surfaces()?;
        match self.model.num_self_intersecting() {
            0 => Ok(()),
            n => Err(format!("{n} surfaces intersect themselves").into()),
        }
    }

    /// Simulates `seconds`.
    pub fn run(&mut self, seconds: f64) -> Result<(), CaseError> {
        self.run_by(seconds, f64::INFINITY)
    }

    /// Vertices of all surfaces, in m.
    pub fn positions(&self) -> Result<Vec<DVec3>, CaseError> {
        Ok(self.model.frame().liquid.into_surface()?.positions)
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
