//! Sources that were placed by hand, besides the scene's own.
//!
//! They are part of the saved state, and emit as the scene's emitters of the same kind do.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_scene::types::{Emitter, EmitterKind, RainArea, RainSizes};

use crate::emitters::Sources;
use crate::error::WorldError;
use crate::world::World;

/// Most sources at a time.
const MOST: usize = 256;
/// First index of placed emitters in random streams: those of the scene come before.
const FIRST_INDEX: usize = 1 << 20;

/// A source of liquid by hand. Lengths in m, times in s, volumes in m³.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlacedSource {
    /// A drop at regular intervals.
    Drip {
        /// Center of each drop.
        at: DVec3,
        /// Radius of each drop.
        radius: f64,
        /// Period.
        every: f64,
        /// Initial velocity.
        velocity: DVec3,
    },
    /// A needle in a drop; it begins one where there is none.
    Feed {
        /// Tip of the needle.
        at: DVec3,
        /// Volume per time; negative drains.
        rate: f64,
    },
    /// A steady jet.
    Tap {
        /// Center of the outlet.
        at: DVec3,
        /// Unit vector along the jet.
        direction: DVec3,
        /// Radius of the outlet.
        radius: f64,
        /// Speed.
        speed: f64,
    },
    /// Rain onto a solid.
    Rain {
        /// Index of the solid.
        over: usize,
        /// Depth per time on a level surface.
        rate: f64,
        /// Smallest and largest radius of the drops.
        radius: [f64; 2],
        /// Velocity of the drops.
        velocity: DVec3,
    },
    /// Condensation on a solid.
    Dew {
        /// Index of the solid.
        on: usize,
        /// Volume per area and time.
        rate: f64,
    },
}

/// A source with its number and the time at which it was placed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Placed {
    pub id: u32,
    pub start: f64,
    pub source: PlacedSource,
}

impl PlacedSource {
    fn check(&self, num_solids: usize) -> Result<(), WorldError> {
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        let reason = match *self {
            Self::Drip { at, radius, every, velocity } => {
                let is_fine = at.is_finite() && velocity.is_finite() && is_positive(radius) && is_positive(every);
                (!is_fine).then_some("a drip needs a place, a radius and a period")
            }
            Self::Feed { at, rate } => {
                (!(at.is_finite() && rate.is_finite())).then_some("a needle needs a place and a rate")
            }
            Self::Tap { at, direction, radius, speed } => {
                let is_fine = at.is_finite() && direction.is_normalized() && is_positive(radius) && is_positive(speed);
                (!is_fine).then_some("a tap needs a place, a direction of length 1, a radius and a speed")
            }
            Self::Rain { over, rate, radius: [low, high], velocity } => {
                let is_fine = is_positive(rate) && is_positive(low) && low <= high && high.is_finite();
                let falls = velocity.is_finite() && velocity != DVec3::ZERO;
                (!(is_fine && falls && over < num_solids))
                    .then_some("rain needs a solid, a rate, two radii and a velocity")
            }
            Self::Dew { on, rate } => {
                (!(on < num_solids && is_positive(rate))).then_some("dew needs a solid and a rate")
            }
        };
        reason.map_or(Ok(()), |reason| Err(WorldError::ByHand { reason: reason.into() }))
    }

    /// The same as an emitter of a scene, from `start` on.
    pub fn emitter(&self, start: f64) -> Emitter {
        let kind = match *self {
            Self::Drip { at, radius, every, velocity } => EmitterKind::Drip { at, radius, every, velocity },
            Self::Feed { at, rate } => EmitterKind::Feed { at, rate },
            Self::Tap { at, direction, radius, speed } => EmitterKind::Tap { at, direction, radius, speed },
            Self::Rain { over, rate, radius: [min, max], velocity } => EmitterKind::Rain {
                over: RainArea::Solid(over),
                rate,
                sizes: RainSizes::Uniform { min, max },
                velocity: Some(velocity),
            },
            Self::Dew { on, rate } => EmitterKind::Dew { on, rate },
        };
        Emitter { kind, start, stop: f64::INFINITY }
    }
}

impl World {
    /// Places a source that emits from now on; returns its number.
    ///
    /// Models that cannot emit a kind refuse it in `Model::place_source`.
    pub fn place_source(&mut self, source: PlacedSource) -> Result<u32, WorldError> {
        source.check(self.solids().len())?;
        if self.by_hand.placed.len() >= MOST {
            return Err(WorldError::ByHand { reason: format!("there are {MOST} sources already") });
        }
        let id = self.by_hand.placed.last().map_or(1, |last| last.id + 1);
        self.by_hand.placed.push(Placed { id, start: self.time(), source });
        if let Err(error) = self.prepare_placed() {
            self.by_hand.placed.pop();
            self.prepare_placed()?;
            return Err(error);
        }
        Ok(id)
    }

    /// Removes a placed source.
    pub fn remove_source(&mut self, id: u32) -> Result<(), WorldError> {
        let before = self.by_hand.placed.len();
        self.by_hand.placed.retain(|placed| placed.id != id);
        if self.by_hand.placed.len() == before {
            return Err(WorldError::ByHand { reason: format!("there is no source {id}") });
        }
        self.prepare_placed()
    }

    /// Number, start (in s) and kind of the sources that were placed by hand.
    pub fn placed_sources(&self) -> impl Iterator<Item = (u32, f64, PlacedSource)> + '_ {
        self.by_hand.placed.iter().map(|placed| (placed.id, placed.start, placed.source))
    }

    /// Prepares the placed sources after a change.
    pub(crate) fn prepare_placed(&mut self) -> Result<(), WorldError> {
        let emitters = self.by_hand.placed.iter().map(|placed| {
            let index = FIRST_INDEX + placed.id as usize;
            (index, placed.source.emitter(placed.start))
        });
        let sources = Sources::prepare(self.seed, self.wind(), emitters, &self.solids, &mut self.notices)?;
        self.placed = std::sync::Arc::new(sources);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sessile_scene::{NoFiles, parse_str};

    use super::PlacedSource;
    use crate::{Emission, World};

    fn world() -> World {
        let text = "model = \"pane\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n\
            [[solids]]\nname = \"window\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"300 400 mm\"\n";
        let scene = parse_str("window.toml", text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
        World::build(&scene).unwrap_or_else(|error| panic!("{error}"))
    }

    fn drip() -> PlacedSource {
        PlacedSource::Drip { at: DVec3::Z * 0.01, radius: 1e-3, every: 0.25, velocity: DVec3::ZERO }
    }

    #[test]
    fn placed_sources_emit_from_then_on_are_saved_and_can_be_removed() {
        let mut world = world();
        world.advance_to(0.5);
        let before = world.save();
        let id = world.place_source(drip()).unwrap();
        let velocity = DVec3::new(0.0, -3.0, -3.0);
        world.place_source(PlacedSource::Rain { over: 0, rate: 1e-4, radius: [5e-4, 1e-3], velocity }).unwrap();
        assert!(world.emissions(0.0, 0.5).is_empty());
        let emissions = world.emissions(0.5, 1.5);
        let drips =
            emissions.iter().filter(|e| matches!(e, Emission::Ball { velocity, .. } if *velocity == DVec3::ZERO));
        assert_eq!(drips.count(), 4);
        assert!(emissions.len() > 8 && emissions.is_sorted_by(|a, b| a.time() <= b.time()), "{}", emissions.len());
        let saved = world.save();
        world.restore(&before).unwrap();
        assert!(world.emissions(0.5, 1.5).is_empty() && world.placed_sources().next().is_none());
        world.restore(&saved).unwrap();
        assert_eq!(world.emissions(0.5, 1.5), emissions);
        world.remove_source(id).unwrap();
        assert_eq!(world.emissions(0.5, 1.5).len(), emissions.len() - 4);
        assert!(world.remove_source(id).is_err());
    }

    #[test]
    fn sources_that_no_scene_may_have_are_refused() {
        let mut world = world();
        let wrong = [
            PlacedSource::Drip { at: DVec3::NAN, radius: 1e-3, every: 1.0, velocity: DVec3::ZERO },
            PlacedSource::Drip { at: DVec3::ZERO, radius: 1e-3, every: 0.0, velocity: DVec3::ZERO },
            PlacedSource::Dew { on: 1, rate: 1e-9 },
            PlacedSource::Tap { at: DVec3::ZERO, direction: DVec3::ZERO, radius: 1e-3, speed: 1.0 },
            PlacedSource::Rain { over: 0, rate: 1e-5, radius: [1e-3, 5e-4], velocity: DVec3::NEG_Y },
        ];
        wrong.into_iter().for_each(|source| assert!(world.place_source(source).is_err(), "{source:?}"));
        assert_eq!(world.placed_sources().count(), 0);
    }
}
