//! What a fast droplet leaves: a film that draws together and breaks into beads.
//!
//! A droplet faster than its receding line can follow leaves a film (docs/wetting.md, "Trails, beads, drying"). The stretches left by one
//! droplet are gathered until they are as long as the spacing of beads; when the film has had the time to dewet, whatever is left of
//! it there becomes one bead. On a solid that never dewets (θ_r below 5°) the film stays.

use std::collections::BTreeMap;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_wetting::{Liquid, SlidingLaw};

use crate::substrate::Substrate;
use crate::surface_mesh::{SurfaceMesh, SurfacePoint};

/// Film of less volume than this does not become a bead but stays, in m³: 20 µm across, below what anybody sees.
const LEAST_BEAD: f64 = 4e-15;

/// A piece of film just left by a droplet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The droplet's slot …
    pub slot: u32,
    /// … and id.
    pub id: u32,
    /// Where it lies.
    pub stretch: Draped,
    /// In m³.
    pub volume: f64,
    /// Along the way, in m.
    pub length: f64,
    /// Across it, in m.
    pub width: f64,
}

/// A straight piece of film on one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draped {
    /// Where it begins, in the axes of the triangle where it ends, in m.
    pub from: DVec2,
    /// Where it ends.
    pub to: SurfacePoint,
}

/// Film gathered behind a droplet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tail {
    id: u32,
    stretches: Vec<Draped>,
    length: f64,
    volume: f64,
    width: f64,
    breaks_at: f64,
}

/// A bead that a film has become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bead {
    /// Where.
    pub place: SurfacePoint,
    /// In m³.
    pub volume: f64,
    /// Slot and id of the droplet that left the film.
    pub from: (u32, u32),
}

/// Trails that are still film.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trails {
    /// Being laid, by slot.
    open: BTreeMap<u32, Tail>,
    /// Draped, by the time at which they break (bits of a positive number sort like it) and in the order of laying; with their slot.
    laid: BTreeMap<(u64, u64), (u32, Tail)>,
    num_laid: u64,
}

impl Trails {
    /// A droplet has left a piece of film at the time `now`.
    pub fn extend(&mut self, piece: &Piece, law: &SlidingLaw, liquid: &Liquid, now: f64) {
        if law.film_is_stable() {
            return;
        }
        let tail = self.open.entry(piece.slot).or_insert_with(|| Tail {
            id: piece.id,
            stretches: Vec::new(),
            length: 0.0,
            volume: 0.0,
            width: 0.0,
            breaks_at: now,
        });
        tail.stretches.push(piece.stretch);
        tail.length += piece.length;
        tail.volume += piece.volume;
        tail.width = tail.width.max(piece.width);
        tail.breaks_at = now + law.dewetting_time(liquid, piece.width);
        if tail.length >= law.bead_spacing(piece.width, tail.volume / tail.length) {
            self.close(piece.slot);
        }
    }

    /// A droplet has stopped or gone: its trail ends here.
    pub fn close(&mut self, slot: u32) {
        if let Some(tail) = self.open.remove(&slot) {
            self.laid.insert((tail.breaks_at.max(0.0).to_bits(), self.num_laid), (slot, tail));
            self.num_laid += 1;
        }
    }

    /// Beads of all trails that have broken by `now`, taken off the substrate.
    pub fn due(&mut self, now: f64, surface: &SurfaceMesh, substrate: &mut Substrate) -> Vec<Bead> {
        let mut beads = Vec::new();
        while let Some(entry) = self.laid.first_entry().filter(|entry| f64::from_bits(entry.key().0) <= now) {
            let (slot, tail) = entry.remove();
            let take =
                |&at: &Draped| (at, substrate.take_film_along(surface, at.to.triangle, at.from, at.to.at, tail.width));
            let amounts: Vec<(Draped, f64)> = tail.stretches.iter().map(take).collect();
            let volume: f64 = amounts.iter().map(|(_, amount)| amount).sum();
            let Some(&(Draped { to: place, .. }, _)) = amounts.get(amounts.len() / 2) else { continue };
            if volume < LEAST_BEAD {
                for (at, amount) in amounts.into_iter().filter(|&(_, amount)| amount > 0.0) {
                    substrate.lay_film(surface, at.to.triangle, at.from, at.to.at, tail.width, amount);
                }
            } else {
                beads.push(Bead { place, volume, from: (slot, tail.id) });
            }
        }
        beads
    }
}
