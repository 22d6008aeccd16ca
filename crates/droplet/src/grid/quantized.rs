//! Places as whole numbers of steps, 128 to a cell, and boxes of them.
//!
//! The cell of a step is its number without the lowest seven bits, the block of 4 × 4 × 4 cells without the lowest nine. A box round a way is worked out with all axes at
//! once and in short numbers; what they are off by is added to it on every side.

use glam::DVec3;
use wide::{CmpEq, f32x4, i16x8, i32x4, i32x8};

use super::block::PER_BLOCK;
use crate::fast_round::nearest;

/// Steps of a place within a cell.
pub const STEPS: f64 = 128.0;
/// Bits of a step's number within its cell, …
pub const CELL_BITS: u32 = 7;
/// … and of a cell's within its block.
const BLOCK_BITS: u32 = 2;
/// Steps beyond which all places are the same.
const FARTHEST: f64 = (1 << 30) as f64;

/// Least width of cells with which places are told apart this far from the origin, both in m.
pub fn least_width(farthest: f64) -> f64 {
    2.0 * STEPS * farthest / FARTHEST
}

/// Three whole numbers, and a fourth that is zero.
#[derive(Clone, Copy, Debug)]
pub struct GridPoint(i32x4);

impl PartialEq for GridPoint {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.cmp_eq(other.0).move_mask() == 15
    }
}

impl std::ops::Add for GridPoint {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// The step of a point at so many steps per meter: ⌊x⌋, but for a whole number perhaps the one below; the same for every droplet.
#[inline]
pub fn of_point(point: DVec3, steps_per_meter: f64) -> GridPoint {
    let step = |x: f64| nearest((x * steps_per_meter - 0.5).clamp(-FARTHEST, FARTHEST));
    GridPoint::new(point.to_array().map(step))
}

/// A merge_radius (in m) in steps, rounded up.
#[inline]
pub fn of_reach(merge_radius: f32, steps_per_meter: f64) -> i32 {
    nearest(f64::from(merge_radius) * steps_per_meter + 1.5)
}

impl GridPoint {
    /// From its numbers.
    #[inline]
    pub fn new([x, y, z]: [i32; 3]) -> Self {
        Self(i32x4::new([x, y, z, 0]))
    }

    /// Its numbers.
    #[inline]
    pub fn to_array(self) -> [i32; 3] {
        let [x, y, z, _] = self.0.to_array();
        [x, y, z]
    }

    /// The middle of the step.
    #[inline]
    pub fn center(self) -> DVec3 {
        DVec3::from_array(self.to_array().map(f64::from)) + 0.5
    }

    /// The block that it is in.
    #[inline]
    pub fn block(self) -> Self {
        Self(self.0 >> (CELL_BITS + BLOCK_BITS))
    }

    /// The lowest step of a block.
    #[inline]
    pub fn corner_of_block(self) -> Self {
        Self(self.0 << (CELL_BITS + BLOCK_BITS))
    }
}

/// A box round a way, wide enough for all whose middles lie within a distance of the way.
#[derive(Clone, Copy, Debug)]
pub struct QueryBox {
    low: i32x4,
    high: i32x4,
}

impl QueryBox {
    /// Round the way between two points, within `around` (in m).
    #[inline]
    pub fn new(from: DVec3, to: DVec3, around: f64, steps_per_meter: f64) -> Self {
        let in_steps = |point: DVec3| {
            let [x, y, z] = (point * steps_per_meter).to_array().map(|x| x as f32);
            f32x4::new([x, y, z, 0.0])
        };
        let (from, to) = (in_steps(from), in_steps(to));
        // Rounding down to steps, and towards zero, and three roundings of short numbers.
        let margin = (around * steps_per_meter) as f32 + 2.0;
        let margin = f32x4::new([margin, margin, margin, 0.0]);
        let wider = |x: f32x4| margin + x.abs() * f32x4::splat(4.0 * f32::EPSILON);
        let (first, last) = (from.fast_min(to), from.fast_max(to));
        let bound = f32x4::splat(FARTHEST as f32);
        let whole = |x: f32x4| (-bound).fast_max(x).fast_min(bound).fast_trunc_int();
        Self { low: whole(first - wider(first)), high: whole(last + wider(last)) }
    }

    /// The first and the last block in which those stand who merge_radius so many steps into it.
    #[inline]
    pub fn blocks(&self, merge_radius: i32) -> [GridPoint; 2] {
        let merge_radius = i32x4::new([merge_radius, merge_radius, merge_radius, 0]);
        [GridPoint(self.low - merge_radius).block(), GridPoint(self.high + merge_radius).block()]
    }

    /// The first and the last of a block's cells in which those stand, along each axis: the first plus four times the last.
    #[inline]
    pub fn cells_in(&self, block: GridPoint, merge_radius: i32) -> [usize; 3] {
        let merge_radius = i32x4::new([merge_radius, merge_radius, merge_radius, 0]);
        let first = block.0 << BLOCK_BITS;
        let low = (((self.low - merge_radius) >> CELL_BITS) - first).max(i32x4::splat(0));
        let high = (((self.high + merge_radius) >> CELL_BITS) - first).min(i32x4::splat(3));
        let ends: i32x4 = low + (high << BLOCK_BITS);
        let [x, y, z, _] = ends.to_array();
        [x, y, z].map(|ends| ends as usize & 15)
    }

    /// The box as it is seen from a place.
    #[inline]
    pub fn bounds(&self, from: GridPoint) -> Bounds {
        let ([a, b, c, _], [d, e, f, _]) = ((self.low - from.0).to_array(), (self.high - from.0).to_array());
        let bounds = i16x8::from_i32x8_saturate(i32x8::new([a, b, c, 0, d, e, f, 0]));
        Bounds(bounds.max(-Bounds::FAR).min(Bounds::FAR))
    }
}

/// A box in steps, bounds included, as it is seen from nearby: its lower corner, a zero, its upper corner and another. What is far away is as far as need be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds(pub i16x8);

impl Bounds {
    /// Farther than anything in a block can merge_radius.
    const FAR: i16x8 = i16x8::new([16_000; 8]);
    /// A box that holds everything nearby.
    pub const ALL: Self = Self(i16x8::new([-16_000, -16_000, -16_000, 0, 16_000, 16_000, 16_000, 0]));

    /// The same box, seen from the lower corner of a cell of the block from whose corner it was seen.
    #[inline]
    pub fn in_cell(self, within: usize) -> Self {
        Self(self.0 - CORNERS[within])
    }

    /// The place from which `other` is seen as this.
    #[inline]
    pub fn origin_of(self, other: Self) -> GridPoint {
        let [x, y, z, ..] = (other.0 - self.0).to_array().map(i32::from);
        GridPoint::new([x, y, z])
    }
}

/// Lower corners of a block's cells, in steps, twice.
const CORNERS: [i16x8; PER_BLOCK] = {
    let mut corners = [i16x8::new([0; 8]); PER_BLOCK];
    let mut cell = 0;
    while cell < PER_BLOCK {
        let (x, y, z) = ((cell & 3) as i16 * 128, ((cell >> 2) & 3) as i16 * 128, (cell >> 4) as i16 * 128);
        corners[cell] = i16x8::new([x, y, z, 0, x, y, z, 0]);
        cell += 1;
    }
    corners
};
