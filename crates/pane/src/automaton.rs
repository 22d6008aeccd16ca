//! The paper mode: Algorithm 1, cell by cell (algan, §4).
//!
//! Every cell has an amount of water. In one pass, row after row from the bottom, a drop heavier
//! than the *static critical weight* (once it moves: than the *dynamic* one) moves to one of the
//! three cells below: to the one with more water than the other two, else to the one of the highest
//! affinity; it leaves the residue r behind. Amounts in a cell add up, so drops merge. Where the
//! paper gives no rule:
//!
//! - all drops of a row choose before any of them moves, so the order within a row does not matter;
//! - ties of affinity are decided by the seeded impurities of the cells, so that a second drop
//!   chooses like the first;
//! - candidates outside the pane do not count, and what leaves the lowest row is lost;
//! - passes follow each other at the interval `pane.pass`; in between drops are shown on their way
//!   from cell to cell, and the fine spots under the part of it that they have covered are wet;
//! - wind is a tangential force, in units of the drop's weight, that adds to gravity as a vector.
//!   The magnitude of the sum scales the weight that is compared with the critical ones; its
//!   direction shifts the three candidates sideways by a column for every 45°, one at most. Without
//!   wind this is exactly Algorithm 1.

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_numerics::math;
use sessile_sliding::DropId;

use crate::motion::StepContext;
use crate::substrate::{CellIndex, Substrate, raggedness};

/// The paper's configured weights, as volumes of the liquid, in m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// A drop at rest above this starts.
    pub static_critical: f64,
    /// A moving drop at or below this stops.
    pub dynamic_critical: f64,
    /// What stays in a cell that a drop leaves.
    pub residue: f64,
}

/// A cell's drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellDrop {
    /// Id of the body of liquid that it belongs to ([`crate::bodies`]); `None` in a dry cell.
    pub id: Option<DropId>,
    /// Whether it moves.
    pub moving: bool,
    /// Sideways part of its last move, in columns.
    pub shift: i8,
    /// Whether it has ever moved.
    pub has_moved: bool,
    /// Amount of water, in m³.
    pub volume: f64,
}

impl CellDrop {
    /// Displacement of its last move, in cells.
    pub fn step(&self) -> DVec2 {
        step_of(self.shift)
    }
}

/// Displacement of a move by `shift` columns, in cells.
fn step_of(shift: i8) -> DVec2 {
    DVec2::new(f64::from(shift), -1.0)
}

/// Water that moved into a cell in the last pass, and is shown on its way there until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// The cell.
    pub cell: CellIndex,
    /// Sideways part of the move, in columns.
    pub shift: i8,
    /// Its volume, in m³.
    pub volume: f64,
}

impl Arrival {
    /// Displacement of the move, in cells.
    pub fn step(&self) -> DVec2 {
        step_of(self.shift)
    }
}

/// The water of all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Automaton {
    /// Drops by cell, row by row from the bottom.
    pub cells: Vec<CellDrop>,
    /// Cells whose drops may move in the next pass: unsorted, possibly repeated.
    active: Vec<CellIndex>,
    /// Wind in the last pass: drops at rest are reassessed when it changes.
    last_wind: Option<DVec2>,
    /// Lost over the lower edge so far, in m³.
    pub lost: f64,
    /// Bodies whose water has come into a cell of another one since the bodies were last labeled.
    pub absorbed: Vec<Absorbed>,
    /// What moved in the last pass, by cell; several drops may move into one.
    arrivals: Vec<Arrival>,
}

/// Water of one body in a cell of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Absorbed {
    /// Id of the body that the water came from.
    pub id: DropId,
    /// The cell that it is in now.
    pub cell: CellIndex,
    /// Its volume, in m³.
    pub volume: f64,
}

/// The state that a checkpoint stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutomatonState {
    cells: Vec<CellDrop>,
    active: Vec<CellIndex>,
    last_wind: Option<DVec2>,
    lost: f64,
    arrivals: Vec<Arrival>,
}

/// A move of a drop.
struct Move {
    from: CellIndex,
    /// `None` over the lower edge.
    to: Option<CellIndex>,
    shift: i8,
}

impl Automaton {
    /// A dry pane of this many cells.
    pub fn new(num_cells: usize) -> Self {
        Self {
            cells: vec![CellDrop::default(); num_cells],
            active: Vec::new(),
            last_wind: None,
            lost: 0.0,
            absorbed: Vec::new(),
            arrivals: Vec::new(),
        }
    }

    /// The state that a checkpoint stores.
    pub fn save(&self) -> AutomatonState {
        let Self { cells, active, last_wind, lost, arrivals, .. } = self.clone();
        AutomatonState { cells, active, last_wind, lost, arrivals }
    }

    /// Restores a saved state; `false` if it belongs to another grid.
    pub fn restore(&mut self, state: AutomatonState) -> bool {
        let fits = state.cells.len() == self.cells.len();
        if fits {
            let AutomatonState { cells, active, last_wind, lost, arrivals } = state;
            *self = Self { cells, active, last_wind, lost, absorbed: Vec::new(), arrivals };
        }
        fits
    }

    /// Number of drops.
    pub fn num_drops(&self) -> usize {
        self.cells.iter().filter(|drop| drop.id.is_some()).count()
    }

    /// Number of moving drops.
    pub fn num_moving(&self) -> usize {
        self.cells.iter().filter(|drop| drop.moving).count()
    }

    /// Whether a cell has a drop.
    pub fn is_wet(&self, cell: CellIndex) -> bool {
        self.cells[cell.get()].id.is_some()
    }

    /// Adds a drop of `volume` (in m³) to a cell; it is absorbed by water that is there.
    pub fn add(&mut self, cell: CellIndex, volume: f64, id: DropId) {
        let drop = &mut self.cells[cell.get()];
        match drop.id {
            None => *drop = CellDrop { id: Some(id), volume, ..CellDrop::default() },
            Some(_) => {
                drop.volume += volume;
                self.absorbed.push(Absorbed { id, cell, volume });
            }
        }
        self.active.push(cell);
    }

    /// Adds to (or removes from) the drop in a cell; returns the volume that was really added, in
    /// m³.
    pub fn change(&mut self, cell: CellIndex, volume: f64) -> f64 {
        let drop = &mut self.cells[cell.get()];
        let change = volume.max(-drop.volume);
        if change < 0.0 {
            let kept = 1.0 + change / drop.volume;
            let arrivals = self.arrivals.iter_mut().filter(|arrival| arrival.cell == cell);
            arrivals.for_each(|arrival| arrival.volume *= kept);
        }
        drop.volume += change;
        if drop.volume <= 0.0 {
            *drop = CellDrop::default();
        }
        self.active.push(cell);
        change
    }

    /// One pass of Algorithm 1, with `wind` in units of a drop's weight; returns the number of
    /// moves.
    pub fn pass(&mut self, substrate: &Substrate, weights: &Weights, wind: DVec2) -> u64 {
        if self.last_wind != Some(wind) {
            let cells = (0..self.cells.len() as u32).map(CellIndex);
            self.active = cells.filter(|&cell| self.is_wet(cell)).collect();
            self.last_wind = Some(wind);
        }
        let mut active = std::mem::take(&mut self.active);
        active.sort_unstable();
        active.dedup();
        let (pull, shift) = pull_and_shift(wind);
        let row_of = |cell: CellIndex| substrate.column_and_row(cell).1;
        let (mut moves, mut count) = (Vec::new(), 0);
        self.arrivals.clear();
        for row in active.chunk_by(|&a, &b| row_of(a) == row_of(b)) {
            moves.clear();
            for &from in row {
                let drop = &mut self.cells[from.get()];
                let critical = if drop.moving { weights.dynamic_critical } else { weights.static_critical };
                drop.moving = drop.id.is_some() && pull * drop.volume > critical && drop.volume > weights.residue;
                if drop.moving {
                    let (to, shift) = self.choose(substrate, from, shift);
                    moves.push(Move { from, to, shift });
                }
            }
            moves.iter().for_each(|step| self.commit(step, weights.residue));
            count += moves.len() as u64;
        }
        self.arrivals.sort_by_key(|arrival| arrival.cell);
        count
    }

    /// What moved into a cell in the last pass.
    pub fn arrivals_in(&self, cell: CellIndex) -> &[Arrival] {
        let start = self.arrivals.partition_point(|arrival| arrival.cell < cell);
        let count = self.arrivals[start..].partition_point(|arrival| arrival.cell == cell);
        &self.arrivals[start..start + count]
    }

    /// Wets the fine spots along the routes of all drops that moved in the last pass, up to the
    /// `part` of them that has been covered.
    pub fn wet_routes(&self, substrate: &Substrate, context: &StepContext, part: f64) {
        let spots = f64::from(substrate.fine);
        for arrival in &self.arrivals {
            let law = substrate.law(arrival.cell);
            let Some(radius) = context.advancing_radius(law, arrival.volume) else { continue };
            let (end, route) = (substrate.center_of(arrival.cell), arrival.step() * substrate.cell_size);
            // A disc per fine spot.
            let count = (spots * arrival.step().length() * part).ceil();
            for k in 0..=count as u32 {
                let ahead = (f64::from(k) / (spots * arrival.step().length())).min(part);
                substrate.wet_disc(end - route * (1.0 - ahead), radius, raggedness(law));
            }
        }
    }

    /// Wets the substrate under a cell's drop.
    pub fn wet_under(&self, substrate: &Substrate, cell: CellIndex, context: &StepContext) {
        let law = substrate.law(cell);
        if let Some(radius) = context.advancing_radius(law, self.cells[cell.get()].volume) {
            substrate.wet_disc(substrate.center_of(cell), radius, raggedness(law));
        }
    }

    /// Chooses among the three cells below: that with more water than the others, else that of the
    /// highest affinity.
    fn choose(&self, substrate: &Substrate, from: CellIndex, shift: i64) -> (Option<CellIndex>, i8) {
        let columns = substrate.columns as i64;
        let (column, row) = substrate.column_and_row(from);
        let (column, row) = (column as i64, row as i64);
        if row == 0 {
            return (None, 0);
        }
        let candidates = [-1, 0, 1].map(|d| {
            let target = column + shift + d;
            (0..columns).contains(&target).then(|| CellIndex(((row - 1) * columns + target) as u32))
        });
        let water = |cell: CellIndex| self.cells[cell.get()].volume;
        let most = candidates.into_iter().flatten().map(water).fold(0.0, f64::max);
        let mut wettest = candidates.into_iter().flatten().filter(|&cell| water(cell) == most && most > 0.0);
        let chosen = match (wettest.next(), wettest.next()) {
            (Some(only), None) => Some(only),
            _ => candidates
                .into_iter()
                .flatten()
                .max_by(|&a, &b| attraction(substrate, a).total_cmp(&attraction(substrate, b))),
        };
        // On a pane of one column a side wind leaves no candidate: straight down then.
        let to = chosen.unwrap_or(CellIndex(from.0 - substrate.columns as u32));
        (Some(to), (substrate.column_and_row(to).0 as i64 - column) as i8)
    }

    /// Commits a move: the residue stays, the rest merges with what is in the target.
    fn commit(&mut self, step: &Move, residue: f64) {
        let drop = std::mem::take(&mut self.cells[step.from.get()]);
        let volume = drop.volume - residue;
        if residue > 0.0 {
            self.cells[step.from.get()] = CellDrop { id: drop.id, volume: residue, ..CellDrop::default() };
        }
        let Some(to) = step.to else {
            self.lost += volume;
            return;
        };
        let target = &mut self.cells[to.get()];
        let mut arrived = CellDrop { volume, moving: true, shift: step.shift, has_moved: true, ..drop };
        if let Some(present) = target.id {
            arrived.volume += target.volume;
            if drop.id != Some(present) {
                self.absorbed.push(Absorbed { id: present, cell: to, volume: target.volume });
            }
        }
        *target = arrived;
        self.arrivals.push(Arrival { cell: to, shift: step.shift, volume });
        self.active.push(to);
    }
}

/// Affinity, then impurity: only the order matters, and any difference of affinity outweighs
/// impurities.
fn attraction(substrate: &Substrate, cell: CellIndex) -> f64 {
    const TIE_BREAK: f64 = 1e-9;
    substrate.law(cell).wetting.affinity + TIE_BREAK * substrate.impurity(cell)
}

/// Factor by which the wind changes the weight along the pane, and the number of columns that it
/// shifts the candidates.
fn pull_and_shift(wind: DVec2) -> (f64, i64) {
    let force = DVec2::NEG_Y + wind;
    if force.y >= 0.0 {
        // An updraft stronger than the weight: nothing moves down.
        return (0.0, 0);
    }
    let eighths = (math::atan2(force.x, -force.y) / std::f64::consts::FRAC_PI_4).round();
    (force.length(), eighths.clamp(-1.0, 1.0) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::substrate::CellLaws;
    use crate::substrate::tests::plastic_with_history;
    use sessile_wetting::{Liquid, SlidingLaw, Wetting};

    const WEIGHTS: Weights = Weights { static_critical: 10.0, dynamic_critical: 5.0, residue: 1.0 };

    /// Five columns, four rows; affinities by cell, row by row from the bottom.
    fn substrate(affinity: impl Fn(usize) -> f64) -> Substrate {
        let wetting = (0..20).map(|cell| Wetting { affinity: affinity(cell), ..plastic_with_history() });
        let laws = CellLaws::per_cell(&Liquid::water(), wetting);
        Substrate::new(DVec2::new(5.0, 4.0), 1.0, 4, 1, |_, _| laws)
    }

    struct Run {
        substrate: Substrate,
        automaton: Automaton,
    }

    impl Run {
        /// Water as (cell, volume); ids count from 1 in that order.
        fn new(substrate: Substrate, water: &[(u32, f64)]) -> Self {
            let mut run = Self { automaton: Automaton::new(20), substrate };
            for (&(cell, volume), number) in water.iter().zip(1..) {
                let id = DropId::new(number).expect("a positive number");
                run.automaton.add(CellIndex(cell), volume, id);
            }
            run
        }

        fn pass(&mut self, wind: DVec2) {
            self.automaton.pass(&self.substrate, &WEIGHTS, wind);
        }

        /// Wet cells with their water.
        fn water(&self) -> Vec<(usize, f64)> {
            (0..20).map(|cell| (cell, self.automaton.cells[cell].volume)).filter(|&(_, volume)| volume > 0.0).collect()
        }
    }

    /// Cell 12 is the middle of the third row; 6, 7 and 8 lie below it.
    #[test]
    fn a_drop_moves_to_the_cell_with_more_water_than_the_other_two() {
        let prefers_right = substrate(|cell| if cell == 8 { 1.0 } else { 0.0 });
        let mut run = Run::new(prefers_right, &[(12, 11.0), (6, 2.0), (7, 1.0)]);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(6, 2.0 + 10.0), (7, 1.0), (12, 1.0)]);
        let ids = [6, 7, 12].map(|cell| run.automaton.cells[cell].id.map_or(0, DropId::get));
        assert_eq!(ids, [1, 3, 1], "what it leaves behind belongs to the same body");
        let absorbed: Vec<_> = run.automaton.absorbed.iter().map(|a| (a.id.get(), a.cell.get(), a.volume)).collect();
        assert_eq!(absorbed, [(2, 6, 2.0)]);
    }

    #[test]
    fn among_dry_or_equally_wet_cells_the_highest_affinity_decides() {
        let prefers_right = || substrate(|cell| if cell == 8 { 1.0 } else { 0.5 });
        let mut dry = Run::new(prefers_right(), &[(12, 11.0)]);
        dry.pass(DVec2::ZERO);
        assert_eq!(dry.water(), [(8, 10.0), (12, 1.0)]);
        let mut tied = Run::new(prefers_right(), &[(12, 11.0), (6, 2.0), (7, 2.0)]);
        tied.pass(DVec2::ZERO);
        assert_eq!(tied.water(), [(6, 2.0), (7, 2.0), (8, 10.0), (12, 1.0)]);
    }

    #[test]
    fn a_drop_starts_above_the_static_weight_and_stops_at_the_dynamic_one() {
        let straight = || substrate(|cell| if cell % 5 == 2 { 1.0 } else { 0.0 });
        let mut light = Run::new(straight(), &[(17, 10.0)]);
        light.pass(DVec2::ZERO);
        assert_eq!(light.water(), [(17, 10.0)], "10 is not more than 10");
        // 11 → 10 → 9: it keeps moving below the static weight, leaves 1 in every cell, and the
        // rest is lost.
        let mut run = Run::new(straight(), &[(17, 11.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(7, 9.0), (12, 1.0), (17, 1.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(2, 1.0), (7, 1.0), (12, 1.0), (17, 1.0)]);
        assert_eq!(run.automaton.lost, 7.0);
        // With 7 at the start it stops where 5 are left.
        let weights = Weights { static_critical: 6.5, ..WEIGHTS };
        let mut stops = Run::new(straight(), &[(17, 7.0)]);
        for _ in 0..6 {
            stops.automaton.pass(&stops.substrate, &weights, DVec2::ZERO);
        }
        assert_eq!(stops.water(), [(7, 5.0), (12, 1.0), (17, 1.0)]);
    }

    /// Cells 11 and 13 both have 7 among their candidates: moved one after the other, the second
    /// would follow the first.
    #[test]
    fn drops_of_a_row_choose_before_any_of_them_moves() {
        let preferred = substrate(|cell| if cell == 7 || cell == 9 { cell as f64 } else { 0.0 });
        let mut run = Run::new(preferred, &[(11, 11.0), (13, 12.0)]);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(7, 10.0), (9, 11.0), (11, 1.0), (13, 1.0)]);
    }

    /// A drop that has just arrived in a row waits for the next pass; a lower row moves before the
    /// one above it chooses.
    #[test]
    fn every_drop_moves_one_row_per_pass() {
        let straight = substrate(|cell| if cell % 5 == 2 { 1.0 } else { 0.0 });
        let mut run = Run::new(straight, &[(17, 20.0), (12, 20.0)]);
        run.pass(DVec2::ZERO);
        // The lower drop leaves its residue in 12, to which the upper one moves.
        assert_eq!(run.water(), [(7, 19.0), (12, 1.0 + 19.0), (17, 1.0)]);
    }

    #[test]
    fn wind_shifts_the_candidates_and_the_threshold() {
        let even = || substrate(|_| 0.5);
        // A side wind as strong as the weight: √2 of it along 45°, so the candidates are 7, 8 and
        // 9.
        let mut blown = Run::new(even(), &[(12, 8.0)]);
        blown.pass(DVec2::X);
        assert_eq!(blown.automaton.cells[12].volume, 1.0, "8 √2 is more than 10: it starts");
        assert!(columns_of(&blown).iter().all(|column| (2..=4).contains(column)), "{:?}", blown.water());
        let mut still = Run::new(even(), &[(12, 8.0)]);
        still.pass(DVec2::ZERO);
        assert_eq!(still.water(), [(12, 8.0)]);
        let mut lifted = Run::new(even(), &[(12, 11.0)]);
        lifted.pass(DVec2::Y);
        assert_eq!(lifted.water(), [(12, 11.0)], "an updraft of its weight stops it");
    }

    #[test]
    fn a_rising_wind_moves_drops_at_rest() {
        let mut run = Run::new(substrate(|_| 0.5), &[(12, 8.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(12, 8.0)]);
        run.pass(DVec2::X);
        assert_eq!(run.automaton.cells[12].volume, 1.0, "{:?}", run.water());
    }

    fn columns_of(run: &Run) -> Vec<usize> {
        run.water().iter().filter(|&&(cell, _)| cell < 10).map(|&(cell, _)| cell % 5).collect()
    }

    #[test]
    fn ties_are_decided_by_the_seed_and_streams_meander() {
        let columns: Vec<usize> = (0..40)
            .map(|seed| {
                let law = SlidingLaw::new(&Liquid::water(), &plastic_with_history());
                let substrate = Substrate::new(DVec2::new(5.0, 4.0), 1.0, 4, seed, |_, _| CellLaws::uniform(law));
                let mut run = Run::new(substrate, &[(12, 11.0)]);
                run.pass(DVec2::ZERO);
                columns_of(&run)[0]
            })
            .collect();
        for column in 1..=3 {
            let share = columns.iter().filter(|&&c| c == column).count();
            // A third of 40 is 13.3 ± 3.0; three standard deviations.
            assert!((4..=23).contains(&share), "column {column}: {share} of 40");
        }
    }
}
