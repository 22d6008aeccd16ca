//! What the liquid and the material say about a place, worked out once.

use std::f64::consts::FRAC_PI_2;

use sessile_wetting::film::{self, Ridge};
use sessile_wetting::retention::PinnedDrop;
use sessile_wetting::table::{Contact, Section, ShapeTable, Weight};
use sessile_wetting::{Liquid, Wetting, impact, sliding, wind};

use crate::flight::ball_radius;
use crate::footing::{bent_radius, footing};
use crate::lanes::Number;

/// How the drag on one droplet goes with its speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag<N = f64> {
    /// β of the wedge.
    pub wedge: N,
    /// β of the boundary layer at 1 m/s; it goes as √U.
    pub plate: N,
    /// Rate per β, in 1/s.
    pub scale: N,
    /// Rate per speed by the air, in 1/m.
    pub air: N,
}

impl<N: Number> Drag<N> {
    /// Drag per mass and speed at a speed (in m/s), in 1/s.
    #[inline(always)]
    pub fn rate(&self, speed: N) -> N {
        self.rate_and_slope(speed).0
    }

    /// The same, and how it changes with the speed, in 1/m.
    #[inline(always)]
    pub fn rate_and_slope(&self, speed: N) -> (N, N) {
        let (least, most) = sliding::FRICTION_BOUNDS;
        let (least, most, zero) = (N::of(least), N::of(most), N::of(0.0));
        let root = speed.root();
        let beta = self.wedge + self.plate * root;
        let is_within = least.below(beta) & beta.below(most) & zero.below(root);
        let steepness = N::either(is_within, N::of(0.5) * self.plate / root, zero);
        let beta = beta.or_more(least).or_less(most);
        (beta * self.scale + self.air * speed, steepness * self.scale + self.air)
    }
}

/// A place's wetting, ready for the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// As the material has it.
    pub wetting: Wetting,
    /// cos θ_a.
    pub cos_advancing: f64,
    /// cos θ_r.
    pub cos_receding: f64,
    /// cos of the advancing angle on wetted ground; cos θ_a where the material does not remember.
    pub cos_wet: f64,
    /// Speed above which a droplet sheds film, in m/s.
    pub shedding_speed: f64,
    /// Waist over base radius: above 1 where a droplet overhangs.
    pub overhang: f64,
    /// Wind's force over base radius squared and wind speed squared, in kg/m³.
    pub air_drag: f64,
    /// Largest volume that hangs at θ_a under 1 m/s², in m³; it goes as the pull to the power −3/2.
    pub hangs: f64,
    /// Downhill shift of the centroid in base radii per Bond number of the force along the solid.
    pub sag_per_bond: f64,
    wedge: f64,
    is_repellent: bool,
    /// Base radii at θ_a on level ground.
    advancing: Section,
}

impl Law {
    /// Works it out.
    pub fn new(liquid: &Liquid, wetting: &Wetting) -> Self {
        let (advancing, receding) = (wetting.advancing, wetting.receding);
        let of_unit_bond =
            PinnedDrop { volume: 1.0, radius: 1.0, angle: advancing, pull: liquid.surface_tension / liquid.density };
        Self {
            wetting: *wetting,
            cos_advancing: advancing.cos(),
            cos_receding: receding.cos(),
            cos_wet: wetting.wet_advancing.unwrap_or(advancing).cos(),
            shedding_speed: film::shedding_speed(liquid, receding),
            overhang: if advancing > FRAC_PI_2 { 1.0 / advancing.sin() } else { 1.0 },
            air_drag: wind::air_drag(1.0, advancing),
            hangs: ShapeTable::shared().pendant_max_volume(advancing, -1.0, liquid),
            sag_per_bond: of_unit_bond.centroid_shift(liquid),
            wedge: sliding::wedge_friction(wetting),
            is_repellent: sliding::is_repellent(wetting),
            advancing: Section::new(ShapeTable::shared(), Contact::new(advancing)),
        }
    }

    /// Largest volume that hangs where the pull off the solid is `out` > 0, in m/s², in m³.
    pub fn largest_hanging(&self, out: f64) -> f64 {
        self.hangs / (out * out.sqrt())
    }

    /// Resistance per speed of a droplet of this width (in m) at this speed (in m/s), in kg/s: `sliding::resistance` over the speed.
    #[inline]
    pub fn resistance(&self, liquid: &Liquid, speed: f64, width: f64) -> f64 {
        let (least, most) = sliding::FRICTION_BOUNDS;
        let beta = (self.wedge + sliding::plate_friction(liquid, width, speed)).clamp(least, most);
        let air = if self.is_repellent { self.air_drag * (0.5 * width).powi(2) * speed } else { 0.0 };
        beta * width * liquid.dynamic_viscosity() + air
    }

    /// The same per mass for one droplet of this width (in m), at any speed; `per_mass` is one over its mass, in 1/kg.
    #[inline]
    pub fn drag(&self, liquid: &Liquid, width: f64, per_mass: f64) -> Drag {
        let scale = width * liquid.dynamic_viscosity() * per_mass;
        let air = if self.is_repellent { self.air_drag * (0.5 * width).powi(2) * per_mass } else { 0.0 };
        Drag { wedge: self.wedge, plate: sliding::plate_friction(liquid, width, 1.0), scale, air }
    }

    /// Base radius at θ_a under a pull into the solid (negative: off it) where the ground bends (in 1/m), in m; `None` for a droplet too heavy to hang.
    pub fn advancing_radius(&self, liquid: &Liquid, volume: f64, pressing: f64, bend: f64) -> Option<f64> {
        let flat = self.flat_radius(liquid, volume, pressing)?;
        Some(self.bent_radius(liquid, volume, pressing, flat, bend))
    }

    /// The same on level ground.
    #[inline]
    pub fn flat_radius(&self, liquid: &Liquid, volume: f64, pressing: f64) -> Option<f64> {
        self.advancing.base_radius(volume, &Weight::new(liquid, pressing))
    }

    /// Base radius at θ_a where the ground bends, from that on level ground, in m.
    #[inline]
    pub fn bent_radius(&self, liquid: &Liquid, volume: f64, pressing: f64, flat: f64, bend: f64) -> f64 {
        if bend == 0.0 {
            return flat;
        }
        bent_radius(&Weight::new(liquid, pressing), volume, self.advancing.contact(), flat, bend)
    }

    /// Base radius at θ_r, in m; `None` where it is too heavy to hang at that angle.
    pub fn receding_radius(&self, liquid: &Liquid, volume: f64, pressing: f64, bend: f64) -> Option<f64> {
        rest_radius(liquid, volume, self.wetting.receding, pressing, bend)
    }

    /// The angle at which a droplet stands on a line of this radius, between θ_r and θ_a, in rad.
    pub fn angle_at(&self, liquid: &Liquid, volume: f64, radius: f64, pressing: f64, bend: f64) -> f64 {
        // How much wider than its line it would rest at an angle, in radii; falls as the angle rises.
        let wider = |angle| rest_radius(liquid, volume, angle, pressing, bend).map_or(1.0, |rest| rest / radius - 1.0);
        let (mut low, mut high) = (self.wetting.receding, self.wetting.advancing);
        let mut at_high = if low == high { 0.0 } else { wider(high) };
        // As most stand; the angle is off by about as little.
        if at_high >= -1e-6 {
            return high;
        }
        let mut at_low = wider(low);
        if at_low <= 1e-6 {
            return low;
        }
        // Regula falsi, with the end that stays halved so that both move.
        for _ in 0..60 {
            let middle = (low * at_high - high * at_low) / (at_high - at_low);
            let at_middle = wider(middle);
            if at_middle.abs() < 1e-10 || high - low < 1e-10 {
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

    /// Width (in m) and cross-section (in m²) of the film left at a speed by a droplet of this width; nothing below the shedding speed.
    ///
    /// `along` and `into` are the pulls along and into the solid, in m/s².
    pub fn trail(&self, liquid: &Liquid, speed: f64, width: f64, along: f64, into: f64) -> (f64, f64) {
        let film_width = film::trail_width(width, speed, self.shedding_speed);
        if film_width == 0.0 {
            return (0.0, 0.0);
        }
        let (gravity, tilt) = (along.hypot(into), along.atan2(into));
        (film_width, film_width * film::film_thickness(liquid, speed, gravity, tilt))
    }

    /// Whether film stays film: on a solid that hardly recedes.
    pub fn film_stays(&self) -> bool {
        self.wetting.receding < film::ALWAYS_TRAILS
    }

    /// How long a film of this width takes to draw together, in s.
    pub fn dewetting_time(&self, liquid: &Liquid, width: f64) -> f64 {
        0.5 * width / film::dewetting_speed(liquid, self.wetting.receding)
    }

    /// Distance of the beads that a film of this width (in m) and section (in m²) breaks into, in m.
    pub fn bead_spacing(&self, width: f64, section: f64) -> f64 {
        Ridge::of_film(section / width, width, self.wetting.receding).bead_spacing()
    }

    /// Base radius to which a ball spreads when it hits at this normal speed (in m/s), in m.
    pub fn spread_radius(&self, liquid: &Liquid, volume: f64, speed: f64) -> f64 {
        let diameter = 2.0 * ball_radius(volume);
        let (weber, reynolds) = (impact::weber(liquid, diameter, speed), impact::reynolds(liquid, diameter, speed));
        0.5 * diameter * impact::max_spread(weber, reynolds, self.wetting.advancing)
    }
}

fn rest_radius(liquid: &Liquid, volume: f64, angle: f64, pressing: f64, bend: f64) -> Option<f64> {
    footing(liquid, volume, angle, pressing, bend).map(|footing| footing.shape.base_radius)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Water as the contract has it.
    pub const WATER: Liquid =
        Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };

    /// A law without memory, angles in degrees.
    pub fn law(advancing: f64, receding: f64) -> Law {
        Law::new(&WATER, &Wetting::smooth(advancing.to_radians(), receding.to_radians()))
    }

    #[test]
    fn what_is_worked_out_beforehand_is_the_wetting_crates() {
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
                let rate = law.drag(&WATER, 3e-3, 1.0 / 2e-6).rate(speed);
                assert!((rate * 2e-6 * speed / expected - 1.0).abs() < 1e-12, "rate {rate} at {speed} m/s");
            }
            for out in [1.0, 9.8, 300.0] {
                let expected = ShapeTable::shared().pendant_max_volume(law.wetting.advancing, -out, &WATER);
                assert!((law.largest_hanging(out) / expected - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_angle_on_a_pinned_line_gives_that_line_back() {
        let law = law(90.0, 30.0);
        let least = law.advancing_radius(&WATER, 20e-9, 9.8, 30.0).expect("it rests");
        let most = law.receding_radius(&WATER, 20e-9, 9.8, 30.0).expect("it rests");
        for part in [0.0, 0.3, 0.8, 1.0] {
            let radius = least + part * (most - least);
            let angle = law.angle_at(&WATER, 20e-9, radius, 9.8, 30.0);
            let back = rest_radius(&WATER, 20e-9, angle, 9.8, 30.0).expect("it rests");
            assert!((back / radius - 1.0).abs() < 1e-6, "{part}: {angle} rad, radius {back:e} for {radius:e}");
        }
    }
}
