//! Numbers side by side: arithmetic on [`LANES`] of them at once.
//!
//! Compilers do not see that a long run of arithmetic without a branch may be done for several droplets together, so it is said here. Every operation is
//! that of a single number, rounded as that is: what is worked out side by side is what would have been worked out alone, to the last bit,
//! whatever the processor.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use wide::{CmpEq, CmpLe, CmpLt, f64x2};

/// Numbers that are worked on at once: so many that one chain of roots and quotients does not wait for itself.
pub const LANES: usize = 8;
const PAIRS: usize = LANES / 2;

/// A number, or several side by side.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// What a comparison says.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth> + Not<Output = Self::Truth>;

    /// The same in all lanes.
    fn of(value: f64) -> Self;

    /// Square root.
    fn root(self) -> Self;

    /// Without its sign.
    fn size(self) -> Self;

    /// 2⁻ⁿ for n ≥ 0 added to 3·2⁵¹, whose lower bits are then those of n.
    fn half_to_the(whole: Self) -> Self;

    /// <
    fn below(self, other: Self) -> Self::Truth;

    /// ≤
    fn up_to(self, other: Self) -> Self::Truth;

    /// =
    fn is(self, other: Self) -> Self::Truth;

    /// `yes` where it is true, else `no`.
    fn either(truth: Self::Truth, yes: Self, no: Self) -> Self;

    /// The lesser; `other` if they cannot be told apart.
    #[inline(always)]
    fn or_less(self, other: Self) -> Self {
        Self::either(self.below(other), self, other)
    }

    /// The greater; `other` if they cannot be told apart.
    #[inline(always)]
    fn or_more(self, other: Self) -> Self {
        Self::either(other.below(self), self, other)
    }
}

impl Number for f64 {
    type Truth = bool;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn size(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn half_to_the(whole: Self) -> Self {
        Self::from_bits(1023_u64.wrapping_sub(whole.to_bits()) << 52)
    }

    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn up_to(self, other: Self) -> bool {
        self <= other
    }

    #[inline(always)]
    fn is(self, other: Self) -> bool {
        self == other
    }

    #[inline(always)]
    fn either(truth: bool, yes: Self, no: Self) -> Self {
        if truth { yes } else { no }
    }
}

/// [`LANES`] numbers.
#[derive(Clone, Copy, Debug)]
pub struct Wide([f64x2; PAIRS]);

/// What a comparison says of each: all bits or none.
#[derive(Clone, Copy, Debug)]
pub struct Truths([f64x2; PAIRS]);

impl Wide {
    /// Side by side.
    #[inline(always)]
    pub fn new(values: &[f64; LANES]) -> Self {
        Self(from_fn(|k| f64x2::new([values[2 * k], values[2 * k + 1]])))
    }

    /// One after the other.
    #[inline(always)]
    pub fn values(self) -> [f64; LANES] {
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

impl Default for Wide {
    fn default() -> Self {
        Self::of(0.0)
    }
}

impl Number for Wide {
    type Truth = Truths;

    #[inline(always)]
    fn of(value: f64) -> Self {
        Self([f64x2::new([value; 2]); PAIRS])
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.map(f64x2::sqrt))
    }

    #[inline(always)]
    fn size(self) -> Self {
        Self(self.0.map(f64x2::abs))
    }

    #[inline(always)]
    fn half_to_the(whole: Self) -> Self {
        Self(whole.0.map(|pair| f64x2::new(pair.to_array().map(<f64 as Number>::half_to_the))))
    }

    #[inline(always)]
    fn below(self, other: Self) -> Truths {
        Truths(self.with(other, f64x2::cmp_lt).0)
    }

    #[inline(always)]
    fn up_to(self, other: Self) -> Truths {
        Truths(self.with(other, f64x2::cmp_le).0)
    }

    #[inline(always)]
    fn is(self, other: Self) -> Truths {
        Truths(self.with(other, f64x2::cmp_eq).0)
    }

    #[inline(always)]
    fn either(truth: Truths, yes: Self, no: Self) -> Self {
        Self(from_fn(|k| truth.0[k].blend(yes.0[k], no.0[k])))
    }

    #[inline(always)]
    fn or_less(self, other: Self) -> Self {
        self.with(other, f64x2::fast_min)
    }

    #[inline(always)]
    fn or_more(self, other: Self) -> Self {
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

lane_by_lane!(Add add Wide, Sub sub Wide, Mul mul Wide, Div div Wide, BitAnd bitand Truths, BitOr bitor Truths);

impl Neg for Wide {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|pair| pair ^ f64x2::new([-0.0; 2])))
    }
}

impl Not for Truths {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|pair| pair ^ f64x2::new([f64::from_bits(u64::MAX); 2])))
    }
}

/// A vector in a plane, or several side by side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planar<N> {
    /// First component.
    pub x: N,
    /// Second component.
    pub y: N,
}

impl<N: Number> Planar<N> {
    /// a·b
    #[inline(always)]
    pub fn dot(self, other: Self) -> N {
        self.x * other.x + self.y * other.y
    }

    /// a × b
    #[inline(always)]
    pub fn perp_dot(self, other: Self) -> N {
        self.x * other.y - self.y * other.x
    }

    /// Turned to the left by a right angle.
    #[inline(always)]
    pub fn perp(self) -> Self {
        Self { x: -self.y, y: self.x }
    }

    /// |a|
    #[inline(always)]
    pub fn length(self) -> N {
        self.dot(self).root()
    }

    /// `yes` where it is true, else `no`.
    #[inline(always)]
    pub fn either(truth: N::Truth, yes: Self, no: Self) -> Self {
        Self { x: N::either(truth, yes.x, no.x), y: N::either(truth, yes.y, no.y) }
    }
}

impl<N: Number> Add for Planar<N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }
}

impl<N: Number> Sub for Planar<N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }
}

impl<N: Number> Mul<N> for Planar<N> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: N) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }
}
