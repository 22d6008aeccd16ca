//! `[[emitters]]`: sources of liquid.

use glam::DVec3;

use super::words::words;

/// `[[emitters]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// Kind of source.
    pub kind: EmitterKind,
    /// Start time, in s.
    pub start: f64,
    /// End time, in s; may be infinite.
    pub stop: f64,
}

words! {
    /// The words for an emitter's kind.
    pub enum EmitterType {
        /// [`EmitterKind::Drip`].
        Drip = "drip",
        /// [`EmitterKind::Tap`].
        Tap = "tap",
        /// [`EmitterKind::Rain`].
        Rain = "rain",
        /// [`EmitterKind::Dew`].
        Dew = "dew",
        /// [`EmitterKind::Feed`].
        Feed = "feed",
    }
}

/// A source of liquid.
#[derive(Clone, Debug, PartialEq)]
pub enum EmitterKind {
    /// A drop at regular intervals.
    Drip {
        /// Center, in m.
        at: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Period, in s.
        every: f64,
        /// Initial velocity, in m/s.
        velocity: DVec3,
    },
    /// A steady jet.
    Tap {
        /// Center of the outlet, in m.
        at: DVec3,
        /// Unit vector along the jet.
        direction: DVec3,
        /// Radius of the outlet, in m.
        radius: f64,
        /// Speed, in m/s.
        speed: f64,
    },
    /// Randomly placed falling drops.
    Rain {
        /// Where it falls.
        over: RainArea,
        /// Depth per time on a level surface, in m/s.
        rate: f64,
        /// Drop sizes.
        sizes: RainSizes,
        /// Fall velocity, in m/s; `None` for terminal speed by size, plus the wind.
        velocity: Option<DVec3>,
    },
    /// Condensation.
    Dew {
        /// Index into [`Scene::solids`](super::Scene::solids).
        on: usize,
        /// Volume per area and time, in m/s.
        rate: f64,
    },
    /// A needle in a drop.
    Feed {
        /// Tip of the needle, in m.
        at: DVec3,
        /// Volume per time, in m³/s (planar: m²/s); negative drains.
        rate: f64,
    },
}

/// Where rain falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainArea {
    /// Onto a solid: index into [`Scene::solids`](super::Scene::solids).
    Solid(usize),
    /// Through a box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
}

/// Size distribution of raindrops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RainSizes {
    /// Marshall–Palmer distribution at the emitter's rate.
    MarshallPalmer,
    /// Radius uniform between two bounds, in m.
    Uniform {
        /// Smallest radius, in m.
        min: f64,
        /// Largest radius, in m.
        max: f64,
    },
}
