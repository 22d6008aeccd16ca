//! What a fast drop leaves: a film that draws together into a ridge and breaks into beads.
//!
//! A drop faster than its receding line can follow leaves a film (docs/wetting.md, "Trails, beads, drying"). Film lies on cells; the
//! pieces left by one drop are gathered until they are as long as the spacing of beads, and when the film has had the time to
//! dewet, whatever is left of it on those cells becomes one bead. On a solid that never dewets (θ_r below 5°) the film stays.

use std::collections::BTreeMap;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids};
use sessile_wetting::Liquid;

use crate::drops::{Drops, PaneDrop};
use crate::ground::Ground;
use crate::laws::CellLaw;

/// Film of less volume than this does not become a bead but stays, in m³: 20 µm across, below what anybody sees.
const LEAST_BEAD: f64 = 4e-15;

const NONE: u32 = u32::MAX;

/// A piece of film just left by a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The drop's slot …
    pub slot: u32,
    /// … and id.
    pub drop: u32,
    /// The cell it lies on.
    pub cell: u32,
    /// In m³.
    pub volume: f64,
    /// Along the way, in m.
    pub length: f64,
    /// Across it, in m.
    pub width: f64,
}

/// Film gathered behind a drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tail {
    slot: u32,
    drop: u32,
    cells: Vec<u32>,
    length: f64,
    volume: f64,
    breaks_at: f64,
}

/// Trails that are still film.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trails {
    /// Being laid.
    open: Vec<Tail>,
    /// Which of them a slot's drop is laying; `NONE` for most.
    open_of: Vec<u32>,
    /// Draped, by the time at which they break (bits of a positive number sort like it) and in the order of laying.
    laid: BTreeMap<(u64, u64), Tail>,
    num_laid: u64,
}

impl Trails {
    /// A drop has left a piece of film at the time `now`.
    pub fn extend(&mut self, piece: &Piece, law: &CellLaw, liquid: &Liquid, now: f64) {
        if law.film_stays {
            return;
        }
        let slot = piece.slot as usize;
        if self.open_of.len() <= slot {
            self.open_of.resize(slot + 1, NONE);
        }
        if self.open_of[slot] == NONE {
            self.open_of[slot] = self.open.len() as u32;
            self.open.push(Tail {
                slot: piece.slot,
                drop: piece.drop,
                cells: Vec::new(),
                length: 0.0,
                volume: 0.0,
                breaks_at: now,
            });
        }
        let tail = &mut self.open[self.open_of[slot] as usize];
        if tail.cells.last() != Some(&piece.cell) {
            tail.cells.push(piece.cell);
        }
        tail.length += piece.length;
        tail.volume += piece.volume;
        let section = tail.volume / tail.length;
        tail.breaks_at = now + law.dewetting_time(liquid, piece.width);
        if tail.length >= law.bead_spacing(piece.width, section) {
            self.close(piece.slot);
        }
    }

    /// A drop has stopped or gone: its trail ends here.
    pub fn close(&mut self, slot: u32) {
        let Some(index) = self.open_of.get(slot as usize).copied().filter(|&index| index != NONE) else { return };
        self.open_of[slot as usize] = NONE;
        let tail = self.open.swap_remove(index as usize);
        if let Some(moved) = self.open.get(index as usize) {
            self.open_of[moved.slot as usize] = index;
        }
        self.laid.insert((tail.breaks_at.max(0.0).to_bits(), self.num_laid), tail);
        self.num_laid += 1;
    }

    /// Beads of all trails that have broken by `now`, taken off the ground.
    pub fn beads_due(
        &mut self,
        now: f64,
        ground: &mut Ground,
        drops: &Drops,
        next_id: &mut u32,
        events: &mut Vec<Event>,
    ) -> Vec<PaneDrop> {
        let mut beads = Vec::new();
        while let Some(entry) = self.laid.first_entry().filter(|entry| f64::from_bits(entry.key().0) <= now) {
            let tail = entry.remove();
            let amounts: Vec<(usize, f64)> =
                tail.cells.iter().map(|&cell| (cell as usize, ground.take_film(cell as usize))).collect();
            let volume: f64 = amounts.iter().map(|(_, amount)| amount).sum();
            if volume < LEAST_BEAD {
                amounts.iter().for_each(|&(cell, amount)| ground.add_film(cell, amount));
                continue;
            }
            let place = amounts.iter().map(|&(cell, amount)| ground.middle_of(cell) * amount).sum::<DVec2>() / volume;
            let id = *next_id;
            *next_id += 1;
            // A drop that has merged since is nobody to split from.
            if drops.get(tail.slot).id == tail.drop {
                events.push(Event::Split { split: tail.drop, into: Ids::from_slice(&[tail.drop, id]) });
            }
            beads.push(PaneDrop::resting(id, place, volume));
        }
        beads
    }
}
