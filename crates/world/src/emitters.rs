//! Sources of liquid, one kind per file.
//!
//! A source is active in [start, stop). Its emissions in an interval depend on the interval alone:
//! nothing is stored between calls, and the emissions do not depend on the time steps.

mod drip;
mod exposure;
mod rain;
mod rain_sizes;
mod steady;

use glam::DVec3;
use sessile_scene::types::{Emitter, EmitterKind, Scene};

use self::rain::Rain;
use crate::emission::Emission;
use crate::error::WorldError;
use crate::solid::Solid;

/// All sources of a scene.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    sources: Vec<(Emitter, Option<Rain>)>,
}

impl Sources {
    /// Prepares a scene's emitters.
    pub fn build(scene: &Scene, solids: &[Solid], notices: &mut Vec<String>) -> Result<Self, WorldError> {
        let emitters = scene.emitters.iter().cloned().enumerate();
        Self::prepare(scene.seed, scene.world.wind, emitters, solids, notices)
    }

    /// Prepares emitters with their indices, which random numbers depend on.
    pub fn prepare(
        seed: u64,
        wind: DVec3,
        emitters: impl IntoIterator<Item = (usize, Emitter)>,
        solids: &[Solid],
        notices: &mut Vec<String>,
    ) -> Result<Self, WorldError> {
        let mut sources = Vec::new();
        for (index, emitter) in emitters {
            let wrong = |reason: String| WorldError::Emitter { index, reason };
            if !emitter.start.is_finite() {
                return Err(wrong(format!("`start` must be a time, got {} s", emitter.start)));
            }
            match emitter.kind {
                EmitterKind::Drip { every, .. } if every.is_nan() || every <= 0.0 => {
                    return Err(wrong(format!("`every` must be a positive time, got {every} s")));
                }
                EmitterKind::Dew { on, .. } if on >= solids.len() => {
                    return Err(wrong(format!("solid {on} of `on` does not exist")));
                }
                _ => {}
            }
            let rain = Rain::new(seed, index, &emitter, wind, solids, notices).map_err(wrong)?;
            sources.push((emitter, rain));
        }
        Ok(Self { sources })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Emissions of all sources in [from, to), sorted by time, then by emitter.
    pub fn emissions(&self, solids: &[Solid], from: f64, to: f64) -> Vec<Emission> {
        let mut out = Vec::new();
        for (emitter, rain) in &self.sources {
            // The part of the interval in which the source is active.
            let (from, to) = (from.max(emitter.start), to.min(emitter.stop));
            if from >= to {
                continue;
            }
            match (&emitter.kind, rain) {
                (EmitterKind::Drip { .. }, _) => drip::emit(emitter, from, to, &mut out),
                (EmitterKind::Rain { .. }, Some(rain)) => rain.emit(solids, from, to, &mut out),
                (kind, _) => out.extend(steady::emit(kind, from, to)),
            }
        }
        // A stable sort keeps the emitters' order among equal times.
        out.sort_by(|a, b| a.time().total_cmp(&b.time()));
        out
    }
}
