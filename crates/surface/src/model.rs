//! The surface model: construction, frames and saved states.

use std::fmt::Debug;

use glam::DVec3;
use sessile_frames::{DropState, Frame, FrameGeometry, Surface, VolumeBalance, WetMap};
use sessile_model::{
    InteractionError, Model, Region, RestoreError, StageTimer, StepError, StepReport, Stroke, check_added,
};
use sessile_numerics::sphere_radius;
use sessile_scene::types::{EmitterKind, Scene, Side};
use sessile_wetting::Wetting;
use sessile_world::{PlacedSource, World};

use crate::drop::Drop;
use crate::error::SurfaceError;
use crate::initial_mesh::initial_mesh;
use crate::mesh::Interface;
use crate::mesh::check::{check, check_crossings};
use crate::notices::Notices;
use crate::parameters::Parameters;
use crate::rebuild::{Sphere, encloses_its_volume, remesh_uniformly, sphere_beside_solids};
use crate::splitting::split_components;
use crate::state::State;
use crate::step::ModelScratch;
use crate::substrate::Outlet;
use crate::time_step::usual_step;

/// Share of a drop outside the solids below which it starts as a sphere beside them.
const MIN_SHARE_OUTSIDE: f64 = 0.3;

/// Drops as deforming surfaces.
#[derive(Debug)]
pub struct SurfaceModel {
    pub(crate) params: Parameters,
    pub(crate) state: State,
    pub(crate) scratch: ModelScratch,
    pub(crate) notices: Notices,
}

impl SurfaceModel {
    /// The scene's drops on its solids at time 0.
    pub fn new(scene: &Scene, world: World) -> Result<Self, SurfaceError> {
        check_scene(scene)?;
        let evaporation = world.evaporation_coefficients(scene.liquid.density);
        let params = Parameters { evaporation, ..Parameters::new(scene) };
        let outlets = scene.emitters.iter().filter_map(|emitter| match emitter.kind {
            EmitterKind::Tap { at, direction, radius, .. } => Some(Outlet { at, direction, radius, speed: 0.0 }),
            _ => None,
        });
        let state = State::new(world, outlets.collect(), params.edge);
        let mut model = Self { params, state, scratch: ModelScratch::default(), notices: Notices::default() };
        model.notices.check_step(model.params.max_step, usual_step(&model.params));
        model.check_outlets();
        for index in 0..model.state.substrate.world.initial_drops().len() {
            model.place_initial_drop(index)?;
        }
        model.state.mark_wet(&mut [], None);
        Ok(model)
    }

    /// Reports outlets of taps whose rim is inside a solid.
    fn check_outlets(&mut self) {
        let Self { state, notices, .. } = self;
        for outlet in &state.substrate.outlets {
            let found = state.substrate.solids().iter().map(|solid| (outlet.depth_in(solid), solid));
            if let Some((depth, solid)) = found.max_by(|a, b| a.0.total_cmp(&b.0)) {
                notices.check_outlet(outlet, depth, solid.name());
            }
        }
    }

    /// Adds a drop that the scene starts with.
    ///
    /// Where solids leave room for less than a part of it, it starts as a sphere beside them.
    fn place_initial_drop(&mut self, index: usize) -> Result<(), SurfaceError> {
        let Self { params, state, scratch, notices } = self;
        let initial = &state.substrate.world.initial_drops()[index];
        let (volume, velocity, at) = (initial.volume(), initial.velocity(), initial.centroid());
        let mesh = initial_mesh(initial, &state.substrate, params.edge);
        if mesh.is_none() && state.substrate.world.signed_distance(at) > 0.0 {
            return Err(SurfaceError::Drop { index, reason: "it is thinner than an edge; lower resolution.edge" });
        }
        notices.check_size(index, sphere_radius(volume), params.edge);
        let id = state.run.ids.issue();
        let placed = mesh.filter(|mesh| mesh.volume() > MIN_SHARE_OUTSIDE * volume).map(|mesh| {
            let mut drop = Drop::new(id, mesh, volume, velocity);
            remesh_uniformly(&mut drop, &state.substrate, params, &mut scratch.shared);
            drop
        });
        let drop = match placed.filter(encloses_its_volume) {
            Some(drop) => drop,
            None => {
                notices.report_lack_of_room(index);
                let sphere = Sphere { id, at, volume, velocity };
                sphere_beside_solids(sphere, &state.substrate, params.edge)
                    .ok_or(SurfaceError::Drop { index, reason: "the solids leave no room for it; move it" })?
            }
        };
        state.run.added += drop.volume;
        let components = split_components(drop, &state.substrate, params, &mut scratch.shared);
        state.insert_components(components, &mut Vec::new());
        Ok(())
    }

    /// The drops, by ascending id.
    #[cfg(test)]
    pub(crate) fn drops(&self) -> &[Drop] {
        &self.state.drops
    }

    /// Number of drops, and of those that are awake.
    pub fn num_drops(&self) -> [usize; 2] {
        let drops = &self.state.drops;
        [drops.len(), drops.iter().filter(|drop| !drop.asleep).count()]
    }

    /// Volume that the surfaces enclose, in m³; [`Self::volume`] is what they should enclose.
    pub fn enclosed_volume(&self) -> f64 {
        self.state.drops.iter().map(|drop| drop.mesh.volume()).sum()
    }

    /// Checks that the surfaces of all drops that are awake are closed, manifold, oriented outward
    /// and without degenerate triangles. The error names the drop and its defect.
    pub fn check_surfaces(&self) -> Result<(), String> {
        let mut awake = self.state.drops.iter().filter(|drop| !drop.asleep);
        awake.try_for_each(|drop| check(&drop.mesh).map_err(|defect| format!("drop {}: {defect}", drop.id)))
    }

    /// Number of surfaces that intersect themselves; slow.
    pub fn num_self_intersecting(&self) -> usize {
        self.state.drops.iter().filter(|drop| check_crossings(&drop.mesh).is_err()).count()
    }

    /// Number of triangles of all drops, and of those that are awake.
    pub fn num_triangles(&self) -> [usize; 2] {
        let count = |awake: bool| {
            let drops = self.state.drops.iter().filter(|drop| !(awake && drop.asleep));
            drops.map(|drop| drop.mesh.triangles.len()).sum()
        };
        [count(false), count(true)]
    }

    /// Volume of all drops, in m³.
    pub fn volume(&self) -> f64 {
        self.state.drops.iter().map(|drop| drop.volume).sum()
    }

    /// The volume added and lost so far.
    pub fn balance(&self) -> VolumeBalance {
        self.state.run.balance()
    }

    /// Number of surfaces that came out of a step invalid and were rebuilt from a distance field.
    pub fn num_rebuilt(&self) -> u64 {
        self.state.run.rebuilt
    }

    /// Number of merges so far, by kind.
    pub fn merge_counts(&self) -> impl Debug + use<> {
        self.state.run.merges
    }
}

/// Rejects scenes that the model cannot simulate.
fn check_scene(scene: &Scene) -> Result<(), SurfaceError> {
    if scene.world.planar {
        return Err(SurfaceError::Planar);
    }
    if let Some(domain) = &scene.domain
        && let Some(k) = domain.sides.iter().position(|&side| side != Side::Open)
    {
        return Err(SurfaceError::Side { axis: ["x", "y", "z"][k] });
    }
    if let Some(index) = scene.emitters.iter().position(|emitter| matches!(emitter.kind, EmitterKind::Dew { .. })) {
        return Err(SurfaceError::Dew { index });
    }
    Ok(())
}

impl Model for SurfaceModel {
    fn time(&self) -> f64 {
        self.state.run.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        self.advance(limit, stages)
    }

    fn notices(&mut self) -> Vec<String> {
        self.notices.take()
    }

    fn frame(&self) -> Frame {
        let mut surface = Surface::default();
        let mut drops = Vec::new();
        for drop in &self.state.drops {
            let mesh = &drop.mesh;
            let first = surface.positions.len() as u32;
            surface.positions.extend(&mesh.positions);
            surface.velocities.extend(&mesh.velocities);
            surface.drops.extend(std::iter::repeat_n(drop.id.get(), mesh.positions.len()));
            surface.triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|v| v.to_u32() + first)));
            surface.solids.extend(mesh.interfaces.iter().map(|&interface| frame_tag(interface)));
            drops.push(DropState {
                id: drop.id.get(),
                volume: drop.volume,
                velocity: drop.velocity,
                speed_max: mesh.velocities.iter().map(|v| v.length()).fold(0.0, f64::max),
                pressure: Some(drop.pressure),
            });
        }
        Frame {
            time: self.state.run.time,
            liquid: FrameGeometry::Surfaces(surface),
            drops,
            positions: Vec::new(),
            wet: self.state.substrate.wet_history.maps(),
            balance: self.balance(),
            active_cells: 0,
        }
    }

    fn balance(&self) -> VolumeBalance {
        self.state.run.balance()
    }

    fn wet_maps(&self) -> Vec<WetMap> {
        self.state.substrate.wet_history.maps()
    }

    fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        check_added(at, velocity, volume)?;
        self.add_by_hand(at, velocity, volume)
    }

    fn take(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        Ok(self.take_by_hand(region, share))
    }

    fn wipe(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        Ok(self.wipe_by_hand(stroke))
    }

    fn set_material(&mut self, solid: usize, wetting: Option<Wetting>) -> Result<(), InteractionError> {
        self.set_material_by_hand(solid, wetting)
    }

    fn place_source(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        self.place_by_hand(source)
    }

    fn world(&self) -> &World {
        &self.state.substrate.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.state.substrate.world
    }

    fn save(&self) -> Vec<u8> {
        self.state.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.state.restore(state)
    }
}

/// Index of a solid in a frame, or −1: outlets are not solids of the scene.
fn frame_tag(interface: Interface) -> i32 {
    match interface {
        Interface::Solid(index) => index.to_u32() as i32,
        Interface::Air | Interface::Outlet(_) => -1,
    }
}
