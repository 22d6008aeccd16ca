//! Tiles are activated where liquid is or comes near, and dropped where it has left.
//!
//! A tile is needed if it lies within [`MARGIN`] cells of liquid or of the cells next to it: what
//! the widest stencil reaches from a cell that the interface can enter in one step. Tiles deep
//! inside solids are never needed. Unneeded tiles are dropped only when they exceed a quarter of
//! the needed ones, since each change moves all fields.

use glam::DVec3;
use sessile_world::World;

use crate::fluid::Fluid;
use crate::solids::{Boundaries, SOLID_BAND};
use crate::state::State;
use crate::tiles::{SIDE, local_cell};

/// Cells around the liquid that must be in active tiles.
const MARGIN: i32 = 4;
/// Half a tile's diagonal, rounded up, in cells.
const HALF_TILE_DIAGONAL: f64 = 7.0;

impl Fluid {
    /// Activates the tiles that liquid needs, and `more`; returns whether any tile changed.
    pub fn adapt(&mut self, world: &World, more: &[[i32; 3]]) -> bool {
        let mut wanted = std::mem::take(&mut self.scratch.wanted_tiles);
        wanted.clear();
        wanted.extend_from_slice(more);
        list_needed_tiles(&self.state, &mut wanted);
        wanted.sort_unstable_by_key(|tile| [tile[2], tile[1], tile[0]]);
        wanted.dedup();
        let State { grid, sides, .. } = &self.state;
        let tiles = &grid.tiles;
        let boundaries = Boundaries { world, sides };
        wanted.retain(|tile| tiles.slot(*tile).is_some() || is_outside_solids(&self.state, &boundaries, *tile));
        let missing = wanted.iter().any(|tile| tiles.slot(*tile).is_none());
        let changes = missing || tiles.len() > wanted.len() + wanted.len() / 4 + 8;
        if changes {
            self.state.grid.tiles.activate(&mut wanted);
            self.move_fields_to_tiles(world);
        }
        self.scratch.wanted_tiles = wanted;
        changes
    }

    /// Activates exactly `tiles`, for a saved state; the caller then writes the fields.
    pub fn activate_tiles(&mut self, world: &World, tiles: &mut Vec<[i32; 3]>) {
        self.state.grid.tiles.activate(tiles);
        self.move_fields_to_tiles(world);
        let State { grid, sides, solids, .. } = &mut self.state;
        solids.sample(grid, &Boundaries { world, sides }, |_| true);
    }

    /// Samples the solids on all tiles if they have moved, or got another wetting.
    pub fn follow_solids(&mut self, world: &World) {
        let State { grid, sides, solids, .. } = &mut self.state;
        solids.follow(grid, &Boundaries { world, sides });
    }

    /// Moves the values of all fields with their tiles.
    fn move_fields_to_tiles(&mut self, world: &World) {
        let Self { state, scratch, .. } = self;
        let State { grid, solids, phi, velocity, pressure, line, particles, drops, sides, .. } = state;
        let (tiles, spare) = (&grid.tiles, &mut scratch.spare);
        let numbers = [phi, pressure].into_iter().chain(velocity).chain([&mut solids.distance]).chain(&mut solids.open);
        for field in numbers {
            field.rearrange(tiles, &mut spare.numbers);
        }
        if !solids.mirrors.is_empty() {
            solids.beyond_mirrors.rearrange(tiles, &mut spare.numbers);
        }
        line.rearrange(tiles, &mut spare.lines);
        particles.rearrange(tiles);
        drops.labels.rearrange(tiles, &mut spare.labels);
        solids.wall.rearrange(tiles, &mut spare.walls);
        let previous = tiles.previous_slots();
        solids.near = previous.iter().map(|from| from.get().is_some_and(|from| solids.near[from])).collect();
        solids.sample(grid, &Boundaries { world, sides }, |slot| previous[slot].get().is_none());
        scratch.resize(tiles);
    }
}

/// Adds the tiles within [`MARGIN`] cells of liquid to `wanted`.
fn list_needed_tiles(state: &State, wanted: &mut Vec<[i32; 3]>) {
    let tiles = &state.grid.tiles;
    let side = SIDE as i32;
    for slot in 0..tiles.len() {
        let Some([low, high]) =
            liquid_bounds(state.phi.tile(slot), state.solids.distance.tile(slot), tiles.cells_in_use())
        else {
            continue;
        };
        let tile = tiles.coords()[slot];
        let range = |axis: usize| {
            let (from, to) = ((low[axis] - MARGIN).div_euclid(side), (high[axis] + MARGIN).div_euclid(side));
            if axis == 2 && tiles.topology().planar { 0..=0 } else { from..=to }
        };
        for c in range(2) {
            for b in range(1) {
                for a in range(0) {
                    wanted.push(tiles.wrap([tile[0] + a, tile[1] + b, tile[2] + c]));
                }
            }
        }
    }
}

/// Bounds of a tile's cells that hold liquid or lie within a cell of it, without those deep in
/// solids.
fn liquid_bounds(phi: &[f64], s: &[f64], cells: usize) -> Option<[[i32; 3]; 2]> {
    let mut bounds: Option<[[i32; 3]; 2]> = None;
    for local in (0..cells).filter(|&local| phi[local] < 1.0 && s[local] > -1.5) {
        let cell = local_cell(local).map(|c| c as i32);
        bounds = Some(match bounds {
            None => [cell, cell],
            Some([low, high]) => [[0, 1, 2].map(|a| low[a].min(cell[a])), [0, 1, 2].map(|a| high[a].max(cell[a]))],
        });
    }
    bounds
}

/// Whether part of a tile may lie outside solids, or close enough to their surface to be needed.
fn is_outside_solids(state: &State, boundaries: &Boundaries<'_>, tile: [i32; 3]) -> bool {
    let grid = &state.grid;
    let middle = DVec3::from(tile.map(|c| 8.0 * f64::from(c) + 4.0));
    let middle = if grid.tiles.topology().planar { middle.with_z(0.5) } else { middle };
    boundaries.signed_distance(grid.origin + grid.h * middle) > -grid.h * (SOLID_BAND + HALF_TILE_DIAGONAL)
}
