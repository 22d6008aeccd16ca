//! Depth of field of a whole preview: every pixel is spread over its blur disc.
//!
//! Through a lens of radius a focused at depth F, a point at depth z becomes a disc of radius
//! a |1/z − 1/F| in the image (potmesil1982). A pixel gathers from the discs around it. Those of
//! points in front of it cover it by the sum α of their parts, its own depth and what lies behind
//! fill the rest:
//!
//! ```text
//! image = α · mean(front) + (1 − α) · mean(own and behind)
//! ```
//!
//! What lies behind is not spread over what is sharp before it. The lens sees what a pinhole sees:
//! parts that are hidden by something out of focus are filled with their surroundings. Highlights
//! are spread apart ([`super::bright_discs`]).

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::bright_discs::bright_discs;

/// Places at which a pixel looks for discs that cover it, on a spiral of uniform density, per pixel
/// of the largest disc, and their least and greatest number.
const TAPS_PER_PIXEL: f32 = 0.3;
const TAPS: [f32; 2] = [16.0, 384.0];

/// Side of the tiles that share the largest radius of their surroundings, in pixels.
const TILE: usize = 16;

/// A point is in front of another if its inverse depth is larger by this fraction.
pub(super) const IN_FRONT: f32 = 0.02;

/// Radius of the disc of a pixel in focus, in pixels.
const SHARP_RADIUS: f32 = 0.5;

/// An image with the depth of its pixels.
pub(super) struct Focused<'a> {
    pub size: [usize; 2],
    pub color: &'a [Vec3],
    /// Inverse depth of each pixel, in 1/m; 0 where it shows the environment.
    pub near: &'a [f32],
    /// Radius of the blur disc of each pixel, in pixels.
    pub radius: &'a [f32],
}

/// What a gathering pixel reads of another one, side by side in memory.
#[derive(Clone, Copy)]
struct Disc {
    color: Vec3,
    near: f32,
    radius: f32,
}

impl Focused<'_> {
    /// The colors, out of focus.
    pub fn blurred(&self) -> Vec<Vec3> {
        let [width, height] = self.size;
        let reaches = self.reaches();
        let mut color = self.color.to_vec();
        let bright = bright_discs(self, &mut color);
        let disc = |i: usize| Disc { color: color[i], near: self.near[i], radius: self.radius[i].max(SHARP_RADIUS) };
        let discs: Vec<Disc> = (0..width * height).map(disc).collect();
        let columns = width.div_ceil(TILE);
        // Points of a unit density; successive ones turn by the golden angle.
        let point = |k: u16| (f32::from(k) + 0.5).sqrt() * Vec2::from_angle(2.399_963_2 * f32::from(k));
        let spiral: Vec<Vec2> = (0..TAPS[1] as u16).map(point).collect();
        let pixel = |i: usize| {
            let (x, y) = (i % width, i / width);
            let at = Vec2::new(x as f32, y as f32);
            let gathered = self.gather(&discs, i, at, reaches[y / TILE * columns + x / TILE], &spiral);
            gathered + bright.get(i).copied().unwrap_or_default()
        };
        (0..width * height).into_par_iter().map(pixel).collect()
    }

    /// The largest radius of the discs that may reach each tile.
    fn reaches(&self) -> Vec<f32> {
        let [width, height] = self.size;
        let cells = [width.div_ceil(TILE), height.div_ceil(TILE)];
        let mut largest = vec![0.0_f32; cells[0] * cells[1]];
        for (i, &radius) in self.radius.iter().enumerate() {
            let tile = &mut largest[i / width / TILE * cells[0] + i % width / TILE];
            *tile = tile.max(radius);
        }
        let overall = largest.iter().copied().fold(0.0, f32::max);
        let steps = (overall / TILE as f32).ceil() as usize;
        let around = |tile: usize| {
            let (column, row) = (tile % cells[0], tile / cells[0]);
            let rows = row.saturating_sub(steps)..(row + steps + 1).min(cells[1]);
            let mut reach = 0.0_f32;
            for (r, c) in rows
                .flat_map(|r| (column.saturating_sub(steps)..(column + steps + 1).min(cells[0])).map(move |c| (r, c)))
            {
                let apart = r.abs_diff(row).max(c.abs_diff(column)).saturating_sub(1) * TILE;
                let radius = largest[r * cells[0] + c];
                if radius >= apart as f32 {
                    reach = reach.max(radius);
                }
            }
            reach
        };
        (0..largest.len()).map(around).collect()
    }

    /// The color of a pixel from the discs within `reach`.
    fn gather(&self, discs: &[Disc], i: usize, at: Vec2, reach: f32, spiral: &[Vec2]) -> Vec3 {
        if reach <= SHARP_RADIUS {
            return discs[i].color;
        }
        let [width, height] = self.size;
        let taps = (TAPS_PER_PIXEL * std::f32::consts::PI * reach * reach).clamp(TAPS[0], TAPS[1]).floor();
        let area_of_tap = reach * reach / taps;
        // Each pixel turns the spiral, so that what lies between its points leaves no pattern.
        let turn =
            Vec2::from_angle((i as u32).wrapping_mul(0x9e37_79b9) as f32 * (std::f32::consts::TAU / 4_294_967_296.0));
        let scale = reach / taps.sqrt();
        let Disc { color, near, radius: own_radius } = discs[i];
        let front_near = near * (1.0 + IN_FRONT);
        let (mut front, mut covered) = (Vec3::ZERO, 0.0_f32);
        // The pixel itself, one of its disc's.
        let weight = 1.0 / (std::f32::consts::PI * own_radius * own_radius);
        let (mut own, mut own_weight) = (weight * color, weight);
        for offset in &spiral[..taps as usize] {
            // The pixel at a rounded place; rounding itself would be a function call.
            let place = at + 0.5 + scale * turn.rotate(*offset);
            if !(place.x >= 0.0 && place.y >= 0.0 && place.x < width as f32 && place.y < height as f32) {
                continue;
            }
            let (x, y) = (place.x as i32 as f32, place.y as i32 as f32);
            let other = place.y as usize * width + place.x as usize;
            if other == i {
                continue;
            }
            let Disc { color, near, radius } = discs[other];
            let is_front = near > front_near;
            let radius = if is_front { radius } else { radius.min(own_radius) };
            let inside = (radius + 0.5 - at.distance(Vec2::new(x, y))).clamp(0.0, 1.0);
            let weight = area_of_tap * inside / (radius * radius);
            if is_front {
                front += weight * color;
                covered += weight;
            } else {
                own += weight * color;
                own_weight += weight;
            }
        }
        let share = covered.min(1.0);
        let front = if covered > 0.0 { front / covered } else { Vec3::ZERO };
        share * front + (1.0 - share) * own / own_weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// The left half of an image before its right half, each with its color and blur radius.
    fn halves(colors: [f32; 2], near: [f32; 2], radius: [f32; 2]) -> Vec<f32> {
        let side = |i: usize| usize::from(i % SIDE >= SIDE / 2);
        let count = SIDE * SIDE;
        let color: Vec<Vec3> = (0..count).map(|i| Vec3::splat(colors[side(i)])).collect();
        let near: Vec<f32> = (0..count).map(|i| near[side(i)]).collect();
        let radius: Vec<f32> = (0..count).map(|i| radius[side(i)]).collect();
        let image = Focused { size: [SIDE; 2], color: &color, near: &near, radius: &radius };
        image.blurred().iter().skip(SIDE * SIDE / 2).take(SIDE).map(|color| color.x).collect()
    }

    #[test]
    fn an_even_image_stays_even_whatever_is_out_of_focus() {
        for radius in [[0.0, 0.0], [6.0, 6.0], [0.0, 9.0], [9.0, 2.0]] {
            let row = halves([0.7, 0.7], [2.0, 1.0], radius);
            assert!(row.iter().all(|value| (value - 0.7).abs() < 1e-5), "{radius:?}: {row:?}");
        }
    }

    #[test]
    fn a_sharp_front_hides_what_is_blurred_behind_it_and_a_blurred_front_covers_what_is_sharp() {
        let row = halves([1.0, 0.0], [2.0, 1.0], [0.0, 8.0]);
        assert!(row[..SIDE / 2].iter().all(|value| *value > 0.99), "{row:?}");
        assert!(row[SIDE / 2 + 1..].iter().all(|value| *value < 0.02), "{row:?}");
        let row = halves([1.0, 0.0], [2.0, 1.0], [8.0, 0.0]);
        // Half of a disc at the border covers half of the light; two thirds of its radius away it
        // covers 11 %.
        assert!((row[SIDE / 2] - 0.5).abs() < 0.15, "{row:?}");
        assert!((row[SIDE / 2 + 5] - 0.11).abs() < 0.08, "{row:?}");
        assert!(row[SIDE / 2 + 9..].iter().all(|value| *value < 1e-3), "{row:?}");
    }
}
