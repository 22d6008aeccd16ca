//! Interaction by hand: regions to take liquid from, and strokes of wiping tools.
//!
//! A tool is a source and a drain: what it takes counts as a negative addition, and what it leaves
//! as an addition, so that added = present + lost holds at every moment. Who moves the tool keeps
//! the liquid that is on it.

use glam::DVec3;
use sessile_numerics::math;
use sessile_world::WorldError;

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Center, in m.
    pub center: DVec3,
    /// Radius, in m.
    pub radius: f64,
}

/// The part of a tool that touches the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tool {
    /// A fingertip: a disc.
    Finger {
        /// Radius, in m.
        radius: f64,
    },
    /// A wiper blade: a segment.
    Blade {
        /// From its middle to one end, in m.
        half: DVec3,
    },
}

/// A straight motion of a tool along a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Middle of the tool at the start, in m.
    pub from: DVec3,
    /// Middle of the tool at the end, in m.
    pub to: DVec3,
    /// Duration, in s.
    pub duration: f64,
    /// The tool.
    pub tool: Tool,
}

/// Largest volume of a drop that is added by hand, in m³.
const MAX_ADDED: f64 = 1e-3;
/// Largest speed of what a hand moves or throws, in m/s.
const MAX_SPEED: f64 = 100.0;
/// Share of a drop above which it is taken as a whole.
const WHOLE: f64 = 0.98;
/// Thickness of the film that a blade leaves, in m: between 1 and 5 µm.
pub const BLADE_FILM: f64 = 2e-6;

impl Stroke {
    /// Speed of the tool, in m/s.
    pub fn speed(&self) -> f64 {
        if self.duration > 0.0 { self.from.distance(self.to) / self.duration } else { 0.0 }
    }

    /// Area that the tool sweeps, in m².
    pub fn area(&self) -> f64 {
        let path = self.to - self.from;
        match self.tool {
            Tool::Finger { radius } => 2.0 * radius * path.length(),
            Tool::Blade { half } => 2.0 * path.cross(half).length(),
        }
    }

    /// Distance from the middle of the stroke beyond which nothing is touched, in m.
    pub fn reach(&self) -> f64 {
        let half = match self.tool {
            Tool::Finger { radius } => radius,
            Tool::Blade { half } => half.length(),
        };
        0.5 * self.from.distance(self.to) + half
    }

    /// Middle of the stroke, in m.
    pub fn middle(&self) -> DVec3 {
        0.5 * (self.from + self.to)
    }

    /// What the stroke does to a drop with a footprint of `radius` (in m) around `center`: the
    /// share that it takes, 0 to 1, and the shift of the rest, in m. `None` if it misses it.
    ///
    /// A tool that covers the share f of the footprint's width has taken f of the drop when it has
    /// crossed it; a stroke of a length ℓ takes 1 − (1 − f)^(ℓ/2R) of what is left.
    pub fn bite(&self, center: DVec3, radius: f64) -> Option<(f64, DVec3)> {
        let (covered, away) = match self.tool {
            Tool::Finger { radius: finger } => self.finger(center, radius, finger)?,
            Tool::Blade { half } => self.blade(center, radius, half)?,
        };
        let share = if covered >= WHOLE {
            1.0
        } else {
            let crossed = (self.from.distance(self.to) / (2.0 * radius)).min(1.0);
            1.0 - math::powf(1.0 - covered, crossed)
        };
        (share > 0.0).then_some((share, away * (share * radius)))
    }

    /// Share of a footprint's width under a finger, and the direction from the finger to it.
    fn finger(&self, center: DVec3, radius: f64, finger: f64) -> Option<(f64, DVec3)> {
        let path = self.to - self.from;
        let along = if path == DVec3::ZERO { 0.0 } else { (center - self.from).dot(path) / path.length_squared() };
        let offset = center - (self.from + path * along.clamp(0.0, 1.0));
        let distance = offset.length();
        let width = (finger + radius - distance).min(2.0 * finger);
        (width > 0.0).then(|| ((width / (2.0 * radius)).min(1.0), offset.normalize_or_zero()))
    }

    /// Share of a footprint's width under a blade that its middle has reached, and the direction to
    /// the side where it is free.
    fn blade(&self, center: DVec3, radius: f64, half: DVec3) -> Option<(f64, DVec3)> {
        let path = self.to - self.from;
        let length = half.length();
        let axis = half.try_normalize()?;
        let forward = (path - axis * path.dot(axis)).try_normalize()?;
        let offset = center - self.from;
        let ahead = offset.dot(forward);
        let swept = path.dot(forward);
        // The blade follows its own slant: where along its path it passes the drop.
        let slide = if swept > 0.0 { path.dot(axis) * (ahead / swept).clamp(0.0, 1.0) } else { 0.0 };
        let across = offset.dot(axis) - slide;
        let up = (offset - forward * ahead - axis * offset.dot(axis)).length();
        let is_reached = ahead > -radius && ahead <= swept && up < 2.0 * radius + 1e-3;
        let width = (length + radius - across.abs()).min(2.0 * length);
        (is_reached && width > 0.0).then(|| ((width / (2.0 * radius)).min(1.0), axis * across.signum()))
    }
}

/// Why a model did not do what was asked of it by hand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionError {
    /// The model has no such interaction.
    #[error("{what} is not possible in this model")]
    Unsupported {
        /// What was asked.
        what: &'static str,
    },
    /// The values make no sense.
    #[error("{0}")]
    Invalid(String),
    /// The world refused it.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Checks a drop to be added: finite, of positive volume, and no lake.
pub fn check_added(at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
    if at.is_finite() && velocity.is_finite() && volume > 0.0 && volume <= MAX_ADDED {
        return Ok(());
    }
    let most = format!("a drop added has at most {MAX_ADDED} m³");
    Err(InteractionError::Invalid(format!("cannot add {volume:e} m³ at {at} m with {velocity} m/s: {most}")))
}

/// Checks the speed (in m/s) of what a hand throws or moves.
pub fn check_speed(what: &str, speed: f64) -> Result<(), InteractionError> {
    if speed <= MAX_SPEED {
        return Ok(());
    }
    let message = format!("{what} moves at most {MAX_SPEED} m/s by hand, not {speed:.3e} m/s");
    Err(InteractionError::Invalid(message))
}

/// Checks a region to take a share of liquid from: finite, and a share from 0 to 1.
pub fn check_taken(region: &Region, share: f64) -> Result<(), InteractionError> {
    let Region { center, radius } = *region;
    if center.is_finite() && radius.is_finite() && radius >= 0.0 && (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(InteractionError::Invalid(format!("cannot take the share {share} within {radius} m of {center} m")))
}

/// Checks a stroke: finite, by a tool of some size.
pub fn check_stroke(stroke: &Stroke) -> Result<(), InteractionError> {
    let Stroke { from, to, duration, tool } = *stroke;
    let is_tool = match tool {
        Tool::Finger { radius } => radius.is_finite() && radius > 0.0,
        Tool::Blade { half } => half.is_finite(),
    };
    if from.is_finite() && to.is_finite() && duration >= 0.0 && duration.is_finite() && is_tool {
        return Ok(());
    }
    Err(InteractionError::Invalid(format!("no stroke leads from {from} m to {to} m in {duration} s with {tool:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finger(from: DVec3, to: DVec3) -> Stroke {
        Stroke { from, to, duration: 0.01, tool: Tool::Finger { radius: 5e-3 } }
    }

    #[test]
    fn a_finger_takes_what_it_covers_and_misses_what_is_beside_it() {
        let stroke = finger(DVec3::ZERO, DVec3::X * 0.02);
        assert_eq!(stroke.bite(DVec3::X * 0.01, 1e-3).map(|(share, _)| share), Some(1.0));
        assert!(stroke.bite(DVec3::new(0.01, 0.0061, 0.0), 1e-3).is_none());
        let (share, shift) = stroke.bite(DVec3::new(0.01, 0.005, 0.0), 1e-3).expect("half of it is covered");
        assert!((share - 0.5).abs() < 1e-12 && shift.y > 0.0, "{share} {shift}");
    }

    /// However a stroke is divided, a drop half under the finger loses half.
    #[test]
    fn the_share_does_not_depend_on_how_a_stroke_is_divided() {
        for parts in [1, 4, 16] {
            let (mut left, length) = (1.0, 2e-3);
            for part in 0..parts {
                let at = |k: i32| DVec3::X * (length * f64::from(k) / f64::from(parts) - 0.5 * length);
                let bite = finger(at(part), at(part + 1)).bite(DVec3::Y * 5e-3, 1e-3);
                left *= 1.0 - bite.map_or(0.0, |(share, _)| share);
            }
            assert!((left - 0.5).abs() < 0.08, "{left} of it are left after {parts} strokes");
        }
    }

    #[test]
    fn a_blade_takes_only_what_it_has_passed_within_its_width() {
        let half = DVec3::X * 0.05;
        let stroke = Stroke { from: DVec3::ZERO, to: DVec3::NEG_Y * 0.01, duration: 0.1, tool: Tool::Blade { half } };
        assert_eq!(stroke.bite(DVec3::new(0.03, -0.005, 0.0), 1e-3).map(|(share, _)| share), Some(1.0));
        assert!(stroke.bite(DVec3::new(0.03, -0.012, 0.0), 1e-3).is_none(), "it is ahead of the blade");
        assert!(stroke.bite(DVec3::new(0.052, -0.005, 0.0), 1e-3).is_none(), "it is beside the blade");
        assert!((stroke.area() - 1e-3).abs() < 1e-12 && (stroke.speed() - 0.1).abs() < 1e-12);
    }
}
