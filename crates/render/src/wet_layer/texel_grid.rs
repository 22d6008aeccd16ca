//! Where the texels of a wet map lie on a solid, and how they are stretched there.
//!
//! Near the pole of a sphere a texel is a tenth as wide as high, and facets there have gaps between
//! them in texture coordinates. What is smooth on the solid has other widths, in texels, than
//! elsewhere, and texels of the gaps have no value.

use glam::{Vec2, Vec3};

/// Largest stretch, and the least one that is not neglected.
const LARGEST: f32 = 64.0;
const LEAST: f32 = 1.5;

/// Texels whose center is this far outside of a triangle, in texels, still lie on it.
const BORDER: f32 = 0.01;

/// A triangle of a solid: its corners, in m, and their texture coordinates.
pub type TexturedTriangle = ([Vec3; 3], [Vec2; 3]);

/// The texels that lie on a solid, and their stretch.
#[derive(Clone, Debug)]
pub struct TexelGrid {
    /// Whether each texel's center lies on the solid, rows from the top.
    pub on_solid: Vec<bool>,
    /// For each row, by how much its texels are higher than wide, at least 1.
    pub narrow: Vec<f32>,
    /// For each column, by how much its texels are wider than high, at least 1.
    pub flat: Vec<f32>,
}

/// Sum of ratios, and their number.
type Mean = (f32, u32);

impl TexelGrid {
    /// The grid of a map of this size. Without texture coordinates all texels count as squares on
    /// the solid.
    pub fn new(width: usize, height: usize, triangles: impl Iterator<Item = TexturedTriangle>) -> Self {
        let mut on_solid = vec![false; width * height];
        let (mut rows, mut columns): (Vec<Mean>, Vec<Mean>) = (vec![(0.0, 0); height], vec![(0.0, 0); width]);
        let size = Vec2::new(width as f32, height as f32);
        for (corners, uvs) in triangles {
            let places = uvs.map(|uv| Vec2::new(uv.x, 1.0 - uv.y) * size);
            let Some(narrow) = ratio(corners, places) else { continue };
            for_each_texel(places, [width, height], |column, row| {
                on_solid[row * width + column] = true;
                for (mean, ratio) in [(&mut rows[row], narrow), (&mut columns[column], 1.0 / narrow)] {
                    mean.0 += ratio;
                    mean.1 += 1;
                }
            });
        }
        if !on_solid.contains(&true) {
            on_solid.fill(true);
        }
        let stretches = |means: Vec<Mean>| means.into_iter().map(stretch).collect();
        Self { on_solid, narrow: stretches(rows), flat: stretches(columns) }
    }
}

/// A mean ratio as a stretch.
fn stretch((sum, count): Mean) -> f32 {
    let mean = sum / count.max(1) as f32;
    if mean >= LEAST { mean.min(LARGEST) } else { 1.0 }
}

/// Height over width of the texels on a triangle; `None` if it has no area in the map.
fn ratio([a, b, c]: [Vec3; 3], [p, q, r]: [Vec2; 3]) -> Option<f32> {
    let (e1, e2, d1, d2) = (b - a, c - a, q - p, r - p);
    let area = d1.perp_dot(d2);
    let (across, down) = ((e1 * d2.y - e2 * d1.y) / area, (e2 * d1.x - e1 * d2.x) / area);
    let ratio = down.length() / across.length();
    (area != 0.0 && ratio.is_finite()).then(|| ratio.clamp(1.0 / LARGEST, LARGEST))
}

/// Calls `visit` with column and row of the texels whose centers lie in a triangle (in texels).
fn for_each_texel([a, b, c]: [Vec2; 3], [width, height]: [usize; 2], mut visit: impl FnMut(usize, usize)) {
    let (low, high) = (a.min(b).min(c) - BORDER, a.max(b).max(c) + BORDER);
    let range = |low: f32, high: f32, count: usize| {
        let first = (low - 0.5).ceil().clamp(0.0, count as f32);
        first as usize..((high + 0.5).floor().clamp(0.0, count as f32) as usize).max(first as usize)
    };
    for row in range(low.y, high.y, height) {
        let y = row as f32 + 0.5;
        // Where the line of centers crosses the edges.
        let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let y = y.clamp(low.y + BORDER, high.y - BORDER);
            if from.y.min(to.y) <= y && y <= from.y.max(to.y) {
                let part = if to.y == from.y { [0.0, 1.0] } else { [(y - from.y) / (to.y - from.y); 2] };
                for x in part.map(|part| from.x + part * (to.x - from.x)) {
                    (left, right) = (left.min(x), right.max(x));
                }
            }
        }
        if left <= right {
            range(left - BORDER, right + BORDER, width).for_each(|column| visit(column, row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_of_a_square_cover_all_texels_evenly() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let at = |k: [usize; 3]| (k.map(|k| corners[k]), k.map(|k| corners[k].truncate()));
        let grid = TexelGrid::new(7, 9, [at([0, 1, 2]), at([0, 2, 3])].into_iter());
        assert!(grid.on_solid.iter().all(|&on| on));
        assert!(grid.narrow.iter().chain(&grid.flat).all(|&stretch| stretch == 1.0));
    }

    /// A fan about a pole: texels are narrow there, and those between its facets lie on none.
    #[test]
    fn texels_near_a_pole_are_narrow_and_some_lie_on_no_facet() {
        let count = 8;
        let facet = |i: usize| {
            let ring = |i: usize| Vec3::new((0.785 * i as f32).cos(), (0.785 * i as f32).sin(), 0.0);
            let u = |i: f32| i / count as f32;
            let uvs =
                [Vec2::new(u(i as f32), 0.0), Vec2::new(u(i as f32 + 1.0), 0.0), Vec2::new(u(i as f32 + 0.5), 1.0)];
            ([ring(i), ring(i + 1), Vec3::ZERO], uvs)
        };
        let grid = TexelGrid::new(80, 10, (0..count).map(facet));
        // An edge of the ring is 0.77 long and the facets' height 0.92; both have ten texels.
        let count_on = |row: usize| grid.on_solid[80 * row..80 * (row + 1)].iter().filter(|&&on| on).count();
        assert!(count_on(9) >= 72 && count_on(0) <= 16, "{} and {}", count_on(9), count_on(0));
        assert!(grid.narrow.iter().all(|&stretch| stretch == 1.0));
        let long = TexelGrid::new(800, 10, (0..count).map(facet));
        assert!(long.narrow.iter().all(|&stretch| (9.0..14.0).contains(&stretch)), "{:?}", long.narrow);
    }
}
