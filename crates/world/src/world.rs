//! A scene's solids, sources and initial drops, at a moment.

use std::sync::Arc;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::{Closest, TriMesh};
use sessile_scene::types::{Scene, WorldSettings};
use sessile_wetting::Wetting;

use crate::emission::Emission;
use crate::emitters::Sources;
use crate::error::WorldError;
use crate::initial::InitialDrop;
use crate::materials::{BuiltMaterial, neutral};
use crate::motion::KinematicOverride;
use crate::pose::Pose;
use crate::solid::Solid;

/// A scene's solids and sources, at a moment. Clones are cheap: they share meshes, distances and images.
#[derive(Clone, Debug)]
pub struct World {
    /// What the user should know about how the scene was built: repairs, choices, rain that cannot fall.
    pub notices: Vec<String>,
    time: f64,
    environment: Arc<WorldSettings>,
    gravity: DVec3,
    solids: Vec<Solid>,
    wall: Wetting,
    drops: Arc<[InitialDrop]>,
    sources: Arc<Sources>,
}

/// What a world needs to go on, except what the scene says: its time, and the solids that a hand has moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldState {
    time: f64,
    drives: Vec<Option<KinematicOverride>>,
}

impl World {
    /// Builds a scene's solids, drops and sources at time 0: reads meshes and images, repairs what can be repaired.
    pub fn build(scene: &Scene) -> Result<Self, WorldError> {
        let mut notices = Vec::new();
        let materials = scene
            .materials
            .iter()
            .map(|m| Ok((m.name.as_str(), Arc::new(BuiltMaterial::build(m, &mut notices)?))))
            .collect::<Result<Vec<_>, WorldError>>()?;
        let material = |name: &str, user: &str| {
            let found = materials.iter().find(|(known, _)| *known == name).map(|(_, built)| built.clone());
            found.ok_or_else(|| WorldError::UnknownMaterial { solid: user.into(), material: name.into() })
        };
        let mut solids = Vec::new();
        for (index, solid) in scene.solids.iter().enumerate() {
            solids.push(Solid::build(index, solid, material(&solid.material, &solid.name)?, &mut notices)?);
        }
        let wall = match scene.domain.as_ref().and_then(|domain| domain.wall_material.as_deref()) {
            Some(name) => material(name, "wall")?.at(glam::DVec2::splat(0.5)),
            None => neutral(),
        };
        let drops = InitialDrop::build_all(scene, &solids, &mut notices)?;
        let sources = Sources::build(scene, &solids, &mut notices)?;
        let environment = Arc::new(scene.world.clone());
        Ok(Self {
            notices,
            time: 0.0,
            gravity: environment.gravity.at(0.0),
            environment,
            solids,
            wall,
            drops: drops.into(),
            sources: Arc::new(sources),
        })
    }

    /// The time that solids, gravity and wind are at, in s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Takes solids and gravity to `time`, in s.
    pub fn advance_to(&mut self, time: f64) {
        self.time = time;
        self.gravity = self.environment.gravity.at(time);
        self.solids.iter_mut().for_each(|solid| solid.advance_to(time));
    }

    /// Gravity now, in m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Wind now, in m/s.
    pub fn wind(&self) -> DVec3 {
        self.environment.wind
    }

    /// Whether the run is two-dimensional, in the x–y plane.
    pub fn planar(&self) -> bool {
        self.environment.planar
    }

    /// The solids, in the scene's order.
    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// The solid of this name.
    pub fn solid(&self, name: &str) -> Option<&Solid> {
        self.solids.iter().find(|solid| solid.name() == name)
    }

    /// Signed distance to the nearest solid, in m: negative inside one; infinite where there is none.
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        self.solids.iter().map(|solid| solid.signed_distance(point)).fold(f64::INFINITY, f64::min)
    }

    /// The nearest solid's index and nearest point; the first of equally near ones.
    pub fn closest(&self, point: DVec3) -> Option<(usize, Closest)> {
        let distances = self.solids.iter().map(|solid| solid.signed_distance(point)).enumerate();
        let (index, _) = distances.reduce(|best, next| if next.1 < best.1 { next } else { best })?;
        Some((index, self.solids[index].closest(point)))
    }

    /// How the domain's walls wet.
    pub fn wall_wetting(&self) -> &Wetting {
        &self.wall
    }

    /// Liquid present at the start, in the scene's order.
    pub fn initial_drops(&self) -> &[InitialDrop] {
        &self.drops
    }

    /// What the sources give in [from, to), in s: sorted by time, then by emitter.
    ///
    /// However an interval is cut, its parts give the same balls. Solids are taken where they are at each ball's time, wherever
    /// the world is now.
    pub fn emissions(&self, from: f64, to: f64) -> Vec<Emission> {
        self.sources.emissions(&self.solids, from, to)
    }

    /// Each solid's name and its mesh in the rest pose.
    pub fn solid_meshes(&self) -> Vec<(&str, &Arc<TriMesh>)> {
        self.solids.iter().map(|solid| (solid.name(), solid.mesh())).collect()
    }

    /// Puts a solid's rest pose at `pose` at once and lets it rest there; the scene's keys no longer move it.
    pub fn move_solid(&mut self, index: usize, pose: Pose) -> Result<(), WorldError> {
        self.glide_solid(index, pose, 0.0)
    }

    /// Takes a solid from where it is to `pose` in `duration` seconds at constant velocity, then lets it rest there; the scene's
    /// keys no longer move it. A hand that gives a new pose every frame glides over the frame, so that liquid feels its speed.
    pub fn glide_solid(&mut self, index: usize, pose: Pose, duration: f64) -> Result<(), WorldError> {
        let count = self.solids.len();
        let solid = self.solids.get_mut(index).ok_or(WorldError::NoSuchSolid { index, count })?;
        let refuse = |reason: &str| Err(WorldError::Pose { solid: solid.name().into(), reason: reason.into() });
        if !pose.is_rigid() {
            return refuse("the pose must be a finite rotation and translation");
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            return refuse("the duration of the motion must be finite and not negative");
        }
        solid.set_drive(Some(KinematicOverride {
            start: self.time,
            duration,
            from: *solid.world_from_rest(),
            to: pose,
        }));
        solid.advance_to(self.time);
        Ok(())
    }

    /// Everything that must be kept to go on later.
    pub fn save(&self) -> WorldState {
        WorldState { time: self.time, drives: self.solids.iter().map(|solid| solid.drive().copied()).collect() }
    }

    /// Takes up a state that [`World::save`] gave for the same scene.
    pub fn restore(&mut self, state: &WorldState) -> Result<(), WorldError> {
        let (expected, found) = (self.solids.len(), state.drives.len());
        if expected != found {
            return Err(WorldError::StateMismatch { expected, found });
        }
        for (solid, drive) in self.solids.iter_mut().zip(&state.drives) {
            solid.set_drive(*drive);
        }
        self.advance_to(state.time);
        Ok(())
    }
}
