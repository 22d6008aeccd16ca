//! Spray drops on a solid: spherical caps that are held or slide by the retention law that all
//! models share.
//!
//! The line of a cap stays between the radii that its volume has at the advancing and at the
//! receding angle. Along the solid, with its width w = 2a and the mass m,
//!
//! ```text
//! m dU/dt = m g_t − k γ w Δ − β w η U,      Δ = cos θ_r − cos θ_a
//! ```
//!
//! held while m g_t is smaller than the second term ([`sessile_wetting::retention`],
//! [`sessile_wetting::sliding`]). The step is implicit in the friction, so no step is too long. A
//! cap that is too heavy to hang falls off.
//!
//! Limits: gravity does not flatten a cap (it is smaller than the capillary length wherever the
//! grid resolves drops), and its base is flat, also on a round solid.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::Surface;
use sessile_numerics::math;
use sessile_wetting::{Liquid, SlidingLaw, Wetting, cap, retention, sliding};

use super::{Environment, Forces, NearestSolid, SprayDrop, enclosed};

/// Rings and segments of the mesh of a cap.
const RINGS: u32 = 5;
const SEGMENTS: u32 = 18;
/// Distance of a cap's middle from the nearest solid, over its height, below which another solid
/// leaves no room for it; half where there is none.
const MIN_ROOM: f64 = 0.25;
/// Passes in which the friction coefficient and the speed agree.
const FRICTION_PASSES: usize = 6;
/// Largest number of substeps; a substep is at most a base radius long.
const MAX_SUBSTEPS: f64 = 64.0;

/// How a spray drop sits on a solid; its position is then the foot point in the middle of its base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// Normal of the solid.
    pub normal: DVec3,
    /// Base radius, in m.
    pub radius: f64,
    /// Contact angle, in rad.
    pub angle: f64,
    /// Index of the solid; −1 for a side of the domain.
    pub solid: i32,
}

impl Cap {
    /// A cap of `volume` (in m³) whose line had `radius` (in m): it stays there unless its angle
    /// would leave the range of the solid.
    fn fit(volume: f64, radius: f64, wall: &NearestSolid) -> Self {
        let [least, most] = radii(volume, &wall.wetting);
        let radius = radius.clamp(least, most);
        Self { normal: wall.normal, radius, angle: angle(volume, radius), solid: wall.solid }
    }

    /// Height above the solid, in m.
    pub fn height(&self) -> f64 {
        cap::height(self.radius, self.angle)
    }

    /// Center and radius of its sphere, in m, for a base around `foot`.
    pub fn sphere(&self, foot: DVec3) -> (DVec3, f64) {
        let radius = cap::sphere_radius(self.radius, self.angle);
        (foot - self.normal * (radius * math::cos(self.angle)), radius)
    }

    /// Middle and largest horizontal radius, in m, for a base around `foot`: what touches it.
    pub fn extent(&self, foot: DVec3) -> (DVec3, f64) {
        let widest = if math::cos(self.angle) < 0.0 { self.radius / math::sin(self.angle) } else { self.radius };
        (foot + self.normal * (0.5 * self.height()), widest)
    }

    /// Adds the cap to a frame's surface, closed by its base, as triangles that enclose exactly the
    /// drop's volume.
    pub fn add_to(&self, drop: &SprayDrop, surface: &mut Surface) {
        let (up, across) = (self.normal, self.normal.any_orthonormal_vector());
        let along = up.cross(across);
        // About the foot point: the middle of the base, the apex, and the rings down to the line.
        let (center, radius) = self.sphere(DVec3::ZERO);
        let mut corners = vec![DVec3::ZERO, center + radius * up];
        for ring in 1..=RINGS {
            let (sin, cos) = math::sin_cos(self.angle * f64::from(ring) / f64::from(RINGS));
            corners.extend((0..SEGMENTS).map(|segment| {
                let (s, c) = math::sin_cos(TAU * f64::from(segment) / f64::from(SEGMENTS));
                center + radius * (cos * up + sin * (c * across + s * along))
            }));
        }
        let at = |ring: u32, segment: u32| 2 + (ring - 1) * SEGMENTS + segment % SEGMENTS;
        let (mut triangles, mut base) = (Vec::new(), Vec::new());
        for segment in 0..SEGMENTS {
            triangles.push([1, at(1, segment), at(1, segment + 1)]);
            for ring in 1..RINGS {
                let [inner, outer] = [ring, ring + 1].map(|ring| [at(ring, segment), at(ring, segment + 1)]);
                triangles.extend([[inner[0], outer[0], outer[1]], [inner[0], outer[1], inner[1]]]);
            }
            base.push([0, at(RINGS, segment + 1), at(RINGS, segment)]);
        }
        surface.solids.extend(triangles.iter().map(|_| -1).chain(base.iter().map(|_| self.solid)));
        triangles.append(&mut base);
        // The triangulated cap encloses less than the sphere through its vertices.
        let scale = math::cbrt(drop.volume / enclosed(&corners, &triangles));
        let first = surface.positions.len() as u32;
        for corner in &corners {
            surface.positions.push(drop.at + scale * *corner);
            surface.velocities.push(drop.velocity);
            surface.drops.push(drop.id.get());
        }
        surface.triangles.extend(triangles.iter().map(|triangle| triangle.map(|v| v + first)));
    }
}

/// Base radii of a volume at the advancing and at the receding angle, in m.
fn radii(volume: f64, wetting: &Wetting) -> [f64; 2] {
    let least = cap::base_radius(volume, wetting.advancing);
    [least, cap::base_radius(volume, wetting.receding).max(least)]
}

/// Contact angle of a cap of this volume and base radius, in rad.
fn angle(volume: f64, radius: f64) -> f64 {
    let (mut low, mut high) = (1e-3, PI - 1e-3);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if cap::volume(radius, middle) < volume { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Sets a drop in flight down on the solid that it touches.
pub fn land(drop: &mut SprayDrop, wall: &NearestSolid) {
    drop.at -= wall.normal * wall.distance;
    let relative = drop.velocity - wall.velocity;
    drop.velocity -= wall.normal * relative.dot(wall.normal);
    drop.cap = Some(Cap::fit(drop.volume, 0.0, wall));
}

/// Moves a drop on a solid by `dt`; returns whether the solids leave room for it.
pub fn slide(drop: &mut SprayDrop, dt: f64, forces: &Forces<'_>, environment: &impl Environment) -> bool {
    let Some(Cap { radius, .. }) = drop.cap else { return true };
    let distance = (drop.velocity.length() + forces.gravity.length() * dt) * dt;
    let substeps = (distance / radius).ceil().clamp(1.0, MAX_SUBSTEPS);
    for _ in 0..substeps as u32 {
        let Some(wall) = seat(drop, environment) else { return false };
        if falls_off(drop, &wall, forces) {
            return true;
        }
        accelerate(drop, &wall, dt / substeps, forces);
        drop.at += drop.velocity * (dt / substeps);
        let (middle, reach) = drop.extent();
        if !environment.inside(middle) || environment.liquid(middle) < reach {
            break;
        }
    }
    seat(drop, environment).is_some()
}

/// Puts a cap on the surface of the nearest solid; none, and a ball in its place, where another
/// solid leaves no room for it.
fn seat(drop: &mut SprayDrop, environment: &impl Environment) -> Option<NearestSolid> {
    let cap = drop.cap?;
    let middle = drop.at + cap.normal * (0.5 * cap.height());
    let wall = environment.solid(middle).filter(|wall| wall.distance > MIN_ROOM * cap.height());
    let Some(wall) = wall else {
        drop.cap = None;
        return None;
    };
    drop.at = middle - wall.normal * wall.distance;
    drop.cap = Some(Cap::fit(drop.volume, cap.radius, &wall));
    Some(wall)
}

/// Lets a cap go that is too heavy to hang; returns whether it was.
fn falls_off(drop: &mut SprayDrop, wall: &NearestSolid, forces: &Forces<'_>) -> bool {
    let (outward, Some(cap)) = (forces.gravity.dot(wall.normal), drop.cap) else { return false };
    if outward <= 0.0 {
        return false;
    }
    let law = SlidingLaw::new(forces.liquid, &wall.wetting);
    let falls = drop.volume > law.largest_pinned_volume(forces.liquid, cap.radius, outward);
    if falls {
        drop.cap = None;
        drop.at += wall.normal * drop.radius();
    }
    falls
}

/// Accelerates a cap along its solid, against retention and friction.
fn accelerate(drop: &mut SprayDrop, wall: &NearestSolid, dt: f64, forces: &Forces<'_>) {
    let (liquid, wetting): (&Liquid, &Wetting) = (forces.liquid, &wall.wetting);
    let Some(cap) = &mut drop.cap else { return };
    let tangential = |vector: DVec3| vector - wall.normal * vector.dot(wall.normal);
    let pushed = tangential(drop.velocity - wall.velocity) + dt * tangential(forces.gravity);
    let (mass, width, speed) = (liquid.density * drop.volume, 2.0 * cap.radius, pushed.length());
    let [least, most] = radii(drop.volume, wetting);
    let excess = if most > least { (cap.radius - least) / (most - least) } else { 0.0 };
    let holding = retention::retention_force(liquid, wetting, width, retention::retention_factor(excess)) / mass;
    // β depends on the speed that it leads to.
    let mut after = speed.min((drop.velocity - wall.velocity).length());
    for _ in 0..FRICTION_PASSES {
        let beta = sliding::friction_coefficient(liquid, wetting, width, after, None);
        let friction = beta * width * liquid.dynamic_viscosity() / mass;
        after = (speed - dt * holding).max(0.0) / (1.0 + dt * friction);
    }
    if after > 0.0 {
        // The line of a sliding drop has moved to its advancing radius.
        cap.radius = least;
    }
    drop.velocity = wall.velocity + pushed.normalize_or_zero() * after;
}
