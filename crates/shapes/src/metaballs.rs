//! Metaballs: blobs whose fields add up, so that neighbors blend (algan, §5).
//!
//! ```text
//! f(x) = T − Σᵢ sᵢ (1 − qᵢ²)²₊,   qᵢ = |(x − cᵢ)/rᵢ|  (by component)        f < 0 in the liquid
//! ```
//!
//! The kernel and the threshold T are those of POV-Ray's `blob` (povray, "Blob"), so that an
//! exported scene has the same surface.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::isosurface::Grid;

/// Field strength T on the surface.
pub const THRESHOLD: f64 = 0.25;

/// Radius at which a single ball of strength 1 has its surface, over its radii: (1 − q²)² = T at q
/// = √½.
pub const SURFACE_RADIUS: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// One ellipsoidal component of a metaball shape, axes along its drop's local frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Center in the local frame, in m.
    pub center: DVec3,
    /// Radii of the support along each axis, in m.
    pub radii: DVec3,
    /// Field at the center.
    pub strength: f64,
}

impl Ball {
    /// A ball of strength 1 whose surface, on its own, is the ellipsoid of these half-axes.
    pub fn ellipsoid(center: DVec3, half_axes: DVec3) -> Self {
        Self { center, radii: half_axes / SURFACE_RADIUS, strength: 1.0 }
    }

    /// Contribution of this ball to the field.
    fn contribution(&self, point: DVec3) -> f64 {
        let rest = 1.0 - ((point - self.center) / self.radii).length_squared();
        if rest > 0.0 { self.strength * rest * rest } else { 0.0 }
    }
}

/// The field of all balls: negative inside the liquid.
pub fn field(balls: &[Ball], point: DVec3) -> f64 {
    THRESHOLD - balls.iter().map(|ball| ball.contribution(point)).sum::<f64>()
}

/// The field at the nodes of a grid, in the grid's order and with the bits of [`field`]. Most nodes
/// lie in few of the balls' supports, and the terms of q² are those of a row, a column and a layer.
pub fn sample(balls: &[Ball], grid: &Grid) -> Vec<f64> {
    let [nx, ny, _] = grid.size;
    let mut values = vec![0.0; grid.num_nodes()];
    for ball in balls {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| squares(ball, grid, axis));
        let rows = values.chunks_exact_mut(nx * ny).zip(&zs).filter(|(_, z)| **z < 1.0);
        for (row, y, z) in
            rows.flat_map(|(layer, &z)| layer.chunks_exact_mut(nx).zip(&ys).map(move |(r, &y)| (r, y, z)))
        {
            // Rounding of the sum below is monotonic: where two terms reach 1, so do all three.
            if y + z >= 1.0 {
                continue;
            }
            for (value, x) in row.iter_mut().zip(&xs) {
                let rest = (1.0 - (x + y + z)).max(0.0);
                *value += ball.strength * rest * rest;
            }
        }
    }
    values.iter_mut().for_each(|value| *value = THRESHOLD - *value);
    values
}

/// The part of q² along one axis, for every node along it.
fn squares(ball: &Ball, grid: &Grid, axis: usize) -> Vec<f64> {
    let place = |i: usize| {
        let mut node = [0; 3];
        node[axis] = i;
        ((grid.position(node) - ball.center) / ball.radii)[axis]
    };
    (0..grid.size[axis]).map(|i| place(i) * place(i)).collect()
}

/// Bounding box of the support of all balls, lower and upper corner.
pub fn bounds(balls: &[Ball]) -> (DVec3, DVec3) {
    balls.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), ball| {
        (low.min(ball.center - ball.radii), high.max(ball.center + ball.radii))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_ball_is_its_ellipsoid() {
        let half_axes = DVec3::new(3.0, 2.0, 1.0);
        let ball = Ball::ellipsoid(DVec3::new(0.5, 0.0, 0.2), half_axes);
        for direction in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE.normalize()] {
            let on_surface = ball.center + half_axes * direction;
            let value = field(&[ball], on_surface);
            assert!(value.abs() < 1e-12, "field {value:e} on the ellipsoid along {direction}");
        }
        assert!(field(&[ball], ball.center) < 0.0);
    }

    #[test]
    fn samples_have_the_bits_of_the_field() {
        let ball = |k: f64| Ball {
            center: DVec3::new(0.7 * k, (2.0 * k).sin(), 0.3),
            radii: DVec3::new(1.1, 0.9, 0.5) * (1.0 + 0.2 * k),
            strength: 1.0 - 0.3 * k,
        };
        let balls = [0.0, 1.0, 2.0].map(ball);
        let grid = Grid { origin: DVec3::new(-1.3, -1.7, 0.0), cell: DVec3::splat(0.13), size: [37, 31, 11] };
        let expected = grid.sample(|point| field(&balls, point));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(bits(&sample(&balls, &grid)) == bits(&expected));
        assert!(expected.iter().any(|&value| value < 0.0) && expected.contains(&THRESHOLD));
    }

    #[test]
    fn two_balls_bulge_towards_each_other() {
        let left = Ball::ellipsoid(DVec3::new(-1.05, 0.0, 0.0), DVec3::ONE);
        let right = Ball::ellipsoid(DVec3::new(1.05, 0.0, 0.0), DVec3::ONE);
        assert!(field(&[left], DVec3::ZERO) > 0.0 && field(&[right], DVec3::ZERO) > 0.0);
        assert!(field(&[left, right], DVec3::ZERO) < 0.0, "a neck joins balls that do not touch alone");
    }
}
