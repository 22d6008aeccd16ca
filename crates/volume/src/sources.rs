//! Liquid from emitters: spheres, streams and needles.
//!
//! A *sphere* is united with the liquid, φ ← min(φ, |x − c| − r), and brings its velocity. A
//! *stream* is united step by step as a short cylinder behind its mouth with the stream's velocity.
//! Both add their exact volume to the target volumes. A *needle* adds to (or drains from) the cells
//! around its tip by a divergence source; outside liquid it accumulates until a sphere of
//! [`MIN_SPHERE_RADIUS`] can be inserted. Spheres that are too small for the grid become spray.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_numerics::sphere_volume;
use sessile_world::{Emission, World};

use crate::drops::{Drops, Label, TargetVolume};
use crate::fluid::Fluid;
use crate::grid::{Grid, local_center};
use crate::redistance::PHI_MAX;
use crate::setup::Setup;
use crate::spray::{Spray, SprayDrop};
use crate::state::State;
use crate::tiles::CellIndex;

/// Radius of the sphere that a needle outside liquid releases, in cells.
const MIN_SPHERE_RADIUS: f64 = 3.0;
/// Radius around a needle's tip in which it feeds, in cells.
const NEEDLE_RADIUS: f64 = 1.8;
/// Length of the cylinder by which a stream is extended to either side of its mouth, in cells.
///
/// Long enough to stay connected to what has left the mouth.
const STREAM_LENGTH: f64 = 2.0;

/// What sources keep from step to step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sources {
    /// Accumulated volumes of needles outside liquid: tip in m, and volume in cells.
    accumulated: Vec<([f64; 3], f64)>,
    /// The drop that each stream fed last: mouth in m, and id.
    streams: Vec<([f64; 3], u32)>,
}

/// A needle during one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeedleFlow {
    /// Its tip, in m.
    pub at: DVec3,
    /// Volume that it adds, negative if it drains, in cells.
    pub volume: f64,
}

/// A body of liquid to be united with the liquid on the grid; lengths in m.
struct LiquidBody<D> {
    bounds: [DVec3; 2],
    distance: D,
    velocity: DVec3,
}

/// A stream's mouth and its flow during one step.
struct StreamSegment {
    mouth: DVec3,
    direction: DVec3,
    radius: f64,
    speed: f64,
    /// Volume that leaves the mouth, in cells.
    volume: f64,
}

impl Sources {
    /// Inserts the spheres and streams of a step; returns the emitted volume, in cells.
    pub fn emit(
        &mut self,
        emissions: &[Emission],
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
        spray: &mut Spray,
    ) -> f64 {
        let mut emitted = 0.0;
        for emission in emissions {
            match *emission {
                Emission::Ball { center, radius, velocity, .. } => {
                    let volume = sphere_volume(radius);
                    let min_volume = fluid.params.numerics.min_grid_cells * setup.cell_volume();
                    if !setup.planar && volume < min_volume {
                        spray.launch(fluid.state.drops.new_id(), center, velocity, volume);
                        emitted += volume / setup.cell_volume();
                    } else {
                        emitted += insert_sphere(center, radius, velocity, setup, world, fluid);
                    }
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let area = if setup.planar { 2.0 * radius } else { PI * radius * radius };
                    let volume = area * speed * (to - from) / setup.cell_volume();
                    let segment = StreamSegment { mouth: at, direction, radius, speed, volume };
                    self.insert_stream(&segment, setup, world, fluid);
                    emitted += volume;
                }
                Emission::Feed { at, volume, .. } if !has_liquid_at(&fluid.state, at) && volume > 0.0 => {
                    let accumulated = self.accumulate(at, volume / setup.cell_volume());
                    if accumulated >= setup.ball_volume(MIN_SPHERE_RADIUS) {
                        self.accumulated.retain(|(tip, _)| *tip != at.to_array());
                        emitted += insert_sphere(at, MIN_SPHERE_RADIUS * setup.h, DVec3::ZERO, setup, world, fluid);
                    }
                }
                Emission::Feed { .. } | Emission::Condense { .. } => {}
            }
        }
        emitted
    }

    fn accumulate(&mut self, at: DVec3, volume: f64) -> f64 {
        match self.accumulated.iter_mut().find(|(tip, _)| *tip == at.to_array()) {
            Some((_, accumulated)) => {
                *accumulated += volume;
                *accumulated
            }
            None => {
                self.accumulated.push((at.to_array(), volume));
                volume
            }
        }
    }

    fn insert_stream(&mut self, stream: &StreamSegment, setup: &Setup, world: &World, fluid: &mut Fluid) {
        let StreamSegment { mouth, direction, radius, speed, volume } = *stream;
        let length = STREAM_LENGTH * setup.h;
        let planar = setup.planar;
        let distance = move |point: DVec3| {
            let offset = if planar { (point - mouth).with_z(0.0) } else { point - mouth };
            let along = offset.dot(direction);
            let across = (offset - direction * along).length() - radius;
            across.max(along.abs() - length)
        };
        let extent = DVec3::splat(radius + length);
        let body = LiquidBody { bounds: [mouth - extent, mouth + extent], distance, velocity: direction * speed };
        let last = self.streams.iter().find(|(known, _)| *known == mouth.to_array()).map(|(_, id)| *id);
        let existing = drop_at(&fluid.state, mouth).or(last);
        let id = existing.filter(|id| fluid.state.drops.target_mut(*id).is_some()).unwrap_or_else(|| {
            let id = fluid.state.drops.new_id();
            fluid.state.drops.targets.push(TargetVolume { id, volume: 0.0 });
            id
        });
        self.streams.retain(|(known, _)| *known != mouth.to_array());
        self.streams.push((mouth.to_array(), id));
        insert_body(&body, id, true, setup, world, fluid);
        if let Some(target) = fluid.state.drops.target_mut(id) {
            target.volume += volume;
        }
    }
}

/// The needles of a step; those outside liquid have no effect on it.
pub fn needle_flows(emissions: &[Emission], cell_volume: f64) -> Vec<NeedleFlow> {
    let flow = |emission: &Emission| match *emission {
        Emission::Feed { at, volume, .. } => Some(NeedleFlow { at, volume: volume / cell_volume }),
        _ => None,
    };
    emissions.iter().filter_map(flow).collect()
}

/// Adds the needles' divergence sources and changes their drops' target volumes; returns the volume
/// fed, in cells.
pub fn feed_needles(
    needles: &[NeedleFlow],
    grid: &Grid,
    drops: &mut Drops,
    cells: &[CellIndex],
    cells_per_second: f64,
    source: &mut [f64],
) -> f64 {
    let mut fed = 0.0;
    for needle in needles {
        let distance = |cell: CellIndex| (grid.center(cell) - needle.at).length() / grid.h;
        let nearest = (0..cells.len()).min_by(|&a, &b| distance(cells[a]).total_cmp(&distance(cells[b])));
        let Some(nearest) = nearest.filter(|&unknown| distance(cells[unknown]) < NEEDLE_RADIUS) else { continue };
        let component = drops.component_of[nearest];
        let is_fed =
            |unknown: usize| drops.component_of[unknown] == component && distance(cells[unknown]) < NEEDLE_RADIUS;
        let count = (0..cells.len()).filter(|&unknown| is_fed(unknown)).count() as f64;
        // A needle drains at most half of what its cells hold.
        let volume = needle.volume.max(-0.5 * count);
        for unknown in (0..cells.len()).filter(|&unknown| is_fed(unknown)) {
            source[unknown] += volume / count * cells_per_second;
        }
        let id = drops.components[component as usize].label.id();
        if let Some(target) = id.and_then(|id| drops.target_mut(id)) {
            target.volume += volume;
            fed += volume;
        }
    }
    fed
}

/// Whether there is liquid at a point.
fn has_liquid_at(state: &State, at: DVec3) -> bool {
    state.grid.tiles.find(state.grid.cell_at(at)).is_some_and(|index| state.phi.values()[index] < 0.0)
}

/// The drop at a point.
fn drop_at(state: &State, at: DVec3) -> Option<u32> {
    let index = state.grid.tiles.find(state.grid.cell_at(at))?;
    state.drops.labels.values()[index].id()
}

/// Inserts a sphere (in planar runs a disc) as a new drop; returns its volume, in cells.
fn insert_sphere(center: DVec3, radius: f64, velocity: DVec3, setup: &Setup, world: &World, fluid: &mut Fluid) -> f64 {
    let planar = setup.planar;
    let volume = setup.ball_volume(radius) / setup.cell_volume();
    let distance = move |point: DVec3| {
        let offset = if planar { (point - center).with_z(0.0) } else { point - center };
        offset.length() - radius
    };
    let body = LiquidBody { bounds: [center - radius, center + radius], distance, velocity };
    let id = fluid.state.drops.new_id();
    insert_body(&body, id, false, setup, world, fluid);
    fluid.state.drops.targets.push(TargetVolume { id, volume });
    volume
}

/// Unites a spray drop with the liquid on the grid, under the id `id`.
pub fn insert_spray_drop(drop: &SprayDrop, id: u32, setup: &Setup, world: &World, fluid: &mut Fluid) {
    let (center, radius) = (drop.at, drop.radius());
    let distance = move |point: DVec3| (point - center).length() - radius;
    let body = LiquidBody { bounds: [center - radius, center + radius], distance, velocity: drop.velocity };
    insert_body(&body, id, false, setup, world, fluid);
}

/// Unites a body with the liquid on the grid; labeling then finds the drops that it has merged
/// with.
///
/// `push` gives liquid that the body covers the body's velocity, too.
fn insert_body(
    body: &LiquidBody<impl Fn(DVec3) -> f64>,
    id: u32,
    push: bool,
    setup: &Setup,
    world: &World,
    fluid: &mut Fluid,
) {
    let mut wanted = Vec::new();
    setup.tiles_of(body.bounds, &body.distance, &mut wanted);
    fluid.adapt(world, &wanted);
    let State { grid, solids, phi, velocity, drops, .. } = &mut fluid.state;
    for tile in wanted {
        let Some(slot) = grid.tiles.slot(tile) else { continue };
        for local in 0..grid.tiles.cells_in_use() {
            let index = CellIndex::new(slot, local);
            let distance = (body.distance)(grid.position(slot, local_center(local))) / setup.h;
            if distance > PHI_MAX || solids.distance.values()[index] < -1.0 {
                continue;
            }
            let before = phi.values()[index];
            if distance < 2.0 && (push || distance < before) {
                for (axis, component) in velocity.iter_mut().enumerate().take(grid.tiles.dims()) {
                    component.values_mut()[index] = body.velocity[axis];
                }
            }
            if distance < before {
                phi.values_mut()[index] = distance.max(-PHI_MAX);
                if distance < 0.0 && before >= 0.0 {
                    drops.labels.values_mut()[index] = Label::drop(id);
                }
            }
        }
    }
}
