//! Ray differentials: how much a path changes between neighboring samples of a pixel (igehy1999).
//!
//! The derivatives of a ray's origin P and direction D with respect to two displacements on the
//! first surface are carried along the path. To the next surface, with normal N, at distance t:
//!
//! ```text
//! P' = P + t D,      dP' = dP + t dD + dt D,      dt = −(dP + t dD)·N / D·N
//! ```
//!
//! and with the derivative dN of the shading normal along dP',
//!
//! ```text
//! reflection    dD' = dD − 2 ((D·N) dN + (dD·N + D·dN) N)
//! refraction    dD' = η dD − (η D·N − D'·N) dN − (η − η² D·N / D'·N) (dD·N + D·dN) N
//! ```
//!
//! N is on the side of the incoming ray, so that D·N and D'·N are negative.

use glam::Vec3;
use sessile_appearance::{Lens, orthonormal_basis};

/// Least cosine of an angle of incidence or refraction; at smaller ones the derivatives diverge.
const MIN_COSINE: f32 = 0.02;

/// Distance between neighboring samples of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleSpacing {
    /// At depth 1, for a pinhole.
    pixel: f32,
    /// Of samples of the lens, on the lens, in m.
    lens: f32,
    /// Depth in focus, in m.
    focus: f32,
}

impl SampleSpacing {
    /// That of `samples` samples in pixels of this height at depth 1.
    pub fn new(lens: &Lens, pixel_height: f32, samples: u32) -> Self {
        let per_side = (samples.max(1) as f32).sqrt();
        let on_lens = std::f32::consts::PI.sqrt() * lens.radius();
        Self { pixel: pixel_height / per_side, lens: on_lens / per_side, focus: lens.focus() }
    }

    /// Whether samples have a distance: without one, small lights are found by chance only.
    pub fn is_known(&self) -> bool {
        self.pixel > 0.0
    }

    /// At a depth, in m: pixels grow with it, the images of the lens with the distance from the
    /// focus.
    fn at(&self, depth: f32) -> f32 {
        (self.pixel * depth).hypot(self.lens * (1.0 - depth / self.focus).abs())
    }
}

/// The derivatives of a ray.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Differentials {
    /// Of its origin, across the ray.
    origin: [Vec3; 2],
    /// Of its direction.
    direction: [Vec3; 2],
}

impl Differentials {
    /// Those of a camera ray at its first surface, before it is
    /// [moved](Self::move_to_surface) there.
    pub fn of_camera(spacing: &SampleSpacing, direction: Vec3, depth: f32) -> Self {
        let axes = orthonormal_basis(direction);
        let across = spacing.at(depth);
        let turn = spacing.pixel;
        // Such that the distance at the surface is that of the samples.
        Self { origin: axes.map(|axis| axis * (across - turn * depth)), direction: axes.map(|axis| axis * turn) }
    }

    /// Moves along the ray to a surface.
    pub fn move_to_surface(&mut self, direction: Vec3, distance: f32, normal: Vec3) {
        let cosine = direction.dot(normal);
        let cosine = cosine.abs().max(MIN_COSINE).copysign(cosine);
        for (origin, turn) in self.origin.iter_mut().zip(self.direction) {
            let moved = *origin + distance * turn;
            *origin = moved - direction * (moved.dot(normal) / cosine);
        }
    }

    /// Derivatives of the origin.
    pub fn origin(&self) -> [Vec3; 2] {
        self.origin
    }

    /// After reflection; `turns` are the derivatives of the normal.
    pub fn reflected(&self, incident: Vec3, normal: Vec3, turns: [Vec3; 2]) -> Self {
        let direction = [0, 1].map(|i| {
            let (turn, of_normal) = (self.direction[i], turns[i]);
            let of_cosine = turn.dot(normal) + incident.dot(of_normal);
            turn - 2.0 * (incident.dot(normal) * of_normal + of_cosine * normal)
        });
        Self { direction, ..*self }
    }

    /// After refraction, with `eta` = nᵢ/nₜ; `turns` are the derivatives of the normal.
    pub fn refracted(&self, [incident, refracted]: [Vec3; 2], normal: Vec3, turns: [Vec3; 2], eta: f32) -> Self {
        let (cosine, beyond) = (incident.dot(normal), refracted.dot(normal).min(-MIN_COSINE));
        let along = eta * cosine - beyond;
        let direction = [0, 1].map(|i| {
            let (turn, of_normal) = (self.direction[i], turns[i]);
            let of_cosine = turn.dot(normal) + incident.dot(of_normal);
            eta * turn - along * of_normal - (eta - eta * eta * cosine / beyond) * of_cosine * normal
        });
        Self { direction, ..*self }
    }

    /// Largest angle between neighboring directions, in rad: the larger singular value.
    pub fn spread(&self) -> f32 {
        let [a, b] = self.direction;
        let (aa, bb, ab) = (a.length_squared(), b.length_squared(), a.dot(b));
        (0.5 * (aa + bb) + (0.5 * (aa - bb)).hypot(ab)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fresnel::{reflect, refract};
    use glam::DVec3;
    use sessile_appearance::Camera;

    /// A ray through a sphere about the origin: refracted, reflected inside `bounces` times, and
    /// refracted again. Its last direction, and the differentials there.
    fn through_sphere(at: Vec3, bounces: u32, moving: &mut Option<Differentials>) -> Vec3 {
        let (radius, eta) = (1.0_f32, 1.0 / 1.33);
        let mut direction = Vec3::NEG_Z;
        let mut point = Vec3::new(at.x, at.y, (radius * radius - at.x * at.x - at.y * at.y).sqrt());
        let mut distance = at.z - point.z;
        for event in 0..bounces + 2 {
            let outward = point / radius;
            let normal = if event == 0 { outward } else { -outward };
            let incident = direction;
            let inside = event > 0 && event <= bounces;
            let eta = if event == 0 { eta } else { 1.0 / eta };
            direction =
                if inside { reflect(incident, normal) } else { refract(incident, normal, eta).expect("no limit") };
            if let Some(moving) = moving {
                moving.move_to_surface(incident, distance, normal);
                let side = if event == 0 { 1.0 } else { -1.0 };
                let turns = moving.origin().map(|moved| side * moved / radius);
                *moving = if inside {
                    moving.reflected(incident, normal, turns)
                } else {
                    moving.refracted([incident, direction], normal, turns, eta)
                };
            }
            distance = -2.0 * point.dot(direction);
            point += distance * direction;
        }
        direction
    }

    /// Differentials against finite differences of the same path.
    #[test]
    fn differentials_are_the_derivatives_of_paths_through_a_sphere() {
        for bounces in 0..3 {
            for at in [Vec3::new(0.0, 0.0, 3.0), Vec3::new(0.3, 0.2, 3.0), Vec3::new(-0.1, 0.7, 3.0)] {
                let step = 1e-2;
                let start = Differentials { origin: [step * Vec3::X, step * Vec3::Y], direction: [Vec3::ZERO; 2] };
                let mut moving = Some(start);
                through_sphere(at, bounces, &mut moving);
                let moving = moving.unwrap();
                for (axis, turn) in [Vec3::X, Vec3::Y].into_iter().zip(moving.direction) {
                    let [before, after] =
                        [-0.5, 0.5].map(|part| through_sphere(at + part * step * axis, bounces, &mut None));
                    let difference = after - before;
                    let off = (difference - turn).length() / difference.length().max(1e-3);
                    assert!(off < 0.02, "{bounces} bounces at {at}: {turn}, not {difference}");
                }
            }
        }
    }

    /// A sphere reflects rays at a distance s into directions that differ by 2 s/R.
    #[test]
    fn spacing_and_curvature_give_the_spread_of_a_reflection() {
        let camera = Camera { lens_radius: 0.01, focus: Some(4.0), ..Camera::new(2.0 * DVec3::Z, DVec3::ZERO, 0.5) };
        let lens = camera.lens(DVec3::ZERO, [100, 100]);
        let spacing = SampleSpacing::new(&lens, 1e-3, 16);
        // A quarter of a pixel, and a quarter of √π times half the lens.
        let expected = (0.5e-3_f32).hypot(0.25 * std::f32::consts::PI.sqrt() * 0.005);
        assert!((spacing.at(2.0) / expected - 1.0).abs() < 1e-3, "{}", spacing.at(2.0));
        let mut moving = Differentials::of_camera(&spacing, Vec3::NEG_Z, 2.0);
        moving.move_to_surface(Vec3::NEG_Z, 2.0, Vec3::Z);
        let radius = 0.1;
        let turns = moving.origin().map(|moved| moved / radius);
        let spread = moving.reflected(Vec3::NEG_Z, Vec3::Z, turns).spread();
        assert!((spread / (2.0 * expected / radius) - 1.0).abs() < 0.05, "{spread}");
    }
}
