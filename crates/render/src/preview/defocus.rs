//! Depth of field of drops: each point of a drop is spread over its blur disc.
//!
//! Through a lens of radius a focused at depth F, a point at depth z becomes a disc of radius
//! a |1/z − 1/F| in the image (potmesil1982). The drops of an image are a layer with color and
//! coverage, both averaged over the disc; what the drops leave uncovered shows the view without
//! them:
//!
//! ```text
//! image = mean(drops) + (1 − mean(coverage)) · clean
//! ```
//!
//! This neglects that the lens sees a drop from several directions. The disc's radius is that of
//! the drops nearby, weighted by coverage, found on a coarse grid and interpolated. Means over a
//! disc are exact: each of its rows is the difference of two sums along the row.

use glam::Vec3;
use rayon::prelude::*;

/// Side of the cells of the grid of blur radii, in pixels.
const CELL: usize = 8;

/// Values that are averaged: color, coverage, and coverage times blur radius.
const CHANNELS: usize = 5;

/// Drops of an image, separate from what lies behind.
pub(super) struct DropLayer {
    pub size: [usize; 2],
    /// Color times coverage.
    pub color: Vec<Vec3>,
    /// Fraction of each pixel that shows drops.
    pub coverage: Vec<f32>,
    /// Radius of the blur disc of each pixel, in pixels.
    pub radius: Vec<f32>,
}

/// Sums along the rows of an image, from the left border.
struct RowSums {
    size: [usize; 2],
    sums: Vec<[f64; CHANNELS]>,
}

impl DropLayer {
    /// The largest blur radius, in pixels.
    pub fn largest_radius(&self) -> f32 {
        self.coverage.iter().zip(&self.radius).filter(|(c, _)| **c > 0.0).map(|(_, &r)| r).fold(0.0, f32::max)
    }

    /// Color and coverage of every pixel, spread over the blur discs.
    pub fn blurred(&self) -> Vec<(Vec3, f32)> {
        let [width, height] = self.size;
        let sums = RowSums::new(self);
        let largest = self.largest_radius();
        let cells = [width.div_ceil(CELL) + 1, height.div_ceil(CELL) + 1];
        let cell = |i: usize| {
            let at = [(i % cells[0] * CELL) as f64, (i / cells[0] * CELL) as f64];
            let [.., coverage, weighted] = sums.over_disc(at, f64::from(largest) + CELL as f64).0;
            (coverage > 0.0).then(|| weighted / coverage)
        };
        let radii: Vec<Option<f64>> = (0..cells[0] * cells[1]).into_par_iter().map(cell).collect();
        let pixel = |i: usize| {
            let (x, y) = (i % width, i / width);
            let Some(radius) = interpolated(&radii, cells[0], x, y) else { return (Vec3::ZERO, 0.0) };
            let (mean, area) = sums.over_disc([x as f64 + 0.5, y as f64 + 0.5], radius.max(0.5));
            let [red, green, blue, coverage, _] = mean.map(|sum| (sum / area.max(1e-9)) as f32);
            (Vec3::new(red, green, blue), coverage.clamp(0.0, 1.0))
        };
        (0..width * height).into_par_iter().map(pixel).collect()
    }
}

/// The blur radius at a pixel's center, interpolated between the corners of its cell that have one.
fn interpolated(radii: &[Option<f64>], columns: usize, x: usize, y: usize) -> Option<f64> {
    let [u, v] = [x, y].map(|at| ((at % CELL) as f64 + 0.5) / CELL as f64);
    let corner = |dx: usize, dy: usize| radii[(y / CELL + dy) * columns + x / CELL + dx];
    let weights = [(0, 0, (1.0 - u) * (1.0 - v)), (1, 0, u * (1.0 - v)), (0, 1, (1.0 - u) * v), (1, 1, u * v)];
    let known = weights.into_iter().filter_map(|(dx, dy, weight)| Some((weight, corner(dx, dy)?)));
    let (total, sum) = known.fold((0.0, 0.0), |(total, sum), (weight, radius)| (total + weight, sum + weight * radius));
    (total > 0.0).then(|| sum / total)
}

impl RowSums {
    fn new(layer: &DropLayer) -> Self {
        let [width, height] = layer.size;
        let mut sums = vec![[0.0; CHANNELS]; (width + 1) * height];
        sums.par_chunks_mut(width + 1).enumerate().for_each(|(y, row)| {
            for x in 0..width {
                let i = y * width + x;
                let (color, coverage) = (layer.color[i].as_dvec3(), f64::from(layer.coverage[i]));
                let value = [color.x, color.y, color.z, coverage, coverage * f64::from(layer.radius[i])];
                row[x + 1] = std::array::from_fn(|c| row[x][c] + value[c]);
            }
        });
        Self { size: layer.size, sums }
    }

    /// Sums over the part of a disc that lies in the image, and the area of that part.
    fn over_disc(&self, [x, y]: [f64; 2], radius: f64) -> ([f64; CHANNELS], f64) {
        let [width, height] = self.size;
        let first = (y - radius).floor().max(0.0) as usize;
        let last = ((y + radius).ceil().max(0.0) as usize).min(height);
        let (mut total, mut area) = ([0.0; CHANNELS], 0.0);
        for row in first..last {
            let down = row as f64 + 0.5 - y;
            let half = (radius * radius - down * down).max(0.0).sqrt();
            let (low, high) = ((x - half).max(0.0), (x + half).min(width as f64));
            if low >= high {
                continue;
            }
            let (from, to) = (self.up_to(row, low), self.up_to(row, high));
            (0..CHANNELS).for_each(|c| total[c] += to[c] - from[c]);
            area += high - low;
        }
        (total, area)
    }

    /// The sum along a row up to a position between pixels.
    fn up_to(&self, row: usize, x: f64) -> [f64; CHANNELS] {
        let sums = &self.sums[row * (self.size[0] + 1)..][..=self.size[0]];
        let before = (x as usize).min(self.size[0] - 1);
        let part = x - before as f64;
        std::array::from_fn(|c| sums[before][c] + part * (sums[before + 1][c] - sums[before][c]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer with one covered square and one blur radius.
    fn square(side: usize, low: usize, high: usize, radius: f32) -> DropLayer {
        let inside = |i: usize| (low..high).contains(&(i % side)) && (low..high).contains(&(i / side));
        let coverage: Vec<f32> = (0..side * side).map(|i| if inside(i) { 1.0 } else { 0.0 }).collect();
        DropLayer {
            size: [side, side],
            color: coverage.iter().map(|&c| c * Vec3::new(1.0, 2.0, 3.0)).collect(),
            radius: vec![radius; side * side],
            coverage,
        }
    }

    #[test]
    fn blurring_keeps_the_covered_area_and_spreads_it_over_the_disc() {
        let layer = square(64, 28, 36, 9.0);
        let blurred = layer.blurred();
        let total: f32 = blurred.iter().map(|(_, coverage)| coverage).sum();
        assert!((total / 64.0 - 1.0).abs() < 0.02, "{total} of 64 pixels");
        // The disc of 254 pixels contains the whole square.
        let middle = blurred[32 * 64 + 32];
        assert!((middle.1 - 64.0 / 254.5).abs() < 0.01, "{}", middle.1);
        assert!((middle.0 - middle.1 * Vec3::new(1.0, 2.0, 3.0)).abs().max_element() < 1e-4, "{}", middle.0);
        assert_eq!(blurred[0].1, 0.0);
    }

    #[test]
    fn drops_in_focus_stay_sharp_and_borders_are_not_darkened() {
        let layer = square(32, 8, 16, 0.0);
        let blurred = layer.blurred();
        assert!(blurred.iter().zip(&layer.coverage).all(|((_, found), expected)| (found - expected).abs() < 1e-6));
        let full = square(32, 0, 32, 6.0).blurred();
        assert!(full.iter().all(|(_, coverage)| (coverage - 1.0).abs() < 1e-6));
    }
}
