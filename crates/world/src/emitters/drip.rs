//! Drops at regular intervals: the n-th at start + n · every, n = 0, 1, …, before stop.

use sessile_scene::types::{Emitter, EmitterKind};

use crate::emission::Emission;

/// Drops closer to `stop` than this fraction of the period are omitted, because n · every is
/// rounded.
const SLACK: f64 = 1e-9;

/// Appends the drops of a drip in [from, to) to `out`; nothing for other kinds.
pub(crate) fn emit(emitter: &Emitter, from: f64, to: f64, out: &mut Vec<Emission>) {
    let EmitterKind::Drip { at, radius, every, velocity } = emitter.kind else { return };
    let end = emitter.stop - SLACK * every;
    // One early, because the quotient is rounded too; the times themselves decide.
    let mut n = ((from.max(emitter.start) - emitter.start) / every).floor().max(1.0) - 1.0;
    loop {
        let time = emitter.start + n * every;
        if time >= to || time >= end {
            return;
        }
        if time >= from {
            out.push(Emission::Ball { time, center: at, radius, velocity });
        }
        n += 1.0;
    }
}
