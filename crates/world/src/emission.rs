//! What emitters hand to a model.

use glam::DVec3;

/// Liquid that comes (or goes) during an interval of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Emission {
    /// A ball of liquid appears.
    Ball {
        /// When, in s.
        time: f64,
        /// Center, in m.
        center: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Velocity, in m/s.
        velocity: DVec3,
    },
    /// A stream runs out of a round mouth: π radius² speed (to − from) of liquid.
    Stream {
        /// Center of the mouth, in m.
        at: DVec3,
        /// Direction of the stream, unit length.
        direction: DVec3,
        /// Radius of the mouth, in m.
        radius: f64,
        /// Speed, in m/s.
        speed: f64,
        /// First moment, in s.
        from: f64,
        /// End, in s.
        to: f64,
    },
    /// Vapor condenses on a whole solid: rate (to − from) of liquid per area.
    Condense {
        /// Index of the solid.
        solid: usize,
        /// Volume per area and time, in m/s.
        rate: f64,
        /// First moment, in s.
        from: f64,
        /// End, in s.
        to: f64,
    },
    /// A needle adds liquid to the drop that it is in, or takes some.
    Feed {
        /// Its tip, in m.
        at: DVec3,
        /// Volume, in m³; negative takes.
        volume: f64,
        /// First moment, in s.
        from: f64,
        /// End, in s.
        to: f64,
    },
}

impl Emission {
    /// When it begins, in s.
    pub fn time(&self) -> f64 {
        match *self {
            Self::Ball { time, .. } => time,
            Self::Stream { from, .. } | Self::Condense { from, .. } | Self::Feed { from, .. } => from,
        }
    }
}
