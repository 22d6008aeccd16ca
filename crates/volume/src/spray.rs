//! Spray: drops too small for the grid, as balls in free flight that rejoin liquid when they touch it.
//!
//! A drop of [`MOST_CELLS`] cells or fewer has no curvature worth the name on the grid; the paper gives such drops no surface tension (wang2005, §8), and they smear. Here one
//! leaves the grid instead, as a ball with its volume, center and mean velocity:
//!
//! ```text
//! x ← x + v Δt + g Δt²/2,    v ← v + g Δt
//! ```
//!
//! - Two balls that touch become one: volumes and momenta add, the larger keeps its id.
//! - A ball that touches a solid rests on it, moves with it, and waits for liquid to come by (or for another ball to touch it).
//! - A ball that touches liquid *lands*, and one that has grown beyond [`RETURN_CELLS`] cells *returns*: [`Spray::advance`] hands it out, to be united with φ.
//!
//! **Volume is exact.** A ball's volume is a number, not a shape: it is taken from the drop's account at launch, added in collisions, and goes to an account on
//! landing. The shape that is united with φ need only be near it; the model's volume control closes the rest.
//!
//! **Use.** For each airborne piece of few enough cells: [`Spray::launch`] and [`erase`]; then redistance φ. In each step: [`Spray::advance`] and, for what it hands out,
//! put it into φ with the accounts set right ([`airborne`](crate::airborne)). In a frame: [`Spray::add_to`].
//!
//! # Limits
//!
//! Space only: a planar run's drops are discs, which have no place here. No drag of the air, as for the liquid on the grid; balls neither bounce nor roll, and are drawn as spheres even where they rest. Nothing here is random, and balls are kept by
//! rising id, so results do not depend on threads.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids, Surface};

use crate::tiles::Field;

/// Drops of more cells than this stay on the grid (wang2005, §8).
pub const MOST_CELLS: usize = 27;
/// A ball of more cells than this goes back to the grid: half as large again, so that none goes to and fro.
pub const RETURN_CELLS: f64 = 40.0;
/// A step is cut so that no ball flies farther than its radius without looking, but not more often than this.
const MOST_LOOKS: f64 = 64.0;

/// A drop in flight, or at rest on a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Its name.
    pub id: u32,
    /// Its center, in m.
    pub at: DVec3,
    /// In m/s.
    pub velocity: DVec3,
    /// In m³.
    pub volume: f64,
    /// Whether it rests on a solid.
    pub resting: bool,
}

impl Ball {
    /// Its radius, in m.
    pub fn radius(&self) -> f64 {
        (3.0 * self.volume / (4.0 * PI)).cbrt()
    }
}

/// What balls meet.
pub trait Surroundings {
    /// Signed distance to the liquid on the grid, in m; positive outside it, any large number far away.
    fn liquid(&self, point: DVec3) -> f64;
    /// Signed distance to the nearest solid, in m, its normal, and its velocity at the nearest point, in m/s; `None` far away.
    fn solid(&self, point: DVec3) -> Option<(f64, DVec3, DVec3)>;
    /// Whether a point is still in the scene.
    fn inside(&self, point: DVec3) -> bool;
}

/// Why a ball is no longer in the spray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It touches liquid.
    Landed,
    /// It is large enough for the grid.
    Returned,
    /// It left the scene.
    Lost,
}

/// All balls, by rising id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spray {
    balls: Vec<Ball>,
    #[serde(skip)]
    boxes: Vec<([i64; 3], u32)>,
}

impl Spray {
    /// The balls, by rising id.
    pub fn balls(&self) -> &[Ball] {
        &self.balls
    }

    /// Adds a ball; volumes that are not positive numbers make none.
    pub fn launch(&mut self, id: u32, at: DVec3, velocity: DVec3, volume: f64) {
        if volume.is_finite() && volume > 0.0 && at.is_finite() && velocity.is_finite() {
            let place = self.balls.partition_point(|ball| ball.id < id);
            self.balls.insert(place, Ball { id, at, velocity, volume, resting: false });
        }
    }

    /// Moves all balls by `dt`; those that leave the spray go to `gone`, by rising id. `h` is the side of a cell, in m.
    pub fn advance(
        &mut self,
        dt: f64,
        h: f64,
        gravity: DVec3,
        around: &impl Surroundings,
        gone: &mut Vec<(Ball, Fate)>,
        events: &mut Vec<Event>,
    ) {
        for ball in &mut self.balls {
            fly(ball, dt, gravity, around);
        }
        self.collide(events);
        self.balls.retain(|ball| {
            let fate = if !around.inside(ball.at) {
                Some(Fate::Lost)
            } else if around.liquid(ball.at) < ball.radius() {
                Some(Fate::Landed)
            } else {
                (ball.volume > RETURN_CELLS * h.powi(3)).then_some(Fate::Returned)
            };
            gone.extend(fate.map(|fate| (*ball, fate)));
            fate.is_none()
        });
    }

    /// Joins balls that touch, until none do.
    fn collide(&mut self, events: &mut Vec<Event>) {
        while self.collide_once(events) {}
    }

    /// Sorts balls into boxes as wide as the largest and looks into each one's neighborhood; every ball joins the first by id that it touches.
    fn collide_once(&mut self, events: &mut Vec<Event>) -> bool {
        let Self { balls, boxes } = self;
        let width = 2.0 * balls.iter().map(Ball::radius).fold(0.0, f64::max);
        let box_of = |ball: &Ball| (ball.at / width).floor().to_array().map(|c| c as i64);
        boxes.clear();
        boxes.extend(balls.iter().enumerate().map(|(k, ball)| (box_of(ball), k as u32)));
        boxes.sort_unstable();
        let mut any = false;
        for first in 0..balls.len() {
            if balls[first].volume == 0.0 {
                continue;
            }
            let [x, y, z] = box_of(&balls[first]);
            let mut touching: Option<usize> = None;
            for place in 0..27 {
                let there = [x + place % 3 - 1, y + place / 3 % 3 - 1, z + place / 9 - 1];
                let from = boxes.partition_point(|(known, _)| *known < there);
                for &(_, other) in boxes[from..].iter().take_while(|(known, _)| *known == there) {
                    let other = other as usize;
                    let (a, b) = (&balls[first], &balls[other]);
                    let meets = b.volume > 0.0 && a.at.distance(b.at) < a.radius() + b.radius();
                    if other > first && meets && touching.is_none_or(|known| other < known) {
                        touching = Some(other);
                    }
                }
            }
            if let Some(other) = touching {
                let larger_first = balls[first].volume >= balls[other].volume;
                let (kept, absorbed) = if larger_first { (first, other) } else { (other, first) };
                let (a, b) = (balls[kept], balls[absorbed]);
                events.push(Event::Merge { merge: Ids::from_slice(&[a.id.min(b.id), a.id.max(b.id)]), into: a.id });
                balls[kept] = joined(&a, &b);
                balls[absorbed].volume = 0.0;
                any = true;
            }
        }
        balls.retain(|ball| ball.volume > 0.0);
        any
    }

    /// Adds the balls to a frame's surface: spheres of triangles that enclose exactly their volumes.
    pub fn add_to(&self, surface: &mut Surface) {
        let (corners, triangles) = unit_sphere();
        for ball in &self.balls {
            // The triangles' sphere encloses less than the ball of its corners.
            let scale = (ball.volume / enclosed(&corners, &triangles)).cbrt();
            let base = surface.positions.len() as u32;
            for corner in &corners {
                surface.positions.push(ball.at + scale * *corner);
                surface.velocities.push(ball.velocity);
                surface.drops.push(ball.id);
            }
            surface.triangles.extend(triangles.iter().map(|triangle| triangle.map(|v| v + base)));
            surface.solids.extend(triangles.iter().map(|_| -1));
        }
    }
}

/// One ball's volume, momentum and center of mass from two; at rest if one of them is.
fn joined(a: &Ball, b: &Ball) -> Ball {
    let volume = a.volume + b.volume;
    let share = b.volume / volume;
    let velocity = a.velocity + (b.velocity - a.velocity) * share;
    Ball { at: a.at + (b.at - a.at) * share, velocity, volume, resting: a.resting || b.resting, ..*a }
}

fn fly(ball: &mut Ball, dt: f64, gravity: DVec3, around: &impl Surroundings) {
    let radius = ball.radius();
    let reach = (ball.velocity.length() + 0.5 * gravity.length() * dt) * dt;
    let looks = (reach / radius).ceil().clamp(1.0, MOST_LOOKS);
    let step = dt / looks;
    for _ in 0..looks as u32 {
        let wall = around.solid(ball.at);
        if let Some((distance, normal, velocity)) = wall.filter(|wall| ball.resting || wall.0 < radius) {
            ball.resting = true;
            ball.velocity = velocity;
            ball.at += (radius - distance) * normal + velocity * step;
        } else {
            // A solid that has gone leaves the ball in the air.
            ball.resting = false;
            ball.at += ball.velocity * step + 0.5 * step * step * gravity;
            ball.velocity += step * gravity;
        }
        if !around.inside(ball.at) || around.liquid(ball.at) < radius {
            break;
        }
    }
    if let Some((distance, normal, _)) = around.solid(ball.at).filter(|wall| wall.0 < radius) {
        ball.resting = true;
        ball.at += (radius - distance) * normal;
    }
}

/// Takes a piece of liquid out of φ: its cells keep their distance from the surface that was, on the air's side. φ must be redistanced after it.
pub fn erase(phi: &mut Field<f64>, cells: impl IntoIterator<Item = usize>) {
    for cell in cells {
        let value = &mut phi.values_mut()[cell];
        *value = value.abs();
    }
}

/// An octahedron with its triangles cut in four, twice: 66 corners, 128 triangles.
fn unit_sphere() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut corners = vec![DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..2 {
        let mut middles: Vec<([u32; 2], u32)> = Vec::new();
        let mut middle = |a: u32, b: u32| {
            let edge = [a.min(b), a.max(b)];
            if let Some(&(_, known)) = middles.iter().find(|(known, _)| *known == edge) {
                return known;
            }
            corners.push((corners[a as usize] + corners[b as usize]).normalize());
            middles.push((edge, corners.len() as u32 - 1));
            corners.len() as u32 - 1
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    (corners, triangles)
}

fn enclosed(corners: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| corners[v as usize];
    triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c)))).sum::<f64>() / 6.0
}

#[cfg(test)]
mod tests;
