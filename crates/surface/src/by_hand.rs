//! What a hand changes in the surface model: added and wiped liquid, other materials.
//!
//! A drop that is taken in part keeps its surface, which the volume correction of the next step
//! shrinks; a drop that is taken as a whole is gone.

use glam::DVec3;
use sessile_model::{InteractionError, Region, Stroke};
use sessile_numerics::sphere_radius;
use sessile_wetting::Wetting;
use sessile_world::PlacedSource;

use crate::drop::Drop;
use crate::emission::add_sphere;
use crate::model::SurfaceModel;

/// Largest share of a drop that is taken without removing it.
const MAX_TAKEN: f64 = 0.8;

impl SurfaceModel {
    /// Adds liquid: to a drop whose bounding box contains the point, else as a sphere.
    pub(crate) fn add_by_hand(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        let Self { params, state, notices, .. } = self;
        let contains = |drop: &&mut Drop| {
            let [low, high] = drop.bounds;
            at.cmpge(low).all() && at.cmple(high).all()
        };
        if let Some(drop) = state.drops.iter_mut().find(contains) {
            drop.volume += volume;
            drop.disturb();
            state.run.added += volume;
            return Ok(());
        }
        if add_sphere(state, params, at, sphere_radius(volume), velocity, notices) {
            return Ok(());
        }
        Err(InteractionError::Invalid(format!("there is no room for a drop at {at} m")))
    }

    /// Places a source; the model has no dew, and its taps are those of the scene.
    pub(crate) fn place_by_hand(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        match source {
            PlacedSource::Dew { .. } => Err(InteractionError::Unsupported { what: "dew" }),
            PlacedSource::Tap { .. } => Err(InteractionError::Unsupported { what: "placing a tap by hand" }),
            _ => Ok(self.state.substrate.world.place_source(source)?),
        }
    }

    /// Takes a share of all drops whose centers are in a region away.
    pub(crate) fn take_by_hand(&mut self, region: &Region, share: f64) -> f64 {
        self.reduce(|drop| {
            let [low, high] = drop.bounds;
            let is_inside = (0.5 * (low + high)).distance(region.center) <= region.radius;
            if is_inside { share.clamp(0.0, 1.0) } else { 0.0 }
        })
    }

    /// Wipes the solids: each drop loses what the stroke takes from its bounding disc.
    pub(crate) fn wipe_by_hand(&mut self, stroke: &Stroke) -> f64 {
        let world = &self.state.substrate.world;
        let shares: Vec<f64> = self
            .state
            .drops
            .iter()
            .map(|drop| {
                let [low, high] = drop.bounds;
                let center = 0.5 * (low + high);
                let foot = world.closest(center).map_or(center, |(_, near)| near.point);
                let radius = 0.5 * (high - low).max_element();
                // Drops in flight are not wiped.
                let is_on_solid = drop.mesh.interfaces.iter().any(|interface| interface.solid_index().is_some());
                if is_on_solid { stroke.bite(foot, radius).map_or(0.0, |(share, _)| share) } else { 0.0 }
            })
            .collect();
        let mut shares = shares.into_iter();
        self.reduce(|_| shares.next().unwrap_or(0.0))
    }

    /// Takes a share of each drop; returns the volume taken, in m³.
    fn reduce(&mut self, mut share: impl FnMut(&Drop) -> f64) -> f64 {
        let mut taken = 0.0;
        self.state.drops.retain_mut(|drop| {
            let share = share(drop);
            if share > MAX_TAKEN {
                taken += drop.volume;
                return false;
            }
            if share > 0.0 {
                taken += share * drop.volume;
                drop.volume -= share * drop.volume;
                drop.disturb();
            }
            true
        });
        self.state.run.added -= taken;
        taken
    }

    /// Changes the wetting of a solid and wakes all drops.
    pub(crate) fn set_material_by_hand(
        &mut self,
        solid: usize,
        wetting: Option<Wetting>,
    ) -> Result<(), InteractionError> {
        self.state.substrate.world.set_material(solid, wetting)?;
        self.state.drops.iter_mut().for_each(Drop::disturb);
        Ok(())
    }
}
