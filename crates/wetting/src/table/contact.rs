//! Keys of the table: the weight of a drop and its contact angle, precomputed for many queries.

use std::f64::consts::PI;

use sessile_numerics::math;

use super::ANGLE_MARGIN;
use crate::liquid::Liquid;

/// Capillary units under gravity's component along the solid's normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// 1/l_c³, in 1/m³; 0 without weight.
    pub(super) per_volume: f64,
    /// l_c, in m; infinite without weight.
    pub(super) length: f64,
    /// Onto the solid, not off it.
    pub(super) presses: bool,
}

impl Weight {
    /// Positive `normal_gravity` (in m/s²) presses a drop onto the solid, negative pulls it off.
    #[inline]
    pub fn new(liquid: &Liquid, normal_gravity: f64) -> Self {
        let inverse_square = liquid.density * normal_gravity.abs() / liquid.surface_tension;
        let inverse_length = inverse_square.sqrt();
        Self {
            per_volume: inverse_square * inverse_length,
            length: 1.0 / inverse_length,
            presses: normal_gravity > 0.0,
        }
    }
}

/// A contact angle, and what the table needs of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    pub(super) angle: f64,
    pub(super) half_sin: f64,
    pub(super) half_cos: f64,
}

impl Contact {
    /// An angle in rad, taken no closer than 1e-3 to 0 and π.
    pub fn new(theta: f64) -> Self {
        let angle = theta.clamp(ANGLE_MARGIN, PI - ANGLE_MARGIN);
        let (half_sin, half_cos) = math::sin_cos(0.5 * angle);
        Self { angle, half_sin, half_cos }
    }

    /// In rad.
    #[inline]
    pub fn angle(&self) -> f64 {
        self.angle
    }

    /// This angle and another one, given by itself (in rad), and by the sine and the cosine of its
    /// half; the sum must lie well between 0 and π.
    #[inline]
    pub fn plus(&self, angle: f64, half_sin: f64, half_cos: f64) -> Self {
        Self {
            angle: self.angle + angle,
            half_sin: self.half_sin * half_cos + self.half_cos * half_sin,
            half_cos: self.half_cos * half_cos - self.half_sin * half_sin,
        }
    }
}
