//! Checkpoints of the droplet model.

use serde::{Deserialize, Serialize};
use sessile_model::RestoreError;
use sessile_sliding::{ModelState, Necks, SlotIndex, Spreads, Trails};
use sessile_world::WorldState;

use super::DropletModel;
use crate::acceleration::{AccelerationField, RigidState};
use crate::deforming::DeformingState;
use crate::droplets::Droplets;
use crate::particles::Fidelity;
use crate::streaks::StreaksState;
use crate::substrate::SubstrateState;
use crate::surface_mesh::{SolidIndex, SurfaceMesh};
use crate::trails::FilmPath;

/// Contents of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    state: ModelState,
    world: WorldState,
    /// The solids with triangles, in the order of these.
    built: Vec<SolidIndex>,
    droplets: Droplets,
    substrate: SubstrateState,
    streaks: Option<StreaksState>,
    trails: Trails<FilmPath>,
    necks: Necks,
    spreads: Spreads,
    pending: Vec<SlotIndex>,
    transit_time: f64,
    accelerations: Vec<AccelerationField>,
    rigid_states: Vec<RigidState>,
    /// Of the deforming solids, in their order.
    deforming: Vec<DeformingState>,
}

impl Checkpoint {
    /// Whether it belongs to a scene with these solids, and is consistent.
    fn fits(&self, surface: &SurfaceMesh) -> bool {
        let num_solids = surface.solids().count();
        let Some(num_triangles) = surface.num_triangles_of(&self.built) else { return false };
        [self.accelerations.len(), self.rigid_states.len(), self.state.condensate.len(), self.state.sites_visited.len()]
            .iter()
            .all(|&n| n == num_solids)
            && self.droplets.is_sound(num_triangles)
            && self.necks.is_consistent()
            && self.spreads.is_consistent(self.droplets.num_slots())
            && self.pending.iter().all(|&slot| slot.to_usize() < self.droplets.num_slots())
    }
}

impl DropletModel {
    pub(super) fn save_checkpoint(&self) -> Vec<u8> {
        let particles = &self.particles;
        let checkpoint = Checkpoint {
            state: self.state.clone(),
            world: self.world.save(),
            built: self.surface.built().to_vec(),
            droplets: particles.state.droplets.clone(),
            substrate: particles.state.substrate.save(),
            streaks: match &particles.fidelity {
                Fidelity::Paper(paper) => Some(paper.streaks.save()),
                Fidelity::Physical => None,
            },
            trails: particles.state.trails.clone(),
            necks: particles.state.necks.clone(),
            spreads: particles.state.spreads.clone(),
            pending: particles.state.pending.clone(),
            transit_time: particles.state.transit_time,
            accelerations: self.accelerations.clone(),
            rigid_states: self.rigid_states.clone(),
            deforming: self.setup.deforming.iter().flatten().map(|deforming| deforming.state.clone()).collect(),
        };
        postcard::to_stdvec(&checkpoint).expect("plain numbers can be written to memory")
    }

    pub(super) fn restore_checkpoint(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let wrong = |what: &str| RestoreError(what.into());
        let saved: Checkpoint = postcard::from_bytes(bytes).map_err(|error| RestoreError(error.to_string()))?;
        if !saved.fits(&self.surface) {
            return Err(wrong("it belongs to other solids"));
        }
        self.set_built(&saved.built);
        let particles = &mut self.particles;
        match (&mut particles.fidelity, &saved.streaks) {
            (Fidelity::Physical, None) => {}
            (Fidelity::Paper(paper), Some(state)) => {
                if !paper.streaks.restore(state, &self.surface) {
                    return Err(wrong("it belongs to another mesh"));
                }
            }
            _ => return Err(wrong("it belongs to the other fidelity")),
        }
        if !particles.state.substrate.restore(&saved.substrate, &self.surface) {
            return Err(wrong("its wet maps have other sizes"));
        }
        let had_other_materials = self.world.has_materials_by_hand();
        self.world.restore(&saved.world).map_err(|error| RestoreError(error.to_string()))?;
        if saved.deforming.len() != self.setup.deforming.iter().flatten().count() {
            return Err(wrong("it belongs to other deforming solids"));
        }
        for (deforming, state) in self.setup.deforming.iter_mut().flatten().zip(saved.deforming) {
            deforming.state = state;
        }
        self.move_triangles();
        let particles = &mut self.particles;
        particles.restore(saved.droplets, &self.surface);
        (particles.state.trails, particles.state.necks) = (saved.trails, saved.necks);
        particles.state.spreads = saved.spreads;
        (particles.state.pending, particles.state.transit_time) = (saved.pending, saved.transit_time);
        (self.accelerations, self.rigid_states) = (saved.accelerations, saved.rigid_states);
        self.state = saved.state;
        if self.state.time > 0.0 {
            self.particles.arrived.clear();
        }
        self.setup.find_nearby_solids(&self.rigid_states);
        if had_other_materials || self.world.has_materials_by_hand() {
            self.refresh_laws();
        }
        Ok(())
    }
}
