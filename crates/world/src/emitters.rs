//! Sources of liquid: each file one kind.
//!
//! A source runs in [start, stop). What it gives in an interval follows from the interval alone, so nothing is stored between
//! calls, and however time is cut the balls are the same.

pub mod steady;

use sessile_scene::types::{Emitter, EmitterKind, Scene};

use crate::error::WorldError;
use crate::solid::Solid;
use crate::supply::Supply;

/// All sources of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    emitters: Vec<Emitter>,
}

impl Sources {
    pub fn build(scene: &Scene, _solids: &[Solid], _notices: &mut Vec<String>) -> Result<Self, WorldError> {
        Ok(Self { emitters: scene.emitters.clone() })
    }

    /// What all sources give in [from, to), sorted by time, then by emitter.
    pub fn supply(&self, _solids: &[Solid], from: f64, to: f64) -> Vec<Supply> {
        let mut out = Vec::new();
        for emitter in &self.emitters {
            // The part of the interval in which the source runs.
            let (a, b) = (from.max(emitter.start), to.min(emitter.stop));
            if a >= b {
                continue;
            }
            match &emitter.kind {
                EmitterKind::Drip { .. } | EmitterKind::Rain { .. } => {}
                kind => out.extend(steady::give(kind, a, b)),
            }
        }
        out.sort_by(|a, b| a.time().total_cmp(&b.time()));
        out
    }
}
