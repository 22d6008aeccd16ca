//! State of the model: drops, substrate and the volume balance.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, IdCounter, Ids, VolumeBalance};
use sessile_model::RestoreError;
use sessile_world::{World, WorldState};

use crate::drop::{Drop, Scratch};
use crate::merging::MergeCounts;
use crate::mesh::check::check_arrays;
use crate::mesh::{Interface, Mesh};
use crate::substrate::{Outlet, SolidIndex, Substrate};
use crate::wet_history::WetHistory;

/// Everything that changes during a run.
#[derive(Debug)]
pub struct State {
    /// Solids, outlets and wet history at the current time.
    pub substrate: Substrate,
    /// The drops, by ascending id.
    pub drops: Vec<Drop>,
    /// Time, volume balance and counters.
    pub run: RunState,
}

/// Time, volume balance and counters of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    /// Simulated time, in s.
    pub time: f64,
    /// Volume added so far, in m³.
    pub added: f64,
    /// Volume that has left so far, in m³.
    pub lost: f64,
    /// Volume that has evaporated so far, less what has condensed, in m³.
    pub evaporated: f64,
    /// Issues ids of drops.
    pub ids: IdCounter,
    /// Gravity in the last step, in m/s².
    pub gravity: DVec3,
    /// Surfaces rebuilt so far.
    pub rebuilt: u64,
    /// Merges so far.
    pub merges: MergeCounts,
    /// Volume that has come out of each tap and is not yet enough for a drop, in m³.
    pub pending_at_outlets: Vec<f64>,
    /// The same for all needles that are in no drop, in m³.
    pub pending_at_needles: f64,
}

impl RunState {
    /// The volume balance so far.
    pub fn balance(&self) -> VolumeBalance {
        VolumeBalance { added: self.added, lost: self.lost, film: 0.0, evaporated: self.evaporated }
    }
}

/// The serialized state.
#[derive(Serialize, Deserialize)]
struct Saved {
    run: RunState,
    world: WorldState,
    drops: Vec<Drop>,
    wet_history: WetHistory,
}

impl State {
    /// Dry solids without drops; texels follow the edge length, in m.
    pub fn new(world: World, outlets: Vec<Outlet>, edge: f64) -> Self {
        let run =
            RunState { gravity: world.gravity(), pending_at_outlets: vec![0.0; outlets.len()], ..RunState::default() };
        let wet_history = Arc::new(WetHistory::new(&world, edge));
        Self { substrate: Substrate { world, outlets, wet_history }, drops: Vec::new(), run }
    }

    /// Adds the components of one drop: the first keeps the id, the others get new ones.
    pub fn insert_components(&mut self, components: Vec<Drop>, events: &mut Vec<Event>) {
        let mut ids = Ids::new();
        for (k, mut component) in components.into_iter().enumerate() {
            component.update_bounds();
            if k > 0 {
                component.id = self.run.ids.issue();
            }
            ids.push(component.id.get());
            self.drops.push(component);
        }
        if ids.len() > 1 {
            events.push(Event::Split { split: ids[0], into: ids });
        }
        self.drops.sort_unstable_by_key(|drop| drop.id);
    }

    /// Marks where drops have wetted the solids.
    ///
    /// The contacts of the last substep are marked always; the whole wetted face every
    /// `interval` substeps, or of all drops if `interval` is `None`.
    pub fn mark_wet(&mut self, scratches: &mut [Scratch], interval: Option<u32>) {
        let Substrate { wet_history, world, .. } = &mut self.substrate;
        let wet_history = Arc::make_mut(wet_history);
        for scratch in scratches {
            for contact in scratch.geometry.contacts.drain(..) {
                if let Some(solid) = contact.interface.solid_index() {
                    wet_history.mark(solid, contact.sample.uv);
                }
            }
        }
        let is_due = |drop: &Drop| match interval {
            Some(interval) => !drop.asleep && drop.substeps_since_wet_mark >= interval,
            None => true,
        };
        let due: Vec<&mut Drop> = self.drops.iter_mut().filter(|drop| is_due(drop)).collect();
        let texels_under = |drop: &&mut Drop| wet_history.texels_under(&drop.mesh, world);
        let found: Vec<Vec<(SolidIndex, usize)>> = due.par_iter().map(texels_under).collect();
        for (drop, texels) in due.into_iter().zip(&found) {
            wet_history.mark_texels(texels);
            drop.substeps_since_wet_mark = 0;
        }
    }

    /// Disturbs drops near moving solids that do nothing, and all of these when gravity, in m/s²,
    /// has changed.
    pub fn wake_disturbed(&mut self, gravity: DVec3) {
        let turned = gravity != self.run.gravity;
        self.run.gravity = gravity;
        let moving = self.substrate.moving_solids();
        if !turned && moving.is_empty() {
            return;
        }
        for drop in self.drops.iter_mut().filter(|drop| drop.asleep || drop.pace > 0.0) {
            let [low, high] = drop.bounds;
            let (center, reach) = (0.5 * (low + high), 0.75 * low.distance(high));
            let near_moving = moving.iter().any(|&s| self.substrate.solids()[s].signed_distance(center) < reach);
            if turned || near_moving {
                drop.disturb();
            }
        }
    }

    /// Removes drops that left the domain or, without a domain, fell farther than `distance` meters
    /// below the solids.
    pub fn remove_departed(&mut self, gravity: DVec3, domain: Option<[DVec3; 2]>, distance: f64) {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = self.substrate.solids().iter().map(sessile_world::Solid::bounds);
        let [low, high] = bounds.fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)]);
        let down = gravity.normalize_or_zero();
        let lowest = DVec3::new(
            if down.x > 0.0 { high.x } else { low.x },
            if down.y > 0.0 { high.y } else { low.y },
            if down.z > 0.0 { high.z } else { low.z },
        );
        let floor = (lowest.is_finite() && down != DVec3::ZERO).then(|| lowest.dot(down) + distance);
        let mut lost = 0.0;
        self.drops.retain(|drop| {
            let [near, far] = drop.bounds;
            let stays = match domain {
                Some([min, max]) => near.cmpgt(min).all() && far.cmplt(max).all(),
                None => floor.is_none_or(|floor| (near * down).max(far * down).element_sum() < floor),
            };
            if stays {
                return true;
            }
            let center = drop.mesh.centroid();
            let gone = match domain {
                Some([min, max]) => center.cmplt(min).any() || center.cmpgt(max).any(),
                None => floor.is_some_and(|floor| center.dot(down) > floor),
            };
            if gone {
                lost += drop.volume;
            }
            !gone
        });
        self.run.lost += lost;
    }

    /// The state as bytes.
    pub fn save(&self) -> Vec<u8> {
        let saved = Saved {
            run: self.run.clone(),
            world: self.substrate.world.save(),
            drops: self.drops.clone(),
            wet_history: (*self.substrate.wet_history).clone(),
        };
        postcard::to_stdvec(&saved).expect("plain data in memory cannot fail to serialize")
    }

    /// Restores a state that [`State::save`] returned for the same scene.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let saved: Saved = postcard::from_bytes(bytes).map_err(|error| RestoreError(error.to_string()))?;
        for drop in &saved.drops {
            self.check_mesh(&drop.mesh).map_err(|reason| RestoreError(format!("drop {}: {reason}", drop.id)))?;
        }
        self.substrate.world.restore(&saved.world).map_err(|error| RestoreError(error.to_string()))?;
        if saved.run.pending_at_outlets.len() != self.run.pending_at_outlets.len() {
            return Err(RestoreError("the number of taps differs".into()));
        }
        if !saved.wet_history.same_size(&self.substrate.wet_history) {
            return Err(RestoreError("the wet maps have other sizes".into()));
        }
        self.substrate.wet_history = Arc::new(saved.wet_history);
        self.drops = saved.drops;
        self.drops.iter_mut().for_each(Drop::update_bounds);
        self.run = saved.run;
        Ok(())
    }

    /// Whether a mesh of a saved state fits the substrate.
    fn check_mesh(&self, mesh: &Mesh) -> Result<(), String> {
        let exists = |interface: Interface| match interface {
            Interface::Air => true,
            Interface::Solid(index) => index.to_usize() < self.substrate.solids().len(),
            Interface::Outlet(index) => index.to_usize() < self.substrate.outlets.len(),
        };
        if !mesh.interfaces.iter().all(|&interface| exists(interface)) {
            return Err("it touches a solid that the scene does not have".into());
        }
        check_arrays(mesh).map_err(|defect| defect.to_string())
    }
}
