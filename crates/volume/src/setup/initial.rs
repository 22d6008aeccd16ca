//! The initial drops on the grid: φ, velocity, labels and target volumes.

use glam::DVec3;
use sessile_frames::{DropId, IdCounter};
use sessile_numerics::math;
use sessile_world::{Cap, InitialDrop, World};

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
/// Distance from a solid below which a liquid cell shows that a drop overlaps a solid that it does
/// not sit on, in cells.
const OVERLAP_DISTANCE: f64 = 0.5;

/// What is nearest to a point.
struct NearestSurface {
    /// Distance to the nearest free surface, in cells and within ±[`PHI_MAX`].
    distance: f64,
    /// That drop's number.
    number: Option<u32>,
    /// Number of drops that contain the point.
    num_inside: u32,
}

impl Setup {
    /// A grid with the scene's drops on it, and the ids of drops whose volume must be measured.
    ///
    /// Drops that overlap become their union. Part of a drop that overlaps a solid or a side of the
    /// domain does not exist, and a drop longer than the domain's period overlaps itself. Their
    /// volumes are what the grid holds.
    pub fn fill(&self, world: &World) -> Result<(Fluid, Vec<DropId>), VolumeError> {
        let state = State::new(self.h, self.origin, self.topology, self.sides.clone());
        let mut fluid = Fluid::new(state, self.parameters);
        fluid.adapt(world, &self.initial_tiles(world)?);
        let drops = world.initial_drops();
        let (owners, overlaps) = self.write_phi(&mut fluid.state, drops);
        let unmeasured = self.write_drops(&mut fluid.state, drops, &owners, overlaps);
        Ok((fluid, unmeasured))
    }

    /// Writes φ; returns the drop whose surface is nearest to each cell, and whether each drop
    /// overlaps another one.
    fn write_phi(&self, state: &mut State, drops: &[InitialDrop]) -> (Vec<Option<u32>>, Vec<bool>) {
        let (num_tiles, images) = (state.grid.tiles.len(), self.images());
        let near: Vec<Vec<u32>> =
            (0..num_tiles).map(|slot| self.drops_near_tile(state, drops, &images, slot)).collect();
        let mut owners = vec![None; num_tiles * CELLS];
        let mut shared = Vec::new();
        for (index, owner) in state.grid.tiles.indices().zip(&mut owners) {
            let in_use = index.local() < state.grid.tiles.cells_in_use();
            if in_use && state.solids.distance.values()[index] > -SOLID_BAND {
                let candidates = near[index.slot()].iter().copied();
                let nearest = self.nearest_surface(drops, &images, candidates, state.grid.center(index));
                state.phi.values_mut()[index] = nearest.distance;
                *owner = nearest.number;
                if nearest.num_inside > 1 && !state.solids.contains_center(index) {
                    shared.push(index);
                }
            }
        }
        if drops.iter().any(|drop| drop.cap().is_some()) {
            let far = cells_on_far_sides(state, drops, &owners);
            // What is beyond the solid is no part of the cap.
            shared.retain(|cell| far.binary_search(cell).is_err());
            for index in far {
                let others = near[index.slot()].iter().copied().filter(|number| Some(*number) != owners[index]);
                let nearest = self.nearest_surface(drops, &images, others, state.grid.center(index));
                state.phi.values_mut()[index] = nearest.distance;
                owners[index] = nearest.number;
            }
        }
        let mut overlaps = vec![false; drops.len()];
        for index in shared {
            let center = state.grid.center(index);
            for &number in &near[index.slot()] {
                let is_inside = |&image: &DVec3| drops[number as usize].free_surface_distance(center + image) < 0.0;
                overlaps[number as usize] |= images.iter().any(is_inside);
            }
        }
        (owners, overlaps)
    }

    /// Writes velocity, labels and target volumes; returns the ids of drops whose volume must be
    /// measured.
    fn write_drops(
        &self,
        state: &mut State,
        drops: &[InitialDrop],
        owners: &[Option<u32>],
        mut overlaps: Vec<bool>,
    ) -> Vec<DropId> {
        let State { grid, solids, phi, velocity, drops: labeled, .. } = state;
        for (index, number) in grid.tiles.indices().zip(owners).filter_map(|(index, number)| Some((index, (*number)?)))
        {
            let (distance, drop) = (phi.values()[index], &drops[number as usize]);
            if distance < VELOCITY_BAND {
                for (axis, component) in velocity.iter_mut().enumerate() {
                    component.values_mut()[index] = drop.velocity()[axis];
                }
            }
            if distance < 0.0 {
                labeled.labels.values_mut()[index] = Label::drop(DropId::of_initial(drop.index() as u32));
                let wall = solids.wall.values()[index].solid;
                let sits_on_it = drop.cap().is_some_and(|cap| cap.on == wall as usize);
                overlaps[number as usize] |= !sits_on_it && solids.distance.values()[index] < OVERLAP_DISTANCE;
                overlaps[number as usize] |= solids.mirrors.hide(&grid.tiles, index);
            }
        }
        labeled.ids = IdCounter::after_initial(drops.len() as u32);
        let mut unmeasured = Vec::new();
        for (drop, overlaps) in drops.iter().zip(overlaps) {
            let id = DropId::of_initial(drop.index() as u32);
            if overlaps || self.wraps(drop.bounds()) {
                unmeasured.push(id);
            }
            labeled.targets.push(TargetVolume { id, volume: drop.volume() / self.cell_volume() });
        }
        unmeasured
    }

    /// Whether `drop` is the one of this id, and the grid should hold its volume: not of a film
    /// thinner than two cells, where it is uncertain, and not outside the domain, where it is lost.
    pub fn should_hold(&self, drop: &InitialDrop, id: DropId) -> bool {
        let height = |cap: &Cap| cap.ball_radius * (1.0 - math::cos(cap.contact_angle));
        let [low, high] = drop.bounds();
        let is_within = |axis: usize, [first, last]: [DVec3; 2]| {
            self.topology.period[axis].is_some() || (low[axis] >= first[axis] && high[axis] <= last[axis])
        };
        DropId::of_initial(drop.index() as u32) == id
            && drop.cap().is_none_or(|cap| height(cap) > 2.0 * self.h)
            && self.bounds.is_none_or(|bounds| (0..3).all(|axis| is_within(axis, bounds)))
    }

    /// Numbers of the drops whose band may extend into a tile.
    fn drops_near_tile(&self, state: &State, drops: &[InitialDrop], images: &[DVec3], slot: usize) -> Vec<u32> {
        let side = SIDE as f64;
        let low = state.grid.origin + DVec3::from(state.grid.tiles.coords()[slot].map(f64::from)) * (side * self.h);
        let middle = low + 0.5 * side * self.h;
        let range = (0.5 * side + PHI_MAX + 1.0) * self.h;
        let is_near = |drop: &InitialDrop| {
            let [low, high] = drop.bounds();
            images.iter().any(|image| {
                let middle = middle + *image;
                let gap = (low - middle).max(middle - high);
                gap.x.max(gap.y).max(if self.planar { 0.0 } else { gap.z }) < range
            })
        };
        (0..drops.len() as u32).filter(|&number| is_near(&drops[number as usize])).collect()
    }

    /// The nearest free surface of the `candidates`.
    fn nearest_surface(
        &self,
        drops: &[InitialDrop],
        images: &[DVec3],
        candidates: impl Iterator<Item = u32>,
        place: DVec3,
    ) -> NearestSurface {
        let mut best = NearestSurface { distance: PHI_MAX, number: None, num_inside: 0 };
        let places = |number: u32| images.iter().map(move |image| (number, place + *image));
        for (number, place) in candidates.flat_map(places) {
            let drop = &drops[number as usize];
            let [low, high] = drop.bounds();
            let gap = (low - place).max(place - high).max(DVec3::ZERO);
            let gap = if self.planar { gap.with_z(0.0) } else { gap };
            if gap.length() > (PHI_MAX + 1.0) * self.h {
                continue;
            }
            let distance = drop.free_surface_distance(place) / self.h;
            best.num_inside += u32::from(distance < 0.0);
            if best.number.is_none() || distance < best.distance {
                (best.distance, best.number) = (distance, Some(number));
            }
        }
        best.distance = best.distance.clamp(-PHI_MAX, PHI_MAX);
        best
    }

    /// Whether a body of these bounds is longer than a period of the domain.
    fn wraps(&self, [low, high]: [DVec3; 2]) -> bool {
        let length = |period: i32| f64::from(period * SIDE as i32) * self.h;
        (0..3).any(|axis| self.topology.period[axis].is_some_and(|period| (high - low)[axis] > length(period)))
    }
}
