//! Rain that is switched on by hand, over any solid of any scene.
//!
//! Drops fall on random places of the solid's mesh, from outside, with the velocity of rain in a
//! wind. Random numbers are keyed by the clock of the session, so that a replay rains the same.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_model::{InteractionError, Model};
use sessile_numerics::math;
use sessile_world::random::Stream;
use sessile_world::{Solid, World};

/// Key of the random streams.
const RAIN: u64 = 0x7a1e;
/// Radii of drops, in m.
const RADII: [f64; 2] = [0.15e-3, 1.4e-3];
/// Speed towards the solid and downward, in m/s.
const SPEED: f64 = 3.0;
/// Time of flight to the solid, in s.
const FLIGHT: f64 = 0.03;
/// Most drops in one step.
const MOST: usize = 64;

/// Rain over a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rain {
    /// Water per area and time, in m/s.
    pub rate: f64,
    /// Index of the solid.
    pub solid: usize,
    /// Volume that is due and has not fallen yet, in m³; negative after a large drop.
    pub due: f64,
}

/// A drop of rain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RainDrop {
    at: DVec3,
    velocity: DVec3,
    volume: f64,
}

impl Rain {
    /// Adds the drops of a time step of `dt` seconds (number `clock` of the session) to a model. A
    /// drop without room is left out; the error is that of a model without rain.
    pub fn step(&mut self, model: &mut dyn Model, seed: u64, clock: u64, dt: f64) -> Result<(), InteractionError> {
        for drop in self.fall(model.world(), seed, clock, dt) {
            let added = model.add(drop.at, drop.velocity, drop.volume);
            if let Err(error @ InteractionError::Unsupported { .. }) = added {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The drops of a time step of `dt` seconds.
    fn fall(&mut self, world: &World, seed: u64, clock: u64, dt: f64) -> Vec<RainDrop> {
        let Some(solid) = world.solids().get(self.solid) else { return Vec::new() };
        self.due += self.rate * solid.area() * dt;
        let mut random = Stream::new(seed, &[RAIN, clock]);
        let mut drops = Vec::new();
        while self.due > 0.0 && drops.len() < MOST {
            let drop = random_drop(solid, world.gravity(), &mut random);
            self.due -= drop.volume;
            drops.push(drop);
        }
        drops
    }
}

fn random_drop(solid: &Solid, gravity: DVec3, random: &mut Stream) -> RainDrop {
    let mesh = solid.mesh();
    let last = mesh.triangles.len() - 1;
    let [a, b, c] = mesh.corners(((random.uniform() * mesh.triangles.len() as f64) as usize).min(last));
    let (mut u, mut v) = (random.uniform(), random.uniform());
    if u + v > 1.0 {
        (u, v) = (1.0 - u, 1.0 - v);
    }
    let pose = solid.world_from_rest();
    let place = pose.apply(a + (b - a) * u + (c - a) * v);
    let normal = pose.turn((b - a).cross(c - a)).normalize_or(DVec3::Y);
    let velocity = (gravity.normalize_or_zero() - normal) * SPEED;
    // Most drops are small; most water is in large ones.
    let radius = RADII[0] * math::powf(RADII[1] / RADII[0], random.uniform().powi(2));
    let fall = gravity * (0.5 * FLIGHT * FLIGHT);
    let at = place + normal * radius - velocity * FLIGHT + fall;
    let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    RainDrop { at, velocity: velocity - gravity * FLIGHT, volume }
}
