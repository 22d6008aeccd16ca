//! Exchange between grid and [`spray`](crate::spray): small drops leave the grid, spray drops
//! return to it.

use glam::DVec3;
use sessile_frames::{DropId, DropState, Event};
use sessile_model::StageReports;
use sessile_world::World;

use crate::drops::{Label, TargetVolume, merge_event};
use crate::fluid::Fluid;
use crate::grid::{CENTER, linear};
use crate::setup::Setup;
use crate::sources::insert_spray_drop;
use crate::spray::{Environment, Exit, Forces, NearestSolid, Spray, SprayDrop, erase};
use crate::state::State;
use crate::tiles::CellIndex;

/// A small drop this close to another one (in cells) stays on the grid, since it is about to merge.
const MIN_GAP: i32 = 2;

/// What spray drops meet on the grid.
pub struct GridEnvironment<'a> {
    pub state: &'a State,
    pub world: &'a World,
    /// Corners of the domain.
    pub bounds: Option<[DVec3; 2]>,
}

impl Environment for GridEnvironment<'_> {
    fn liquid(&self, point: DVec3) -> f64 {
        let State { grid, phi, .. } = self.state;
        let Some((slot, at)) = grid.locate(point) else { return f64::INFINITY };
        linear(&grid.tiles, phi, slot, at, CENTER) * grid.h
    }

    fn solid(&self, point: DVec3) -> Option<NearestSolid> {
        let solid = self.world.closest(point).map(|(index, near)| {
            let solid = &self.world.solids()[index];
            NearestSolid {
                distance: near.distance,
                normal: near.normal,
                velocity: solid.mean_velocity_at(near.point),
                wetting: solid.wetting_at(near.uv),
                solid: index as i32,
            }
        });
        let sides = self.state.sides.iter().map(|side| NearestSolid {
            distance: side.normal.dot(point) - side.offset,
            normal: side.normal,
            velocity: DVec3::ZERO,
            wetting: side.wetting,
            solid: -1,
        });
        solid.into_iter().chain(sides).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    fn inside(&self, point: DVec3) -> bool {
        self.bounds.is_none_or(|[low, high]| point.cmpge(low).all() && point.cmple(high).all())
    }
}

/// What the exchange did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SprayReport {
    /// Volume that left the domain or was squeezed between solids, in m³.
    pub lost: f64,
    /// Drops that left the grid.
    pub launched: usize,
    /// Fragments that were removed.
    pub removed_fragments: usize,
    /// Spray drops that returned to the grid.
    pub returned: usize,
    /// Spray drops that solids left no room for.
    pub squeezed: usize,
    /// Volume that left the grid because it was in gaps thinner than a cell, in m³.
    pub from_gaps: f64,
    /// Volume that solids left no room for, in m³; part of `lost`.
    pub without_room: f64,
}

impl SprayReport {
    /// Whether φ was changed.
    pub fn changed_phi(&self) -> bool {
        self.changed_drops() || self.removed_fragments > 0
    }

    /// Whether drops left the grid or returned to it.
    pub fn changed_drops(&self) -> bool {
        self.launched + self.returned > 0
    }

    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("spray.launched", self.launched as u64);
        reports.add("spray.removed_fragments", self.removed_fragments as u64);
        reports.add("spray.returned", self.returned as u64);
        reports.add("spray.squeezed", self.squeezed as u64);
    }
}

/// Turns drops of few cells, and those that are in gaps thinner than a cell, into spray, and
/// removes sub-grid fragments.
pub fn launch_small_drops(
    fluid: &mut Fluid,
    spray: &mut Spray,
    setup: &Setup,
    world: &World,
    report: &mut SprayReport,
) {
    let max_cells = fluid.params.numerics.max_spray_cells;
    let components = &fluid.state.drops.components;
    let small = components.iter().filter(|component| component.num_cells <= max_cells);
    let mut small: Vec<Label> = small.map(|component| component.label).collect();
    let narrow = in_narrow_gaps(&fluid.state, world, setup);
    small.extend(&narrow);
    if small.is_empty() {
        return;
    }
    small.sort_unstable();
    small.dedup();
    let labels = fluid.state.grid.tiles.indices().zip(fluid.state.drops.labels.values());
    let is_small = labels.filter(|(_, label)| small.binary_search(label).is_ok());
    let mut cells: Vec<(Label, CellIndex)> = is_small.map(|(index, &label)| (label, index)).collect();
    cells.sort_unstable();
    // Fragments share their label, and each of their cells is removed by itself.
    for own in cells.chunk_by(|a, b| a.0 == b.0 && a.0 != Label::FRAGMENT) {
        let label = own[0].0;
        let indices = own.iter().map(|&(_, index)| index);
        let is_narrow = narrow.binary_search(&label).is_ok();
        let Some(found) = SmallDrop::find(&fluid.state, label, indices, is_narrow) else { continue };
        let drops = &mut fluid.state.drops;
        if let Some(id) = label.id() {
            let Some(target) = drops.target_mut(id).copied() else { continue };
            let volume = target.volume * setup.cell_volume();
            spray.launch(id, found.center, found.velocity, volume);
            report.from_gaps += if is_narrow { volume } else { 0.0 };
            drops.targets.retain(|target| target.id != id);
            report.launched += 1;
        } else {
            report.removed_fragments += 1;
        }
        erase(&mut fluid.state.phi, found.cells.iter().copied());
        // Also where the interface has left cells since they were labeled.
        for index in found.cells.into_iter().chain(own.iter().map(|&(_, index)| index)) {
            fluid.state.drops.labels.values_mut()[index] = Label::NONE;
        }
    }
}

/// The drops all of whose cells are in gaps between solids thinner than a cell, ascending.
///
/// The grid does not resolve the flow in them. Between plates that close, liquid would become a
/// chain of cells, which close one after the other, and leave it at hundreds of meters per second.
fn in_narrow_gaps(state: &State, world: &World, setup: &Setup) -> Vec<Label> {
    let State { grid, drops, solids, .. } = state;
    // A gap of a cell has no cell farther from its walls than half a cell.
    let distances = solids.distance.values();
    let mut candidates: Vec<(Label, CellIndex)> = Vec::new();
    let mut wide: Vec<Label> = Vec::new();
    for (index, &label) in grid.tiles.indices().zip(drops.labels.values()) {
        if label.id().is_none() {
            continue;
        }
        if distances[index] < 0.5 {
            candidates.push((label, index));
        } else if wide.last() != Some(&label) {
            wide.push(label);
        }
    }
    wide.sort_unstable();
    wide.dedup();
    candidates.retain(|(label, _)| wide.binary_search(label).is_err());
    candidates.sort_unstable();
    let environment = GridEnvironment { state, world, bounds: setup.bounds };
    let is_narrow = |index: CellIndex| {
        let at = grid.center(index);
        environment.solid(at).is_some_and(|wall| {
            let above = at + wall.normal * (grid.h - wall.distance);
            environment.solid(above).is_some_and(|opposite| opposite.distance < 0.0)
        })
    };
    let drops = candidates.chunk_by(|a, b| a.0 == b.0);
    drops.filter(|own| own.iter().all(|&(_, index)| is_narrow(index))).map(|own| own[0].0).collect()
}

/// A small drop on the grid.
struct SmallDrop {
    center: DVec3,
    velocity: DVec3,
    /// All cells around it with φ < 0, also those inside solids.
    cells: Vec<CellIndex>,
}

impl SmallDrop {
    /// `None` if it is gone, or, unless it leaves in any case, so close to another drop that they
    /// may merge.
    fn find(state: &State, label: Label, own: impl Iterator<Item = CellIndex>, leaves: bool) -> Option<Self> {
        let State { grid, phi, drops, solids, .. } = state;
        let tiles = &grid.tiles;
        let labels = drops.labels.values();
        let cells: Vec<[i32; 3]> = own.map(|index| tiles.cell(index)).collect();
        let low = [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[axis]).min().unwrap_or(0) - MIN_GAP - 1);
        let high = [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[axis]).max().unwrap_or(0) + MIN_GAP + 1);
        let (mut sum, mut momentum, mut volume, mut liquid) = (DVec3::ZERO, DVec3::ZERO, 0.0, Vec::new());
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let Some(index) = tiles.find([x, y, z]) else { continue };
                    if labels[index] != label && labels[index] != Label::NONE {
                        if leaves {
                            continue;
                        }
                        return None;
                    }
                    if phi.values()[index] < 0.0 {
                        liquid.push(index);
                    }
                    let fraction = (0.5 - phi.values()[index]).clamp(0.0, 1.0);
                    if fraction > 0.0 && solids.distance.values()[index] > -0.5 {
                        sum += grid.center(index) * fraction;
                        momentum += state.velocity_at_center(index) * fraction;
                        volume += fraction;
                    }
                }
            }
        }
        (volume > 0.0).then(|| Self { center: sum / volume, velocity: momentum / volume, cells: liquid })
    }
}

/// Moves the spray by `dt` and returns drops that touch liquid, or have grown, to the grid.
pub fn advance_spray(
    spray: &mut Spray,
    dt: f64,
    setup: &Setup,
    world: &World,
    fluid: &mut Fluid,
    events: &mut Vec<Event>,
) -> SprayReport {
    let mut report = SprayReport::default();
    if spray.drops().is_empty() {
        return report;
    }
    let mut exits = Vec::new();
    let min_grid_volume = fluid.params.numerics.min_grid_cells * setup.h.powi(3);
    let environment = GridEnvironment { state: &fluid.state, world, bounds: setup.bounds };
    let forces = Forces { gravity: world.gravity(), liquid: &setup.parameters.liquid };
    spray.advance(dt, min_grid_volume, &forces, &environment, &mut exits, events);
    for (drop, exit) in exits {
        match exit {
            Exit::LeftDomain | Exit::Squeezed => report.lost += drop.volume,
            Exit::Grown => insert_as_own_drop(&drop, setup, world, fluid),
            Exit::TouchedLiquid => absorb(&drop, setup, world, fluid, events),
        }
        report.returned += usize::from(matches!(exit, Exit::Grown | Exit::TouchedLiquid));
        report.squeezed += usize::from(exit == Exit::Squeezed);
        report.without_room += if exit == Exit::Squeezed { drop.volume } else { 0.0 };
    }
    report
}

/// Moves drops that have just left the grid out of gaps that have no room for them.
pub fn leave_gaps(spray: &mut Spray, setup: &Setup, world: &World, fluid: &Fluid, report: &mut SprayReport) {
    let mut squeezed = Vec::new();
    let environment = GridEnvironment { state: &fluid.state, world, bounds: setup.bounds };
    let forces = Forces { gravity: world.gravity(), liquid: &setup.parameters.liquid };
    spray.make_room(0.0, &forces, &environment, &mut squeezed);
    let volume: f64 = squeezed.iter().map(|(drop, _)| drop.volume).sum();
    report.lost += volume;
    report.without_room += volume;
    report.squeezed += squeezed.len();
}

/// Returns a spray drop to the grid under its own id.
fn insert_as_own_drop(drop: &SprayDrop, setup: &Setup, world: &World, fluid: &mut Fluid) {
    insert_spray_drop(drop, drop.id, setup, world, fluid);
    let volume = drop.volume / setup.cell_volume();
    fluid.state.drops.insert_target(TargetVolume { id: drop.id, volume });
}

/// Unites a spray drop with the drop that it touches.
fn absorb(drop: &SprayDrop, setup: &Setup, world: &World, fluid: &mut Fluid, events: &mut Vec<Event>) {
    let Some(host) = nearest_drop(&fluid.state, drop) else {
        // It touches another spray drop that returned in this step and has no label yet.
        insert_as_own_drop(drop, setup, world, fluid);
        return;
    };
    insert_spray_drop(drop, host, setup, world, fluid);
    if let Some(target) = fluid.state.drops.target_mut(host) {
        target.volume += drop.volume / setup.cell_volume();
    }
    events.push(merge_event(drop.id, host));
}

/// The drop whose liquid is nearest to a spray drop's center.
fn nearest_drop(state: &State, drop: &SprayDrop) -> Option<DropId> {
    let State { grid, drops, .. } = state;
    let middle = grid.cell_at(drop.at);
    let range = (drop.radius() / grid.h).ceil() as i32 + 3;
    let mut best: Option<(f64, DropId)> = None;
    for z in -range..=range {
        for y in -range..=range {
            for x in -range..=range {
                let Some(index) = grid.tiles.find([middle[0] + x, middle[1] + y, middle[2] + z]) else { continue };
                let Some(id) = drops.labels.values()[index].id() else { continue };
                let known = drops.targets.binary_search_by_key(&id, |target| target.id).is_ok();
                let distance = grid.center(index).distance_squared(drop.at);
                if known && best.is_none_or(|best| distance < best.0) {
                    best = Some((distance, id));
                }
            }
        }
    }
    best.map(|best| best.1)
}

/// The state of each spray drop, for a frame.
pub fn drop_states(spray: &Spray, surface_tension: f64) -> impl Iterator<Item = DropState> {
    spray.drops().iter().map(move |drop| DropState {
        id: drop.id.get(),
        volume: drop.volume,
        velocity: drop.velocity,
        speed_max: drop.velocity.length(),
        pressure: Some(2.0 * surface_tension / drop.sphere().1),
    })
}
