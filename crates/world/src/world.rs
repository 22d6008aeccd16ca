//! A scene's solids, sources and initial drops at the current time.

use std::sync::Arc;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::{Closest, TriMesh};
use sessile_input::{FileSystem, Reader};
use sessile_scene::types::{Scene, WorldSettings};
use sessile_wetting::Wetting;
use sessile_wetting::evaporation::Air;

use crate::by_hand::ByHand;
use crate::emission::Emission;
use crate::emitters::Sources;
use crate::error::WorldError;
use crate::initial::InitialDrop;
use crate::materials::{BuiltMaterial, default_wall_wetting};
use crate::motion::KinematicOverride;
use crate::pose::Pose;
use crate::solid::Solid;
use crate::solid_cache::SolidCache;

/// A scene's solids and sources at the current time.
///
/// Clones are cheap: they share meshes, distance structures and images.
#[derive(Clone, Debug)]
pub struct World {
    /// Messages for the user: repairs, overlaps, rain that cannot reach its target.
    pub notices: Vec<String>,
    time: f64,
    environment: Arc<WorldSettings>,
    gravity: DVec3,
    pub(crate) by_hand: ByHand,
    pub(crate) solids: Vec<Solid>,
    wall: Wetting,
    domain: Option<[DVec3; 2]>,
    drops: Arc<[InitialDrop]>,
    sources: Arc<Sources>,
    /// Sources that were placed by hand, as [`ByHand`] lists them.
    pub(crate) placed: Arc<Sources>,
    pub(crate) seed: u64,
}

/// The state of a world beyond the scene: its time, the motion overrides of solids, and what was
/// changed by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldState {
    time: f64,
    overrides: Vec<Option<KinematicOverride>>,
    by_hand: ByHand,
}

impl World {
    /// Builds a scene's solids, drops and sources at time 0: reads meshes and images, and repairs
    /// meshes.
    pub fn build(scene: &Scene) -> Result<Self, WorldError> {
        Self::build_from(scene, &FileSystem)
    }

    /// Builds as [`World::build`] does, with meshes and images from the file system or from memory.
    pub fn build_from(scene: &Scene, files: &dyn Reader) -> Result<Self, WorldError> {
        Self::assemble(scene, files, None, usize::MAX)
    }

    /// Builds as [`World::build`] does, with the solids of earlier scenes. Drops from index
    /// `scattered` on are left out where no cap of their volume fits on the solid.
    pub fn build_scattered(scene: &Scene, solids: &SolidCache, scattered: usize) -> Result<Self, WorldError> {
        Self::assemble(scene, &FileSystem, Some(solids), scattered)
    }

    fn assemble(
        scene: &Scene,
        files: &dyn Reader,
        cache: Option<&SolidCache>,
        scattered: usize,
    ) -> Result<Self, WorldError> {
        let mut notices = Vec::new();
        let materials = scene
            .materials
            .iter()
            .map(|m| Ok((m.name.as_str(), Arc::new(BuiltMaterial::build(m, files, &mut notices)?))))
            .collect::<Result<Vec<_>, WorldError>>()?;
        let material = |name: &str, user: &str| {
            let found = materials.iter().find(|(known, _)| *known == name).map(|(_, built)| built.clone());
            found.ok_or_else(|| WorldError::UnknownMaterial { solid: user.into(), material: name.into() })
        };
        let mut solids = Vec::new();
        for (index, solid) in scene.solids.iter().enumerate() {
            let material = material(&solid.material, &solid.name)?;
            solids.push(match cache {
                Some(cache) => cache.get(index, solid, material, files, &mut notices)?,
                None => Solid::build(index, solid, material, files, &mut notices)?,
            });
        }
        let wall = match scene.domain.as_ref().and_then(|domain| domain.wall_material.as_deref()) {
            Some(name) => material(name, "wall")?.at(glam::DVec2::splat(0.5)),
            None => default_wall_wetting(),
        };
        let drops = InitialDrop::build_all(scene, &solids, scattered, files, &mut notices)?;
        let sources = Sources::build(scene, &solids, &mut notices)?;
        let environment = Arc::new(scene.world.clone());
        Ok(Self {
            notices,
            time: 0.0,
            gravity: environment.gravity_at(0.0),
            environment,
            by_hand: ByHand::default(),
            solids,
            wall,
            domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
            drops: drops.into(),
            sources: Arc::new(sources),
            placed: Arc::default(),
            seed: scene.seed,
        })
    }

    /// Current time of solids, gravity and wind, in s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Moves solids and gravity to `time`, in s.
    pub fn advance_to(&mut self, time: f64) {
        self.time = time;
        self.gravity = self.by_hand.gravity.unwrap_or_else(|| self.environment.gravity_at(time));
        self.solids.iter_mut().for_each(|solid| solid.advance_to(time));
    }

    /// Makes the velocities of solids at points the mean ones over the `dt` seconds in which this
    /// world becomes `end`, until it is advanced itself.
    ///
    /// What moves at them for `dt` follows the solids exactly. At the velocities of the start it
    /// would stay behind a solid that accelerates, by ½ u Δt for the speed u that it gains, and
    /// leave one that turns.
    pub fn average_velocities(&mut self, end: &Self, dt: f64) {
        for (solid, end) in self.solids.iter_mut().zip(&end.solids) {
            solid.average_velocity(end, dt);
        }
    }

    /// Current gravity, in m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Wind velocity, in m/s.
    pub fn wind(&self) -> DVec3 {
        self.by_hand.wind.unwrap_or(self.environment.wind)
    }

    /// Coefficient k of evaporation (in m²/s, [`sessile_wetting::evaporation`]) of a liquid of this
    /// density (in kg/m³) on each solid; `None` if nothing evaporates.
    pub fn evaporation_coefficients(&self, density: f64) -> Option<Vec<f64>> {
        self.environment.humidity.as_ref()?;
        Some((0..self.solids.len()).filter_map(|solid| self.evaporation_coefficient(solid, density)).collect())
    }

    /// The same on one solid, at the current time.
    pub fn evaporation_coefficient(&self, solid: usize, density: f64) -> Option<f64> {
        let humidity = self.environment.humidity.as_ref()?.at(self.time);
        let air = Air { humidity, temperature: self.environment.temperature };
        let of_solid = self.solids[solid].scene().temperature.unwrap_or(air.temperature);
        Some(air.evaporation_coefficient(of_solid, density))
    }

    /// Whether the humidity changes with time.
    pub fn humidity_changes(&self) -> bool {
        self.environment.humidity.as_ref().is_some_and(|humidity| humidity.keys.len() > 1)
    }

    /// Whether the run is two-dimensional, in the x–y plane.
    pub fn planar(&self) -> bool {
        self.environment.planar
    }

    /// The solids in the scene's order.
    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// The solid with a name.
    pub fn solid(&self, name: &str) -> Option<&Solid> {
        self.solids.iter().find(|solid| solid.name() == name)
    }

    /// Signed distance to the nearest solid, in m; negative inside, infinite without solids.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        self.solids.iter().map(|solid| solid.signed_distance(point)).fold(f64::INFINITY, f64::min)
    }

    /// Index and closest point of the nearest solid; the first of equally near ones.
    pub fn closest(&self, point: DVec3) -> Option<(usize, Closest)> {
        let distances = self.solids.iter().map(|solid| solid.signed_distance(point)).enumerate();
        let (index, _) = distances.reduce(|best, next| if next.1 < best.1 { next } else { best })?;
        Some((index, self.solids[index].closest(point)))
    }

    /// Wetting properties of the domain's walls.
    pub fn wall_wetting(&self) -> &Wetting {
        &self.wall
    }

    /// Corners of the domain, in m; `None` if space is open and unbounded.
    pub fn domain(&self) -> Option<[DVec3; 2]> {
        self.domain
    }

    /// Liquid present at the start, in the scene's order.
    pub fn initial_drops(&self) -> &[InitialDrop] {
        &self.drops
    }

    /// Emissions of the sources in [from, to), in s: sorted by time, then by emitter.
    ///
    /// The emissions do not depend on how an interval is divided. Poses of solids are those at the
    /// time of each emission, independent of the current time.
    pub fn emissions(&self, from: f64, to: f64) -> Vec<Emission> {
        let of = |sources: &Sources| sources.emissions(&self.solids, from, to);
        let mut emissions = if self.by_hand.sources_closed { Vec::new() } else { of(&self.sources) };
        if !self.placed.is_empty() {
            emissions.extend(of(&self.placed));
            emissions.sort_by(|a, b| a.time().total_cmp(&b.time()));
        }
        emissions
    }

    /// Each solid's name and its mesh in the rest pose.
    pub fn solid_meshes(&self) -> Vec<(&str, &Arc<TriMesh>)> {
        self.solids.iter().map(|solid| (solid.name(), solid.mesh())).collect()
    }

    /// Moves a solid's rest pose to `pose` immediately; its keyframes no longer apply.
    pub fn move_solid(&mut self, index: usize, pose: Pose) -> Result<(), WorldError> {
        self.move_solid_over(index, pose, 0.0)
    }

    /// Moves a solid from its current pose to `pose` at constant velocity over `duration` seconds.
    ///
    /// It is then at rest; its keyframes no longer apply. User input that sets a new pose every
    /// frame uses the frame interval as duration, so that the liquid experiences the solid's
    /// velocity.
    pub fn move_solid_over(&mut self, index: usize, pose: Pose, duration: f64) -> Result<(), WorldError> {
        let count = self.solids.len();
        let solid = self.solids.get_mut(index).ok_or(WorldError::NoSuchSolid { index, count })?;
        let invalid = |reason: &str| Err(WorldError::Pose { solid: solid.name().into(), reason: reason.into() });
        if !pose.is_rigid() {
            return invalid("the pose must be a finite rigid transformation");
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            return invalid("the duration of a motion must be finite and not negative");
        }
        solid.set_motion_override(Some(KinematicOverride {
            start: self.time,
            duration,
            from: *solid.world_from_rest(),
            to: pose,
        }));
        solid.advance_to(self.time);
        Ok(())
    }

    /// The state to save in a checkpoint.
    pub fn save(&self) -> WorldState {
        WorldState {
            time: self.time,
            overrides: self.solids.iter().map(|solid| solid.motion_override().copied()).collect(),
            by_hand: self.by_hand.clone(),
        }
    }

    /// Restores a state saved by [`World::save`] for the same scene.
    pub fn restore(&mut self, state: &WorldState) -> Result<(), WorldError> {
        let (expected, found) = (self.solids.len(), state.overrides.len());
        if expected != found {
            return Err(WorldError::StateMismatch { expected, found });
        }
        for (solid, motion) in self.solids.iter_mut().zip(&state.overrides) {
            solid.set_motion_override(*motion);
        }
        self.by_hand = state.by_hand.clone();
        self.apply_wetting();
        self.advance_to(state.time);
        self.prepare_placed()
    }
}
