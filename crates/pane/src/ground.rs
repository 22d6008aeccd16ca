//! The pane under the drops: cells with their wetting, what has been wetted, and the film that lies on them.
//!
//! Two levels, as in the paper (algan, §2). A cell has a material, an amount of film, and a finer grid of `fine` × `fine` spots
//! laid over it; a spot is dry or has been wetted. Spots are bits, so that marking them is one `or`, which any number of
//! threads may do in any order to the same end.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::impurity::Impurity;
use crate::laws::CellLaw;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Most fine spots along a cell's side: their square and one more bit fit a word.
pub const MOST_FINE: u32 = 5;

/// Set in a cell's word where film lies, so that the amounts, which are few, need not be looked at.
const HAS_FILM: u32 = 1 << 31;

/// What a checkpoint keeps of the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundState {
    words: Vec<u32>,
    film: Vec<f64>,
}

/// The pane's cells.
#[derive(Debug)]
pub struct Ground {
    /// Cells across.
    pub columns: usize,
    /// Cells up.
    pub rows: usize,
    /// Side of a cell, in m.
    pub cell: f64,
    /// Its inverse: a product where a quotient would be looked up ten times per drop and step.
    per_cell: f64,
    /// Fine spots along a cell's side.
    pub fine: u32,
    /// The one law of a uniform pane, or one per cell.
    laws: Vec<CellLaw>,
    /// Wetted spots of each cell, a bit each, and whether film lies on it.
    words: Vec<AtomicU32>,
    /// Film on each cell, in m³.
    film: Vec<f64>,
    /// Impurities felt by a whole drop.
    pub coarse_impurity: Impurity,
    /// Impurities felt by its front.
    pub fine_impurity: Impurity,
}

impl Ground {
    /// A dry pane of at least `size`, in m.
    ///
    /// `laws`, told the columns and rows, gives one law for all cells or one per cell, row by row from the bottom.
    pub fn new(size: DVec2, cell: f64, fine: u32, seed: u64, laws: impl FnOnce(usize, usize) -> Vec<CellLaw>) -> Self {
        let [columns, rows] = [size.x, size.y].map(|length| (length / cell - 1e-9).ceil().max(1.0) as usize);
        let laws = laws(columns, rows);
        debug_assert!(laws.len() == 1 || laws.len() == columns * rows);
        Self {
            columns,
            rows,
            cell,
            per_cell: 1.0 / cell,
            fine,
            laws,
            words: (0..columns * rows).map(|_| AtomicU32::new(0)).collect(),
            film: vec![0.0; columns * rows],
            coarse_impurity: Impurity::new(seed, 0),
            fine_impurity: Impurity::new(seed, 1),
        }
    }

    /// The cell at a place, which is taken onto the pane if it lies beside it.
    pub fn cell_at(&self, at: DVec2) -> usize {
        // A cast takes what lies below zero, and what is no number, to cell 0.
        let column = ((at.x * self.per_cell) as usize).min(self.columns - 1);
        let row = ((at.y * self.per_cell) as usize).min(self.rows - 1);
        row * self.columns + column
    }

    /// The middle of a cell, in m.
    pub fn middle_of(&self, cell: usize) -> DVec2 {
        DVec2::new((cell % self.columns) as f64 + 0.5, (cell / self.columns) as f64 + 0.5) * self.cell
    }

    /// The cell just ahead of a footprint's front.
    pub fn ahead(&self, place: DVec2, way: DVec2, radius: f64) -> usize {
        self.cell_at(place + way * (radius + 0.5 * self.cell))
    }

    /// How a cell wets.
    pub fn law(&self, cell: usize) -> &CellLaw {
        if self.laws.len() == 1 { &self.laws[0] } else { &self.laws[cell] }
    }

    fn word(&self, cell: usize) -> u32 {
        self.words[cell].load(Ordering::Relaxed)
    }

    /// Share of a cell that has been wetted, 0 to 1.
    pub fn wetted_share(&self, cell: usize) -> f64 {
        f64::from((self.word(cell) & !HAS_FILM).count_ones()) / f64::from(self.fine * self.fine)
    }

    /// Whether most of a cell has been wetted.
    pub fn is_wetted(&self, cell: usize) -> bool {
        2 * (self.word(cell) & !HAS_FILM).count_ones() > self.fine * self.fine
    }

    /// Whether film lies on a cell.
    pub fn has_film(&self, cell: usize) -> bool {
        self.word(cell) & HAS_FILM != 0
    }

    /// Cosine of the advancing angle that a front meets in a cell: under a film it has nothing left to wet.
    pub fn cos_advancing(&self, cell: usize) -> f64 {
        let law = self.law(cell);
        if self.has_film(cell) {
            law.cos_receding
        } else {
            match law.cos_wet_advancing {
                Some(wet) if self.is_wetted(cell) => wet,
                _ => law.cos_advancing,
            }
        }
    }

    /// Mean cosine of the advancing angle over a footprint's front: in its middle and at 45° to either side.
    ///
    /// Retention is an integral of the cosine over the width, so a front that is half on a wetted path is held half as much by
    /// dry ground, and is drawn towards the path.
    pub fn cos_front(&self, place: DVec2, way: DVec2, radius: f64) -> f64 {
        let ahead = radius + 0.5 * self.cell;
        let diagonal = std::f64::consts::FRAC_1_SQRT_2;
        let across = way.perp() * diagonal;
        let cos = |direction: DVec2| self.cos_advancing(self.cell_at(place + ahead * direction));
        (cos(way) + cos(way * diagonal + across) + cos(way * diagonal - across)) / 3.0
    }

    /// Adds film, in m³.
    pub fn add_film(&mut self, cell: usize, volume: f64) {
        self.film[cell] += volume;
        if self.film[cell] > 0.0 {
            *self.words[cell].get_mut() |= HAS_FILM;
        }
    }

    /// Takes all film off a cell and says how much it was, in m³.
    pub fn take_film(&mut self, cell: usize) -> f64 {
        if !self.has_film(cell) {
            return 0.0;
        }
        *self.words[cell].get_mut() &= !HAS_FILM;
        std::mem::take(&mut self.film[cell])
    }

    /// Film on a cell, in m³.
    pub fn film(&self, cell: usize) -> f64 {
        self.film[cell]
    }

    /// All film, in m³, summed cell by cell in order.
    pub fn film_volume(&self) -> f64 {
        self.film.iter().sum()
    }

    /// Wets the spots of a disc whose edge follows the fine impurities: `raggedness` of its radius at most.
    ///
    /// Row by row of spots: each end of a row is drawn out or held back by the impurity of the spot where a round disc would end.
    pub fn wet_disc(&self, center: DVec2, radius: f64, raggedness: f64) {
        let fine = i64::from(self.fine);
        let per_spot = f64::from(self.fine) * self.per_cell;
        let (center, radius) = (center * per_spot, radius * per_spot);
        let last_column = self.columns as i64 * fine - 1;
        // A cast cuts towards zero, which below zero is clamped anyway; unlike `floor` it is one instruction everywhere.
        let first_row = (center.y - radius + 0.5).max(0.0) as i64;
        let last_row = ((center.y + radius + 0.5) as i64 - 1).min(self.rows as i64 * fine - 1);
        for row in first_row..=last_row {
            let height = row as f64 + 0.5 - center.y;
            let half = (radius * radius - height * height).max(0.0).sqrt();
            let end = |side: f64| {
                let round = center.x + side * half;
                round + side * raggedness * radius * self.fine_impurity.at(round as i64, row)
            };
            // Spots whose middles lie between the two ends.
            let first = (end(-1.0) + 0.5).max(0.0) as i64;
            let last = ((end(1.0) + 0.5) as i64 - 1).min(last_column);
            self.wet_span(row, first, last);
        }
    }

    /// Wets the spots `first` to `last` of a row of spots.
    fn wet_span(&self, row: i64, first: i64, last: i64) {
        let fine = i64::from(self.fine);
        let (cell_row, bit_row) = ((row / fine) as usize * self.columns, (row % fine) * fine);
        let mut column = first;
        while column <= last {
            let end = (column / fine * fine + fine - 1).min(last);
            let bits = ((1u32 << (end - column + 1)) - 1) << (bit_row + column % fine);
            self.mark(cell_row + (column / fine) as usize, bits);
            column = end + 1;
        }
    }

    fn mark(&self, cell: usize, spots: u32) {
        if self.word(cell) & spots != spots {
            self.words[cell].fetch_or(spots, Ordering::Relaxed);
        }
    }

    /// Whether the fine spot at (column, row) has been wetted.
    pub fn spot_is_wetted(&self, column: usize, row: usize) -> bool {
        let fine = self.fine as usize;
        let word = self.word((row / fine) * self.columns + column / fine);
        word >> ((row % fine) * fine + column % fine) & 1 == 1
    }

    /// The state that a checkpoint keeps: wetted spots and film.
    pub fn save(&self) -> GroundState {
        GroundState { words: (0..self.words.len()).map(|cell| self.word(cell)).collect(), film: self.film.clone() }
    }

    /// Takes up a saved state; `false` when it belongs to another grid.
    pub fn restore(&mut self, state: GroundState) -> bool {
        let fits = state.words.len() == self.words.len() && state.film.len() == self.film.len();
        if fits {
            self.words = state.words.into_iter().map(AtomicU32::new).collect();
            self.film = state.film;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::tests::{plastic_with_memory, water};

    fn ground(fine: u32) -> Ground {
        let law = CellLaw::new(&water(), &plastic_with_memory());
        Ground::new(DVec2::new(0.02, 0.03), 1e-3, fine, 1, |_, _| vec![law])
    }

    fn wet_area(ground: &Ground) -> f64 {
        let spots: u32 = ground.save().words.iter().map(|word| word.count_ones()).sum();
        f64::from(spots) * (ground.cell / f64::from(ground.fine)).powi(2)
    }

    #[test]
    fn a_round_front_wets_a_disc() {
        let ground = ground(5);
        ground.wet_disc(DVec2::new(0.0101, 0.0149), 4e-3, 0.0);
        let (area, disc) = (wet_area(&ground), std::f64::consts::PI * 16e-6);
        assert!((area / disc - 1.0).abs() < 0.01, "{area:e} of {disc:e}");
        assert!(ground.is_wetted(ground.cell_at(DVec2::new(0.0101, 0.0149))));
        assert!(!ground.is_wetted(ground.cell_at(DVec2::new(0.001, 0.001))));
    }

    /// Switched off (raggedness 0) the outline has mirror symmetry; impurities break it and keep the area.
    #[test]
    fn a_ragged_front_follows_impurities() {
        let mirror_defects = |raggedness: f64| {
            let ground = ground(5);
            ground.wet_disc(DVec2::new(0.01, 0.015), 4e-3, raggedness);
            let width = ground.columns * 5;
            let differs = |&(column, row): &(usize, usize)| {
                ground.spot_is_wetted(column, row) != ground.spot_is_wetted(width - 1 - column, row)
            };
            let spots = (0..ground.rows * 5).flat_map(|row| (0..width).map(move |column| (column, row)));
            (spots.filter(differs).count(), wet_area(&ground))
        };
        let (round, smooth_area) = mirror_defects(0.0);
        let (ragged, area) = mirror_defects(0.15);
        assert_eq!(round, 0);
        assert!(ragged > 100, "{ragged} spots break the symmetry");
        assert!((area / smooth_area - 1.0).abs() < 0.05, "{area:e} against {smooth_area:e}");
    }

    #[test]
    fn wet_ground_is_easier_to_enter_than_dry_and_film_easier_still() {
        let mut ground = ground(4);
        let at = DVec2::new(0.01, 0.01);
        let cell = ground.cell_at(at);
        let angle = |ground: &Ground| ground.cos_advancing(cell).acos().to_degrees().round();
        assert_eq!(angle(&ground), 90.0);
        ground.wet_disc(at, 3e-3, 0.1);
        assert_eq!(angle(&ground), 70.0);
        ground.add_film(cell, 1e-12);
        assert_eq!(angle(&ground), 60.0);
    }
}
