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
//! a cell at the line is accelerated by Δu = (γΔt/ρh²) Δcos θ. With k = ln(h/2λ) η/γ, taken at the
//! step's beginning the angle would overshoot where m k γΔt/ρh² > 1. It is therefore approached by
//!
//! ```text
//! cos θ ← cos θ + (cos θ_h − cos θ)/(1 + m k γΔt/ρh²)
//! ```
//!
//! with m at the larger of the two angles: the implicit solution, linearized where m is least, so a
//! very viscous line can still overshoot slightly. No time-step limit.

use sessile_wetting::{Liquid, moving_line, sliding};

use crate::line_state::LineState;

/// Angle below which a wedge counts as having it, in rad: its dissipation is infinite at zero.
const MIN_ANGLE: f64 = 1e-3;

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
        let logarithm = sessile_numerics::math::ln(h / (2.0 * slip));
        Some(Self {
            growth_per_speed: logarithm * liquid.dynamic_viscosity() / liquid.surface_tension,
            response: liquid.surface_tension * dt / (liquid.density * h * h),
        })
    }

    /// Force of a line with `cosine` at the slip length at `speed` (in m/s), over γ and its length.
    pub fn drag(&self, cosine: f64, speed: f64) -> f64 {
        let theta = sessile_numerics::math::acos(cosine);
        sliding::wedge_dissipation(theta.max(MIN_ANGLE)) * self.growth_per_speed * speed
    }

    /// The cosine at the distance of a cell from a line with `cosine` at the slip length that moves
    /// at `speed` (in m/s) out of the liquid, and the share of the way to it that a step makes.
    pub fn angle(&self, cosine: f64, state: LineState, speed: f64) -> (f64, f64) {
        let speed = match state {
            LineState::Free => speed,
            LineState::Advancing => speed.max(0.0),
            LineState::Receding => speed.min(0.0),
            LineState::Pinned { .. } => 0.0,
        };
        if speed == 0.0 {
            return (cosine, 1.0);
        }
        let theta = sessile_numerics::math::acos(cosine);
        let moving = moving_line::angle_at_distance(theta, self.growth_per_speed * speed);
        let stiffness =
            sliding::wedge_dissipation(theta.max(moving).max(MIN_ANGLE)) * self.growth_per_speed * self.response;
        (sessile_numerics::math::cos(moving), 1.0 / (1.0 + stiffness))
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
            assert_eq!(law.angle(cosine, state, 0.0), (cosine, 1.0));
        }
        for speed in [0.01, 0.1, 1.0, 100.0] {
            assert!(law.angle(cosine, LineState::Advancing, speed).0 < cosine);
            assert!(law.angle(cosine, LineState::Receding, -speed).0 > cosine);
            assert_eq!(law.angle(cosine, LineState::Advancing, -speed).0, cosine);
            assert_eq!(law.angle(cosine, LineState::Receding, speed).0, cosine);
            assert_eq!(law.angle(cosine, held, speed).0, cosine);
        }
    }

    #[test]
    fn a_resolved_slip_length_or_none_switches_the_law_off() {
        let water = Liquid::water();
        assert_eq!(MovingLine::new(&water, 0.0, 2e-4, 1e-4), None);
        assert_eq!(MovingLine::new(&water, 1e-4, 2e-4, 1e-4), None);
    }
}
