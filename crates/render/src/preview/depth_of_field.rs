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

use glam::{Vec2, Vec3, Vec4};
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

/// Directions that the spiral is turned to. Each pixel has one of them, so that what lies between
/// the spiral's points leaves no pattern.
const TURNS: u32 = 16;

/// What a gathering pixel reads of another one, side by side in memory.
#[derive(Clone, Copy)]
struct Disc {
    /// Color, and 1: a weighted sum of it has the sum of the weights.
    color: Vec4,
    near: f32,
    radius: f32,
    /// Light per area of the disc: 1 / radius².
    density: f32,
}

/// A pixel at which another one looks, relative to that.
#[derive(Clone, Copy)]
struct Tap {
    offset: [i32; 2],
    distance: f32,
}

/// The taps of all pixels that share a reach, turn by turn.
struct Taps {
    taps: Vec<Tap>,
    of_a_turn: usize,
    /// Area of the image that a tap stands for, in pixels.
    area: f32,
}

impl Focused<'_> {
    /// The colors, out of focus.
    pub fn blurred(&self) -> Vec<Vec3> {
        let [width, height] = self.size;
        let reaches = self.reaches();
        let mut color = self.color.to_vec();
        let bright = bright_discs(self, &mut color);
        let disc = |i: usize| {
            let radius = self.radius[i].max(SHARP_RADIUS);
            Disc { color: color[i].extend(1.0), near: self.near[i], radius, density: 1.0 / (radius * radius) }
        };
        let discs: Vec<Disc> = (0..width * height).map(disc).collect();
        let spiral = spiral();
        let columns = width.div_ceil(TILE);
        let tile = |tile: usize| -> Vec<Vec3> {
            let taps = (reaches[tile] > SHARP_RADIUS).then(|| Taps::new(reaches[tile], &spiral));
            let pixels = pixels_of(tile, columns, self.size);
            pixels
                .map(|[x, y]| taps.as_ref().map_or(color[y * width + x], |taps| self.gather(&discs, [x, y], taps)))
                .collect()
        };
        let tiles: Vec<Vec<Vec3>> = (0..reaches.len()).into_par_iter().map(tile).collect();
        for (tile, blurred) in tiles.iter().enumerate() {
            for ([x, y], blurred) in pixels_of(tile, columns, self.size).zip(blurred) {
                let i = y * width + x;
                color[i] = *blurred + bright.get(i).copied().unwrap_or_default();
            }
        }
        color
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

    /// The color of a pixel from the discs at its taps.
    fn gather(&self, discs: &[Disc], [x, y]: [usize; 2], taps: &Taps) -> Vec3 {
        let [width, height] = self.size;
        let i = y * width + x;
        let own = discs[i];
        let front_near = own.near * (1.0 + IN_FRONT);
        let (mut front, mut rest) = (Vec4::ZERO, Vec4::ZERO);
        for tap in taps.of_pixel(i) {
            // Coordinates below zero wrap and are beyond the image too.
            let [x, y] = [x.wrapping_add_signed(tap.offset[0] as isize), y.wrapping_add_signed(tap.offset[1] as isize)];
            if x >= width || y >= height {
                continue;
            }
            let other = discs[y * width + x];
            let is_front = other.near > front_near;
            let (radius, density) = if is_front {
                (other.radius, other.density)
            } else {
                (other.radius.min(own.radius), other.density.max(own.density))
            };
            let weight = density * (radius + 0.5 - tap.distance).clamp(0.0, 1.0);
            let of_front = if is_front { weight } else { 0.0 };
            front += of_front * other.color;
            rest += (weight - of_front) * other.color;
        }
        // The pixel itself is one of its disc's.
        let (front, rest) = (taps.area * front, taps.area * rest + own.density / std::f32::consts::PI * own.color);
        let share = front.w.min(1.0);
        let front = if front.w > 0.0 { front.truncate() / front.w } else { Vec3::ZERO };
        share * front + (1.0 - share) * rest.truncate() / rest.w
    }
}

/// Points of a unit density; successive ones turn by the golden angle.
fn spiral() -> Vec<Vec2> {
    let point = |k: u16| (f32::from(k) + 0.5).sqrt() * Vec2::from_angle(2.399_963_2 * f32::from(k));
    (0..TAPS[1] as u16).map(point).collect()
}

/// The nearest integer to a coordinate in an image; `f32::round` is a function call.
fn rounded(coordinate: f32) -> i32 {
    const BEYOND: f32 = 16_384.0;
    (coordinate + BEYOND + 0.5) as i32 - BEYOND as i32
}

/// The pixels of a tile, row by row.
fn pixels_of(tile: usize, columns: usize, [width, height]: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
    let [left, top] = [tile % columns * TILE, tile / columns * TILE];
    (top..(top + TILE).min(height)).flat_map(move |y| (left..(left + TILE).min(width)).map(move |x| [x, y]))
}

impl Taps {
    fn new(reach: f32, spiral: &[Vec2]) -> Self {
        let count = (TAPS_PER_PIXEL * std::f32::consts::PI * reach * reach).clamp(TAPS[0], TAPS[1]).floor();
        let scale = reach / count.sqrt();
        let mut taps = Vec::with_capacity(TURNS as usize * count as usize);
        for turn in 0..TURNS {
            let turn = Vec2::from_angle(std::f32::consts::TAU * turn as f32 / TURNS as f32);
            for point in &spiral[..count as usize] {
                let offset = (scale * turn.rotate(*point)).to_array().map(rounded);
                let distance = Vec2::from_array(offset.map(|n| n as f32)).length();
                taps.push(Tap { offset, distance });
            }
        }
        Self { taps, of_a_turn: count as usize, area: reach * reach / count }
    }

    /// The taps of a pixel, without itself.
    fn of_pixel(&self, i: usize) -> impl Iterator<Item = &Tap> {
        // The high bits of Fibonacci hashing.
        let turn = (i as u32).wrapping_mul(0x9e37_79b9) >> (32 - TURNS.ilog2());
        let start = turn as usize * self.of_a_turn;
        self.taps[start..start + self.of_a_turn].iter().filter(|tap| tap.distance > 0.0)
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
