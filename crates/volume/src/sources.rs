//! Liquid from emitters: spheres, streams and needles.
//!
//! A *sphere* is united with the liquid, φ ← min(φ, |x − c| − r), and brings its velocity. Where
//! liquid is in its place it waits until there is room ([`waiting`]). A *stream* is united step by
//! step as a short cylinder around its mouth with the stream's velocity. A *needle* adds to (or
//! drains from) the cells around its tip by a divergence source; outside liquid it accumulates
//! until a sphere of [`MIN_SPHERE_RADIUS`] can be inserted. Spheres that are too small for the grid
//! become spray.
//!
//! **What is counted exists.** A target volume grows by the exact volume of a sphere that lies in
//! the air, and otherwise by what the union has added to the liquid on the grid:
//!
//! ```text
//! ΔV = Σ (F(min(φ, φ_body)) − F(φ))          F a cell's liquid fraction
//! ```
//!
//! The part of a sphere that lies in a solid is not emitted. Where a stream's mouth is submerged,
//! the union adds nothing, and the stream's flow less ΔV becomes a divergence source at the mouth.

mod waiting;

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::DropId;
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
use crate::volume_fraction::liquid_fraction;

use self::waiting::{Room, Sphere, WaitingSpheres, room_for};

/// Radius of the sphere that a needle outside liquid releases, in cells.
const MIN_SPHERE_RADIUS: f64 = 3.0;
/// Radius around a needle's tip in which it feeds, in cells.
const NEEDLE_RADIUS: f64 = 1.8;
/// Length of the cylinder by which a stream is extended to either side of its mouth, in cells.
///
/// Long enough to stay connected to what has left the mouth.
const STREAM_LENGTH: f64 = 2.0;
/// Largest volume that a source adds to a cell in one step, as a fraction of the cell.
const MAX_SOURCE: f64 = 0.1;
/// Largest volume that an accumulator adds to its needle's flow in one step, in cells.
const MAX_RELEASE: f64 = 0.5;
/// Flow that a stream makes up for later, in steps; what is blocked for longer is not emitted.
const MAX_ARREARS: f64 = 4.0;

/// What sources keep from step to step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sources {
    /// Accumulated volumes of needles outside liquid: tip in m, and volume in cells.
    accumulated: Vec<([f64; 3], f64)>,
    streams: Vec<StreamState>,
    waiting: WaitingSpheres,
}

/// What is known of a stream from its last step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StreamState {
    /// The mouth, in m.
    mouth: [f64; 3],
    /// The drop that it fed.
    drop: DropId,
    /// Flow that has not been added yet, in cells.
    arrears: f64,
}

/// A needle during one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeedleFlow {
    /// Its tip, in m.
    pub at: DVec3,
    /// Volume that it adds, negative if it drains, in cells.
    pub volume: f64,
    /// Radius around the tip in which it feeds, in cells.
    pub radius: f64,
}

/// What emitters release in one step.
#[derive(Debug, Default)]
pub struct Released {
    /// Volume that was inserted, in cells.
    pub inserted: f64,
    /// Divergence sources of the step.
    pub flows: Vec<NeedleFlow>,
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
    /// Inserts the spheres and streams of a step, and lists its needles.
    pub fn emit(
        &mut self,
        emissions: &[Emission],
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
        spray: &mut Spray,
    ) -> Released {
        let mut released = Released { inserted: self.release_waiting(setup, world, fluid), flows: Vec::new() };
        for emission in emissions {
            match *emission {
                Emission::Ball { center, radius, velocity, .. } => {
                    let volume = sphere_volume(radius);
                    let min_volume = fluid.params.numerics.min_grid_cells * setup.cell_volume();
                    if !setup.planar && volume < min_volume {
                        spray.launch(fluid.state.drops.new_id(), center, velocity, volume);
                        released.inserted += volume / setup.cell_volume();
                    } else {
                        released.inserted +=
                            self.insert_or_wait(Sphere { center, radius, velocity }, setup, world, fluid);
                    }
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let area = if setup.planar { 2.0 * radius } else { PI * radius * radius };
                    let volume = area * speed * (to - from) / setup.cell_volume();
                    let segment = StreamSegment { mouth: at, direction, radius, speed, volume };
                    self.insert_stream(&segment, setup, world, fluid, &mut released);
                }
                Emission::Feed { at, volume, .. } => {
                    self.feed(at, volume / setup.cell_volume(), setup, world, fluid, &mut released);
                }
                Emission::Condense { .. } => {}
            }
        }
        released
    }

    /// Messages for the user since the last call.
    pub fn notices(&mut self) -> Vec<String> {
        self.waiting.take_notices()
    }

    /// A needle: a divergence source in liquid; elsewhere its volume accumulates to a sphere.
    fn feed(
        &mut self,
        at: DVec3,
        volume: f64,
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
        released: &mut Released,
    ) {
        let mut flow = NeedleFlow { at, volume, radius: NEEDLE_RADIUS };
        if volume <= 0.0 {
            released.flows.push(flow);
            return;
        }
        let accumulated = self.accumulated_at(at);
        if has_liquid_at(&fluid.state, at) {
            // What did not fit into the air follows gradually.
            let extra = accumulated.min(MAX_RELEASE);
            *accumulated -= extra;
            flow.volume += extra;
            released.flows.push(flow);
            return;
        }
        *accumulated += volume;
        if *accumulated >= setup.ball_volume(MIN_SPHERE_RADIUS) {
            let sphere = Sphere { center: at, radius: MIN_SPHERE_RADIUS * setup.h, velocity: DVec3::ZERO };
            let room = room_for(&sphere, setup, world, fluid);
            if room == Room::None {
                self.waiting.report_blocked(&sphere);
            } else {
                let inserted = insert_sphere(&sphere, room == Room::Air, setup, world, fluid);
                *self.accumulated_at(at) -= inserted;
                released.inserted += inserted;
            }
        }
    }

    /// The accumulator of the needle with this tip, in cells.
    fn accumulated_at(&mut self, at: DVec3) -> &mut f64 {
        let known = self.accumulated.iter().position(|(tip, _)| *tip == at.to_array());
        let place = known.unwrap_or_else(|| {
            self.accumulated.push((at.to_array(), 0.0));
            self.accumulated.len() - 1
        });
        &mut self.accumulated[place].1
    }

    fn insert_stream(
        &mut self,
        stream: &StreamSegment,
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
        released: &mut Released,
    ) {
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
        let known = self.streams.iter().find(|known| known.mouth == mouth.to_array()).copied();
        let existing = drop_at(&fluid.state, mouth).or(known.map(|known| known.drop));
        let id = existing.filter(|id| fluid.state.drops.target_mut(*id).is_some()).unwrap_or_else(|| {
            let id = fluid.state.drops.new_id();
            fluid.state.drops.targets.push(TargetVolume { id, volume: 0.0 });
            id
        });
        let inserted = insert_body(&body, id, true, setup, world, fluid);
        if let Some(target) = fluid.state.drops.target_mut(id) {
            target.volume += inserted;
        }
        released.inserted += inserted;
        // The first segment fills the cylinder around the mouth, which is no flow.
        let arrears = known.map_or(0.0, |known| known.arrears + volume - inserted);
        let arrears = arrears.clamp(-MAX_ARREARS * volume, MAX_ARREARS * volume);
        let at = if planar { mouth.with_z(0.0) } else { mouth };
        let radius = (radius / setup.h).max(NEEDLE_RADIUS);
        let fed = arrears.clamp(0.0, MAX_SOURCE * setup.ball_volume(radius * setup.h) / setup.cell_volume());
        if fed > 0.0 && has_liquid_at(&fluid.state, mouth) {
            released.flows.push(NeedleFlow { at, volume: fed, radius });
        }
        self.streams.retain(|known| known.mouth != mouth.to_array());
        self.streams.push(StreamState { mouth: mouth.to_array(), drop: id, arrears: arrears - fed });
    }
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
        let Some(nearest) = nearest.filter(|&unknown| distance(cells[unknown]) < needle.radius) else { continue };
        let component = drops.component_of[nearest];
        let is_fed =
            |unknown: usize| drops.component_of[unknown] == component && distance(cells[unknown]) < needle.radius;
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
pub fn drop_at(state: &State, at: DVec3) -> Option<DropId> {
    let index = state.grid.tiles.find(state.grid.cell_at(at))?;
    state.drops.labels.values()[index].id()
}

/// Inserts a sphere (in planar runs a disc) as a new drop; returns its volume, in cells: the exact
/// one if the sphere lies `in_air`, otherwise what it adds.
fn insert_sphere(sphere: &Sphere, in_air: bool, setup: &Setup, world: &World, fluid: &mut Fluid) -> f64 {
    let Sphere { center, radius, velocity } = *sphere;
    let planar = setup.planar;
    let distance = move |point: DVec3| {
        let offset = if planar { (point - center).with_z(0.0) } else { point - center };
        offset.length() - radius
    };
    let body = LiquidBody { bounds: [center - radius, center + radius], distance, velocity };
    let id = fluid.state.drops.new_id();
    let added = insert_body(&body, id, false, setup, world, fluid);
    let volume = if in_air { setup.ball_volume(radius) / setup.cell_volume() } else { added };
    fluid.state.drops.targets.push(TargetVolume { id, volume });
    volume
}

/// Unites a spray drop with the liquid on the grid, under the id `id`.
pub fn insert_spray_drop(drop: &SprayDrop, id: DropId, setup: &Setup, world: &World, fluid: &mut Fluid) {
    let (center, radius) = drop.sphere();
    let distance = move |point: DVec3| (point - center).length() - radius;
    let body = LiquidBody { bounds: [center - radius, center + radius], distance, velocity: drop.velocity };
    let _ = insert_body(&body, id, false, setup, world, fluid);
}

/// Unites a body with the liquid on the grid; returns the volume that this adds, in cells. Labeling
/// then finds the drops that it has merged with.
///
/// `push` gives liquid that the body covers the body's velocity, too.
fn insert_body(
    body: &LiquidBody<impl Fn(DVec3) -> f64>,
    id: DropId,
    push: bool,
    setup: &Setup,
    world: &World,
    fluid: &mut Fluid,
) -> f64 {
    let mut wanted = Vec::new();
    setup.tiles_of(body.bounds, &body.distance, &mut wanted);
    fluid.adapt(world, &wanted);
    let mut slots: Vec<usize> = wanted.into_iter().filter_map(|tile| fluid.state.grid.tiles.slot(tile)).collect();
    slots.sort_unstable();
    slots.dedup();
    let before = volume_in_tiles(&fluid.state, &slots);
    let distance_at = setup.repeated(&body.distance);
    let State { grid, solids, phi, velocity, drops, .. } = &mut fluid.state;
    for &slot in &slots {
        for local in 0..grid.tiles.cells_in_use() {
            let index = CellIndex::new(slot, local);
            let distance = distance_at(grid.position(slot, local_center(local))) / setup.h;
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
    volume_in_tiles(&fluid.state, &slots) - before
}

/// Volume of the liquid in some tiles, in cells.
fn volume_in_tiles(state: &State, slots: &[usize]) -> f64 {
    let State { grid, solids, phi, .. } = state;
    let in_tile = |slot: usize| {
        let locals = 0..grid.tiles.cells_in_use();
        locals.map(|local| liquid_fraction(&grid.tiles, solids, phi, CellIndex::new(slot, local))).sum::<f64>()
    };
    slots.iter().map(|&slot| in_tile(slot)).sum()
}
