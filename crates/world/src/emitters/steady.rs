//! Continuous sources: tap, dew, needle.

use sessile_scene::types::EmitterKind;

use crate::emission::Emission;

/// Emission of a continuous source from `from` to `to`, in s; `None` for sources of single drops.
pub(crate) fn emit(kind: &EmitterKind, from: f64, to: f64) -> Option<Emission> {
    match *kind {
        EmitterKind::Tap { at, direction, radius, speed } => {
            Some(Emission::Stream { at, direction, radius, speed, from, to })
        }
        EmitterKind::Dew { on: solid, rate } => Some(Emission::Condense { solid, rate, from, to }),
        EmitterKind::Feed { at, rate } => Some(Emission::Feed { at, volume: rate * (to - from), from, to }),
        EmitterKind::Drip { .. } | EmitterKind::Rain { .. } => None,
    }
}
