//! Highlights out of focus: each is spread over its blur disc.
//!
//! A pixel that gathers from its surroundings looks at some of the places there only, and finds a
//! highlight of a pixel or two by chance: its disc would be a cloud of dots. So what exceeds a
//! multiple of the mean luminance around a pixel is taken out of the image and added to all pixels
//! of its disc, except where something nearer is seen.

use glam::Vec3;
use rayon::prelude::*;
use sessile_appearance::luminance;

use super::depth_of_field::{Focused, IN_FRONT};

/// Luminance from which light is spread, in means of the surroundings: at most every fourth pixel
/// has more.
const BRIGHT: f32 = 4.0;

/// Side of the cells whose luminance is averaged, in pixels; the surroundings are 3 × 3 of them.
const CELL: usize = 16;

/// Blur radius from which a pixel's light is spread, in pixels.
const LEAST_RADIUS: f32 = 1.0;

/// Rows that are filled together.
const BAND: usize = 8;

/// Light to be spread.
struct BrightPixel {
    at: [usize; 2],
    light: Vec3,
    radius: f32,
    near: f32,
}

/// Takes the highlights out of `color`, a copy of the image's, and returns the light of their
/// discs; empty without any.
pub(super) fn bright_discs(image: &Focused<'_>, color: &mut [Vec3]) -> Vec<Vec3> {
    let width = image.size[0];
    let bright = take_bright_pixels(image, color);
    if bright.is_empty() {
        return Vec::new();
    }
    let mut spread = vec![Vec3::ZERO; color.len()];
    spread.par_chunks_mut(BAND * width).enumerate().for_each(|(band, pixels)| {
        for source in &bright {
            source.spread(image, BAND * band, pixels);
        }
    });
    spread
}

fn take_bright_pixels(image: &Focused<'_>, color: &mut [Vec3]) -> Vec<BrightPixel> {
    let [width, height] = image.size;
    let cells = [width.div_ceil(CELL), height.div_ceil(CELL)];
    let mut sums = vec![(0.0_f32, 0.0_f32); cells[0] * cells[1]];
    for (i, color) in color.iter().enumerate() {
        let sum = &mut sums[i / width / CELL * cells[0] + i % width / CELL];
        *sum = (sum.0 + luminance(*color), sum.1 + 1.0);
    }
    let around = |cell: usize| {
        let near = |at: usize, count: usize| at.saturating_sub(1)..(at + 2).min(count);
        let (column, row) = (cell % cells[0], cell / cells[0]);
        let neighbors = near(row, cells[1]).flat_map(|y| near(column, cells[0]).map(move |x| y * cells[0] + x));
        let (sum, count) = neighbors.fold((0.0, 0.0), |all, cell| (all.0 + sums[cell].0, all.1 + sums[cell].1));
        BRIGHT * sum / count
    };
    let most: Vec<f32> = (0..sums.len()).map(around).collect();
    let mut bright = Vec::new();
    for (i, color) in color.iter_mut().enumerate().filter(|(i, _)| image.radius[*i] >= LEAST_RADIUS) {
        let (x, y) = (i % width, i / width);
        let left = most[y / CELL * cells[0] + x / CELL] / luminance(*color);
        if left < 1.0 {
            let (light, radius, near) = (*color * (1.0 - left), image.radius[i], image.near[i]);
            *color *= left;
            bright.push(BrightPixel { at: [x, y], light, radius, near });
        }
    }
    bright
}

impl BrightPixel {
    /// Adds its disc to the pixels from row `first` on.
    fn spread(&self, image: &Focused<'_>, first: usize, pixels: &mut [Vec3]) {
        let width = image.size[0];
        let reach = (self.radius + 0.5) as usize;
        let rows =
            self.at[1].saturating_sub(reach).max(first)..(self.at[1] + reach + 1).min(first + pixels.len() / width);
        let columns = self.at[0].saturating_sub(reach)..(self.at[0] + reach + 1).min(width);
        let light = self.light / (std::f32::consts::PI * self.radius * self.radius);
        for y in rows {
            for x in columns.clone() {
                let [across, down] = [x.abs_diff(self.at[0]), y.abs_diff(self.at[1])].map(|d| d as f32);
                let inside = (self.radius + 0.5 - across.hypot(down)).clamp(0.0, 1.0);
                if image.near[y * width + x] <= self.near * (1.0 + IN_FRONT) {
                    pixels[(y - first) * width + x] += inside * light;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_highlight_out_of_focus_is_an_even_disc_of_the_same_light_behind_what_is_nearer() {
        let size = [64, 48];
        let at = |x: usize, y: usize| y * size[0] + x;
        let mut color = vec![Vec3::splat(0.1); size[0] * size[1]];
        color[at(30, 20)] = Vec3::splat(500.0);
        // Nearer from column 34 on.
        let near: Vec<f32> = (0..color.len()).map(|i| if i % size[0] < 34 { 1.0 } else { 2.0 }).collect();
        let radius = vec![9.0; color.len()];
        for (covered, near) in [(false, vec![1.0; color.len()]), (true, near)] {
            let image = Focused { size, color: &color, near: &near, radius: &radius };
            let shown = image.blurred();
            let expected = 500.0 / (std::f32::consts::PI * 81.0);
            for (x, y) in [(30, 20), (27, 16), (24, 22), (31, 26)] {
                let value = shown[at(x, y)].x - 0.1;
                assert!((value / expected - 1.0).abs() < 0.02, "{value} at {x}, {y} for {expected}");
            }
            assert!((shown[at(36, 20)].x - 0.1 > 0.9 * expected) != covered, "{}", shown[at(36, 20)].x);
            let total: f32 = shown.iter().map(|color| color.x - 0.1).sum();
            assert!(covered || (total / 500.0 - 1.0).abs() < 0.02, "{total}");
        }
    }
}
