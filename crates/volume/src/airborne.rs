//! Drops that leave the cells for the [`spray`](crate::spray), and balls that come back to them.

use glam::DVec3;
use sessile_frames::{DropState, Event, Ids};
use sessile_world::World;

use crate::drops::{Account, OF_SPECKS};
use crate::fluid::Fluid;
use crate::grid::{CENTER, linear};
use crate::setup::Setup;
use crate::sources::unite_ball;
use crate::spray::{Ball, Fate, MOST_CELLS, Spray, Surroundings, erase};
use crate::tiles::{CELLS, local_cell};

/// A drop this near to another one (in cells) stays on the cells: it is about to join it.
const APART: i32 = 2;

/// What balls meet in a run.
struct Around<'a> {
    fluid: &'a Fluid,
    world: &'a World,
    bounds: Option<[DVec3; 2]>,
}

impl Surroundings for Around<'_> {
    fn liquid(&self, point: DVec3) -> f64 {
        let Fluid { grid, phi, .. } = self.fluid;
        let cell = grid.cell_at(point);
        let Some(index) = grid.tiles.find(cell) else { return f64::INFINITY };
        let beyond = (point - grid.origin) / grid.h - DVec3::from(cell.map(f64::from));
        let at = DVec3::from(local_cell(index % CELLS).map(|c| c as f64)) + beyond;
        linear(&grid.tiles, phi, index / CELLS, at, CENTER) * grid.h
    }

    fn solid(&self, point: DVec3) -> Option<(f64, DVec3, DVec3)> {
        let solid = self.world.closest(point).map(|(solid, near)| {
            let velocity = self.world.solids()[solid].velocity_at(near.point);
            (near.distance, near.normal, velocity)
        });
        let sides =
            self.fluid.sides.iter().map(|side| (side.normal.dot(point) - side.offset, side.normal, DVec3::ZERO));
        solid.into_iter().chain(sides).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn inside(&self, point: DVec3) -> bool {
        self.bounds.is_none_or(|[low, high]| point.cmpge(low).all() && point.cmple(high).all())
    }
}

/// Turns drops of few cells into balls, and wipes off specks; returns whether there were any.
pub fn launch_small(fluid: &mut Fluid, spray: &mut Spray, cell_volume: f64) -> bool {
    let pieces = &fluid.drops.pieces;
    let mut small: Vec<u32> =
        pieces.iter().filter(|piece| piece.num_cells <= MOST_CELLS).map(|piece| piece.id).collect();
    if small.is_empty() {
        return false;
    }
    small.sort_unstable();
    let names = fluid.drops.names.values().iter().enumerate();
    let mut cells: Vec<(u32, usize)> =
        names.filter(|(_, name)| small.binary_search(name).is_ok()).map(|(index, &name)| (name, index)).collect();
    cells.sort_unstable();
    let mut any = false;
    // Specks share their name, and each of their cells goes by itself.
    for own in cells.chunk_by(|a, b| a.0 == b.0 && a.0 != OF_SPECKS) {
        let id = own[0].0;
        let Some(found) = Small::find(fluid, id, own.iter().map(|&(_, index)| index)) else { continue };
        if id != OF_SPECKS {
            let Some(account) = fluid.drops.account_mut(id).copied() else { continue };
            spray.launch(id, found.center, found.velocity, account.volume * cell_volume);
            fluid.drops.accounts.retain(|account| account.id != id);
        }
        erase(&mut fluid.phi, found.cells.iter().copied());
        // Also where the surface has left cells since they got their name.
        for index in found.cells.into_iter().chain(own.iter().map(|&(_, index)| index)) {
            fluid.drops.names.values_mut()[index] = 0;
        }
        any = true;
    }
    any
}

/// A small drop on the cells.
struct Small {
    center: DVec3,
    velocity: DVec3,
    /// All cells round it that φ calls liquid, those inside solids too.
    cells: Vec<usize>,
}

impl Small {
    /// `None` if it is gone, or so near to another drop that it may join it.
    fn find(fluid: &Fluid, id: u32, own: impl Iterator<Item = usize>) -> Option<Self> {
        let Fluid { grid, phi, drops, solids, .. } = fluid;
        let tiles = &grid.tiles;
        let names = drops.names.values();
        let cells: Vec<[i32; 3]> = own.map(|index| tiles.cell(index)).collect();
        let low = [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[axis]).min().unwrap_or(0) - APART - 1);
        let high = [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[axis]).max().unwrap_or(0) + APART + 1);
        let (mut sum, mut momentum, mut whole, mut liquid) = (DVec3::ZERO, DVec3::ZERO, 0.0, Vec::new());
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let Some(index) = tiles.find([x, y, z]) else { continue };
                    if names[index] != id && names[index] != 0 {
                        return None;
                    }
                    if phi.values()[index] < 0.0 {
                        liquid.push(index);
                    }
                    let weight = (0.5 - phi.values()[index]).clamp(0.0, 1.0);
                    if weight > 0.0 && solids.distance.values()[index] > -0.5 {
                        sum += grid.center(index) * weight;
                        momentum += velocity_at(fluid, index) * weight;
                        whole += weight;
                    }
                }
            }
        }
        (whole > 0.0).then(|| Self { center: sum / whole, velocity: momentum / whole, cells: liquid })
    }
}

/// Velocity at a cell's center, in m/s.
pub fn velocity_at(fluid: &Fluid, index: usize) -> DVec3 {
    let mut here = DVec3::ZERO;
    for (axis, component) in fluid.velocity.iter().enumerate().take(fluid.grid.tiles.dims()) {
        let component = component.values();
        let high = fluid.grid.tiles.next(index, axis, 1).map_or(component[index], |high| component[high]);
        here[axis] = 0.5 * (component[index] + high);
    }
    here
}

/// Moves the balls by `dt` and puts those that have met liquid, or have grown, back on the cells; returns what left the scene, in m³, and whether φ was changed.
pub fn fly(
    spray: &mut Spray,
    dt: f64,
    setup: &Setup,
    world: &World,
    fluid: &mut Fluid,
    events: &mut Vec<Event>,
) -> (f64, bool) {
    if spray.balls().is_empty() {
        return (0.0, false);
    }
    let mut gone = Vec::new();
    let around = Around { fluid, world, bounds: setup.bounds };
    spray.advance(dt, setup.h, world.gravity(), &around, &mut gone, events);
    let (mut lost, mut changed) = (0.0, false);
    for (ball, fate) in gone {
        match fate {
            Fate::Lost => lost += ball.volume,
            Fate::Returned => {
                unite_ball(&ball, ball.id, setup, world, fluid);
                let accounts = &mut fluid.drops.accounts;
                let place = accounts.partition_point(|account| account.id < ball.id);
                accounts.insert(place, Account { id: ball.id, volume: ball.volume / setup.cell_volume() });
                changed = true;
            }
            Fate::Landed => {
                changed = true;
                land(&ball, setup, world, fluid, events);
            }
        }
    }
    (lost, changed)
}

/// Unites a ball with the drop that it touches.
fn land(ball: &Ball, setup: &Setup, world: &World, fluid: &mut Fluid, events: &mut Vec<Event>) {
    let Some(host) = nearest_drop(fluid, ball) else {
        // What it touched is another ball's landing place that has no name yet: it gets its own.
        unite_ball(ball, ball.id, setup, world, fluid);
        let accounts = &mut fluid.drops.accounts;
        let place = accounts.partition_point(|account| account.id < ball.id);
        accounts.insert(place, Account { id: ball.id, volume: ball.volume / setup.cell_volume() });
        return;
    };
    unite_ball(ball, host, setup, world, fluid);
    if let Some(account) = fluid.drops.account_mut(host) {
        account.volume += ball.volume / setup.cell_volume();
    }
    events.push(Event::Merge { merge: Ids::from_slice(&[host.min(ball.id), host.max(ball.id)]), into: host });
}

/// The name of the liquid nearest to a ball's center.
fn nearest_drop(fluid: &Fluid, ball: &Ball) -> Option<u32> {
    let Fluid { grid, drops, .. } = fluid;
    let middle = grid.cell_at(ball.at);
    let reach = (ball.radius() / grid.h).ceil() as i32 + 3;
    let mut best: Option<(f64, u32)> = None;
    for z in -reach..=reach {
        for y in -reach..=reach {
            for x in -reach..=reach {
                let Some(index) = grid.tiles.find([middle[0] + x, middle[1] + y, middle[2] + z]) else { continue };
                let name = drops.names.values()[index];
                let known = drops.accounts.binary_search_by_key(&name, |account| account.id).is_ok();
                let distance = grid.center(index).distance_squared(ball.at);
                if name != 0 && known && best.is_none_or(|best| distance < best.0) {
                    best = Some((distance, name));
                }
            }
        }
    }
    best.map(|best| best.1)
}

/// What is known of each ball.
pub fn facts(spray: &Spray, surface_tension: f64) -> impl Iterator<Item = DropState> {
    spray.balls().iter().map(move |ball| DropState {
        id: ball.id,
        volume: ball.volume,
        velocity: ball.velocity,
        speed_max: ball.velocity.length(),
        pressure: Some(2.0 * surface_tension / ball.radius()),
    })
}
