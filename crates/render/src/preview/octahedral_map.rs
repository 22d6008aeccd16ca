//! Octahedral map: colors over all directions, with the sphere unfolded onto a square
//! (cigolle2014).
//!
//! Texels lie on a grid that includes its borders: texels that represent the same direction have
//! the same value, so there is no seam.

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
            color(direction_from_octahedral(place))
        };
        Self { side, texels: (0..side * side).into_par_iter().map(texel).collect() }
    }

    /// The color in a direction of unit length.
    pub fn at(&self, direction: Vec3) -> Vec3 {
        let last = self.side - 1;
        let at = (0.5 * octahedral_from_direction(direction) + 0.5) * last as f32;
        let (x, y) = ((at.x as usize).min(last - 1), (at.y as usize).min(last - 1));
        let (fx, fy) = (at.x - x as f32, at.y - y as f32);
        let row = &self.texels[y * self.side + x..];
        let (a, b, c, d) = (row[0], row[1], row[self.side], row[self.side + 1]);
        a.lerp(b, fx).lerp(c.lerp(d, fx), fy)
    }
}

/// Maps a direction to the square [−1, 1]², +y at its center, −y at its corners.
pub(super) fn octahedral_from_direction(direction: Vec3) -> Vec2 {
    let p = Vec2::new(direction.x, direction.z) / (direction.abs().element_sum()).max(1e-20);
    if direction.y >= 0.0 { p } else { (1.0 - Vec2::new(p.y.abs(), p.x.abs())) * sign(p) }
}

/// Inverse of [`octahedral_from_direction`].
pub(super) fn direction_from_octahedral(place: Vec2) -> Vec3 {
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
    fn a_smooth_function_is_reproduced_in_all_directions() {
        let color = |d: Vec3| Vec3::new(d.x + 1.0, d.y * d.z + 1.0, 1.0 - d.z);
        let map = OctahedralMap::filled(33, color);
        for i in 0..5000 {
            let (a, b) = ((i as f32 * 0.754_877_7).fract(), (i as f32 * 0.569_840_3).fract());
            let (y, turn) = (1.0 - 2.0 * a, std::f32::consts::TAU * b);
            let ring = (1.0 - y * y).sqrt();
            let direction = Vec3::new(ring * turn.cos(), y, ring * turn.sin());
            assert!(
                (direction_from_octahedral(octahedral_from_direction(direction)) - direction).length() < 1e-4,
                "{direction}"
            );
            let error = (map.at(direction) - color(direction)).abs().max_element();
            // Bilinear on a grid of 1/16, with creases along the coordinate planes.
            assert!(error < 0.02, "{direction}: off by {error}");
        }
    }
}
