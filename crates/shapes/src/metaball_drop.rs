//! A drop on a slope as metaballs: a larger blob below, a smaller and flatter one above, stretched
//! by speed (algan, §5).
//!
//! At rest on a level plane it is one ball, the ellipsoid of the drop's base radius, height and
//! volume. On a slope the drop sags: to first order its centroid moves downhill by R·Bo·sin α·χ(θ)
//! (deconinck2016; docs/wetting.md, "Retention"), which the second blob, uphill, brings about. A
//! moving drop is elongated at the rear, and its front follows the impurities that it meets.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use sessile_numerics::math;

use crate::ellipsoid_cap::EllipsoidCap;
use crate::metaballs::Ball;

/// Width of the upper blob relative to the lower one.
const UPPER_WIDTH: f64 = 0.72;
/// Height of the upper blob relative to the lower one.
const UPPER_HEIGHT: f64 = 0.62;
/// Distance of the two blobs and the resulting downhill shift of the centroid, both in base radii.
///
/// Measured on the built surface of a 90° drop; a test below checks it to 10 %.
const SHIFT_BY_SPACING: [(f64, f64); 9] = [
    (0.0, 0.0),
    (0.2, 0.0092),
    (0.4, 0.0313),
    (0.6, 0.0599),
    (0.8, 0.1014),
    (1.0, 0.1402),
    (1.2, 0.1650),
    (1.4, 0.1994),
    (1.6, 0.2386),
];
/// Largest spacing of the two blobs, in base radii: beyond it they would separate.
const MAX_SPACING: f64 = 1.6;
/// Spacing from which the two blobs would show a neck between them, in base radii.
const NECK_SPACING: f64 = 0.9;
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
        let spacing = (spacing_for(self.sag) + self.stretch).min(MAX_SPACING);
        // The lower blob moves ahead to keep the center of the footprint in place.
        let ahead = 0.35 * spacing * self.base_radius;
        balls.push(ellipsoid(self.heading * ahead, 1.0, 1.0));
        if spacing > 0.0 {
            let behind = ahead - spacing * self.base_radius;
            let mut upper = ellipsoid(self.heading * behind, UPPER_WIDTH, UPPER_HEIGHT);
            // Fades in, so that the shape is continuous in tilt and speed.
            upper.strength = (spacing / 0.5).min(1.0);
            balls.push(upper);
        }
        // Where speed draws the blobs apart, one between them keeps the drop from pinching.
        if spacing > NECK_SPACING && self.stretch > 0.0 {
            let width = 0.5 * (1.0 + UPPER_WIDTH);
            let mut middle = ellipsoid(self.heading * (ahead - 0.55 * spacing * self.base_radius), width, width);
            middle.strength = ((spacing - NECK_SPACING) / 0.3).min(1.0) * (self.stretch / 0.1).min(1.0);
            balls.push(middle);
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

/// The spacing that shifts the centroid by `sag`, both in base radii.
fn spacing_for(sag: f64) -> f64 {
    for pair in SHIFT_BY_SPACING.windows(2) {
        let [(near, less), (far, more)] = [pair[0], pair[1]];
        if sag <= more {
            return near + (far - near) * (sag - less).max(0.0) / (more - less);
        }
    }
    MAX_SPACING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Detail, drop_mesh};
    use crate::instance::{Instance, LocalFrame, Shape};
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

    /// Widths of the base, cut across the heading, have one maximum.
    #[test]
    fn a_fast_drop_does_not_pinch_into_two() {
        for sag in [0.0, 0.1, 0.22] {
            for stretch in [0.2, 0.5, 0.9] {
                let drop = MetaballDrop { sag, stretch, ..level_drop() };
                let mesh = built(&drop).mesh;
                let base: Vec<DVec3> = mesh.positions.iter().copied().filter(|p| p.z == 0.0).collect();
                let low = base.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
                let bin = |y: f64| ((y - low) / 0.25e-3) as usize;
                let mut widths = vec![0.0_f64; bin(base.iter().map(|p| p.y).fold(low, f64::max)) + 1];
                base.iter().for_each(|p| widths[bin(p.y)] = widths[bin(p.y)].max(p.x.abs()));
                let widest = (0..widths.len()).max_by(|&a, &b| widths[a].total_cmp(&widths[b])).unwrap_or(0);
                // Edges of 0.1 mm leave steps of the widths below 3 %.
                for pair in widths[widest..].windows(2) {
                    assert!(pair[1] < 1.03 * pair[0], "sag {sag}, stretch {stretch}: {widths:?}");
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
