//! The pane's cells: wetting, wetted spots and film.
//!
//! Two levels, as in the paper (algan, §2). A cell has a material, a volume of film, and a finer
//! grid of `fine` × `fine` spots; a spot is dry or has been wetted. Spots are bits of a word, so
//! marking is an atomic `or`, whose result does not depend on the order of threads.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::atomic::{AtomicU32, Ordering};

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_sliding::FilmSubstrate;
use sessile_wetting::{Liquid, SlidingLaw, Wetting};

use crate::impurity::Impurity;
use crate::parameters::PARAMETERS;

/// Bit of a cell's word that is set where film lies, so that the volumes need not be read.
const HAS_FILM: u32 = 1 << 31;

/// Index of a cell: row by row from the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellIndex(pub u32);

impl CellIndex {
    /// As an index of arrays.
    #[inline]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// Laws of all cells; cells of equal wetting share one.
#[derive(Clone, Debug)]
pub struct CellLaws {
    laws: Vec<SlidingLaw>,
    /// Law of each cell; empty where one law holds for all.
    of_cell: Vec<u32>,
}

impl CellLaws {
    /// One law for all cells.
    pub fn uniform(law: SlidingLaw) -> Self {
        Self { laws: vec![law], of_cell: Vec::new() }
    }

    /// A law per cell, row by row from the bottom.
    pub fn per_cell(liquid: &Liquid, wetting: impl Iterator<Item = Wetting>) -> Self {
        let (mut laws, mut known) = (Vec::new(), BTreeMap::new());
        let of_cell = wetting.map(|wetting| {
            *known.entry(key(&wetting)).or_insert_with(|| {
                laws.push(SlidingLaw::new(liquid, &wetting));
                laws.len() as u32 - 1
            })
        });
        let of_cell = of_cell.collect();
        Self { laws, of_cell }
    }

    #[inline]
    fn get(&self, cell: CellIndex) -> &SlidingLaw {
        if self.of_cell.is_empty() { &self.laws[0] } else { &self.laws[self.of_cell[cell.get()] as usize] }
    }
}

/// All numbers of a wetting, to find equal ones.
fn key(wetting: &Wetting) -> [Option<u64>; 8] {
    let Wetting { advancing, receding, wet_advancing, receding_limit, roughness, adhesion, affinity } = *wetting;
    let numbers =
        [Some(advancing), Some(receding), wet_advancing, receding_limit, Some(roughness[0]), Some(roughness[1])];
    let mut key = [None; 8];
    let all = numbers.into_iter().chain([Some(adhesion), Some(affinity)]);
    key.iter_mut().zip(all).for_each(|(slot, number)| *slot = number.map(f64::to_bits));
    key
}

/// The state of the substrate that a checkpoint stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubstrateState {
    words: Vec<u32>,
    film: Vec<f64>,
}

/// The pane's cells.
#[derive(Debug)]
pub struct Substrate {
    /// Cells across.
    pub columns: usize,
    /// Cells up.
    pub rows: usize,
    /// Side of a cell, in m.
    pub cell_size: f64,
    /// 1/`cell_size`, since cells are looked up ten times per drop and step.
    per_cell: f64,
    /// Fine spots along a cell's side.
    pub fine: u32,
    laws: CellLaws,
    /// Wetted spots of each cell, one bit each, and [`HAS_FILM`].
    words: Vec<AtomicU32>,
    /// Film on each cell, in m³.
    film: Vec<f64>,
    /// Impurities that act on a whole drop, by cell.
    coarse_impurity: Impurity,
    /// Impurities that act on its front, by spot.
    pub fine_impurity: Impurity,
}

impl Substrate {
    /// A dry pane of at least `size` (in m); `laws` returns the laws for a number of columns and
    /// rows.
    pub fn new(size: DVec2, cell_size: f64, fine: u32, seed: u64, laws: impl FnOnce(usize, usize) -> CellLaws) -> Self {
        let [columns, rows] = [size.x, size.y].map(|length| (length / cell_size - 1e-9).ceil().max(1.0) as usize);
        let laws = laws(columns, rows);
        debug_assert!(laws.of_cell.is_empty() || laws.of_cell.len() == columns * rows);
        Self {
            columns,
            rows,
            cell_size,
            per_cell: 1.0 / cell_size,
            fine,
            laws,
            words: (0..columns * rows).map(|_| AtomicU32::new(0)).collect(),
            film: vec![0.0; columns * rows],
            coarse_impurity: Impurity::new(seed, 0),
            fine_impurity: Impurity::new(seed, 1),
        }
    }

    /// Takes over the laws of another substrate of the same cells.
    pub fn take_laws(&mut self, other: Self) {
        self.laws = other.laws;
    }

    /// Wets all spots of a cell.
    pub fn wet_cell(&self, cell: CellIndex) {
        self.mark(cell, (1 << (self.fine * self.fine)) - 1);
    }

    /// Number of cells.
    pub fn num_cells(&self) -> usize {
        self.columns * self.rows
    }

    /// The cell at a position; positions outside the pane are clamped to its edge.
    #[inline]
    pub fn cell_at(&self, at: DVec2) -> CellIndex {
        // Casts clamp negative numbers and NaN to 0.
        let column = ((at.x * self.per_cell) as usize).min(self.columns - 1);
        let row = ((at.y * self.per_cell) as usize).min(self.rows - 1);
        CellIndex((row * self.columns + column) as u32)
    }

    /// Column and row of a cell.
    #[inline]
    pub fn column_and_row(&self, cell: CellIndex) -> (usize, usize) {
        (cell.get() % self.columns, cell.get() / self.columns)
    }

    /// Center of a cell, in m.
    pub fn center_of(&self, cell: CellIndex) -> DVec2 {
        let (column, row) = self.column_and_row(cell);
        DVec2::new(column as f64 + 0.5, row as f64 + 0.5) * self.cell_size
    }

    /// The cell just ahead of a footprint's front.
    #[inline]
    pub fn ahead(&self, position: DVec2, direction: DVec2, radius: f64) -> CellIndex {
        self.cell_at(position + direction * (radius + 0.5 * self.cell_size))
    }

    /// Wetting law of a cell.
    #[inline]
    pub fn law(&self, cell: CellIndex) -> &SlidingLaw {
        self.laws.get(cell)
    }

    /// Wetting law at a position.
    #[inline]
    pub fn law_at(&self, position: DVec2) -> &SlidingLaw {
        self.law(self.cell_at(position))
    }

    /// Impurity of a cell, in [−1, 1).
    #[inline]
    pub fn impurity(&self, cell: CellIndex) -> f64 {
        let (column, row) = self.column_and_row(cell);
        self.coarse_impurity.at(column as i64, row as i64)
    }

    #[inline]
    fn word(&self, cell: CellIndex) -> u32 {
        self.words[cell.get()].load(Ordering::Relaxed)
    }

    /// Share of a cell that has been wetted, 0 to 1.
    pub fn wetted_share(&self, cell: CellIndex) -> f64 {
        f64::from((self.word(cell) & !HAS_FILM).count_ones()) / f64::from(self.fine * self.fine)
    }

    /// Whether most of a cell has been wetted.
    #[inline]
    pub fn is_wetted(&self, cell: CellIndex) -> bool {
        2 * (self.word(cell) & !HAS_FILM).count_ones() > self.fine * self.fine
    }

    /// Whether film lies on a cell.
    #[inline]
    pub fn has_film(&self, cell: CellIndex) -> bool {
        self.word(cell) & HAS_FILM != 0
    }

    /// cos θ_a for a front that enters a cell; θ_r on film, where there is nothing left to wet.
    #[inline]
    pub fn cos_advancing(&self, cell: CellIndex) -> f64 {
        let law = self.law(cell);
        if self.has_film(cell) {
            law.cos_receding
        } else if law.cos_wet_advancing != law.cos_advancing && self.is_wetted(cell) {
            law.cos_wet_advancing
        } else {
            law.cos_advancing
        }
    }

    /// Mean cos θ_a over a footprint's front: ahead and at 45° to either side.
    ///
    /// Retention is an integral of the cosine over the width, so a front that is half on a wetted
    /// path is attracted to it.
    #[inline]
    pub fn cos_front(&self, position: DVec2, direction: DVec2, radius: f64) -> f64 {
        let ahead = radius + 0.5 * self.cell_size;
        let across = direction.perp() * FRAC_1_SQRT_2;
        let cos = |direction: DVec2| self.cos_advancing(self.cell_at(position + ahead * direction));
        let diagonal = direction * FRAC_1_SQRT_2;
        (cos(direction) + cos(diagonal + across) + cos(diagonal - across)) / 3.0
    }

    /// Adds film to a cell, in m³.
    pub fn add_film(&mut self, cell: CellIndex, volume: f64) {
        self.film[cell.get()] += volume;
        if self.film[cell.get()] > 0.0 {
            *self.words[cell.get()].get_mut() |= HAS_FILM;
        }
    }

    /// Removes all film from a cell and returns its volume, in m³.
    pub fn take_film(&mut self, cell: CellIndex) -> f64 {
        if !self.has_film(cell) {
            return 0.0;
        }
        *self.words[cell.get()].get_mut() &= !HAS_FILM;
        std::mem::take(&mut self.film[cell.get()])
    }

    /// Thins all film by `thickness` (in m; nothing if it is not positive) and returns the volume
    /// removed, in m³.
    pub fn dry_film(&mut self, thickness: f64) -> f64 {
        if thickness <= 0.0 {
            return 0.0;
        }
        let per_cell = thickness * self.cell_size * self.cell_size;
        let mut dried = 0.0;
        for cell in (0..self.film.len() as u32).map(CellIndex) {
            let present = self.film[cell.get()];
            if present > per_cell {
                self.film[cell.get()] -= per_cell;
                dried += per_cell;
            } else {
                dried += self.take_film(cell);
            }
        }
        dried
    }

    /// Film on a cell, in m³.
    pub fn film(&self, cell: CellIndex) -> f64 {
        self.film[cell.get()]
    }

    /// Volume of all film, in m³, summed cell by cell.
    pub fn film_volume(&self) -> f64 {
        self.film.iter().sum()
    }

    /// Wets the spots under a footprint, whose edge is as ragged as the law there makes it.
    pub fn wet_footprint(&self, center: DVec2, radius: f64) {
        self.wet_disc(center, radius, raggedness(self.law_at(center)));
    }

    /// Wets the spots of a disc whose edge follows the fine impurities, by at most `raggedness` of
    /// its radius.
    ///
    /// Each end of a row of spots is displaced by the impurity of the spot where a round disc would
    /// end.
    pub fn wet_disc(&self, center: DVec2, radius: f64, raggedness: f64) {
        let fine = i64::from(self.fine);
        let per_spot = f64::from(self.fine) * self.per_cell;
        let (center, radius) = (center * per_spot, radius * per_spot);
        let last_column = self.columns as i64 * fine - 1;
        // Casts truncate; negative numbers are clamped anyway. Unlike `floor` a cast is one
        // instruction everywhere.
        let first_row = (center.y - radius + 0.5).max(0.0) as i64;
        let last_row = ((center.y + radius + 0.5) as i64 - 1).min(self.rows as i64 * fine - 1);
        for row in first_row..=last_row {
            let height = row as f64 + 0.5 - center.y;
            let half = (radius * radius - height * height).max(0.0).sqrt();
            let end = |side: f64| {
                let round = center.x + side * half;
                round + side * raggedness * radius * self.fine_impurity.at(round as i64, row)
            };
            // Spots whose centers lie between the two ends.
            let first = (end(-1.0) + 0.5).max(0.0) as i64;
            let last = ((end(1.0) + 0.5) as i64 - 1).min(last_column);
            self.wet_span(row, first, last);
        }
    }

    /// Wets the spots `first` to `last` of a row of spots.
    fn wet_span(&self, row: i64, first: i64, last: i64) {
        if first > last {
            return;
        }
        // One division per end: this loop takes most of the time of a pane with many sliding drops.
        let fine = self.fine;
        let (row, first, mut left) = (row as u32, first as u32, (last - first + 1) as u32);
        let mut cell = (row / fine) * self.columns as u32 + first / fine;
        let (bit_row, mut offset) = ((row % fine) * fine, first % fine);
        while left > 0 {
            let width = left.min(fine - offset);
            self.mark(CellIndex(cell), ((1 << width) - 1) << (bit_row + offset));
            (cell, offset, left) = (cell + 1, 0, left - width);
        }
    }

    fn mark(&self, cell: CellIndex, spots: u32) {
        if self.word(cell) & spots != spots {
            self.words[cell.get()].fetch_or(spots, Ordering::Relaxed);
        }
    }

    /// Whether the fine spot at (column, row) has been wetted.
    pub fn spot_is_wetted(&self, column: usize, row: usize) -> bool {
        let fine = self.fine as usize;
        let word = self.word(CellIndex(((row / fine) * self.columns + column / fine) as u32));
        word >> ((row % fine) * fine + column % fine) & 1 == 1
    }

    /// The state that a checkpoint stores: wetted spots and film.
    pub fn save(&self) -> SubstrateState {
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        SubstrateState { words, film: self.film.clone() }
    }

    /// Restores a saved state; `false` if it belongs to another grid.
    pub fn restore(&mut self, state: SubstrateState) -> bool {
        let fits = state.words.len() == self.words.len() && state.film.len() == self.film.len();
        if fits {
            self.words = state.words.into_iter().map(AtomicU32::new).collect();
            self.film = state.film;
        }
        fits
    }
}

/// Raggedness of a front, as a share of the drop's radius: surfaces of larger hysteresis are more
/// heterogeneous.
pub fn raggedness(law: &SlidingLaw) -> f64 {
    (PARAMETERS.raggedness_per_hysteresis * (law.cos_receding - law.cos_advancing)).min(PARAMETERS.max_raggedness)
}

impl FilmSubstrate for Substrate {
    type Segment = CellIndex;
    type Place = DVec2;

    fn take_film(&mut self, cell: &CellIndex, _width: f64) -> f64 {
        Substrate::take_film(self, *cell)
    }

    fn add_film(&mut self, cell: &CellIndex, _width: f64, volume: f64) {
        Substrate::add_film(self, *cell, volume);
    }

    fn center_of_mass(&self, film: &[(CellIndex, f64)]) -> DVec2 {
        let volume: f64 = film.iter().map(|(_, volume)| volume).sum();
        film.iter().map(|&(cell, amount)| self.center_of(cell) * amount).sum::<DVec2>() / volume
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// 90°/60°, and 70° where it is wet.
    pub fn plastic_with_history() -> Wetting {
        Wetting { wet_advancing: Some(70f64.to_radians()), ..Wetting::smooth(90f64.to_radians(), 60f64.to_radians()) }
    }

    fn substrate(fine: u32) -> Substrate {
        let law = SlidingLaw::new(&Liquid::water(), &plastic_with_history());
        Substrate::new(DVec2::new(0.02, 0.03), 1e-3, fine, 1, |_, _| CellLaws::uniform(law))
    }

    fn wet_area(substrate: &Substrate) -> f64 {
        let spots: u32 = substrate.save().words.iter().map(|word| word.count_ones()).sum();
        f64::from(spots) * (substrate.cell_size / f64::from(substrate.fine)).powi(2)
    }

    #[test]
    fn a_round_front_wets_a_disc() {
        let substrate = substrate(5);
        substrate.wet_disc(DVec2::new(0.0101, 0.0149), 4e-3, 0.0);
        let (area, disc) = (wet_area(&substrate), std::f64::consts::PI * 16e-6);
        assert!((area / disc - 1.0).abs() < 0.01, "{area:e} of {disc:e}");
        assert!(substrate.is_wetted(substrate.cell_at(DVec2::new(0.0101, 0.0149))));
        assert!(!substrate.is_wetted(substrate.cell_at(DVec2::new(0.001, 0.001))));
    }

    /// Without raggedness the outline has mirror symmetry; impurities break it and keep the area.
    #[test]
    fn a_ragged_front_follows_impurities() {
        let mirror_defects = |raggedness: f64| {
            let substrate = substrate(5);
            substrate.wet_disc(DVec2::new(0.01, 0.015), 4e-3, raggedness);
            let width = substrate.columns * 5;
            let differs = |&(column, row): &(usize, usize)| {
                substrate.spot_is_wetted(column, row) != substrate.spot_is_wetted(width - 1 - column, row)
            };
            let spots = (0..substrate.rows * 5).flat_map(|row| (0..width).map(move |column| (column, row)));
            (spots.filter(differs).count(), wet_area(&substrate))
        };
        let (round, smooth_area) = mirror_defects(0.0);
        let (ragged, area) = mirror_defects(0.15);
        assert_eq!(round, 0);
        assert!(ragged > 100, "{ragged} spots break the symmetry");
        assert!((area / smooth_area - 1.0).abs() < 0.05, "{area:e}, smooth {smooth_area:e}");
    }

    #[test]
    fn the_advancing_angle_is_lower_on_wet_cells_and_lowest_on_film() {
        let mut substrate = substrate(4);
        let at = DVec2::new(0.01, 0.01);
        let cell = substrate.cell_at(at);
        let angle = |substrate: &Substrate| substrate.cos_advancing(cell).acos().to_degrees().round();
        assert_eq!(angle(&substrate), 90.0);
        substrate.wet_disc(at, 3e-3, 0.1);
        assert_eq!(angle(&substrate), 70.0);
        substrate.add_film(cell, 1e-12);
        assert_eq!(angle(&substrate), 60.0);
    }

    #[test]
    fn cells_of_equal_wetting_share_a_law() {
        let wetting = [plastic_with_history(), Wetting::smooth(1.0, 0.5), plastic_with_history()];
        let laws = CellLaws::per_cell(&Liquid::water(), wetting.into_iter());
        assert_eq!((laws.laws.len(), laws.of_cell.as_slice()), (2, &[0, 1, 0][..]));
        assert_eq!(laws.get(CellIndex(2)).wetting, plastic_with_history());
    }
}
