//! The paper's form: Algorithm 1, cell by cell (algan, §4).
//!
//! Every cell holds an amount of water. In one pass, row after row from the bottom, a drop heavier than the *static critical
//! weight* (once it moves: than the *dynamic* one) goes to one of the three cells below: to the one that holds more water than
//! the other two; else to the one with the highest affinity; it leaves the residue r behind. Amounts in a cell add up, which
//! is how drops merge here. Where the paper is silent:
//!
//! - all drops of a row choose before any of them moves, so the order within a row does not matter;
//! - equal affinities are decided by the seeded impurities of the cells, so that a second drop chooses like the first;
//! - candidates beside the pane do not count, and what leaves the lowest row is lost;
//! - one pass is made per frame interval: the paper records one animation step per frame;
//! - wind is a force along the pane, in units of the drop's weight: it adds to gravity as a vector. The length of the sum
//!   scales the weight that is compared with the critical ones, its direction shifts the three candidates sideways by a
//!   column for every 45°, one at most. Without wind this is Algorithm 1 to the letter.

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Ids};

use crate::ground::Ground;
use crate::motion::Slope;

/// The paper's configured weights, as volumes of the liquid, in m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// A resting drop above this starts.
    pub static_critical: f64,
    /// A moving drop at or below this stops.
    pub dynamic_critical: f64,
    /// What stays in a cell that a drop leaves.
    pub residue: f64,
}

/// A cell's drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellDrop {
    /// The drop's id; 0 in a dry cell.
    pub id: u32,
    /// Whether it is on its way.
    pub moving: bool,
    /// Sideways part of its last move, in columns.
    pub drift: i8,
    /// Whether it has ever moved.
    pub has_run: bool,
    /// Amount of water, in m³.
    pub volume: f64,
}

/// The cells' water.
#[derive(Clone, Debug, PartialEq)]
pub struct Automaton {
    /// Drops by cell, row by row from the bottom.
    pub cells: Vec<CellDrop>,
    /// Cells that may move in the next pass, unsorted, possibly repeated.
    awake: Vec<u32>,
    /// What acted in the last pass: drops that rest need a look only when it changes.
    last_wind: Option<DVec2>,
    /// Lost over the lower edge so far, in m³.
    pub lost: f64,
}

/// What a checkpoint keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutomatonState {
    cells: Vec<CellDrop>,
    awake: Vec<u32>,
    last_wind: Option<DVec2>,
    lost: f64,
}

/// Where a drop goes.
struct Move {
    from: usize,
    /// `None` over the lower edge.
    to: Option<usize>,
    drift: i8,
}

impl Automaton {
    /// A dry pane of this many cells.
    pub fn new(num_cells: usize) -> Self {
        Self { cells: vec![CellDrop::default(); num_cells], awake: Vec::new(), last_wind: None, lost: 0.0 }
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> AutomatonState {
        let Self { cells, awake, last_wind, lost } = self.clone();
        AutomatonState { cells, awake, last_wind, lost }
    }

    /// Takes up a saved state; `false` when it belongs to another grid.
    pub fn restore(&mut self, state: AutomatonState) -> bool {
        let fits = state.cells.len() == self.cells.len();
        if fits {
            let AutomatonState { cells, awake, last_wind, lost } = state;
            *self = Self { cells, awake, last_wind, lost };
        }
        fits
    }

    /// Puts water into a cell, under `id` if the cell was dry; says which drop it joined.
    pub fn add(&mut self, cell: usize, volume: f64, id: u32, events: &mut Vec<Event>) {
        let drop = &mut self.cells[cell];
        if drop.id == 0 {
            *drop = CellDrop { id, volume, ..CellDrop::default() };
        } else {
            let winner = if volume > drop.volume { id } else { drop.id };
            events.push(merge(drop.id, id, winner));
            drop.id = winner;
            drop.volume += volume;
        }
        self.awake.push(cell as u32);
    }

    /// Adds to (or takes from) the drop in a cell; says how much was really added.
    pub fn change(&mut self, cell: usize, volume: f64) -> f64 {
        let drop = &mut self.cells[cell];
        let change = volume.max(-drop.volume);
        drop.volume += change;
        if drop.volume <= 0.0 {
            *drop = CellDrop::default();
        }
        self.awake.push(cell as u32);
        change
    }

    /// One pass of Algorithm 1; `wind` in units of a drop's weight, `next_id` names residues.
    pub fn pass(
        &mut self,
        ground: &Ground,
        weights: &Weights,
        wind: DVec2,
        next_id: &mut u32,
        events: &mut Vec<Event>,
    ) {
        if self.last_wind != Some(wind) {
            self.awake = (0..self.cells.len() as u32).filter(|&cell| self.cells[cell as usize].id != 0).collect();
            self.last_wind = Some(wind);
        }
        let mut awake = std::mem::take(&mut self.awake);
        awake.sort_unstable();
        awake.dedup();
        let (pull, shift) = pull_and_shift(wind);
        let row_of = |cell: u32| cell as usize / ground.columns;
        let mut moves = Vec::new();
        for row in awake.chunk_by(|&a, &b| row_of(a) == row_of(b)) {
            moves.clear();
            for &cell in row {
                let from = cell as usize;
                let drop = &mut self.cells[from];
                let critical = if drop.moving { weights.dynamic_critical } else { weights.static_critical };
                drop.moving = drop.id != 0 && pull * drop.volume > critical && drop.volume > weights.residue;
                if drop.moving {
                    let (to, drift) = self.choose(ground, from, shift);
                    moves.push(Move { from, to, drift });
                }
            }
            for step in &moves {
                self.carry_out(step, weights.residue, next_id, events);
            }
        }
    }

    /// Wets the ground under every drop that has just moved.
    pub fn wet_routes(&self, ground: &Ground, slope: &Slope) {
        self.awake.iter().for_each(|&cell| self.wet_under(ground, cell as usize, slope));
    }

    /// Wets the ground under a cell's drop, with a front that follows the fine grid's impurities.
    pub fn wet_under(&self, ground: &Ground, cell: usize, slope: &Slope) {
        let law = ground.law(cell);
        if let Some([radius, _]) = law.radii(self.cells[cell].volume, slope) {
            ground.wet_disc(ground.middle_of(cell), radius, law.raggedness);
        }
    }

    /// Among the three cells below: the one with more water than the others, else the one that likes water most.
    fn choose(&self, ground: &Ground, from: usize, shift: i64) -> (Option<usize>, i8) {
        let (row, column) = ((from / ground.columns) as i64, (from % ground.columns) as i64);
        if row == 0 {
            return (None, 0);
        }
        let candidates = [-1, 0, 1].map(|d| {
            let target = column + shift + d;
            let inside = (0..ground.columns as i64).contains(&target);
            inside.then(|| ((row - 1) * ground.columns as i64 + target) as usize)
        });
        let water = |cell: usize| self.cells[cell].volume;
        let most = candidates.into_iter().flatten().map(water).fold(0.0, f64::max);
        let mut wettest = candidates.into_iter().flatten().filter(|&cell| water(cell) == most && most > 0.0);
        let chosen = match (wettest.next(), wettest.next()) {
            (Some(only), None) => Some(only),
            _ => candidates
                .into_iter()
                .flatten()
                .max_by(|&a, &b| likes_water(ground, a).total_cmp(&likes_water(ground, b))),
        };
        // A pane one column wide under a side wind has no candidate: straight down then.
        let to = chosen.unwrap_or(from - ground.columns);
        (Some(to), ((to % ground.columns) as i64 - column) as i8)
    }

    fn carry_out(&mut self, step: &Move, residue: f64, next_id: &mut u32, events: &mut Vec<Event>) {
        let drop = self.cells[step.from];
        let volume = drop.volume - residue;
        if residue > 0.0 {
            let id = *next_id;
            *next_id += 1;
            self.cells[step.from] = CellDrop { id, volume: residue, ..CellDrop::default() };
            events.push(Event::Split { split: drop.id, into: Ids::from_slice(&[drop.id, id]) });
        } else {
            self.cells[step.from] = CellDrop::default();
        }
        let Some(to) = step.to else {
            self.lost += volume;
            return;
        };
        let target = &mut self.cells[to];
        let mut arrived = CellDrop { volume, moving: true, drift: step.drift, has_run: true, ..drop };
        if target.id != 0 {
            arrived.id = if target.volume > volume { target.id } else { drop.id };
            events.push(merge(drop.id, target.id, arrived.id));
            arrived.volume += target.volume;
        }
        *target = arrived;
        self.awake.push(to as u32);
    }
}

/// Affinity, then impurity: only its order matters, and affinities that differ at all outweigh any impurity.
fn likes_water(ground: &Ground, cell: usize) -> f64 {
    const TIE_BREAK: f64 = 1e-9;
    let impurity = ground.coarse_impurity.at((cell % ground.columns) as i64, (cell / ground.columns) as i64);
    ground.law(cell).affinity + TIE_BREAK * impurity
}

/// What wind does to the weight along the pane, and by how many columns it shifts the candidates.
fn pull_and_shift(wind: DVec2) -> (f64, i64) {
    let force = DVec2::NEG_Y + wind;
    if force.y >= 0.0 {
        // Carried up or held: nothing runs down.
        return (0.0, 0);
    }
    let eighths = (force.x.atan2(-force.y) / std::f64::consts::FRAC_PI_4).round();
    (force.length(), eighths.clamp(-1.0, 1.0) as i64)
}

fn merge(a: u32, b: u32, into: u32) -> Event {
    Event::Merge { merge: Ids::from_slice(&[a.min(b), a.max(b)]), into }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::CellLaw;
    use crate::laws::tests::{plastic_with_memory, water};

    const WEIGHTS: Weights = Weights { static_critical: 10.0, dynamic_critical: 5.0, residue: 1.0 };

    /// Five columns, four rows; affinities by cell, row by row from the bottom.
    fn ground(affinity: impl Fn(usize) -> f64) -> Ground {
        let law = CellLaw::new(&water(), &plastic_with_memory());
        let with_affinity = |cell| {
            let mut law = law;
            law.affinity = affinity(cell);
            law
        };
        let laws = (0..20).map(with_affinity).collect();
        Ground::new(DVec2::new(5.0, 4.0), 1.0, 4, 1, |_, _| laws)
    }

    struct Run {
        ground: Ground,
        automaton: Automaton,
        next_id: u32,
        events: Vec<Event>,
    }

    impl Run {
        /// Water as (cell, volume); ids count from 1 in that order.
        fn new(ground: Ground, water: &[(usize, f64)]) -> Self {
            let mut run = Self { automaton: Automaton::new(20), ground, next_id: 1, events: Vec::new() };
            for &(cell, volume) in water {
                run.automaton.add(cell, volume, run.next_id, &mut run.events);
                run.next_id += 1;
            }
            run
        }

        fn pass(&mut self, wind: DVec2) {
            self.automaton.pass(&self.ground, &WEIGHTS, wind, &mut self.next_id, &mut self.events);
        }

        /// Non-empty cells with their water.
        fn water(&self) -> Vec<(usize, f64)> {
            (0..20).map(|cell| (cell, self.automaton.cells[cell].volume)).filter(|&(_, volume)| volume > 0.0).collect()
        }
    }

    /// Cell 12 is the middle of the third row; 6, 7 and 8 lie below it.
    #[test]
    fn a_drop_goes_to_the_cell_with_more_water_than_the_other_two() {
        let likes_the_right = ground(|cell| if cell == 8 { 1.0 } else { 0.0 });
        let mut run = Run::new(likes_the_right, &[(12, 11.0), (6, 2.0), (7, 1.0)]);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(6, 2.0 + 10.0), (7, 1.0), (12, 1.0)]);
        assert_eq!(
            run.events,
            [
                Event::Split { split: 1, into: Ids::from_slice(&[1, 4]) },
                Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }
            ]
        );
    }

    #[test]
    fn over_dry_cells_and_over_equal_ones_the_highest_affinity_decides() {
        let likes_the_right = || ground(|cell| if cell == 8 { 1.0 } else { 0.5 });
        let mut dry = Run::new(likes_the_right(), &[(12, 11.0)]);
        dry.pass(DVec2::ZERO);
        assert_eq!(dry.water(), [(8, 10.0), (12, 1.0)]);
        let mut tied = Run::new(likes_the_right(), &[(12, 11.0), (6, 2.0), (7, 2.0)]);
        tied.pass(DVec2::ZERO);
        assert_eq!(tied.water(), [(6, 2.0), (7, 2.0), (8, 10.0), (12, 1.0)]);
    }

    #[test]
    fn it_starts_above_the_static_weight_and_runs_down_to_the_dynamic_one() {
        let straight = || ground(|cell| if cell % 5 == 2 { 1.0 } else { 0.0 });
        let mut light = Run::new(straight(), &[(17, 10.0)]);
        light.pass(DVec2::ZERO);
        assert_eq!(light.water(), [(17, 10.0)], "10 is not more than 10");
        // 11 → 10 → 9: below the static weight it goes on; it leaves 1 in every cell and the rest runs off.
        let mut run = Run::new(straight(), &[(17, 11.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(7, 9.0), (12, 1.0), (17, 1.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(2, 1.0), (7, 1.0), (12, 1.0), (17, 1.0)]);
        assert_eq!(run.automaton.lost, 7.0);
        // With 7 at the start of the run it stops where 5 are left.
        let weights = Weights { static_critical: 6.5, ..WEIGHTS };
        let mut stops = Run::new(straight(), &[(17, 7.0)]);
        for _ in 0..6 {
            stops.automaton.pass(&stops.ground, &weights, DVec2::ZERO, &mut stops.next_id, &mut stops.events);
        }
        assert_eq!(stops.water(), [(7, 5.0), (12, 1.0), (17, 1.0)]);
    }

    /// Cells 11 and 13 both have 7 among their candidates. Moved one after the other, the second would follow the first one's water.
    #[test]
    fn rows_choose_from_amounts_read_before_they_move() {
        let likes = ground(|cell| if cell == 7 || cell == 9 { cell as f64 } else { 0.0 });
        let mut run = Run::new(likes, &[(11, 11.0), (13, 12.0)]);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(7, 10.0), (9, 11.0), (11, 1.0), (13, 1.0)]);
    }

    /// A drop that has just come into a row waits for the next pass, and a lower row has moved before the one above it chooses.
    #[test]
    fn every_drop_moves_one_row_a_pass() {
        let straight = ground(|cell| if cell % 5 == 2 { 1.0 } else { 0.0 });
        let mut run = Run::new(straight, &[(17, 20.0), (12, 20.0)]);
        run.pass(DVec2::ZERO);
        // The lower one has left its residue in 12, where the upper one finds it.
        assert_eq!(run.water(), [(7, 19.0), (12, 1.0 + 19.0), (17, 1.0)]);
    }

    #[test]
    fn wind_shifts_the_choice_and_the_threshold() {
        let even = || ground(|_| 0.5);
        // A side wind as strong as the weight: √2 of it along 45°, so the candidates are 7, 8 and 9.
        let mut blown = Run::new(even(), &[(12, 8.0)]);
        blown.pass(DVec2::X);
        assert_eq!(blown.automaton.cells[12].volume, 1.0, "8 √2 is more than 10: it starts");
        assert!(run_columns(&blown).iter().all(|column| (2..=4).contains(column)), "{:?}", blown.water());
        let mut still = Run::new(even(), &[(12, 8.0)]);
        still.pass(DVec2::ZERO);
        assert_eq!(still.water(), [(12, 8.0)]);
        let mut lifted = Run::new(even(), &[(12, 11.0)]);
        lifted.pass(DVec2::Y);
        assert_eq!(lifted.water(), [(12, 11.0)], "an updraft of its weight holds it");
    }

    #[test]
    fn a_wind_that_rises_moves_drops_that_rested_in_the_calm() {
        let mut run = Run::new(ground(|_| 0.5), &[(12, 8.0)]);
        run.pass(DVec2::ZERO);
        run.pass(DVec2::ZERO);
        assert_eq!(run.water(), [(12, 8.0)]);
        run.pass(DVec2::X);
        assert_eq!(run.automaton.cells[12].volume, 1.0, "{:?}", run.water());
    }

    fn run_columns(run: &Run) -> Vec<usize> {
        run.water().iter().filter(|&&(cell, _)| cell < 10).map(|&(cell, _)| cell % 5).collect()
    }

    #[test]
    fn equal_cells_are_decided_by_the_seed_and_streams_meander() {
        let columns: Vec<usize> = (0..40)
            .map(|seed| {
                let law = CellLaw::new(&water(), &plastic_with_memory());
                let ground = Ground::new(DVec2::new(5.0, 4.0), 1.0, 4, seed, |_, _| vec![law]);
                let mut run = Run::new(ground, &[(12, 11.0)]);
                run.pass(DVec2::ZERO);
                run_columns(&run)[0]
            })
            .collect();
        for column in 1..=3 {
            let share = columns.iter().filter(|&&c| c == column).count();
            // A third of 40 is 13.3 ± 3.0; three standard deviations.
            assert!((4..=23).contains(&share), "column {column}: {share} of 40");
        }
    }
}
