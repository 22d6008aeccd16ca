//! SIMD lanes: arithmetic on [`LANES`] (eight) numbers at once, or on a single one; used by the
//! droplet kernel in [`crate::batch`].
//!
//! Kernels are generic over [`Lane`], so the scalar and the vector version are one source. Every
//! operation rounds like that of a single `f64`: a lane gives the bits that the scalar version
//! gives, on any processor.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use glam::DVec2;
use wide::{CmpEq, CmpLe, CmpLt, f64x2};

/// Number of lanes: enough to hide the latency of one chain of square roots and divisions.
pub const LANES: usize = 8;
const PAIRS: usize = LANES / 2;

/// A scalar `f64`, or several side by side.
pub trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Result of a comparison.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// `value` in all lanes.
    fn splat(value: f64) -> Self;

    /// Square root.
    fn sqrt(self) -> Self;

    /// Absolute value.
    fn abs(self) -> Self;

    /// 2⁻ⁿ, where `shifted` is n ≥ 0 plus 3·2⁵¹, whose lower bits are those of n.
    fn exp2_neg(shifted: Self) -> Self;

    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;

    /// `self ≤ other`.
    fn le(self, other: Self) -> Self::Mask;

    /// `self == other`.
    fn eq(self, other: Self) -> Self::Mask;

    /// `yes` where the mask is set, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The lesser of two; `other` where they are unordered or equal.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }

    /// The greater of two; `other` where they are unordered or equal.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
}

impl Lane for f64 {
    type Mask = bool;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn exp2_neg(shifted: Self) -> Self {
        Self::from_bits(1023_u64.wrapping_sub(shifted.to_bits()) << 52)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }

    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }

    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

/// [`LANES`] numbers side by side.
#[derive(Clone, Copy, Debug)]
pub struct F64Lanes([f64x2; PAIRS]);

/// Result of a comparison of [`F64Lanes`]: all bits of a lane, or none.
#[derive(Clone, Copy, Debug)]
pub struct LaneMask([f64x2; PAIRS]);

impl F64Lanes {
    /// Loads one value per lane.
    #[inline(always)]
    pub fn new(values: &[f64; LANES]) -> Self {
        Self(from_fn(|k| f64x2::new([values[2 * k], values[2 * k + 1]])))
    }

    /// The values of all lanes.
    #[inline(always)]
    pub fn to_array(self) -> [f64; LANES] {
        let mut values = [0.0; LANES];
        for (two, pair) in values.chunks_exact_mut(2).zip(self.0) {
            two.copy_from_slice(&pair.to_array());
        }
        values
    }

    #[inline(always)]
    fn with(self, other: Self, operation: impl Fn(f64x2, f64x2) -> f64x2) -> Self {
        Self(from_fn(|k| operation(self.0[k], other.0[k])))
    }
}

impl Lane for F64Lanes {
    type Mask = LaneMask;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([f64x2::new([value; 2]); PAIRS])
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64x2::sqrt))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f64x2::abs))
    }

    #[inline(always)]
    fn exp2_neg(shifted: Self) -> Self {
        Self(shifted.0.map(|pair| f64x2::new(pair.to_array().map(<f64 as Lane>::exp2_neg))))
    }

    #[inline(always)]
    fn lt(self, other: Self) -> LaneMask {
        LaneMask(self.with(other, f64x2::cmp_lt).0)
    }

    #[inline(always)]
    fn le(self, other: Self) -> LaneMask {
        LaneMask(self.with(other, f64x2::cmp_le).0)
    }

    #[inline(always)]
    fn eq(self, other: Self) -> LaneMask {
        LaneMask(self.with(other, f64x2::cmp_eq).0)
    }

    #[inline(always)]
    fn select(mask: LaneMask, yes: Self, no: Self) -> Self {
        Self(from_fn(|k| mask.0[k].blend(yes.0[k], no.0[k])))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, f64x2::fast_min)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, f64x2::fast_max)
    }
}

macro_rules! lane_by_lane {
    ($($trait:ident $function:ident $type:ident),*) => {$(
        impl $trait for $type {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                Self(from_fn(|k| $trait::$function(self.0[k], other.0[k])))
            }
        }
    )*};
}

lane_by_lane!(
    Add add F64Lanes,
    Sub sub F64Lanes,
    Mul mul F64Lanes,
    Div div F64Lanes,
    BitAnd bitand LaneMask,
    BitOr bitor LaneMask
);

impl Neg for F64Lanes {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|pair| pair ^ f64x2::new([-0.0; 2])))
    }
}

impl Not for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|pair| pair ^ f64x2::new([f64::from_bits(u64::MAX); 2])))
    }
}

/// Rounds up to an integer, for 0 ≤ x < 2⁵¹.
#[inline(always)]
pub fn ceil<L: Lane>(x: L) -> L {
    // Adding 3·2⁵¹ rounds to the nearest integer.
    let shift = L::splat(6_755_399_441_055_744.0);
    let nearest = (x + shift) - shift;
    L::select(nearest.lt(x), nearest + L::splat(1.0), nearest)
}

/// A two-dimensional vector, or several side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec2<L = f64> {
    /// First component.
    pub x: L,
    /// Second component.
    pub y: L,
}

impl From<DVec2> for Vec2 {
    #[inline(always)]
    fn from(vector: DVec2) -> Self {
        Self { x: vector.x, y: vector.y }
    }
}

impl From<Vec2> for DVec2 {
    #[inline(always)]
    fn from(vector: Vec2) -> Self {
        Self::new(vector.x, vector.y)
    }
}

impl<L: Lane> Vec2<L> {
    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { x: L::splat(0.0), y: L::splat(0.0) }
    }

    /// a·b
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y
    }

    /// a × b
    #[inline(always)]
    pub fn perp_dot(self, other: Self) -> L {
        self.x * other.y - self.y * other.x
    }

    /// Rotated by 90° counter-clockwise.
    #[inline(always)]
    pub fn perp(self) -> Self {
        Self { x: -self.y, y: self.x }
    }

    /// |a|
    #[inline(always)]
    pub fn length(self) -> L {
        self.dot(self).sqrt()
    }

    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        Self { x: L::select(mask, yes.x, no.x), y: L::select(mask, yes.y, no.y) }
    }
}

impl<L: Lane> Add for Vec2<L> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }
}

impl<L: Lane> Sub for Vec2<L> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }
}

impl<L: Lane> Mul<L> for Vec2<L> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: L) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }
}
