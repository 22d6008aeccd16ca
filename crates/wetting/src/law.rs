//! The wetting of one material by one liquid, precomputed for sliding drops.
//!
//! The pane and droplet models read contact angles, friction, shedding and rest shapes from here
//! millions of times per second, so everything that does not depend on the drop is evaluated once.
//! The laws themselves are those of [`retention`](crate::retention), [`sliding`](crate::sliding),
//! [`film`](crate::film) and [`wind`](crate::wind).

use std::f64::consts::FRAC_PI_2;

use sessile_numerics::math;

use crate::cube_root::cube_root;
use crate::curved::{self, CurvedRest};
use crate::film::{self, Ridge};
use crate::liquid::Liquid;
use crate::material::Wetting;
use crate::pendant_limit::{pendant_limit, pinned_limit};
use crate::retention::PinnedDrop;
use crate::table::{Contact, Section, ShapeTable, Weight};
use crate::{impact, sliding, wind};

/// Relative difference of two base radii below which a drop counts as being at the limiting contact
/// angle.
const RADIUS_TOLERANCE: f64 = 1e-6;
/// Residual (relative base radius) and bracket width (in rad) at which [`SlidingLaw::angle_at`]
/// stops.
const ANGLE_TOLERANCE: f64 = 1e-10;

/// Wetting of a material by a liquid, with everything precomputed that does not depend on the drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingLaw {
    /// Contact angles of the material.
    pub wetting: Wetting,
    /// cos θ_a on a dry surface.
    pub cos_advancing: f64,
    /// cos θ_r.
    pub cos_receding: f64,
    /// cos θ_a on a wetted surface; equal to `cos_advancing` for a material without wetting
    /// history.
    pub cos_wet_advancing: f64,
    /// Speed above which a drop leaves a film, in m/s.
    pub shedding_speed: f64,
    /// Largest horizontal radius over base radius; above 1 for θ_a > 90°.
    pub overhang: f64,
    /// Wind force over base radius squared and wind speed squared, in kg/m³.
    pub air_drag: f64,
    /// Downhill shift of the centroid in base radii per Bond number of the tangential force.
    pub sag_per_bond: f64,
    /// Wedge part of the friction coefficient β, over Λ.
    pub wedge_friction: f64,
    /// Whether the drag of the air adds to the friction (superhydrophobic materials).
    pub is_repellent: bool,
    /// Largest volume that hangs at θ_a under 1 m/s², in m³.
    unit_pendant_limit: f64,
    /// Base radii at θ_a.
    advancing: Section,
}

impl SlidingLaw {
    /// Precomputes the law of `wetting` by `liquid`.
    pub fn new(liquid: &Liquid, wetting: &Wetting) -> Self {
        let (advancing, receding) = (wetting.advancing, wetting.receding);
        let of_unit_bond =
            PinnedDrop { volume: 1.0, radius: 1.0, angle: advancing, pull: liquid.surface_tension / liquid.density };
        Self {
            wetting: *wetting,
            cos_advancing: math::cos(advancing),
            cos_receding: math::cos(receding),
            cos_wet_advancing: math::cos(wetting.wet_advancing.unwrap_or(advancing)),
            shedding_speed: film::shedding_speed(liquid, receding),
            overhang: if advancing > FRAC_PI_2 { 1.0 / math::sin(advancing) } else { 1.0 },
            air_drag: wind::air_drag(1.0, advancing),
            sag_per_bond: of_unit_bond.centroid_shift(liquid),
            wedge_friction: sliding::wedge_friction(wetting),
            is_repellent: sliding::is_repellent(wetting),
            unit_pendant_limit: ShapeTable::shared().pendant_max_volume(advancing, -1.0, liquid),
            advancing: Section::new(ShapeTable::shared(), Contact::new(advancing)),
        }
    }

    /// Largest volume that hangs at θ_a where gravity pulls off the solid with `outward` > 0 (in
    /// m/s²), in m³.
    pub fn largest_pendant_volume(&self, outward: f64) -> f64 {
        self.unit_pendant_limit / (outward * outward.sqrt())
    }

    /// Largest volume that hangs with its contact line pinned at `radius` (in m) where gravity
    /// pulls off the solid with `outward` > 0 (in m/s²), in m³.
    ///
    /// Beyond the limit at θ_a the contact angle of a growing drop falls, so its contact line stays
    /// pinned up to the limit at fixed radius, or until the angle reaches θ_r. Near that limit V is
    /// quadratic in the angle.
    pub fn largest_pinned_volume(&self, liquid: &Liquid, radius: f64, outward: f64) -> f64 {
        let free = self.largest_pendant_volume(outward);
        let length = liquid.capillary_length(outward);
        let Some((volume, angle)) = pinned_limit(radius / length) else { return free };
        let (volume, wetting) = (volume * length.powi(3), &self.wetting);
        if volume <= free || wetting.receding >= wetting.advancing {
            return free;
        }
        let missing = ((wetting.receding - angle) / (wetting.advancing - angle)).clamp(0.0, 1.0);
        volume - (volume - free) * missing * missing
    }

    /// Resistance per speed of a drop of width `width` (in m) at `speed` (in m/s), in kg/s.
    ///
    /// [`sliding::resistance`](crate::sliding::resistance) over the speed, with the wedge part
    /// precomputed.
    #[inline]
    pub fn resistance(&self, liquid: &Liquid, speed: f64, width: f64) -> f64 {
        let (least, most) = sliding::FRICTION_BOUNDS;
        let wedge = self.wedge_friction * sliding::cutoff_logarithm(width);
        let beta = (wedge + sliding::plate_friction(liquid, width, speed)).clamp(least, most);
        let air = if self.is_repellent { self.air_drag * (0.5 * width).powi(2) * speed } else { 0.0 };
        beta * width * liquid.dynamic_viscosity() + air
    }

    /// Base radius at θ_a on a plane, in m; `None` for a drop too heavy to hang.
    ///
    /// `normal_acceleration` (in m/s²) is positive where it presses the drop onto the solid.
    #[inline]
    pub fn flat_radius(&self, liquid: &Liquid, volume: f64, normal_acceleration: f64) -> Option<f64> {
        self.advancing.base_radius(volume, &Weight::new(liquid, normal_acceleration))
    }

    /// Base radius at θ_a on a solid of this curvature (in 1/m), from the radius `flat` on a plane,
    /// in m.
    #[inline]
    pub fn curved_radius(
        &self,
        liquid: &Liquid,
        volume: f64,
        normal_acceleration: f64,
        flat: f64,
        curvature: f64,
    ) -> f64 {
        if curvature == 0.0 {
            return flat;
        }
        let weight = Weight::new(liquid, normal_acceleration);
        curved::base_radius(&weight, volume, self.advancing.contact(), flat, curvature)
    }

    /// Base radius at θ_a, in m; `None` for a drop too heavy to hang.
    pub fn advancing_radius(
        &self,
        liquid: &Liquid,
        volume: f64,
        normal_acceleration: f64,
        curvature: f64,
    ) -> Option<f64> {
        let flat = self.flat_radius(liquid, volume, normal_acceleration)?;
        Some(self.curved_radius(liquid, volume, normal_acceleration, flat, curvature))
    }

    /// Base radius at θ_r, in m; `None` for a drop too heavy to hang at that angle.
    pub fn receding_radius(
        &self,
        liquid: &Liquid,
        volume: f64,
        normal_acceleration: f64,
        curvature: f64,
    ) -> Option<f64> {
        rest_radius(liquid, volume, self.wetting.receding, normal_acceleration, curvature)
    }

    /// Contact angle of a drop whose contact line is pinned at `radius` (in m), between θ_r and
    /// θ_a, in rad.
    ///
    /// Finds the angle whose rest shape has that base radius by regula falsi with halved end values
    /// (Illinois).
    pub fn angle_at(&self, liquid: &Liquid, volume: f64, radius: f64, normal_acceleration: f64, curvature: f64) -> f64 {
        // Relative excess of the rest radius over the pinned one: decreases as the angle increases.
        let excess = |angle| {
            rest_radius(liquid, volume, angle, normal_acceleration, curvature).map_or(1.0, |rest| rest / radius - 1.0)
        };
        let (mut low, mut high) = (self.wetting.receding, self.hanging_angle(volume, normal_acceleration));
        let mut at_high = if low == high { 0.0 } else { excess(high) };
        if at_high >= -RADIUS_TOLERANCE {
            return high;
        }
        let mut at_low = excess(low);
        if at_low <= RADIUS_TOLERANCE {
            return low;
        }
        for _ in 0..60 {
            let middle = (low * at_high - high * at_low) / (at_high - at_low);
            let at_middle = excess(middle);
            if at_middle.abs() < ANGLE_TOLERANCE || high - low < ANGLE_TOLERANCE {
                return middle;
            }
            if at_middle > 0.0 {
                (low, at_low, at_high) = (middle, at_middle, 0.5 * at_high);
            } else {
                (high, at_high, at_low) = (middle, at_middle, 0.5 * at_low);
            }
        }
        0.5 * (low + high)
    }

    /// Largest angle between θ_r and θ_a at which a drop of `volume` (in m³) hangs at a free
    /// contact line, in rad; θ_a where it is pressed onto the solid.
    fn hanging_angle(&self, volume: f64, normal_acceleration: f64) -> f64 {
        let (mut low, mut high) = (self.wetting.receding, self.wetting.advancing);
        if normal_acceleration >= 0.0 || volume <= self.largest_pendant_volume(-normal_acceleration) {
            return high;
        }
        let unit = volume * self.largest_pendant_volume(1.0) / self.largest_pendant_volume(-normal_acceleration);
        let per_unit = self.unit_pendant_limit / pendant_limit(high);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if unit < 0.9999 * per_unit * pendant_limit(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// Width (in m) and cross-section (in m²) of the film left by a drop of width `width` (in m) at
    /// `speed` (in m/s).
    ///
    /// Both are 0 below the shedding speed. `tangential` and `normal` are the components of gravity
    /// along and into the solid, in m/s².
    pub fn trail(&self, liquid: &Liquid, speed: f64, width: f64, tangential: f64, normal: f64) -> (f64, f64) {
        let film_width = film::trail_width(width, speed, self.shedding_speed);
        if film_width == 0.0 {
            return (0.0, 0.0);
        }
        let (gravity, tilt) = (math::hypot(tangential, normal), math::atan2(tangential, normal));
        (film_width, film_width * film::film_thickness(liquid, speed, gravity, tilt))
    }

    /// Whether a film never dewets: θ_r below [`film::ALWAYS_TRAILS`].
    pub fn film_is_stable(&self) -> bool {
        self.wetting.receding < film::ALWAYS_TRAILS
    }

    /// Time in which a film of width `width` (in m) retracts from both edges into a ridge, in s.
    pub fn dewetting_time(&self, liquid: &Liquid, width: f64) -> f64 {
        0.5 * width / film::dewetting_speed(liquid, self.wetting.receding)
    }

    /// Spacing of the beads into which a film of this width (in m) and cross-section (in m²)
    /// ruptures, in m.
    pub fn bead_spacing(&self, width: f64, section: f64) -> f64 {
        Ridge::of_film(section / width, width, self.wetting.receding).bead_spacing()
    }

    /// Base radius to which a sphere of `volume` (in m³) spreads on impact at this normal speed (in
    /// m/s), in m.
    pub fn spread_radius(&self, liquid: &Liquid, volume: f64, normal_speed: f64) -> f64 {
        let diameter = 2.0 * cube_root(3.0 * volume / (4.0 * std::f64::consts::PI));
        let weber = impact::weber(liquid, diameter, normal_speed);
        let reynolds = impact::reynolds(liquid, diameter, normal_speed);
        0.5 * diameter * impact::max_spread(weber, reynolds, self.wetting.advancing)
    }
}

fn rest_radius(liquid: &Liquid, volume: f64, angle: f64, normal_acceleration: f64, curvature: f64) -> Option<f64> {
    let rest = CurvedRest::new(liquid, volume, angle, normal_acceleration, curvature);
    rest.map(|rest| rest.shape.base_radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();

    fn law(advancing: f64, receding: f64) -> SlidingLaw {
        SlidingLaw::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()))
    }

    #[test]
    fn precomputed_resistance_and_pendant_limit_equal_the_direct_laws() {
        for (advancing, receding) in [(50.0, 15.0), (90.0, 60.0), (163.0, 157.0)] {
            let law = law(advancing, receding);
            for speed in [1e-3, 0.1, 2.0] {
                let air_drag = wind::air_drag(1.5e-3, law.wetting.advancing);
                let expected = sliding::resistance(&WATER, &law.wetting, 3e-3, speed, air_drag, None);
                let got = law.resistance(&WATER, speed, 3e-3) * speed;
                assert!(
                    (got / expected - 1.0).abs() < 1e-12,
                    "{advancing}/{receding} at {speed} m/s: {got:e}, {expected:e}"
                );
            }
            for outward in [1.0, 9.8, 300.0] {
                let expected = ShapeTable::shared().pendant_max_volume(law.wetting.advancing, -outward, &WATER);
                assert!((law.largest_pendant_volume(outward) / expected - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_angle_of_a_pinned_drop_reproduces_its_base_radius() {
        let law = law(90.0, 30.0);
        for curvature in [0.0, 30.0] {
            let least = law.advancing_radius(&WATER, 20e-9, 9.8, curvature).expect("a sessile drop");
            let most = law.receding_radius(&WATER, 20e-9, 9.8, curvature).expect("a sessile drop");
            for part in [0.0, 0.3, 0.8, 1.0] {
                let radius = least + part * (most - least);
                let angle = law.angle_at(&WATER, 20e-9, radius, 9.8, curvature);
                let back = rest_radius(&WATER, 20e-9, angle, 9.8, curvature).expect("a sessile drop");
                assert!((back / radius - 1.0).abs() < 1e-6, "{part}: {angle} rad, radius {back:e} for {radius:e}");
            }
        }
    }
}
