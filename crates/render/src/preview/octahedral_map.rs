//! A picture of all directions that is quick to look up: the sphere unfolded onto a square by way of an octahedron (cigolle2014).
//!
//! Texels lie on a grid with its borders included: those that show one direction twice are alike, and no seam shows.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Colors over directions.
#[derive(Clone, Debug)]
pub(super) struct OctahedralMap {
    side: usize,
    texels: Vec<Vec3>,
}

impl OctahedralMap {
    /// Evaluates a function at the directions of `side` × `side` texels.
    pub fn filled(side: usize, color: impl Fn(Vec3) -> Vec3 + Sync) -> Self {
        let last = (side - 1) as f32;
        let texel = |i: usize| {
            let place = Vec2::new((i % side) as f32, (i / side) as f32) / last * 2.0 - 1.0;
            color(direction_of(place))
        };
        Self { side, texels: (0..side * side).into_par_iter().map(texel).collect() }
    }

    /// The color in a direction of unit length.
    pub fn at(&self, direction: Vec3) -> Vec3 {
        let last = self.side - 1;
        let at = (0.5 * place_of(direction) + 0.5) * last as f32;
        let (x, y) = ((at.x as usize).min(last - 1), (at.y as usize).min(last - 1));
        let (fx, fy) = (at.x - x as f32, at.y - y as f32);
        let row = &self.texels[y * self.side + x..];
        let (a, b, c, d) = (row[0], row[1], row[self.side], row[self.side + 1]);
        a.lerp(b, fx).lerp(c.lerp(d, fx), fy)
    }
}

/// From a direction to the square [−1, 1]², up in its middle, down in its corners.
pub(super) fn place_of(direction: Vec3) -> Vec2 {
    let p = Vec2::new(direction.x, direction.z) / (direction.abs().element_sum()).max(1e-20);
    if direction.y >= 0.0 { p } else { (1.0 - Vec2::new(p.y.abs(), p.x.abs())) * sign(p) }
}

/// Inverse of [`place_of`].
pub(super) fn direction_of(place: Vec2) -> Vec3 {
    let y = 1.0 - place.x.abs() - place.y.abs();
    let p = if y >= 0.0 { place } else { (1.0 - Vec2::new(place.y.abs(), place.x.abs())) * sign(place) };
    Vec3::new(p.x, y, p.y).normalize_or(Vec3::Y)
}

fn sign(p: Vec2) -> Vec2 {
    Vec2::new(1.0_f32.copysign(p.x), 1.0_f32.copysign(p.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_function_of_direction_comes_back_everywhere() {
        let color = |d: Vec3| Vec3::new(d.x + 1.0, d.y * d.z + 1.0, 1.0 - d.z);
        let map = OctahedralMap::filled(33, color);
        for i in 0..5000 {
            let (a, b) = ((i as f32 * 0.754_877_7).fract(), (i as f32 * 0.569_840_3).fract());
            let (y, turn) = (1.0 - 2.0 * a, std::f32::consts::TAU * b);
            let ring = (1.0 - y * y).sqrt();
            let direction = Vec3::new(ring * turn.cos(), y, ring * turn.sin());
            assert!((direction_of(place_of(direction)) - direction).length() < 1e-4, "{direction}");
            let error = (map.at(direction) - color(direction)).abs().max_element();
            // Bilinear on a grid of 1/16, with creases along the axes' planes.
            assert!(error < 0.02, "{direction}: off by {error}");
        }
    }
}
