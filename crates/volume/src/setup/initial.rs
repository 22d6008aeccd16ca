//! The initial drops on the grid: φ, velocity, labels and target volumes.

use glam::DVec3;
use sessile_world::{InitialDrop, World};

use super::Setup;
use crate::drops::{Label, TargetVolume};
use crate::error::VolumeError;
use crate::far_side_culling::cells_on_far_sides;
use crate::fluid::Fluid;
use crate::redistance::PHI_MAX;
use crate::solids::SOLID_BAND;
use crate::state::State;
use crate::tiles::{CELLS, SIDE};

/// Distance from the interface up to which cells get a drop's velocity, in cells.
const VELOCITY_BAND: f64 = 3.0;
/// Distance from a solid below which a liquid cell shows that a free drop overlaps the solid, in
/// cells.
const OVERLAP_DISTANCE: f64 = 0.5;

impl Setup {
    /// A grid with the scene's drops on it, and the ids of drops whose volume must be measured.
    ///
    /// Part of a drop that overlaps a solid does not exist, and a drop longer than the domain's
    /// period overlaps itself: their volumes are what the grid holds.
    pub fn fill(&self, world: &World) -> Result<(Fluid, Vec<u32>), VolumeError> {
        let state = State::new(self.h, self.origin, self.topology, self.sides.clone());
        let mut fluid = Fluid::new(state, self.parameters);
        fluid.adapt(world, &self.initial_tiles(world)?);
        let drops = world.initial_drops();
        let owners = self.write_phi(&mut fluid.state, drops);
        let unmeasured = self.write_drops(&mut fluid.state, drops, &owners);
        Ok((fluid, unmeasured))
    }

    /// Writes φ; returns the drop whose surface is nearest to each cell.
    fn write_phi(&self, state: &mut State, drops: &[InitialDrop]) -> Vec<Option<u32>> {
        let num_tiles = state.grid.tiles.len();
        let near: Vec<Vec<u32>> = (0..num_tiles).map(|slot| self.drops_near_tile(state, drops, slot)).collect();
        let mut owners = vec![None; num_tiles * CELLS];
        for (index, owner) in state.grid.tiles.indices().zip(&mut owners) {
            let in_use = index.local() < state.grid.tiles.cells_in_use();
            if in_use && state.solids.distance.values()[index] > -SOLID_BAND {
                let candidates = near[index.slot()].iter().copied();
                let (distance, number) = self.nearest_surface(drops, candidates, state.grid.center(index));
                state.phi.values_mut()[index] = distance;
                *owner = number;
            }
        }
        if drops.iter().any(|drop| drop.cap().is_some()) {
            for index in cells_on_far_sides(state, drops, &owners) {
                let others = near[index.slot()].iter().copied().filter(|number| Some(*number) != owners[index]);
                let (distance, number) = self.nearest_surface(drops, others, state.grid.center(index));
                state.phi.values_mut()[index] = distance;
                owners[index] = number;
            }
        }
        owners
    }

    /// Writes velocity, labels and target volumes; returns the ids of drops whose volume must be
    /// measured.
    fn write_drops(&self, state: &mut State, drops: &[InitialDrop], owners: &[Option<u32>]) -> Vec<u32> {
        let State { grid, solids, phi, velocity, drops: labeled, .. } = state;
        let mut overlaps = vec![false; drops.len()];
        for (index, number) in grid.tiles.indices().zip(owners).filter_map(|(index, number)| Some((index, (*number)?)))
        {
            let (distance, drop) = (phi.values()[index], &drops[number as usize]);
            if distance < VELOCITY_BAND {
                for (axis, component) in velocity.iter_mut().enumerate() {
                    component.values_mut()[index] = drop.velocity()[axis];
                }
            }
            if distance < 0.0 {
                labeled.labels.values_mut()[index] = Label::drop(drop.index() as u32 + 1);
                let is_free = drop.cap().is_none();
                overlaps[number as usize] |= is_free && solids.distance.values()[index] < OVERLAP_DISTANCE;
            }
        }
        labeled.next_id = drops.len() as u32 + 1;
        let mut unmeasured = Vec::new();
        for (drop, overlaps) in drops.iter().zip(overlaps) {
            let id = drop.index() as u32 + 1;
            if overlaps || self.wraps(drop.bounds()) {
                unmeasured.push(id);
            }
            labeled.targets.push(TargetVolume { id, volume: drop.volume() / self.cell_volume() });
        }
        unmeasured
    }

    /// Numbers of the drops whose band may extend into a tile.
    fn drops_near_tile(&self, state: &State, drops: &[InitialDrop], slot: usize) -> Vec<u32> {
        let side = SIDE as f64;
        let low = state.grid.origin + DVec3::from(state.grid.tiles.coords()[slot].map(f64::from)) * (side * self.h);
        let middle = low + 0.5 * side * self.h;
        let range = (0.5 * side + PHI_MAX + 1.0) * self.h;
        let is_near = |drop: &InitialDrop| {
            let [low, high] = drop.bounds();
            let gap = (low - middle).max(middle - high);
            gap.x.max(gap.y).max(if self.planar { 0.0 } else { gap.z }) < range
        };
        (0..drops.len() as u32).filter(|&number| is_near(&drops[number as usize])).collect()
    }

    /// Distance to the nearest free surface of the `candidates`, in cells and within ±[`PHI_MAX`],
    /// and that drop's number.
    fn nearest_surface(
        &self,
        drops: &[InitialDrop],
        candidates: impl Iterator<Item = u32>,
        place: DVec3,
    ) -> (f64, Option<u32>) {
        let mut best: (f64, Option<u32>) = (PHI_MAX, None);
        for number in candidates {
            let drop = &drops[number as usize];
            let [low, high] = drop.bounds();
            let gap = (low - place).max(place - high).max(DVec3::ZERO);
            let gap = if self.planar { gap.with_z(0.0) } else { gap };
            if gap.length() > (PHI_MAX + 1.0) * self.h {
                continue;
            }
            let distance = drop.free_surface_distance(place) / self.h;
            if best.1.is_none() || distance < best.0 {
                best = (distance, Some(number));
            }
        }
        (best.0.clamp(-PHI_MAX, PHI_MAX), best.1)
    }

    /// Whether a body of these bounds is longer than a period of the domain.
    fn wraps(&self, [low, high]: [DVec3; 2]) -> bool {
        let length = |period: i32| f64::from(period * SIDE as i32) * self.h;
        (0..3).any(|axis| self.topology.period[axis].is_some_and(|period| (high - low)[axis] > length(period)))
    }
}
