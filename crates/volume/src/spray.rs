//! Spray: drops too small for the grid, as spheres in free flight and caps on solids, that rejoin
//! liquid when they touch it.
//!
//! A drop of few cells has no meaningful curvature on the grid; the paper gives such drops no
//! surface tension (wang2005, §8), and they smear. Here they leave the grid instead, as spheres
//! with their volume, center and mean velocity:
//!
//! ```text
//! x ← x + v Δt + g Δt²/2,    v ← v + g Δt
//! ```
//!
//! - Two that touch coalesce: volumes and momenta add, the larger one keeps its id.
//! - One that touches a solid becomes a cap on it ([`cap`]), which is held or slides, and moves
//!   with the solid.
//! - One that solids leave no room for is squeezed out of the gap between them: it moves along the
//!   nearest wall, straight to the nearest place with room, the rim of closing plates. (Pushed out
//!   of one solid into the next, it would pass through both.) Where there is no such place it
//!   leaves the spray.
//! - One that touches liquid, or has grown large enough for the grid, is handed out by
//!   [`Spray::advance`] and united with φ.
//!
//! **Volume is exact.** The volume of a spray drop is a number: it is taken from the drop's target
//! volume at launch, added in collisions, and returned to a target volume on contact. The shape
//! that is united with φ need only be close to it; the volume relaxation does the rest.
//!
//! **Use.** For each component of few enough cells: [`Spray::launch`] and [`erase`]; then
//! redistance φ. In each step: [`Spray::advance`], and unite what it hands out
//! ([`spray_transfer`](crate::spray_transfer)). In a frame: [`Spray::add_to`].
//!
//! # Limits
//!
//! Not for planar runs, whose drops are discs. No drag of the air, as for the liquid on the grid;
//! spray drops do not bounce, and caps leave no trail in the wetting history. They are sorted by id
//! and nothing is random, so results do not depend on threads.

mod cap;

use std::f64::consts::TAU;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::{DropId, Event, Surface};
use sessile_numerics::{math, sphere_radius};
use sessile_wetting::{Liquid, Wetting};

use self::cap::{Cap, land, slide};
use crate::drops::merge_event;
use crate::tiles::{CellIndex, Field};

/// Largest number of substeps; a substep is at most a drop's radius long.
const MAX_SUBSTEPS: f64 = 64.0;
/// Directions along the wall in which a squeezed drop looks for room, and farthest place, in radii.
const RIM_DIRECTIONS: usize = 16;
const MAX_RIM_DISTANCE: usize = 400;
/// Depth in a solid, in radii, at which a way along the wall has left the gap.
const MAX_RIM_DEPTH: f64 = 2.0;

/// A drop in flight, or on a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprayDrop {
    /// Its id.
    pub id: DropId,
    /// Its center, in m; on a solid, the middle of its base.
    pub at: DVec3,
    /// In m/s.
    pub velocity: DVec3,
    /// In m³.
    pub volume: f64,
    /// How it sits on a solid, if it does.
    pub cap: Option<Cap>,
}

impl SprayDrop {
    /// Radius of the sphere of its volume, in m.
    pub fn radius(&self) -> f64 {
        sphere_radius(self.volume)
    }

    /// Center and radius of its surface's sphere, in m.
    pub fn sphere(&self) -> (DVec3, f64) {
        self.cap.map_or((self.at, self.radius()), |cap| cap.sphere(self.at))
    }

    /// Its middle, and the distance within which it touches others, in m.
    fn extent(&self) -> (DVec3, f64) {
        self.cap.map_or((self.at, self.radius()), |cap| cap.extent(self.at))
    }
}

/// What acts on spray drops.
#[derive(Clone, Copy, Debug)]
pub struct Forces<'a> {
    /// Gravity, in m/s².
    pub gravity: DVec3,
    /// The liquid.
    pub liquid: &'a Liquid,
}

/// The solid nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestSolid {
    /// Signed distance, in m.
    pub distance: f64,
    /// Its normal at the nearest point.
    pub normal: DVec3,
    /// Its velocity there, in m/s.
    pub velocity: DVec3,
    /// Its wetting there.
    pub wetting: Wetting,
    /// Its index; −1 for a side of the domain.
    pub solid: i32,
}

/// What spray drops meet.
pub trait Environment {
    /// Signed distance to the liquid on the grid, in m; positive outside, any large number far
    /// away.
    fn liquid(&self, point: DVec3) -> f64;
    /// The nearest solid; `None` far away.
    fn solid(&self, point: DVec3) -> Option<NearestSolid>;
    /// Whether a point is inside the domain.
    fn inside(&self, point: DVec3) -> bool;
}

/// Why a drop leaves the spray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It touches liquid.
    TouchedLiquid,
    /// It is large enough for the grid.
    Grown,
    /// It left the domain.
    LeftDomain,
    /// It has no room between solids, and there is none along their walls.
    Squeezed,
}

/// All spray drops, by ascending id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spray {
    drops: Vec<SprayDrop>,
    #[serde(skip)]
    boxes: Vec<([i64; 3], u32)>,
}

impl Spray {
    /// The drops, by ascending id.
    pub fn drops(&self) -> &[SprayDrop] {
        &self.drops
    }

    /// Takes a share (all of it from 0.98 on) of the drops whose centers are inside away; returns
    /// their volume, in m³.
    pub fn take(&mut self, is_inside: impl Fn(DVec3) -> bool, share: f64) -> f64 {
        let mut taken = 0.0;
        self.drops.retain_mut(|drop| {
            if !is_inside(drop.at) {
                return true;
            }
            let part = if share >= 0.98 { drop.volume } else { share * drop.volume };
            taken += part;
            drop.volume -= part;
            drop.volume > 0.0
        });
        taken
    }

    /// Adds a drop, unless its volume is not a positive number.
    pub fn launch(&mut self, id: DropId, at: DVec3, velocity: DVec3, volume: f64) {
        if volume.is_finite() && volume > 0.0 && at.is_finite() && velocity.is_finite() {
            let place = self.drops.partition_point(|drop| drop.id < id);
            self.drops.insert(place, SprayDrop { id, at, velocity, volume, cap: None });
        }
    }

    /// Moves all drops by `dt`; those that leave the spray go to `gone`, by ascending id.
    ///
    /// Drops above `min_grid_volume` (in m³) return to the grid.
    pub fn advance(
        &mut self,
        dt: f64,
        min_grid_volume: f64,
        forces: &Forces<'_>,
        environment: &impl Environment,
        gone: &mut Vec<(SprayDrop, Exit)>,
        events: &mut Vec<Event>,
    ) {
        self.make_room(dt, forces, environment, gone);
        self.coalesce(events);
        self.drops.retain(|drop| {
            let (middle, reach) = drop.extent();
            let fate = if !environment.inside(middle) {
                Some(Exit::LeftDomain)
            } else if environment.liquid(middle) < reach {
                Some(Exit::TouchedLiquid)
            } else {
                (drop.volume > min_grid_volume).then_some(Exit::Grown)
            };
            gone.extend(fate.map(|fate| (*drop, fate)));
            fate.is_none()
        });
    }

    /// Moves all drops by `dt`, and out of gaps that have no room for them; those for which there
    /// is none anywhere go to `gone`.
    pub fn make_room(
        &mut self,
        dt: f64,
        forces: &Forces<'_>,
        environment: &impl Environment,
        gone: &mut Vec<(SprayDrop, Exit)>,
    ) {
        self.drops.retain_mut(|drop| {
            let stays = fly(drop, dt, forces, environment) || leave_gap(drop, environment);
            gone.extend((!stays).then_some((*drop, Exit::Squeezed)));
            stays
        });
    }

    /// Sets each drop in flight that touches a solid down on it.
    pub fn land(&mut self, environment: &impl Environment) {
        for drop in self.drops.iter_mut().filter(|drop| drop.cap.is_none()) {
            if let Some(wall) = environment.solid(drop.at).filter(|wall| wall.distance < drop.radius()) {
                land(drop, &wall);
            }
        }
    }

    /// Coalesces drops that touch, until none do.
    fn coalesce(&mut self, events: &mut Vec<Event>) {
        while self.coalesce_once(events) {}
    }

    /// Sorts drops into boxes as wide as the largest and searches each neighborhood; every drop
    /// coalesces with the first by id that it touches.
    fn coalesce_once(&mut self, events: &mut Vec<Event>) -> bool {
        let Self { drops, boxes } = self;
        let width = 2.0 * drops.iter().map(|drop| drop.extent().1).fold(0.0, f64::max);
        let box_of = |drop: &SprayDrop| (drop.extent().0 / width).floor().to_array().map(|c| c as i64);
        boxes.clear();
        boxes.extend(drops.iter().enumerate().map(|(k, drop)| (box_of(drop), k as u32)));
        boxes.sort_unstable();
        let mut any = false;
        for first in 0..drops.len() {
            if drops[first].volume == 0.0 {
                continue;
            }
            let [x, y, z] = box_of(&drops[first]);
            let mut touching: Option<usize> = None;
            for place in 0..27 {
                let there = [x + place % 3 - 1, y + place / 3 % 3 - 1, z + place / 9 - 1];
                let from = boxes.partition_point(|(known, _)| *known < there);
                for &(_, other) in boxes[from..].iter().take_while(|(known, _)| *known == there) {
                    let other = other as usize;
                    let ((a, a_reach), (b, b_reach)) = (drops[first].extent(), drops[other].extent());
                    let meets = drops[other].volume > 0.0 && a.distance(b) < a_reach + b_reach;
                    if other > first && meets && touching.is_none_or(|known| other < known) {
                        touching = Some(other);
                    }
                }
            }
            if let Some(other) = touching {
                let larger_first = drops[first].volume >= drops[other].volume;
                let (kept, absorbed) = if larger_first { (first, other) } else { (other, first) };
                let (a, b) = (drops[kept], drops[absorbed]);
                events.push(merge_event(b.id, a.id));
                drops[kept] = joined(&a, &b);
                drops[absorbed].volume = 0.0;
                any = true;
            }
        }
        drops.retain(|drop| drop.volume > 0.0);
        any
    }

    /// Adds the drops to a frame's surface, as triangulated spheres and caps that enclose exactly
    /// their volumes.
    pub fn add_to(&self, surface: &mut Surface) {
        let (corners, triangles) = unit_sphere();
        for drop in &self.drops {
            if let Some(cap) = &drop.cap {
                cap.add_to(drop, surface);
                continue;
            }
            // The triangulated sphere encloses less than the sphere through its vertices.
            let scale = math::cbrt(drop.volume / enclosed(&corners, &triangles));
            let base = surface.positions.len() as u32;
            for corner in &corners {
                surface.positions.push(drop.at + scale * *corner);
                surface.velocities.push(drop.velocity);
                surface.drops.push(drop.id.get());
            }
            surface.triangles.extend(triangles.iter().map(|triangle| triangle.map(|v| v + base)));
            surface.solids.extend(triangles.iter().map(|_| -1));
        }
    }
}

/// Volume, momentum and center of mass of two drops; on a solid, with the wider base, if one of
/// them is.
fn joined(a: &SprayDrop, b: &SprayDrop) -> SprayDrop {
    let volume = a.volume + b.volume;
    let share = b.volume / volume;
    let velocity = a.velocity + (b.velocity - a.velocity) * share;
    let between = a.at + (b.at - a.at) * share;
    // In its next step a cap is put back on its solid.
    let (at, cap) = match (a.cap, b.cap) {
        (Some(one), Some(two)) => (between, Some(Cap { radius: one.radius.max(two.radius), ..one })),
        (Some(cap), None) => (a.at, Some(cap)),
        (None, Some(cap)) => (b.at, Some(cap)),
        (None, None) => (between, None),
    };
    SprayDrop { at, velocity, volume, cap, ..*a }
}

/// Moves a drop by `dt`; returns whether it fits between the solids.
fn fly(drop: &mut SprayDrop, dt: f64, forces: &Forces<'_>, environment: &impl Environment) -> bool {
    if drop.cap.is_some() {
        return slide(drop, dt, forces, environment);
    }
    let (radius, gravity) = (drop.radius(), forces.gravity);
    let touched = |at: DVec3| environment.solid(at).filter(|wall| wall.distance < radius);
    let distance = (drop.velocity.length() + 0.5 * gravity.length() * dt) * dt;
    let substeps = (distance / radius).ceil().clamp(1.0, MAX_SUBSTEPS);
    let step = dt / substeps;
    for number in 0..substeps as u32 {
        if let Some(wall) = touched(drop.at) {
            land(drop, &wall);
            return slide(drop, step * (substeps - f64::from(number)), forces, environment);
        }
        drop.at += drop.velocity * step + 0.5 * step * step * gravity;
        drop.velocity += step * gravity;
        if !environment.inside(drop.at) || environment.liquid(drop.at) < radius {
            break;
        }
    }
    if let Some(wall) = touched(drop.at) {
        land(drop, &wall);
        return slide(drop, 0.0, forces, environment);
    }
    true
}

/// Moves a drop along the nearest wall to the nearest place with room; returns whether there is
/// one.
fn leave_gap(drop: &mut SprayDrop, environment: &impl Environment) -> bool {
    let Some(NearestSolid { normal, .. }) = environment.solid(drop.at) else { return false };
    let (radius, (across, along)) = (drop.radius(), normal.any_orthonormal_pair());
    let mut is_open = [true; RIM_DIRECTIONS];
    for distance in 1..=MAX_RIM_DISTANCE {
        for (number, is_open) in is_open.iter_mut().enumerate().filter(|(_, is_open)| **is_open) {
            let (sin, cos) = math::sin_cos(TAU * number as f64 / RIM_DIRECTIONS as f64);
            let place = drop.at + distance as f64 * radius * (cos * across + sin * along);
            let room = environment.solid(place).map_or(f64::INFINITY, |wall| wall.distance);
            if room >= radius {
                (drop.at, drop.velocity, drop.cap) = (place, DVec3::ZERO, None);
                return true;
            }
            *is_open = room > -MAX_RIM_DEPTH * radius && environment.inside(place);
        }
    }
    false
}

/// Removes liquid from φ: its cells keep their distance, with the sign of air. φ must then be
/// redistanced.
pub fn erase(phi: &mut Field<f64>, cells: impl IntoIterator<Item = CellIndex>) {
    for cell in cells {
        let value = &mut phi.values_mut()[cell];
        *value = value.abs();
    }
}

/// An octahedron whose triangles are subdivided twice: 66 vertices, 128 triangles.
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
