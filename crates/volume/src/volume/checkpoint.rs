//! The model's state as bytes: what a run needs to resume, besides its scene.

use serde::{Deserialize, Serialize};
use sessile_frames::IdCounter;
use sessile_model::RestoreError;
use sessile_world::WorldState;

use super::{RunTotals, Volume};
use crate::drops::{Label, TargetVolume};
use crate::free_motion::FreeDrop;
use crate::line_state::LineState;
use crate::particles::Particles;
use crate::sources::Sources;
use crate::spray::Spray;
use crate::state::SinceRedistance;
use crate::tiles::CELLS;
use crate::wetting_history::WettingHistoryState;

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct VolumeState {
    totals: RunTotals,
    world: WorldState,
    sources: Sources,
    history: WettingHistoryState,
    spray: Spray,
    tiles: Vec<[i32; 3]>,
    phi: Vec<f64>,
    velocity: [Vec<f64>; 3],
    pressure: Vec<f64>,
    line: Vec<LineState>,
    labels: Vec<Label>,
    targets: Vec<TargetVolume>,
    ids: IdCounter,
    free_drops: Vec<FreeDrop>,
    particles: Particles,
    num_steps: u64,
    since_redistance: SinceRedistance,
}

impl Volume {
    /// The state as bytes.
    pub(super) fn save_state(&self) -> Vec<u8> {
        let state = &self.fluid.state;
        let saved = VolumeState {
            totals: self.totals,
            world: self.world.save(),
            sources: self.sources.clone(),
            history: self.history.save(),
            spray: self.spray.clone(),
            tiles: state.grid.tiles.coords().to_vec(),
            phi: state.phi.values().to_vec(),
            velocity: [0, 1, 2].map(|axis| state.velocity[axis].values().to_vec()),
            pressure: state.pressure.values().to_vec(),
            line: state.line.values().to_vec(),
            labels: state.drops.labels.values().to_vec(),
            targets: state.drops.targets.clone(),
            ids: state.drops.ids,
            free_drops: state.free_drops.clone(),
            particles: state.particles.clone(),
            num_steps: state.num_steps,
            since_redistance: state.since_redistance,
        };
        // Plain data to memory cannot fail.
        postcard::to_stdvec(&saved).expect("a state of plain data")
    }

    /// Restores a state of the same scene.
    pub(super) fn restore_state(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let mut saved: VolumeState = postcard::from_bytes(bytes).map_err(|error| RestoreError(error.to_string()))?;
        let count = saved.tiles.len() * CELLS;
        let [x, y, z] = &saved.velocity;
        let sizes = [&saved.phi, x, y, z, &saved.pressure].map(Vec::len);
        if sizes != [count; 5] || saved.line.len() != count || saved.labels.len() != count {
            return Err(RestoreError("its fields do not have the size of its tiles".into()));
        }
        if !saved.particles.fits(saved.tiles.len()) {
            return Err(RestoreError("its particles do not lie in its tiles".into()));
        }
        self.world.restore(&saved.world).map_err(|error| RestoreError(error.to_string()))?;
        self.fluid.activate_tiles(&self.world, &mut saved.tiles);
        let state = &mut self.fluid.state;
        if state.phi.values().len() != count {
            return Err(RestoreError("its tiles are not in order".into()));
        }
        state.phi.values_mut().copy_from_slice(&saved.phi);
        for (field, saved) in state.velocity.iter_mut().zip(&saved.velocity) {
            field.values_mut().copy_from_slice(saved);
        }
        state.pressure.values_mut().copy_from_slice(&saved.pressure);
        state.line.values_mut().copy_from_slice(&saved.line);
        state.drops.labels.values_mut().copy_from_slice(&saved.labels);
        (state.drops.targets, state.drops.ids) = (saved.targets, saved.ids);
        state.drops.unresolved.clear();
        state.free_drops = saved.free_drops;
        (state.particles, state.num_steps) = (saved.particles, saved.num_steps);
        state.since_redistance = saved.since_redistance;
        if !self.history.restore(saved.history) {
            return Err(RestoreError("its wetting history belongs to other solids".into()));
        }
        (self.totals, self.sources, self.spray) = (saved.totals, saved.sources, saved.spray);
        Ok(())
    }
}
