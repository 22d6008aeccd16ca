//! Drag on a droplet as a function of its speed, for one droplet or for a SIMD batch of them.

use sessile_wetting::{Liquid, SlidingLaw, sliding};

use crate::simd::Lane;

/// Coefficients of the drag on a droplet: β(U) = wedge + plate √U, clamped to the bounds of the
/// friction law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag<L = f64> {
    /// Wedge part of β.
    pub wedge: L,
    /// Boundary-layer part of β at 1 m/s; it scales as √U.
    pub plate: L,
    /// Drag rate per β, in 1/s.
    pub scale: L,
    /// Drag rate per speed due to the air, in 1/m.
    pub air: L,
}

impl<L: Lane> Drag<L> {
    /// Drag per mass and speed at `speed` (in m/s), in 1/s.
    #[inline(always)]
    pub fn rate(&self, speed: L) -> L {
        self.rate_and_slope(speed).0
    }

    /// Drag rate (in 1/s) and its derivative with respect to the speed (in 1/m).
    #[inline(always)]
    pub fn rate_and_slope(&self, speed: L) -> (L, L) {
        let (least, most) = sliding::FRICTION_BOUNDS;
        let (least, most, zero) = (L::splat(least), L::splat(most), L::splat(0.0));
        let root = speed.sqrt();
        let beta = self.wedge + self.plate * root;
        let is_within = least.lt(beta) & beta.lt(most) & zero.lt(root);
        let steepness = L::select(is_within, L::splat(0.5) * self.plate / root, zero);
        let beta = beta.max(least).min(most);
        (beta * self.scale + self.air * speed, steepness * self.scale + self.air)
    }
}

impl Drag {
    /// Drag of a droplet of width `width` (in m) and inverse mass `per_mass` (in 1/kg).
    #[inline]
    pub fn new(law: &SlidingLaw, liquid: &Liquid, width: f64, per_mass: f64) -> Self {
        let scale = width * liquid.dynamic_viscosity() * per_mass;
        let air = if law.is_repellent { law.air_drag * (0.5 * width).powi(2) * per_mass } else { 0.0 };
        let wedge = law.wedge_friction * sliding::cutoff_logarithm(width);
        Self { wedge, plate: sliding::plate_friction(liquid, width, 1.0), scale, air }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sessile_wetting::Wetting;

    /// Water at 20 °C.
    pub const WATER: Liquid = Liquid::water();

    #[test]
    fn the_drag_rate_is_the_resistance_per_mass() {
        for (advancing, receding) in [(50.0_f64, 15.0_f64), (90.0, 60.0), (163.0, 157.0)] {
            let law = SlidingLaw::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()));
            for speed in [1e-3, 0.1, 2.0] {
                let expected = law.resistance(&WATER, speed, 3e-3) / 2e-6;
                let rate = Drag::new(&law, &WATER, 3e-3, 1.0 / 2e-6).rate(speed);
                assert!((rate / expected - 1.0).abs() < 1e-12, "{rate} at {speed} m/s, expected {expected}");
            }
        }
    }
}
