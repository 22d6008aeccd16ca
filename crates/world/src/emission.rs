//! Liquid that emitters add or remove.

use glam::DVec3;

/// Liquid added to or removed from the simulation during a time interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Emission {
    /// A sphere of liquid appears.
    Ball {
        /// Time, in s.
        time: f64,
        /// Center, in m.
        center: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Velocity, in m/s.
        velocity: DVec3,
    },
    /// A jet leaves a circular outlet: a volume of π radius² speed (to − from).
    Stream {
        /// Center of the outlet, in m.
        at: DVec3,
        /// Unit vector along the jet.
        direction: DVec3,
        /// Radius of the outlet, in m.
        radius: f64,
        /// Speed, in m/s.
        speed: f64,
        /// Start time, in s.
        from: f64,
        /// End time, in s.
        to: f64,
    },
    /// Vapor condenses on a whole solid: a volume per area of rate (to − from).
    Condense {
        /// Index of the solid.
        solid: usize,
        /// Volume per area and time, in m/s.
        rate: f64,
        /// Start time, in s.
        from: f64,
        /// End time, in s.
        to: f64,
    },
    /// A needle adds liquid to the drop that it is in, or removes some.
    Feed {
        /// Tip of the needle, in m.
        at: DVec3,
        /// Volume, in m³; negative removes liquid.
        volume: f64,
        /// Start time, in s.
        from: f64,
        /// End time, in s.
        to: f64,
    },
}

impl Emission {
    /// Start time, in s.
    pub fn time(&self) -> f64 {
        match *self {
            Self::Ball { time, .. } => time,
            Self::Stream { from, .. } | Self::Condense { from, .. } | Self::Feed { from, .. } => from,
        }
    }
}
