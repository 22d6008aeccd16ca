//! Liquid that comes from outside: balls, streams and needles.
//!
//! A *ball* is united with what is there, φ ← min(φ, |x − c| − r), and brings its velocity. A *stream* is united step by step as a short piece of cylinder behind its
//! mouth that has the stream's velocity. Both open an account of their exact volume. A *needle* adds to (or takes from) the cells around its tip as a
//! source of divergence; a needle that is in no liquid saves up until a ball of `LEAST_BALL` cells' radius can be made.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_world::{Emission, World};

use crate::drops::Account;
use crate::drops::OF_SPECKS;
use crate::fluid::Fluid;
use crate::grid::local_center;
use crate::redistance::BEYOND;
use crate::setup::Setup;
use crate::spray::{Ball, RETURN_CELLS, Spray};
use crate::tiles::CELLS;

/// Radius of the ball that a dry needle lets go, in cells.
const LEAST_BALL: f64 = 3.0;
/// Radius round a needle's tip in which it feeds, in cells.
pub const NEEDLE: f64 = 1.8;

/// What sources remember.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sources {
    /// What dry needles have saved up: tip in m and volume in cells.
    saved: Vec<([f64; 3], f64)>,
    /// The drop that each stream fed last: mouth in m and id.
    streams: Vec<([f64; 3], u32)>,
}

/// A needle during one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feed {
    /// Its tip, in m.
    pub at: DVec3,
    /// What it adds, in cells.
    pub volume: f64,
}

/// A body of liquid to be united with what is there; the lengths are in m.
struct Body<D> {
    bounds: [DVec3; 2],
    distance: D,
    velocity: DVec3,
}

impl Sources {
    /// Puts the balls and streams of a step into the cells, balls that are too small for them into the spray; returns the volume in cells.
    pub fn pour(
        &mut self,
        supply: &[Emission],
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
        spray: &mut Spray,
    ) -> f64 {
        let mut poured = 0.0;
        for source in supply {
            match *source {
                Emission::Ball { center, radius, velocity, .. }
                    if !setup.planar && 4.0 / 3.0 * PI * radius.powi(3) < RETURN_CELLS * setup.cell_volume() =>
                {
                    let volume = 4.0 / 3.0 * PI * radius.powi(3);
                    spray.launch(fluid.drops.new_id(), center, velocity, volume);
                    poured += volume / setup.cell_volume();
                }
                Emission::Ball { center, radius, velocity, .. } => {
                    poured += pour_ball(center, radius, velocity, setup, world, fluid);
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let area = if setup.planar { 2.0 * radius } else { PI * radius * radius };
                    let volume = area * speed * (to - from) / setup.cell_volume();
                    self.pour_stream(at, direction, radius, speed, volume, setup, world, fluid);
                    poured += volume;
                }
                Emission::Feed { at, volume, .. } if !wet_at(fluid, at) && volume > 0.0 => {
                    let saved = self.save(at, volume / setup.cell_volume());
                    let full = if setup.planar { PI * LEAST_BALL.powi(2) } else { 4.0 / 3.0 * PI * LEAST_BALL.powi(3) };
                    if saved >= full {
                        self.saved.retain(|(tip, _)| *tip != at.to_array());
                        poured += pour_ball(at, LEAST_BALL * setup.h, DVec3::ZERO, setup, world, fluid);
                    }
                }
                Emission::Feed { .. } | Emission::Condense { .. } => {}
            }
        }
        poured
    }

    fn save(&mut self, at: DVec3, volume: f64) -> f64 {
        match self.saved.iter_mut().find(|(tip, _)| *tip == at.to_array()) {
            Some((_, saved)) => {
                *saved += volume;
                *saved
            }
            None => {
                self.saved.push((at.to_array(), volume));
                volume
            }
        }
    }

    /// The needles of a step; those that are in no liquid find none in the step either.
    pub fn feeds(&self, supply: &[Emission], setup: &Setup) -> Vec<Feed> {
        let feed = |source: &Emission| match *source {
            Emission::Feed { at, volume, .. } => Some(Feed { at, volume: volume / setup.cell_volume() }),
            _ => None,
        };
        supply.iter().filter_map(feed).collect()
    }

    #[expect(clippy::too_many_arguments, reason = "a stream's numbers, and where it goes")]
    fn pour_stream(
        &mut self,
        at: DVec3,
        direction: DVec3,
        radius: f64,
        speed: f64,
        volume: f64,
        setup: &Setup,
        world: &World,
        fluid: &mut Fluid,
    ) {
        // Two cells long, so that it holds on to what has left the mouth.
        let length = 2.0 * setup.h;
        let planar = setup.planar;
        let distance = move |point: DVec3| {
            let offset = if planar { (point - at).with_z(0.0) } else { point - at };
            let along = offset.dot(direction);
            let across = (offset - direction * along).length() - radius;
            let beyond = along.abs() - length;
            across.max(beyond)
        };
        let reach = DVec3::splat(radius + length);
        let body = Body { bounds: [at - reach, at + reach], distance, velocity: direction * speed };
        let known = self.streams.iter().find(|(mouth, _)| *mouth == at.to_array()).map(|(_, id)| *id);
        let existing = name_at(fluid, at).or(known).filter(|id| fluid.drops.account_mut(*id).is_some());
        let id = existing.unwrap_or_else(|| {
            let id = fluid.drops.new_id();
            fluid.drops.accounts.push(Account { id, volume: 0.0 });
            id
        });
        self.streams.retain(|(mouth, _)| *mouth != at.to_array());
        self.streams.push((at.to_array(), id));
        unite(&body, id, true, setup, world, fluid);
        if let Some(account) = fluid.drops.account_mut(id) {
            account.volume += volume;
        }
    }
}

/// Whether there is liquid at a point.
fn wet_at(fluid: &Fluid, at: DVec3) -> bool {
    fluid.grid.tiles.find(fluid.grid.cell_at(at)).is_some_and(|index| fluid.phi.values()[index] < 0.0)
}

/// The drop at a point.
fn name_at(fluid: &Fluid, at: DVec3) -> Option<u32> {
    let index = fluid.grid.tiles.find(fluid.grid.cell_at(at))?;
    Some(fluid.drops.names.values()[index]).filter(|&name| name != 0 && name != OF_SPECKS)
}

fn pour_ball(center: DVec3, radius: f64, velocity: DVec3, setup: &Setup, world: &World, fluid: &mut Fluid) -> f64 {
    let planar = setup.planar;
    let amount = if planar { PI * radius * radius } else { 4.0 / 3.0 * PI * radius.powi(3) };
    let volume = amount / setup.cell_volume();
    let distance = move |point: DVec3| {
        let offset = if planar { (point - center).with_z(0.0) } else { point - center };
        offset.length() - radius
    };
    let body = Body { bounds: [center - radius, center + radius], distance, velocity };
    let id = fluid.drops.new_id();
    unite(&body, id, false, setup, world, fluid);
    fluid.drops.accounts.push(Account { id, volume });
    volume
}

/// Unites a ball of the spray with the liquid that is there, under the name `id`.
pub fn unite_ball(ball: &Ball, id: u32, setup: &Setup, world: &World, fluid: &mut Fluid) {
    let (center, radius) = (ball.at, ball.radius());
    let distance = move |point: DVec3| (point - center).length() - radius;
    let body = Body { bounds: [center - radius, center + radius], distance, velocity: ball.velocity };
    unite(&body, id, false, setup, world, fluid);
}

/// Unites a body with the liquid that is there; where it overlaps drops it will be found to have merged with them.
fn unite(body: &Body<impl Fn(DVec3) -> f64>, id: u32, push: bool, setup: &Setup, world: &World, fluid: &mut Fluid) {
    let mut wanted = Vec::new();
    setup.tiles_of(fluid, body.bounds, &body.distance, &mut wanted);
    fluid.adapt(world, &wanted);
    for tile in wanted {
        let Some(slot) = fluid.grid.tiles.slot(tile) else { continue };
        for local in 0..fluid.grid.tiles.cells_in_use() {
            let index = slot * CELLS + local;
            let distance = (body.distance)(fluid.grid.position(slot, local_center(local))) / setup.h;
            if distance > BEYOND || fluid.solids.distance.values()[index] < -1.0 {
                continue;
            }
            let before = fluid.phi.values()[index];
            if distance < 2.0 && (push || distance < before) {
                for axis in 0..fluid.grid.tiles.dims() {
                    fluid.velocity[axis].values_mut()[index] = body.velocity[axis];
                }
            }
            if distance < before {
                fluid.phi.values_mut()[index] = distance.max(-BEYOND);
                if distance < 0.0 && before >= 0.0 {
                    fluid.drops.names.values_mut()[index] = id;
                }
            }
        }
    }
}
