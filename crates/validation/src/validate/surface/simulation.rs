//! Scene text and measurements for the cases.

use glam::DVec3;
use sessile_frames::DropMeasures;
use sessile_scene::text;
use sessile_surface::SurfaceModel;
use sessile_surface::{check, check_crossings};
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
