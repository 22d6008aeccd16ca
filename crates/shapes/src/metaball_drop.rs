//! A drop on a slope as metaballs: a larger blob below, a smaller and flatter one above, stretched
//! by speed (algan, §5), with others between them.
//!
//! At rest on a level plane it is one ball, the ellipsoid of the drop's base radius, height and
//! volume. On a slope the drop sags: to first order its centroid moves downhill by R·Bo·sin α·χ(θ)
//! (deconinck2016; docs/wetting.md, "Retention"). A moving drop is elongated at the rear, and its
//! front follows the impurities that it meets.
//!
//! Two blobs alone would pinch between them. So the drop is a chain of balls whose sizes decrease
//! linearly from the lower one to the upper one. On a cylinder of radius a, with the kernel (1 −
//! q²)², a chain of density ρ (strength per length) has the field
//!
//! ```text
//! ρ ∫ (½ − y²/2a²)² dy = 4 ρ a/15        over |y| < a
//! ```
//!
//! which is the threshold ¼ for ρ = 15/(16 a). A chain that ends has half of it beside its last
//! ball, which has ½ in addition. So a chain without length is a single ball of strength 1, and the
//! shape is continuous in tilt and speed.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use sessile_numerics::math;

use crate::ellipsoid_cap::EllipsoidCap;
use crate::metaballs::Ball;

/// Width of the upper ball relative to the lower one, in a long chain.
const UPPER_WIDTH: f64 = 0.5;
/// Height of the upper ball relative to the lower one, in a long chain.
const UPPER_HEIGHT: f64 = 0.3;
/// Length of a chain from which its upper ball has those sizes, in base radii.
const FULL_TAPER: f64 = 0.8;
/// Length of a chain up to which it has three balls, in base radii; longer ones have five.
const SHORT_CHAIN: f64 = 0.9;
/// Length of the chain and the resulting downhill shift of the centroid, both in base radii.
///
/// Measured on the built surface of a 90° drop; a test below checks it to 10 %.
const SHIFT_BY_LENGTH: [(f64, f64); 13] = [
    (0.0, 0.0),
    (0.2, 0.0011),
    (0.3, 0.0050),
    (0.4, 0.0142),
    (0.5, 0.0340),
    (0.6, 0.0513),
    (0.7, 0.0719),
    (0.8, 0.0964),
    (0.9, 0.1140),
    (1.0, 0.1301),
    (1.2, 0.1697),
    (1.4, 0.2052),
    (1.6, 0.2379),
];
/// Largest length of the chain, in base radii.
const MAX_LENGTH: f64 = 1.6;
/// Directions of the front blobs about the heading, in rad.
pub const FRONT_DIRECTIONS: [f64; 5] = [-PI / 3.0, -PI / 6.0, 0.0, PI / 6.0, PI / 3.0];
/// Width of a front blob relative to the drop.
const FRONT_WIDTH: f64 = 0.42;

/// Parameters of a metaball drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetaballDrop {
    /// Volume, in m³.
    pub volume: f64,
    /// Base radius, in m.
    pub base_radius: f64,
    /// Height, in m.
    pub height: f64,
    /// Unit direction along the plane in which it sags or slides.
    pub heading: DVec2,
    /// Downhill shift of the centroid, in base radii.
    pub sag: f64,
    /// Elongation by motion, in base radii; 0 at rest.
    pub stretch: f64,
    /// How far the front is ahead of a circle in each of [`FRONT_DIRECTIONS`], in base radii.
    pub front: [f64; FRONT_DIRECTIONS.len()],
}

impl MetaballDrop {
    /// A similar drop of a share of the volume.
    pub fn part(&self, share: f64) -> Self {
        let scale = math::cbrt(share);
        Self {
            volume: self.volume * share,
            base_radius: self.base_radius * scale,
            height: self.height * scale,
            ..*self
        }
    }

    /// Appends the balls, about `at` (in m) in the local frame.
    pub fn push_balls(&self, at: DVec2, balls: &mut Vec<Ball>) {
        let cap = EllipsoidCap::new(self.volume, self.base_radius, self.height);
        let ellipsoid = |offset: DVec2, width: f64, height: f64| {
            let center = (at + offset).extend(cap.center_height * height);
            Ball::ellipsoid(center, DVec3::new(cap.across * width, cap.across * width, cap.along * height))
        };
        let length = (length_for(self.sag) + self.stretch).min(MAX_LENGTH);
        // The lower ball moves ahead to keep the center of the footprint in place.
        let ahead = 0.35 * length * self.base_radius;
        let intervals = match length {
            0.0 => 0,
            _ if length <= SHORT_CHAIN => 2,
            _ => 4,
        };
        let taper = (length / FULL_TAPER).min(1.0);
        let interval = length * self.base_radius / f64::from(intervals.max(1));
        for k in 0..=intervals {
            let back = f64::from(k) / f64::from(intervals.max(1));
            let width = 1.0 - (1.0 - UPPER_WIDTH) * taper * back;
            let height = 1.0 - (1.0 - UPPER_HEIGHT) * taper * back;
            let mut ball = ellipsoid(self.heading * (ahead - f64::from(k) * interval), width, height);
            let of_chain = 15.0 / 16.0 * interval / (cap.across * width);
            ball.strength = match (intervals, k) {
                (0, _) => 1.0,
                (last, k) if k == 0 || k == last => 0.5 + 0.5 * of_chain,
                _ => of_chain,
            };
            balls.push(ball);
        }
        for (direction, lead) in FRONT_DIRECTIONS.into_iter().zip(self.front) {
            if lead > 0.0 {
                let outward = math::direction(direction).rotate(self.heading);
                let reach = (1.0 + lead - FRONT_WIDTH) * self.base_radius;
                let mut finger = ellipsoid(self.heading * ahead + outward * reach, FRONT_WIDTH, FRONT_WIDTH);
                finger.strength = (lead / 0.1).min(1.0);
                balls.push(finger);
            }
        }
    }
}

/// The length of the chain that shifts the centroid by `sag`, both in base radii.
fn length_for(sag: f64) -> f64 {
    for pair in SHIFT_BY_LENGTH.windows(2) {
        let [(near, less), (far, more)] = [pair[0], pair[1]];
        if sag <= more {
            return near + (far - near) * (sag - less).max(0.0) / (more - less);
        }
    }
    MAX_LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Detail, drop_mesh};
    use crate::instance::{Instance, LocalFrame, Shape};
    use crate::metaballs::field;
    use glam::DMat3;

    fn level_drop() -> MetaballDrop {
        MetaballDrop {
            volume: 4e-9,
            base_radius: 1.26e-3,
            height: 1.205e-3,
            heading: DVec2::NEG_Y,
            sag: 0.0,
            stretch: 0.0,
            front: [0.0; 5],
        }
    }

    fn built(drop: &MetaballDrop) -> crate::build::DropMesh {
        let mut balls = Vec::new();
        drop.push_balls(DVec2::ZERO, &mut balls);
        let frame = LocalFrame { origin: DVec3::ZERO, axes: DMat3::IDENTITY };
        let instance = Instance {
            drop: 1,
            solid: Some(0),
            frame,
            volume: drop.volume,
            velocity: DVec3::ZERO,
            shape: Shape::Metaballs(balls),
        };
        drop_mesh(&instance, &Detail { edge: 0.1e-3, ..Detail::default() })
    }

    fn centroid(mesh: &sessile_geometry::TriMesh) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            sum += a.dot(b.cross(c)) / 24.0 * (a + b + c);
        }
        sum / mesh.volume()
    }

    #[test]
    fn sag_moves_the_centroid_downhill_as_requested() {
        for sag in [0.02, 0.05, 0.1, 0.2] {
            let drop = MetaballDrop { sag, ..level_drop() };
            let built = built(&drop);
            let base: Vec<DVec3> = built.mesh.positions.iter().copied().filter(|p| p.z == 0.0).collect();
            let (low, high) =
                base.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.y), h.max(p.y)));
            let shift = (0.5 * (low + high) - centroid(&built.mesh).y) / drop.base_radius;
            assert!((shift / sag - 1.0).abs() < 0.1, "asked {sag} R, got {shift:.4} R");
        }
    }

    /// Widths of the base across the heading, and heights above its middle, fall from their maximum
    /// to the rear, however slow or fast the drop is.
    #[test]
    fn a_drop_on_a_slope_does_not_pinch_into_two() {
        let flat = MetaballDrop { volume: 39e-9, base_radius: 3.54e-3, height: 1.75e-3, ..level_drop() };
        for drop in [level_drop(), flat] {
            for sag in [0.0, 0.05, 0.1, 0.22] {
                for stretch in [0.0, 0.02, 0.2, 0.5, 0.9] {
                    let mut balls = Vec::new();
                    MetaballDrop { sag, stretch, ..drop }.push_balls(DVec2::ZERO, &mut balls);
                    let inside = |x: f64, y: f64, z: f64| field(&balls, DVec3::new(x, y, z) * drop.base_radius) < 0.0;
                    let extent = |at: &dyn Fn(f64) -> bool| (0..400).map(f64::from).find(|k| !at(k / 200.0));
                    let profiles: [&dyn Fn(f64) -> Option<f64>; 2] =
                        [&|y| extent(&|x| inside(x, y, 0.0)), &|y| extent(&|z| inside(0.0, y, z))];
                    for (what, profile) in ["width", "height"].into_iter().zip(profiles) {
                        // Down the heading is −y: from the rear to the front.
                        let along: Vec<f64> = (0..200).filter_map(|k| profile(2.0 - 0.02 * f64::from(k))).collect();
                        let highest = along.iter().copied().fold(0.0, f64::max);
                        let until = along.iter().position(|&v| v == highest).unwrap_or(0);
                        let rises = along[..until].windows(2).all(|pair| pair[1] >= pair[0] - 1.0);
                        assert!(rises, "{what}, sag {sag}, stretch {stretch}: {along:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_drop_at_rest_has_the_given_height_and_base() {
        let drop = level_drop();
        let mesh = built(&drop).mesh;
        let height = mesh.positions.iter().map(|p| p.z).fold(0.0, f64::max);
        let base = mesh.positions.iter().filter(|p| p.z == 0.0).map(|p| p.truncate().length()).fold(0.0, f64::max);
        assert!((height / drop.height - 1.0).abs() < 5e-3, "height {height:e}");
        assert!((base / drop.base_radius - 1.0).abs() < 5e-3, "base {base:e}");
        assert!((mesh.volume() / drop.volume - 1.0).abs() < 1e-12, "volume {:e}", mesh.volume());
    }
}
