//! The angle of a moving contact line on the grid.
//!
//! No-slip and a moving line contradict each other; what resolves this happens at the slip length
//! λ, nanometers. On the grid the line moves with the velocity half a cell above the wall, so the
//! grid dissipates what the wedge does beyond half a cell, and nothing of what it does nearer to
//! the line: of ln(R/λ) = 12 decades of e about nine. The angle that is imposed supplies them. It
//! is that of Cox's law at a cell's distance (`sessile_wetting::moving_line`),
//!
//! ```text
//! g(θ_h) = g(θ_m) + Ca ln(h/2λ),      Ca = ηU/γ
//! ```
//!
//! with θ_m the advancing or receding angle and U the speed of the interface half a cell above the
//! wall, relative to it. The force γ (cos θ_m − cos θ_h) per length is always against U, so it only
//! takes energy from the liquid, at the rate m η U² ln(h/2λ). A line at rest is not affected.
//!
//! **Stability.** The angle follows the speed, and the speed the angle: within a step the liquid of
//! a cell at the line is accelerated by Δu = R Δcos θ, R = γΔt/ρh². With k = ln(h/2λ) η/γ, dcos
//! θ_h/du = −m(θ_h) k. So taken at the step's beginning the angle would overshoot where m k R > 1.
//! The step is implicit: it ends at the angle θ' that a line of the speed at its end has,
//!
//! ```text
//! g(θ') = g(θ_m) + k (u + R (cos θ' − cos θ))      θ the angle at its beginning
//! ```
//!
//! whose left side rises with θ' and whose right side falls, so there is one, between θ and θ_h.
//! [`MovingLine::angle`] gives θ_h and the share (cos θ' − cos θ)/(cos θ_h − cos θ) of the way to
//! it, which is 1/(1 + m k R) with a mean of m between θ' and θ_h. (m falls with θ. With m at the
//! larger of θ_m and θ_h the angle would overshoot by any factor in very viscous liquid; at the
//! smaller one, too, where a line recedes below its angle, and one that recedes so fast that θ_h =
//! 0 would keep its angle, since m is infinite there.) No time-step limit.

use sessile_numerics::math;
use sessile_wetting::moving_line::{angle_at_distance, cox_integral};
use sessile_wetting::{Liquid, sliding};

use crate::line_state::LineState;

/// Angle below which a wedge counts as having it, in rad: its dissipation is infinite at zero.
const MIN_ANGLE: f64 = 1e-3;
/// Difference of two angles below which m is the same at both, in rad, and m k R below which a step
/// hardly differs from an explicit one.
const NEAR: f64 = 1e-2;
const SOFT: f64 = 0.1;
/// Iterations of the implicit step, and change of the angle that ends them, in rad.
const MAX_ITERATIONS: usize = 20;
const TOLERANCE: f64 = 1e-9;

/// How the angle at a contact line follows its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingLine {
    /// ln(h/2λ) η/γ, in s/m.
    growth_per_speed: f64,
    /// γΔt/ρh² with the longest step, in m/s.
    response: f64,
}

impl MovingLine {
    /// The law of a liquid with a slip length on cells of side `h` (in m), in steps of at most `dt`
    /// (in s); none where the grid resolves the slip length, or for a slip length of zero.
    pub fn new(liquid: &Liquid, slip: f64, h: f64, dt: f64) -> Option<Self> {
        if slip <= 0.0 || h <= 2.0 * slip {
            return None;
        }
        let logarithm = math::ln(h / (2.0 * slip));
        Some(Self {
            growth_per_speed: logarithm * liquid.dynamic_viscosity() / liquid.surface_tension,
            response: liquid.surface_tension * dt / (liquid.density * h * h),
        })
    }

    /// Force of a line with `cosine` at the slip length at `speed` (in m/s), over γ and its length.
    pub fn drag(&self, cosine: f64, speed: f64) -> f64 {
        let theta = math::acos(cosine);
        sliding::wedge_dissipation(theta.max(MIN_ANGLE)) * self.growth_per_speed * speed
    }

    /// The cosine at the distance of a cell from a line with `cosine` at the slip length that moves
    /// at `speed` (in m/s) out of the liquid, and the share of the way to it from `present` that a
    /// step makes.
    pub fn angle(&self, cosine: f64, state: LineState, speed: f64, present: f64) -> (f64, f64) {
        let speed = match state {
            LineState::Free => speed,
            LineState::Advancing => speed.max(0.0),
            LineState::Receding => speed.min(0.0),
            LineState::Pinned { .. } => 0.0,
        };
        if speed == 0.0 {
            return (cosine, 1.0);
        }
        let (theta, growth) = (math::acos(cosine), self.growth_per_speed * speed);
        let moving = angle_at_distance(theta, growth);
        (math::cos(moving), self.implicit_share(cox_integral(theta) + growth, moving, present))
    }

    /// Share of the way from the cosine `present` to that of `moving` that an implicit step makes;
    /// g(θ_h) would be `integral`.
    fn implicit_share(&self, integral: f64, moving: f64, present: f64) -> f64 {
        let stiffness = self.growth_per_speed * self.response;
        let start = math::acos(present);
        // At the smaller angle, so that this does not overshoot.
        let most = stiffness * sliding::wedge_dissipation(start.min(moving).max(MIN_ANGLE));
        if (start - moving).abs() < NEAR || most < SOFT {
            return 1.0 / (1.0 + most);
        }
        let [mut low, mut high] = [start.min(moving), start.max(moving)];
        let mut theta = start;
        for _ in 0..MAX_ITERATIONS {
            let excess = cox_integral(theta) - integral - stiffness * (math::cos(theta) - present);
            [low, high] = if excess > 0.0 { [low, theta] } else { [theta, high] };
            // dg/dθ = sin θ/m.
            let slope = math::sin(theta) * (1.0 / sliding::wedge_dissipation(theta.max(MIN_ANGLE)) + stiffness);
            let newton = theta - excess / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let change = (next - theta).abs();
            theta = next;
            if change < TOLERANCE {
                break;
            }
        }
        (math::cos(theta) - present) / (math::cos(moving) - present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Water on cells of 0.2 mm.
    fn water() -> MovingLine {
        MovingLine::new(&Liquid::water(), 1e-8, 2e-4, 1e-4).expect("cells are larger than the slip length")
    }

    /// The force γ (cos θ_m − cos θ_h) has the sign of the speed: the law only takes energy.
    #[test]
    fn the_angle_resists_the_motion_and_leaves_a_line_at_rest_alone() {
        let (law, cosine) = (water(), 75f64.to_radians().cos());
        let held = LineState::Pinned { cosine };
        for state in [LineState::Free, LineState::Advancing, LineState::Receding, held] {
            assert_eq!(law.angle(cosine, state, 0.0, 0.3), (cosine, 1.0));
        }
        for speed in [0.01, 0.1, 1.0, 100.0] {
            assert!(law.angle(cosine, LineState::Advancing, speed, 0.3).0 < cosine);
            assert!(law.angle(cosine, LineState::Receding, -speed, 0.3).0 > cosine);
            assert_eq!(law.angle(cosine, LineState::Advancing, -speed, 0.3).0, cosine);
            assert_eq!(law.angle(cosine, LineState::Receding, speed, 0.3).0, cosine);
            assert_eq!(law.angle(cosine, held, speed, 0.3).0, cosine);
        }
    }

    /// Δu per step is γΔt/ρh² times the change of the cosine. From any angle, at any speed and
    /// viscosity, the step's end is on the law, and never beyond it; a tenth before it where the
    /// step is nearly explicit.
    #[test]
    fn a_step_ends_at_the_angle_of_the_speed_at_its_end() {
        for viscosity in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2] {
            let liquid = Liquid { viscosity, ..Liquid::water() };
            let law = MovingLine::new(&liquid, 1e-8, 2e-4, 1e-4).unwrap();
            for (theta, present) in [(60.0, 30.0), (60.0, 110.0), (90.0, 90.0), (90.0, 20.0), (150.0, 40.0)] {
                let [cosine, present] = [theta, present].map(|degrees| f64::to_radians(degrees).cos());
                for capillary_number in [-0.1, -0.01, -1e-3, -1e-5, 1e-5, 1e-3, 0.01, 0.1] {
                    let speed = capillary_number * liquid.surface_tension / liquid.dynamic_viscosity();
                    let state = LineState::Free;
                    let (target, share) = law.angle(cosine, state, speed, present);
                    let change = share * (target - present);
                    let (at_end, _) = law.angle(cosine, state, speed + law.response * change, present + change);
                    let [before, after] = [present - target, present + change - at_end];
                    let case = format!("ν {viscosity}, {theta}°, {speed} m/s: {before:.4} off, then {after:.4}");
                    assert!(after.abs() < 2e-3 + SOFT * before.abs(), "{case}");
                    assert!(after * before > -1e-9, "{case}");
                }
            }
        }
    }

    #[test]
    fn a_resolved_slip_length_or_none_switches_the_law_off() {
        let water = Liquid::water();
        assert_eq!(MovingLine::new(&water, 0.0, 2e-4, 1e-4), None);
        assert_eq!(MovingLine::new(&water, 1e-4, 2e-4, 1e-4), None);
    }
}
