//! Frames: the surface of the liquid, the drops' states, and the fields of the grid.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::{DropId, DropState, Frame, FrameGeometry, GridFields, Surface, VolumeBalance};
use sessile_numerics::math;

use super::Volume;
use crate::frame_fields::FrameFields;
use crate::spray::Spray;
use crate::spray_transfer::{self, GridEnvironment};
use crate::state::State;
use crate::surface_extraction::{ExtractedSurface, GridPlacement, extract_surface};

/// Sums over the cells of a drop.
#[derive(Clone, Copy, Default)]
struct CellSums {
    count: f64,
    momentum: DVec3,
    max_speed: f64,
    pressure: f64,
}

impl Volume {
    /// The liquid now.
    pub(super) fn make_frame(&self) -> Frame {
        let grid = &self.fluid.state.grid;
        let fields = FrameFields { state: &self.fluid.state, world: &self.world };
        let placement = GridPlacement { origin: grid.origin, h: grid.h };
        let ExtractedSurface { mut surface, joined, .. } =
            extract_surface(&grid.tiles, placement, &fields).expect("every step checks the extent of the tiles");
        let mut drops = self.drop_states();
        for (id, into) in joined {
            if merge_drop_states(&mut drops, id, into) {
                // Other components of the drop, which do not touch the one it is merged into,
                // follow it.
                surface.drops.iter_mut().filter(|drop| **drop == id).for_each(|drop| *drop = into);
            }
        }
        self.add_hidden_drops(&mut drops, &mut surface);
        self.spray.add_to(&mut surface);
        drops.extend(spray_transfer::drop_states(&self.spray, self.setup.parameters.liquid.surface_tension));
        drops.sort_unstable_by_key(|drop| drop.id);
        Frame {
            time: self.totals.time,
            liquid: FrameGeometry::Surfaces(surface),
            drops,
            positions: Vec::new(),
            wet: self.history.maps(&self.world),
            balance: VolumeBalance {
                added: self.totals.added,
                lost: self.totals.lost,
                film: 0.0,
                evaporated: self.totals.evaporated,
            },
            active_cells: self.active_cells() as u64,
        }
    }

    /// The fields on the grid.
    pub(super) fn grid_fields(&self) -> GridFields {
        let State { grid, phi, velocity, pressure, .. } = &self.fluid.state;
        let scaled = |values: &[f64], factor: f64| values.iter().map(|value| (factor * value) as f32).collect();
        let [x, y, z] = velocity;
        GridFields {
            origin: grid.origin,
            cell: grid.h,
            planar: grid.tiles.topology().planar,
            tiles: grid.tiles.coords().to_vec(),
            phi: scaled(phi.values(), grid.h),
            velocity: [x, y, z].map(|component| scaled(component.values(), 1.0)),
            pressure: scaled(pressure.values(), self.setup.parameters.liquid.density * grid.h),
        }
    }

    /// Adds drops that are too thin for the extracted surface as spheres, or as caps where they
    /// touch a solid, and removes empty ones.
    fn add_hidden_drops(&self, drops: &mut Vec<DropState>, surface: &mut Surface) {
        let mut shown = surface.drops.clone();
        shown.sort_unstable();
        shown.dedup();
        let mut hidden = Spray::default();
        for drop in drops.iter().filter(|drop| shown.binary_search(&drop.id).is_err()) {
            let Some(id) = DropId::new(drop.id) else { continue };
            // In planar runs the sphere is as wide as the disc of that area.
            let disc = 4.0 / 3.0 * PI * math::powf(drop.volume / PI, 1.5);
            let volume = if self.setup.planar { disc } else { drop.volume };
            hidden.launch(id, self.center_of_cells(id), drop.velocity, volume);
        }
        if !self.setup.planar {
            let Self { fluid, world, setup, .. } = self;
            hidden.land(&GridEnvironment { state: &fluid.state, world, bounds: setup.bounds });
        }
        drops.retain(|drop| drop.volume > 0.0 || shown.binary_search(&drop.id).is_ok());
        hidden.add_to(surface);
    }

    /// Mean center of a drop's cells, in m.
    pub(super) fn center_of_cells(&self, id: DropId) -> DVec3 {
        let State { grid, drops, .. } = &self.fluid.state;
        let cells = grid.tiles.indices().zip(drops.labels.values()).filter(|(_, label)| label.id() == Some(id));
        let (sum, count) = cells.fold((DVec3::ZERO, 0.0), |(sum, n), (index, _)| (sum + grid.center(index), n + 1.0));
        sum / f64::max(count, 1.0)
    }

    /// Volume, velocity and pressure of each drop on the grid.
    fn drop_states(&self) -> Vec<DropState> {
        let state = &self.fluid.state;
        let State { grid, pressure, drops, .. } = state;
        let cell_volume = self.setup.cell_volume();
        let scale = self.setup.parameters.liquid.density * grid.h;
        let mut sums = vec![CellSums::default(); drops.targets.len()];
        for (index, &label) in grid.tiles.indices().zip(drops.labels.values()) {
            let Some(id) = label.id().filter(|_| index.local() < grid.tiles.cells_in_use()) else { continue };
            let Ok(at) = drops.targets.binary_search_by_key(&id, |target| target.id) else { continue };
            let velocity = state.velocity_at_center(index);
            let sum = &mut sums[at];
            sum.count += 1.0;
            sum.momentum += velocity;
            sum.max_speed = sum.max_speed.max(velocity.length());
            sum.pressure += scale * pressure.values()[index];
        }
        let states = drops.targets.iter().zip(sums).map(|(target, sum)| {
            let count = f64::max(sum.count, 1.0);
            DropState {
                id: target.id.get(),
                volume: target.volume * cell_volume,
                velocity: sum.momentum / count,
                speed_max: sum.max_speed,
                pressure: Some(sum.pressure / count),
            }
        });
        states.collect()
    }
}

/// Adds the drop `id` to the drop `into`, with which the surface shows it as one; returns whether
/// both exist.
fn merge_drop_states(drops: &mut Vec<DropState>, id: u32, into: u32) -> bool {
    let place = |id: u32| drops.binary_search_by_key(&id, |drop| drop.id);
    let (Ok(from), Ok(to)) = (place(id), place(into)) else { return false };
    let (absorbed, kept) = (drops[from], drops[to]);
    let volume = absorbed.volume + kept.volume;
    let share = if volume > 0.0 { absorbed.volume / volume } else { 0.0 };
    drops[to] = DropState {
        id: into,
        volume,
        velocity: kept.velocity + (absorbed.velocity - kept.velocity) * share,
        speed_max: absorbed.speed_max.max(kept.speed_max),
        pressure: kept.pressure.zip(absorbed.pressure).map(|(a, b)| a + share * (b - a)),
    };
    drops.remove(from);
    true
}
