//! Which drop a cell belongs to: connected liquid, named for good, with its own books.
//!
//! Liquid cells that share an open face belong to one drop. A drop's *name* (id) lives on in the cells: cells that were drop 3 in the last step and still hang together
//! are drop 3. Where several names meet, the largest goes on and the others end (a merge); where one name is in several pieces, the
//! largest keeps it (a split). Names are never used again. A piece of less than a cell that a drop leaves behind on a wall, or of less than a quarter of one in the air, is no drop: it
//! has no account, and is wiped off.
//!
//! Each drop has an account: the volume that it ought to have. Merges add accounts, splits share them out by measured volume, sources and drains change them. What the
//! surface holds is measured every step ([`fractions`](crate::fractions)), and a divergence source
//!
//! ```text
//! ∇·u = (V_account − V)/(V τ),      τ = 20 Δt
//! ```
//!
//! closes the difference: about 10⁻⁵ of a drop's volume per step while a surface moves, too little to be seen in its shape.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids};

use crate::fractions::cell_share;
use crate::poisson::NONE as NO_UNKNOWN;
use crate::solids::Solids;
use crate::spray::MOST_CELLS;
use crate::tiles::{CELLS, Field, Tiles};

/// Steps in which a difference of volume is closed.
const STEPS_TO_CLOSE: f64 = 20.0;
/// Largest relative change of volume per step that the source may make.
const MOST_PER_STEP: f64 = 2e-3;

/// Pieces with less liquid than this, in cells, that a drop has left behind are no drops: what they would hold stays with the drop.
const SPECK: f64 = 0.25;
/// The same for pieces on a wall, where a line that recedes across the corners of cells leaves them.
const SPECK_ON_WALL: f64 = 1.0;
/// The name of specks.
pub const OF_SPECKS: u32 = u32::MAX;

/// A drop and its account.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Its name.
    pub id: u32,
    /// Volume that it ought to have, in cells.
    pub volume: f64,
}

/// A drop that is on no cell any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vanished {
    /// Its name and volume.
    pub account: Account,
    /// A cell that it was in, if that is still active.
    pub cell: Option<usize>,
}

/// A connected piece of liquid, as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Piece {
    /// The name that it has.
    pub id: u32,
    /// Number of unknowns.
    pub num_cells: usize,
    /// Measured volume, in cells.
    pub volume: f64,
    /// Volume that it ought to have, in cells.
    pub account: f64,
    /// Whether a wall is within a cell.
    pub on_wall: bool,
}

impl Piece {
    fn is_small(&self) -> bool {
        self.volume < if self.on_wall { SPECK_ON_WALL } else { SPECK }
    }
}

/// All drops.
#[derive(Debug)]
pub struct Drops {
    /// By rising id.
    pub accounts: Vec<Account>,
    /// The next id.
    pub next_id: u32,
    /// The name of each liquid cell in the last step; 0 elsewhere.
    pub names: Field<u32>,
    /// The pieces found last, in the order of their first cells.
    pub pieces: Vec<Piece>,
    /// The piece of each unknown.
    pub piece_of: Vec<u32>,
    /// Drops that no cell calls liquid any more, though none of them has left: a sheet that has become thinner than a cell, a fleck between cells.
    pub vanished: Vec<Vanished>,
    parents: Vec<u32>,
    shares: Vec<f64>,
    /// (piece, name, cells in common).
    overlaps: Vec<(u32, u32, u32)>,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            accounts: Vec::new(),
            next_id: 1,
            names: Field::new(0),
            pieces: Vec::new(),
            piece_of: Vec::new(),
            vanished: Vec::new(),
            parents: Vec::new(),
            shares: Vec::new(),
            overlaps: Vec::new(),
        }
    }
}

/// What labelling reads: the unknowns, their cells, and who shares an open face.
pub struct Liquid<'a> {
    /// The tiles.
    pub tiles: &'a Tiles,
    /// The solids.
    pub solids: &'a Solids,
    /// The level set.
    pub phi: &'a Field<f64>,
    /// The cell of each unknown.
    pub cells: &'a [u32],
    /// The unknown of each cell.
    pub number: &'a Field<u32>,
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let up = parents[parents[node as usize] as usize];
        parents[node as usize] = up;
        node = up;
    }
    node
}

impl Drops {
    /// A new name.
    pub fn new_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// The account of a name.
    pub fn account_mut(&mut self, id: u32) -> Option<&mut Account> {
        let at = self.accounts.binary_search_by_key(&id, |account| account.id).ok()?;
        Some(&mut self.accounts[at])
    }

    /// Sum of all accounts, in cells.
    pub fn total(&self) -> f64 {
        self.accounts.iter().map(|account| account.volume).sum()
    }

    /// Gives drops whose volume was not known (it is not a number) what they hold.
    pub fn measure_unknown_accounts(&mut self) {
        for piece in &mut self.pieces {
            if piece.account.is_nan() {
                piece.account = piece.volume;
                if let Ok(at) = self.accounts.binary_search_by_key(&piece.id, |account| account.id) {
                    self.accounts[at].volume = piece.volume;
                }
            }
        }
    }

    /// Takes the curvature off drops of few cells (wang2005, §8): what cells make of it throws them about at meters per second until they leave the grid as balls.
    ///
    /// Not off specks, nor where a larger drop's surface is as near: a receding line leaves some beside it, and their loss of curvature would tear at it.
    pub fn flatten_small(&self, liquid: &Liquid<'_>, kappa: &mut Field<f64>) {
        let Liquid { tiles, cells, number, .. } = liquid;
        let is_small = |unknown: u32| {
            let piece = &self.pieces[self.piece_of[unknown as usize] as usize];
            piece.num_cells <= MOST_CELLS && piece.id != OF_SPECKS
        };
        let around = |cell: usize| {
            (0..2 * tiles.dims()).filter_map(move |face| tiles.next(cell, face / 2, if face % 2 == 0 { -1 } else { 1 }))
        };
        for (_, &cell) in cells.iter().enumerate().filter(|(unknown, _)| is_small(*unknown as u32)) {
            kappa.values_mut()[cell as usize] = 0.0;
            for next in around(cell as usize).filter(|&next| number.values()[next] == NO_UNKNOWN) {
                let mut owners = around(next).map(|index| number.values()[index]);
                if owners.all(|owner| owner == NO_UNKNOWN || is_small(owner)) {
                    kappa.values_mut()[next] = 0.0;
                }
            }
        }
    }

    /// Finds the pieces, names them, and settles their accounts; reports merges and splits.
    pub fn label(&mut self, liquid: &Liquid<'_>, events: &mut Vec<Event>) {
        self.connect(liquid);
        self.measure(liquid);
        self.name(liquid, events);
    }

    /// Joins unknowns that share an open face, and numbers the pieces by their first cells.
    fn connect(&mut self, liquid: &Liquid<'_>) {
        let Liquid { tiles, solids, cells, number, .. } = liquid;
        self.parents.clear();
        self.parents.extend(0..cells.len() as u32);
        for (unknown, &cell) in cells.iter().enumerate() {
            for axis in 0..tiles.dims() {
                let cell = cell as usize;
                if solids.open[axis].values()[cell] <= 0.0 {
                    continue;
                }
                let Some(low) = tiles.next(cell, axis, -1) else { continue };
                let other = number.values()[low];
                if other != NO_UNKNOWN {
                    let (a, b) = (root(&mut self.parents, unknown as u32), root(&mut self.parents, other));
                    // The lower number leads, so that pieces are in the order of their first cells.
                    self.parents[a.max(b) as usize] = a.min(b);
                }
            }
        }
        self.pieces.clear();
        self.piece_of.clear();
        for unknown in 0..cells.len() as u32 {
            let first = root(&mut self.parents, unknown);
            let piece = if first == unknown {
                self.pieces.push(Piece::default());
                self.pieces.len() as u32 - 1
            } else {
                self.piece_of[first as usize]
            };
            self.piece_of.push(piece);
            let piece = &mut self.pieces[piece as usize];
            piece.num_cells += 1;
            piece.on_wall |= solids.distance.values()[cells[unknown as usize] as usize] < 1.0;
        }
    }

    /// Adds up each piece's volume; the liquid in a cell whose center is in air belongs to its first liquid neighbor.
    fn measure(&mut self, liquid: &Liquid<'_>) {
        let Liquid { tiles, solids, phi, number, .. } = liquid;
        self.shares.clear();
        self.shares.resize(tiles.len() * CELLS, 0.0);
        self.shares.par_chunks_exact_mut(CELLS).enumerate().for_each(|(slot, shares)| {
            for (local, share) in shares.iter_mut().enumerate().take(tiles.cells_in_use()) {
                *share = cell_share(tiles, solids, phi, slot * CELLS + local);
            }
        });
        for (index, &share) in self.shares.iter().enumerate() {
            if share <= 0.0 {
                continue;
            }
            let mut unknown = number.values()[index];
            for direction in 0..2 * tiles.dims() {
                if unknown != NO_UNKNOWN {
                    break;
                }
                let next = tiles.next(index, direction / 2, if direction % 2 == 0 { -1 } else { 1 });
                unknown = next.map_or(NO_UNKNOWN, |next| number.values()[next]);
            }
            if unknown != NO_UNKNOWN {
                self.pieces[self.piece_of[unknown as usize] as usize].volume += share;
            }
        }
    }

    /// The liquid share of each cell in the last step, by index.
    #[cfg(test)]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn name(&mut self, liquid: &Liquid<'_>, events: &mut Vec<Event>) {
        let Self { accounts, next_id, names, pieces, piece_of, overlaps, vanished, .. } = self;
        overlaps.clear();
        for (unknown, &cell) in liquid.cells.iter().enumerate() {
            let name = names.values()[cell as usize];
            let piece = piece_of[unknown];
            if name == 0 || name == OF_SPECKS {
                continue;
            }
            match overlaps.last_mut() {
                Some(last) if (last.0, last.1) == (piece, name) => last.2 += 1,
                _ => overlaps.push((piece, name, 1)),
            }
        }
        overlaps.sort_unstable_by_key(|&(piece, name, _)| (piece, name));
        overlaps.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        vanished.clear();
        settle(accounts, next_id, pieces, overlaps, vanished, events);
        if !vanished.is_empty() {
            for (index, &name) in names.values().iter().enumerate().filter(|(_, name)| **name != 0) {
                if let Ok(at) = vanished.binary_search_by_key(&name, |gone| gone.account.id) {
                    vanished[at].cell.get_or_insert(index);
                }
            }
        }
        names.par_tiles_mut().enumerate().for_each(|(slot, names)| {
            let number = liquid.number.tile(slot);
            for (name, &unknown) in names.iter_mut().zip(number) {
                *name = if unknown == NO_UNKNOWN { 0 } else { pieces[piece_of[unknown as usize] as usize].id };
            }
        });
    }

    /// S of each unknown, in units of velocity: what closes the gap between account and volume. `cells_per_second` is h/Δt.
    pub fn sources(&self, cells_per_second: f64, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.piece_of.iter().map(|&piece| {
            let piece = &self.pieces[piece as usize];
            let gap = (piece.account - piece.volume) / piece.volume.max(1.0);
            (gap / STEPS_TO_CLOSE).clamp(-MOST_PER_STEP, MOST_PER_STEP) * cells_per_second
        }));
    }
}

/// Names the pieces and shares out the accounts; `overlaps` is sorted by piece, then name.
fn settle(
    accounts: &mut Vec<Account>,
    next_id: &mut u32,
    pieces: &mut [Piece],
    overlaps: &[(u32, u32, u32)],
    vanished: &mut Vec<Vanished>,
    events: &mut Vec<Event>,
) {
    // Each name's account is shared out among the pieces that hold cells of it, by volume times the share of the cells.
    let mut by_name: Vec<(u32, u32, f64)> = overlaps
        .iter()
        .map(|&(piece, name, cells)| {
            let Piece { volume, num_cells, .. } = pieces[piece as usize];
            (name, piece, volume.max(1e-3) * f64::from(cells) / num_cells as f64)
        })
        .collect();
    by_name.sort_unstable_by_key(|&(name, piece, _)| (name, piece));
    let mut keeps = vec![false; pieces.len()];
    for parts in by_name.chunk_by(|a, b| a.0 == b.0) {
        keeps[keeper(parts) as usize] = true;
    }
    let is_speck = |piece: usize, pieces: &[Piece]| !keeps[piece] && pieces[piece].is_small();
    by_name.retain(|part| !is_speck(part.1 as usize, pieces));
    // Which name each piece would carry: the one with the largest account in it.
    let mut renewed: Vec<Account> = Vec::with_capacity(accounts.len());
    let mut best: Vec<(f64, u32)> = vec![(0.0, 0); pieces.len()];
    let mut at = 0;
    for account in accounts.iter() {
        let from = at;
        while at < by_name.len() && by_name[at].0 == account.id {
            at += 1;
        }
        let parts = &by_name[from..at];
        let whole: f64 = parts.iter().map(|part| part.2).sum();
        if parts.is_empty() {
            vanished.push(Vanished { account: *account, cell: None });
            continue;
        }
        let keeper = keeper(parts);
        for part in parts {
            let volume = account.volume * part.2 / whole;
            let piece = part.1 as usize;
            pieces[piece].account += volume;
            if part.1 == keeper && (best[piece].1 == 0 || volume > best[piece].0) {
                best[piece] = (volume, account.id);
            }
        }
    }
    for (index, best) in best.iter().enumerate() {
        pieces[index].id = if best.1 != 0 {
            best.1
        } else if is_speck(index, pieces) {
            OF_SPECKS
        } else {
            *next_id += 1;
            *next_id - 1
        };
    }
    endow_nameless(pieces, events);
    let drops = pieces.iter().filter(|piece| piece.id != OF_SPECKS);
    renewed.extend(drops.map(|piece| Account { id: piece.id, volume: piece.account }));
    report(pieces, &by_name, events);
    renewed.sort_unstable_by_key(|account| account.id);
    *accounts = renewed;
}

/// The piece that keeps a name: the largest part.
fn keeper(parts: &[(u32, u32, f64)]) -> u32 {
    parts.iter().fold(parts[0], |most, part| if part.2 > most.2 { *part } else { most }).1
}

/// Pieces that hold no cell of a drop (a fleck that was torn off between two cells) get what they hold from the largest drop: liquid does not come from nowhere.
fn endow_nameless(pieces: &mut [Piece], events: &mut Vec<Event>) {
    let Some(largest) = (0..pieces.len()).max_by(|&a, &b| pieces[a].account.total_cmp(&pieces[b].account)) else {
        return;
    };
    for index in 0..pieces.len() {
        if index == largest || pieces[index].account != 0.0 || pieces[index].id == OF_SPECKS {
            continue;
        }
        let volume = pieces[index].volume.min(0.5 * pieces[largest].account);
        pieces[index].account = volume;
        pieces[largest].account -= volume;
        let (from, to) = (pieces[largest].id, pieces[index].id);
        events.push(Event::Split { split: from, into: Ids::from_slice(&[from.min(to), from.max(to)]) });
    }
}

/// Merges by the pieces that hold several names, splits by the names that are in several pieces.
fn report(pieces: &[Piece], by_name: &[(u32, u32, f64)], events: &mut Vec<Event>) {
    let mut by_piece: Vec<(u32, u32)> = by_name.iter().map(|&(name, piece, _)| (piece, name)).collect();
    by_piece.sort_unstable();
    for group in by_piece.chunk_by(|a, b| a.0 == b.0) {
        let names: Ids = group.iter().map(|&(_, name)| name).collect();
        let into = pieces[group[0].0 as usize].id;
        if names.len() > 1 {
            events.push(Event::Merge { merge: names, into });
        }
    }
    for group in by_name.chunk_by(|a, b| a.0 == b.0) {
        if group.len() > 1 {
            let mut into: Ids = group.iter().map(|&(_, piece, _)| pieces[piece as usize].id).collect();
            into.sort_unstable();
            events.push(Event::Split { split: group[0].0, into });
        }
    }
}
