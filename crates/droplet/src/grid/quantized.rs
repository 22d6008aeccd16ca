//! Quantized coordinates, 128 units to a cell, and boxes of them.
//!
//! The cell of a coordinate is the number without its lowest seven bits, the block of 4 × 4 × 4
//! cells the number without its lowest nine. The box of a query is computed for all axes at once in
//! single precision; its rounding error is added on every side.

use glam::DVec3;
use wide::{CmpEq, f32x4, i16x8, i32x4, i32x8};

use super::block::PER_BLOCK;
use crate::fast_round::nearest;

/// Units per cell.
pub const UNITS_PER_CELL: f64 = 128.0;
/// Bits of a coordinate within its cell.
pub const CELL_BITS: u32 = 7;
/// Bits of a cell within its block.
const BLOCK_BITS: u32 = 2;
/// Coordinates are clamped to this magnitude.
const FARTHEST: f64 = (1 << 30) as f64;

/// Least cell width for which points this far from the origin are distinguished, both in m.
pub fn least_width(farthest: f64) -> f64 {
    2.0 * UNITS_PER_CELL * farthest / FARTHEST
}

/// Three integer coordinates and a fourth that is zero.
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

/// The coordinates of a point: ⌊x⌋, or one less for an integer; the same for every droplet.
#[inline]
pub fn of_point(point: DVec3, units_per_meter: f64) -> GridPoint {
    let step = |x: f64| nearest((x * units_per_meter - 0.5).clamp(-FARTHEST, FARTHEST));
    GridPoint::new(point.to_array().map(step))
}

/// A merge radius (in m) in units, rounded up.
#[inline]
pub fn of_radius(merge_radius: f32, units_per_meter: f64) -> i32 {
    nearest(f64::from(merge_radius) * units_per_meter + 1.5)
}

impl GridPoint {
    /// From its coordinates.
    #[inline]
    pub fn new([x, y, z]: [i32; 3]) -> Self {
        Self(i32x4::new([x, y, z, 0]))
    }

    /// Its coordinates.
    #[inline]
    pub fn to_array(self) -> [i32; 3] {
        let [x, y, z, _] = self.0.to_array();
        [x, y, z]
    }

    /// Center of the unit cube.
    #[inline]
    pub fn center(self) -> DVec3 {
        DVec3::from_array(self.to_array().map(f64::from)) + 0.5
    }

    /// Block that contains it.
    #[inline]
    pub fn block(self) -> Self {
        Self(self.0 >> (CELL_BITS + BLOCK_BITS))
    }

    /// Lowest coordinates of a block.
    #[inline]
    pub fn corner_of_block(self) -> Self {
        Self(self.0 << (CELL_BITS + BLOCK_BITS))
    }
}

/// Box radius a path that contains the centers of all droplets within a distance of it.
#[derive(Clone, Copy, Debug)]
pub struct QueryBox {
    low: i32x4,
    high: i32x4,
}

impl QueryBox {
    /// Box radius the path between two points, extended by `radius` (in m).
    #[inline]
    pub fn new(from: DVec3, to: DVec3, radius: f64, units_per_meter: f64) -> Self {
        let in_steps = |point: DVec3| {
            let [x, y, z] = (point * units_per_meter).to_array().map(|x| x as f32);
            f32x4::new([x, y, z, 0.0])
        };
        let (from, to) = (in_steps(from), in_steps(to));
        // Rounding to units, towards zero, and three single-precision roundings.
        let margin = (radius * units_per_meter) as f32 + 2.0;
        let margin = f32x4::new([margin, margin, margin, 0.0]);
        let wider = |x: f32x4| margin + x.abs() * f32x4::splat(4.0 * f32::EPSILON);
        let (first, last) = (from.fast_min(to), from.fast_max(to));
        let bound = f32x4::splat(FARTHEST as f32);
        let whole = |x: f32x4| (-bound).fast_max(x).fast_min(bound).fast_trunc_int();
        Self { low: whole(first - wider(first)), high: whole(last + wider(last)) }
    }

    /// First and last block of droplets with a merge radius of so many units that may overlap the
    /// box.
    #[inline]
    pub fn blocks(&self, merge_radius: i32) -> [GridPoint; 2] {
        let merge_radius = i32x4::new([merge_radius, merge_radius, merge_radius, 0]);
        [GridPoint(self.low - merge_radius).block(), GridPoint(self.high + merge_radius).block()]
    }

    /// First and last cell of a block along each axis, as first plus four times last.
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

    /// The box relative to a point.
    #[inline]
    pub fn bounds(&self, from: GridPoint) -> Bounds {
        let ([a, b, c, _], [d, e, f, _]) = ((self.low - from.0).to_array(), (self.high - from.0).to_array());
        let bounds = i16x8::from_i32x8_saturate(i32x8::new([a, b, c, 0, d, e, f, 0]));
        Bounds(bounds.max(-Bounds::FAR).min(Bounds::FAR))
    }
}

/// A box with inclusive bounds relative to a nearby point: lower corner, zero, upper corner, zero.
/// Far bounds are clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds(pub i16x8);

impl Bounds {
    /// Beyond anything that overlaps a block.
    const FAR: i16x8 = i16x8::new([16_000; 8]);
    /// A box that contains everything nearby.
    pub const ALL: Self = Self(i16x8::new([-16_000, -16_000, -16_000, 0, 16_000, 16_000, 16_000, 0]));

    /// The same box relative to the lower corner of a cell of its block.
    #[inline]
    pub fn in_cell(self, within: usize) -> Self {
        Self(self.0 - CORNERS[within])
    }

    /// The point relative to which `other` becomes this box.
    #[inline]
    pub fn origin_of(self, other: Self) -> GridPoint {
        let [x, y, z, ..] = (other.0 - self.0).to_array().map(i32::from);
        GridPoint::new([x, y, z])
    }
}

/// Lower corners of the cells of a block, in units, twice.
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
